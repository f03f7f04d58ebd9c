// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Fills in .BTF_ids of a module, as the kernel's resolve_btfids does.
//
// Problem. Symbols in .BTF_ids name types and functions (common/btf/id_symbols.h); the word at each
// symbol must become the id. The kernel searches sets by bisection, so the ids of a set must
// ascend.
//
// Method. Look up each name and fill in its word; then count and sort the entries of each set.
//
// After sorting, flags are no longer at their symbols, so a set can be filled in again only if all
// of its flags are equal.
//
// If the module and the kernel both have a name, a type's id is that of the kernel's type, as with
// resolve_btfids. A function's id is that of the module's function; resolve_btfids would take the
// kernel's, with a warning.

#include "common/btf/id_symbols.h"
#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "kbuild-integration/btf-pahole/steps.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace btflink::kbuild
{

namespace
{

class IdFiller
{
public:
    IdFiller(const FinalTypes &types, uint32_t section, std::vector<std::byte> bytes)
        : elf_(*types.input->elf), section_(section), bytes_(std::move(bytes))
    {
        where_ = elf_.where.in(".BTF_ids");
        find_names(*types.btf);
    }

    Result<void> run()
    {
        std::vector<Symbol> symbols;
        for (size_t i = 0; i < elf_.symbols.size(); ++i)
            if (is_here(elf_.symbols[i]))
                symbols.push_back(elf_.symbols[i]);
        for (const Symbol &symbol : symbols)
            TRY(add_set(symbol));
        for (const Symbol &symbol : symbols)
            TRY(fill_word(symbol));
        for (const auto &[at, set] : sets_)
            sort_set(at, set);
        return {};
    }

    const std::vector<std::byte> &bytes() const { return bytes_; }
    std::vector<std::string> missing;

private:
    struct Set {
        uint64_t end = 0;
        uint32_t step = 4; // bytes of an entry, and of the head
        bool of_kfuncs = false;

        bool has_flags() const { return step == 8; }
    };

    void find_names(const Btf &btf)
    {
        for (TypeId id : IdRange(TypeId{1}, btf.end_id())) {
            const btf::Kind kind = btf.kind(id);
            if (kind != btf::Kind::FUNC && kind != btf::Kind::TYPEDEF && !btf::is_composite(kind))
                continue;
            auto [it, added] = ids_of(kind).emplace(btf.name(id), id);
            if (!added && kind == btf::Kind::FUNC && it->second < btf.first_id())
                it->second = id;
        }
    }

    using Names = std::unordered_map<std::string_view, TypeId>;
    Names &ids_of(btf::Kind kind) { return ids_[static_cast<size_t>(kind)]; }

    bool is_here(const Symbol &symbol) const
    {
        return symbol.home == Home::section && symbol.section == section_;
    }

    Failure bad(const Symbol &symbol, const char *what) const
    {
        return fail(where_.at(symbol.value), std::string(symbol.name()) + ": " + what);
    }

    Result<void> add_set(const Symbol &symbol)
    {
        const IdSymbol wanted = parse_id_symbol(symbol.name());
        if (!wanted.is_set())
            return {};
        Set set;
        set.step = wanted.kind == "set" ? 4 : 8;
        set.end = symbol.value + symbol.size;
        if (symbol.size < set.step || symbol.size % set.step || set.end < symbol.value ||
            set.end > bytes_.size())
            return bad(symbol, "its size does not fit a set in the section");
        // If sets could overlap, the work could grow with the square of the section's size.
        const auto next = sets_.lower_bound(symbol.value);
        if (set_around(symbol.value) || (next != sets_.end() && next->first < set.end))
            return bad(symbol, "overlaps another set");
        set.of_kfuncs = set.has_flags() && word(symbol.value + 4) & set_of_kfuncs;
        if (word(symbol.value) != 0 && has_various_flags(symbol.value, set))
            return bad(
                symbol,
                "was filled in before, and the flags can no longer be assigned to names; link "
                "the module again");
        sets_[symbol.value] = set;
        return {};
    }

    /// Do entries of the set at `begin` have different flags?
    bool has_various_flags(uint64_t begin, const Set &set) const
    {
        if (!set.has_flags())
            return false;
        const uint64_t first = begin + set.step; // after the head
        for (uint64_t at = first; at < set.end; at += set.step)
            if (word(at + 4) != word(first + 4))
                return true;
        return false;
    }

    const Set *set_around(uint64_t at) const
    {
        auto behind = sets_.upper_bound(at);
        if (behind == sets_.begin() || at >= std::prev(behind)->second.end)
            return nullptr;
        return &std::prev(behind)->second;
    }

    Result<void> fill_word(const Symbol &symbol)
    {
        const IdSymbol wanted = parse_id_symbol(symbol.name());
        if (wanted.type_kind() == btf::Kind::VOID)
            return {};
        const Set *set = set_around(symbol.value);
        const uint64_t size = set ? set->step : 4;
        if (symbol.value > bytes_.size() || size > bytes_.size() - symbol.value)
            return bad(symbol, "is not in the section");
        const bool is_kfunc = set && set->of_kfuncs;
        if (is_kfunc && word(symbol.value + 4) & kf_implicit_args)
            return bad(symbol,
                       "has implicit arguments (KF_IMPLICIT_ARGS); only resolve_btfids in a "
                       "kernel's build can remove them from the prototype that programs see");
        const Names &names = ids_of(wanted.type_kind());
        auto found = names.find(wanted.name);
        if (found == names.end() && is_kfunc)
            return bad(symbol, "this kfunc has no FUNC in the BTF");
        if (found == names.end())
            missing.push_back(std::string(wanted.kind) + " " + std::string(wanted.name));
        set_word(symbol.value, found == names.end() ? 0 : raw(found->second));
        return {};
    }

    void sort_set(uint64_t at, const Set &set)
    {
        std::vector<std::pair<uint32_t, uint32_t>> entries; // id, flags
        for (uint64_t entry = at + set.step; entry < set.end; entry += set.step)
            entries.emplace_back(word(entry), set.has_flags() ? word(entry + 4) : 0);
        std::ranges::stable_sort(entries,
                                 [](const auto &a, const auto &b) { return a.first < b.first; });
        set_word(at, static_cast<uint32_t>(entries.size()));
        for (const auto &[id, flags] : entries) {
            at += set.step;
            set_word(at, id);
            if (set.has_flags())
                set_word(at + 4, flags);
        }
    }

    uint32_t word(uint64_t at) const { return load<uint32_t>(bytes_.data() + at, elf_.order); }
    void set_word(uint64_t at, uint32_t value) { store(bytes_.data() + at, value, elf_.order); }

    const merge::ElfFile &elf_;
    const uint32_t section_;
    std::vector<std::byte> bytes_;
    Where where_;
    Names ids_[btf::kind_count];   // by kind
    std::map<uint64_t, Set> sets_; // by where they begin
};

} // namespace

Result<std::vector<std::string>> fill_btf_ids(const std::string &file, const std::string &base)
{
    std::vector<std::string> missing;
    ElfOnDisk elf = TRY(open_elf(file));
    const std::vector<ElfSection> &sections = elf.image.sections;
    FileChange change;
    std::vector<std::byte> whole(elf.image.file.begin(), elf.image.file.end());
    bool found = false;
    for (uint32_t i = 1; i < sections.size(); ++i) {
        const ElfSection &section = sections[i];
        if (section.name != ".BTF_ids" || !section.in_file() || section.data.empty())
            continue;
        if (found) // each costs a pass over all types and symbols; linkers make only one
            return fail(elf.image.place(i), "is a second section of this name");
        found = true;
        const FinalTypes types = TRY(read_final_types(file, base));
        IdFiller filler(types, i, {section.data.begin(), section.data.end()});
        TRY(filler.run());
        std::ranges::copy(filler.bytes(),
                          whole.begin() + static_cast<ptrdiff_t>(section.head.sh_offset));
        missing.insert(missing.end(), filler.missing.begin(), filler.missing.end());
    }
    change.rebuilt.add(std::move(whole));
    TRY(update_file(file, elf.image.file, change));
    return missing;
}

} // namespace btflink::kbuild
