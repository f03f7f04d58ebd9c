// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the DWARF of each FILE twice, by emit/'s own decoder and by libdw, and demands the same
// entries with the same attributes, and the same bytes of object BTF made of them.
// Exit status: 0 the same, 1 different, 2 unreadable.
#include "common/io/file_io.h"
#include "emit/unit/unit_object.h"
#include "tests/oracle/libdw_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace btflink;
using emit::Die;
using emit::DieTree;

namespace
{

bool same_text(const char *a, const char *b)
{
    return a && b ? std::strcmp(a, b) == 0 : a == b;
}

/// The first field that differs, or nullptr.
const char *difference(const Die &a, const Die &b)
{
    bool annotation = a.tag == emit::tag_llvm_annotation || a.tag == emit::tag_gnu_annotation;
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
    if (annotation ? !same_text(a.text, b.text) : a.value != b.value)
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

/// True if the trees are the same; says where they are not.
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
                ours.clang == libdw.clang && ours.rust == libdw.rust &&
                same_text(ours.source, libdw.source) &&
                ours.addresses.size() == libdw.addresses.size();
    for (size_t i = 0; same && i < ours.addresses.size(); ++i)
        same = same_address(ours.addresses[i], libdw.addresses[i]);
    if (!same)
        std::printf("%s: number, order or addresses of entries differ from libdw's\n",
                    path.c_str());
    return same;
}

bool same_relocs(const std::vector<emit::NewReloc> &a, const std::vector<emit::NewReloc> &b)
{
    return std::ranges::equal(a, b, [](const emit::NewReloc &x, const emit::NewReloc &y) {
        return x.offset == y.offset && x.symbol == y.symbol && x.addend == y.addend;
    });
}

/// The object BTF of one unit, both ways: all that emit/ does with the entries is done twice.
Result<bool> compare_objects(const std::string &path, const emit::DwarfFile &file,
                             const emit::Unit &unit, emit::DieTree &libdw)
{
    emit::UnitOptions options;
    options.features = default_features();
    options.features.add(*parse_features("global_var"));
    options.address_pool = file.relocatable();
    auto ours = emit::encode_unit(file, {&unit, 1}, options);
    if (!ours)
        return tl::unexpected(ours.error());
    libdw.index();
    libdw.annotations = libdw.atomics = true; // they are looked for, not taken on trust
    auto theirs = emit::encode_tree(file, std::move(libdw), options, {}, {});
    if (!theirs)
        return tl::unexpected(theirs.error());
    auto [a, b] = std::ranges::mismatch(ours->contribution, theirs->contribution);
    if (a != ours->contribution.end() || b != theirs->contribution.end()) {
        std::printf("%s: .BTF+0x%zx: differs from that made of libdw's entries\n", path.c_str(),
                    static_cast<size_t>(a - ours->contribution.begin()));
        return false;
    }
    if (!same_relocs(ours->btf_relocs, theirs->btf_relocs) ||
        !same_relocs(ours->pool_relocs, theirs->pool_relocs)) {
        std::printf("%s: relocations differ from those made of libdw's entries\n", path.c_str());
        return false;
    }
    return true;
}

Result<bool> compare_file(const std::string &path)
{
    auto bytes = read_file(path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    std::vector<std::byte> scratch = *bytes; // libdw's reader relocates in place
    auto ours = emit::DwarfFile::open(*bytes, Where{path});
    if (!ours)
        return tl::unexpected(ours.error());
    if (!(*ours)->has_dwarf())
        return true;
    auto libdw = oracle::LibdwFile::open(scratch, Where{path});
    if (!libdw)
        return tl::unexpected(libdw.error());
    emit::Skips skips;
    auto units = emit::list_units(**ours, skips);
    if (!units)
        return tl::unexpected(units.error());
    auto trees = oracle::read_all_units(**libdw, skips);
    if (!trees)
        return tl::unexpected(trees.error());
    if (units->size() != trees->size()) {
        std::printf("%s: %zu units, libdw finds %zu\n", path.c_str(), units->size(), trees->size());
        return false;
    }
    for (size_t i = 0; i < units->size(); ++i) {
        auto tree = emit::read_units(**ours, {&(*units)[i], 1}, skips);
        if (!tree)
            return tl::unexpected(tree.error());
        if (!compare(path, *tree, (*trees)[i]))
            return false;
        auto same = compare_objects(path, **ours, (*units)[i], (*trees)[i]);
        if (!same || !*same)
            return same;
    }
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    int status = argc < 2 ? 2 : 0;
    for (int i = 1; i < argc; ++i) {
        auto same = compare_file(argv[i]);
        if (!same)
            std::fprintf(stderr, "compare-readers: ERROR: %s\n", same.error().str().c_str());
        status = std::max(status, !same ? 2 : *same ? 0 : 1);
    }
    return status;
}
