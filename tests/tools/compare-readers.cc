// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the DWARF of each FILE with the fast reader and with libdw, unit by unit, without units
// that refer to other units. Both readers must give the same entries and attributes, and the same
// object BTF must result. The readers share the rule that decides which entries are kept
// (keep_tag()), so the comparison does not show whether this rule leaves out an entry that is
// needed. Therefore it is also checked that the type, origin and specification of each kept entry
// were kept. Exit status: 0 no difference, 1 a difference or a missing entry, 2 a file that cannot
// be read or encoded, or wrong usage.
#include "common/io/file_io.h"
#include "emit/passes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dwarf.h>
#include <numeric>

using namespace btflink;
using emit::Die;
using emit::DieTree;

namespace
{

bool same_text(const char *a, const char *b)
{
    return a && b ? std::strcmp(a, b) == 0 : a == b;
}

/// A word for what differs first between two entries, or nullptr.
const char *difference(const Die &a, const Die &b)
{
    bool has_text = a.tag == emit::tag_llvm_annotation || a.tag == emit::tag_gnu_annotation ||
                    a.tag == DW_TAG_subprogram;
    if (a.tag != b.tag)
        return "tag";
    if (a.offset != b.offset || a.parent != b.parent || a.end != b.end)
        return "place in the tree";
    if (a.has != b.has)
        return "flags";
    if (!same_text(a.name, b.name))
        return "name";
    if (a.type != b.type || a.origin != b.origin || a.specification != b.specification ||
        a.annotation != b.annotation)
        return "reference";
    if (has_text ? !same_text(a.text, b.text) : a.value != b.value)
        return "value";
    if (a.byte_size != b.byte_size || a.bit_size != b.bit_size || a.bit_offset != b.bit_offset)
        return "size";
    if (a.encoding != b.encoding)
        return "encoding";
    if (a.scalar_register != b.scalar_register || a.aggregate_register != b.aggregate_register)
        return "register";
    return a.address == b.address ? nullptr : "address";
}

bool same_address(const emit::AddressRef &a, const emit::AddressRef &b)
{
    return a.symbol == b.symbol && a.addend == b.addend && a.offset == b.offset &&
           a.section == b.section && a.common == b.common && a.weak == b.weak &&
           a.is_final == b.is_final;
}

/// True if the trees have the same entries, lists of entries, addresses, compiler (clang or not)
/// and source; otherwise prints a difference.
bool compare(const std::string &path, const DieTree &ours, const DieTree &libdw)
{
    for (size_t i = 1; i < std::min(ours.dies.size(), libdw.dies.size()); ++i)
        if (const char *field = difference(ours.dies[i], libdw.dies[i])) {
            std::printf("%s: .debug_info+0x%x: %s differs from libdw's\n", path.c_str(),
                        ours.dies[i].offset, field);
            return false;
        }
    bool same = ours.dies.size() == libdw.dies.size() && ours.types == libdw.types &&
                ours.functions == libdw.functions && ours.variables == libdw.variables &&
                ours.clang == libdw.clang && same_text(ours.source, libdw.source) &&
                ours.addresses.size() == libdw.addresses.size();
    for (size_t i = 0; same && i < ours.addresses.size(); ++i)
        same = same_address(ours.addresses[i], libdw.addresses[i]);
    if (!same)
        std::printf(
            "%s: number, lists or addresses of entries, compiler or source differ from libdw's\n",
            path.c_str());
    return same;
}

bool same_relocs(const std::vector<Reloc> &a, const std::vector<Reloc> &b)
{
    return std::ranges::equal(a, b, [](const Reloc &x, const Reloc &y) {
        return x.offset == y.offset && x.symbol == y.symbol && x.addend == y.addend;
    });
}

/// False if the type, origin or specification of a kept entry was not kept; then prints the offsets
/// of the first such entry and of the one that is missing.
bool closed(const std::string &path, const DieTree &tree)
{
    for (emit::DieIndex i = 1; i < tree.dies.size(); ++i)
        for (uint32_t target : {tree.at(i).type, tree.at(i).origin, tree.at(i).specification})
            if (target && !tree.find(target)) {
                std::printf("%s: .debug_info+0x%x: refers to 0x%x, which is not kept\n",
                            path.c_str(), tree.at(i).offset, target);
                return false;
            }
    return true;
}

/// True if the same object BTF results from the entries of both readers; otherwise prints a
/// difference.
Result<bool> compare_objects(const std::string &path, const emit::DwarfFile &file,
                             const emit::DwarfReader &fast, const emit::DwarfReader &libdw,
                             uint32_t unit)
{
    emit::UnitOptions options;
    options.features = default_features();
    options.features.add(*parse_features("global_var"));
    options.address_pool = file.relocatable();
    auto ours = TRY(emit::encode_units(file, fast, {&unit, 1}, options));
    auto theirs = TRY(emit::encode_units(file, libdw, {&unit, 1}, options));
    auto [a, b] = std::ranges::mismatch(ours.contribution, theirs.contribution);
    if (a != ours.contribution.end() || b != theirs.contribution.end()) {
        std::printf("%s: .BTF+0x%zx: differs from that made of libdw's entries\n", path.c_str(),
                    static_cast<size_t>(a - ours.contribution.begin()));
        return false;
    }
    if (!same_relocs(ours.btf_relocs, theirs.btf_relocs) ||
        !same_relocs(ours.pool_relocs, theirs.pool_relocs)) {
        std::printf("%s: relocations differ from those made of libdw's entries\n", path.c_str());
        return false;
    }
    return true;
}

Result<bool> compare_units(const std::string &path, const emit::DwarfFile &file,
                           const emit::DwarfReader &fast, const emit::DwarfReader &libdw)
{
    if (fast.units().size() != libdw.units().size()) {
        std::printf("%s: %zu units, libdw finds %zu\n", path.c_str(), fast.units().size(),
                    libdw.units().size());
        return false;
    }
    for (uint32_t i = 0; i < fast.units().size(); ++i) {
        if (fast.units()[i].refers_to_other_units || libdw.units()[i].refers_to_other_units)
            continue; // because such a unit is incomplete without others
        emit::Skips skips;
        auto ours = TRY(fast.read({&i, 1}, skips));
        auto theirs = TRY(libdw.read({&i, 1}, skips));
        if (!compare(path, ours, theirs) || !closed(path, ours))
            return false;
        auto same = compare_objects(path, file, fast, libdw, i);
        if (!same || !*same)
            return same;
    }
    return true;
}

void choose_all(emit::DwarfReader &reader)
{
    std::vector<uint32_t> units(reader.units().size());
    std::iota(units.begin(), units.end(), 0);
    reader.choose(units);
}

Result<bool> compare_file(const std::string &path)
{
    auto bytes = TRY(read_file(path));
    auto file = TRY(emit::DwarfFile::open(bytes, Where{path}));
    if (!file->has_dwarf())
        return true;
    emit::Skips skips;
    auto fast = TRY(emit::open_fast_reader(*file, skips));
    auto libdw = TRY(emit::open_libdw_reader(*file, "/usr/lib/debug", skips));
    choose_all(*fast);
    choose_all(*libdw);
    return compare_units(path, *file, *fast, *libdw);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-') {
        std::fputs("usage: compare-readers FILE...\n", stderr);
        return 2;
    }
    int status = 0;
    for (int i = 1; i < argc; ++i) {
        auto same = compare_file(argv[i]);
        if (!same)
            std::fprintf(stderr, "compare-readers: ERROR: %s\n", same.error().str().c_str());
        status = std::max(status, !same ? 2 : *same ? 0 : 1);
    }
    return status;
}
