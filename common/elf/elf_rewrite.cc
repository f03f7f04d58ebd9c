// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Drops sections from an ELF file, renumbers the rest, and lays the file out again.
//
// Problem. Sections of an ELF file refer to each other by index, in several places: links,
// relocation targets, symbols (with a side table for indexes that do not fit), groups. Relocations
// and group signatures refer to symbols by index, too. Dropping a section shifts both kinds of
// indexes.
//
// Method. Also drop what is useless without the dropped sections: their symbols, their relocations,
// and groups without other members. Number the remaining sections and symbols, then visit each
// reference once and replace the old index in it. A reference from something kept to something
// dropped is an error, except that a group loses its dropped members. References that cannot be
// replaced here (SHT_CREL, is_symbol_hint()) are an error, too, unless all symbols keep their
// indexes.
//
// Invariants. Sections and symbols keep their order, so local symbols stay before global ones. The
// contents of a section never grow, and keep the alignment that they had in the file, so lay_out()
// never makes the file longer.
//
// Cost. One pass over symbols, relocations and groups; a copy of what changes.
#include "common/elf/elf_image.h"

#include <algorithm>
#include <numeric>

namespace btflink
{

namespace
{

/// The members of a group: the words after the flags.
Result<std::vector<uint32_t>> group_members(const ElfImage &image, uint32_t group)
{
    Bytes data = image.sections[group].data;
    if (data.size() < 4 || data.size() % 4)
        return fail(image.place(group), strf("%zu bytes are not a section group", data.size()));
    std::vector<uint32_t> members;
    for (size_t at = 4; at < data.size(); at += 4) {
        members.push_back(load<uint32_t>(data.data() + at, image.order));
        if (members.back() == 0 || members.back() >= image.sections.size())
            return fail(image.place(group).at(at), strf("there is no section %u", members.back()));
    }
    return members;
}

/// The indexes of .symtab and .dynsym, as far as they exist. Error: there are more than two symbol
/// tables. SymbolTable::open() looks at all sections, so opening many tables would take too long.
Result<std::vector<uint32_t>> symbol_tables(const ElfImage &image)
{
    std::vector<uint32_t> tables;
    for (uint32_t i = 1; i < image.sections.size(); ++i) {
        const uint32_t type = image.sections[i].head.sh_type;
        if (type != SHT_SYMTAB && type != SHT_DYNSYM)
            continue;
        if (tables.size() == 2)
            return fail(image.place(i), "is a third symbol table");
        tables.push_back(i);
    }
    return tables;
}

/// The symbols that are kept, and their side table (`extended`) of section indexes that do not fit
/// into st_shndx.
struct NewSymbols {
    NewSymbols(const ElfImage &of, size_t size) : image(of) { symbols.reserve(size); }

    uint32_t count() const { return static_cast<uint32_t>(extended.size() / 4); }
    /// `section`: the new index of the section in which the symbol is; 0: the symbol is not in a
    /// section.
    void add(Bytes symbol, uint32_t section)
    {
        const size_t at = symbols.size();
        symbols.insert(symbols.end(), symbol.begin(), symbol.end());
        extended.resize(extended.size() + 4);
        if (!section)
            return;
        const bool fits = section < SHN_LORESERVE;
        const size_t place =
            image.is64 ? offsetof(Elf64_Sym, st_shndx) : offsetof(Elf32_Sym, st_shndx);
        store<uint16_t>(symbols.data() + at + place,
                        fits ? static_cast<uint16_t>(section) : uint16_t{SHN_XINDEX}, image.order);
        if (!fits) // the old index did not fit either, so the file has a side table
            store<uint32_t>(extended.data() + extended.size() - 4, section, image.order);
    }

    const ElfImage &image;
    std::vector<std::byte> symbols, extended;
};

/// The error for a reference from a kept section to a dropped one.
Failure dangling(const ElfImage &image, Where place, const char *what, uint32_t section)
{
    return fail(std::move(place),
                strf("%s %s, which is to be dropped", what, image.place(section).section.c_str()));
}

class Renumbering
{
public:
    Renumbering(ElfImage &image, const std::vector<bool> &drop)
        : image_(image), drop_(drop), section_map_(drop.size())
    {
        uint32_t next = 0;
        for (uint32_t i = 0; i < drop.size(); ++i)
            section_map_[i] = drop[i] ? 0 : next++;
    }

    Result<std::vector<uint32_t>> run()
    {
        TRY(check_overlaps());
        symtab_ = TRY(image_.find_symtab());
        if (symtab_ && drop_[symtab_])
            return fail(image_.place(symtab_), "the symbol table cannot be dropped");
        const std::vector<uint32_t> tables = TRY(symbol_tables(image_));
        for (uint32_t i : tables)
            if (!drop_[i])
                TRY(renumber_symbols(i));
        for (uint32_t i = 1; i < drop_.size(); ++i) {
            if (drop_[i])
                continue;
            uint32_t type = image_.sections[i].head.sh_type;
            if (!symbols_stay_ && (type == sht_crel || is_symbol_hint(type)))
                return fail(image_.place(i),
                            "its indexes of symbols would have to change, which is not supported");
            if (type == SHT_REL || type == SHT_RELA)
                TRY(renumber_relocations(i));
            if (type == SHT_GROUP)
                TRY(renumber_group(i));
        }
        for (uint32_t i = 1; i < drop_.size(); ++i) // last: the code above reads the old links
            if (!drop_[i])
                TRY(renumber_links(i));
        image_.names = section_map_[image_.names];
        std::vector<ElfSection> kept;
        for (uint32_t i = 0; i < drop_.size(); ++i)
            if (!drop_[i])
                kept.push_back(std::move(image_.sections[i]));
        image_.sections = std::move(kept);
        return std::move(symbol_map_);
    }

private:
    /// lay_out() writes the contents of each section separately. So a small file with many sections
    /// that share bytes would become a huge one. Tools do not make such files.
    Result<void> check_overlaps() const
    {
        std::vector<uint32_t> order;
        for (uint32_t i = 1; i < image_.sections.size(); ++i)
            if (!image_.sections[i].data.empty())
                order.push_back(i);
        auto offset = [&](uint32_t i) { return image_.sections[i].head.sh_offset; };
        std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return offset(a) < offset(b); });
        for (size_t i = 1; i < order.size(); ++i)
            if (offset(order[i - 1]) + image_.sections[order[i - 1]].head.sh_size >
                offset(order[i]))
                return fail(image_.place(order[i]),
                            "overlaps section " + image_.place(order[i - 1]).section);
        return {};
    }

    Result<void> renumber_symbols(uint32_t index)
    {
        const SymbolTable table = TRY(SymbolTable::open(image_, index));
        const auto count = static_cast<uint32_t>(table.size());
        ElfSection &s = image_.sections[index];
        const bool may_drop = index == symtab_; // .dynsym is loaded, so it keeps its size
        if (may_drop) {
            symbol_map_.assign(count, dropped_symbol);
            if (s.head.sh_info > count)
                return fail(image_.place(index),
                            strf("%u symbols are local, but there are %u", s.head.sh_info, count));
        }
        const size_t size = image_.symbol_size();
        NewSymbols kept(image_, s.data.size());
        uint32_t locals = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t section = table[i].section;
            if (drop_[section]) {
                if (may_drop)
                    continue;
                return dangling(image_, image_.place(index).at(i * size),
                                "dynamic symbol is defined in", section);
            }
            if (may_drop)
                symbol_map_[i] = kept.count();
            locals += i < s.head.sh_info;
            kept.add(s.data.subspan(i * size, size), section_map_[section]);
        }
        if (may_drop) {
            s.head.sh_info = locals;
            symbols_stay_ = kept.count() == count;
        }
        if (table.extended_section())
            image_.sections[table.extended_section()].replace(std::move(kept.extended));
        s.replace(std::move(kept.symbols));
        return {};
    }

    /// The new index of symbol `old`, to which the file refers at place().
    template <typename Place>
    Result<uint32_t> new_symbol(uint32_t old, Place place, const char *what)
    {
        if (old >= symbol_map_.size())
            return fail(place(),
                        strf("%s symbol %u, but there are %zu", what, old, symbol_map_.size()));
        if (symbol_map_[old] == dropped_symbol)
            return fail(place(),
                        strf("%s symbol %u of a section that is to be dropped", what, old));
        return symbol_map_[old];
    }

    Result<void> renumber_relocations(uint32_t index)
    {
        ElfSection &s = image_.sections[index];
        if (!symtab_)
            return {};
        if (s.head.sh_link != symtab_) {
            if (image_.is_linked() || s.data.empty())
                return {}; // no relocations, or the dynamic linker's, which do not use .symtab
            return fail(image_.place(index), "the relocations are not linked to the symbol table");
        }
        if (symbols_stay_)
            return {}; // relocations of an image (--emit-relocs) may be hundreds of megabytes
        TRY(image_.reloc_count(index));
        const size_t word = image_.is64 ? sizeof(uint64_t) : sizeof(uint32_t);
        std::vector<std::byte> now(s.data.begin(), s.data.end());
        for (size_t at = 0; at < now.size(); at += s.head.sh_entsize) {
            std::byte *p = now.data() + at + word;
            uint64_t info =
                image_.is64 ? load<uint64_t>(p, image_.order) : load<uint32_t>(p, image_.order);
            uint32_t old = image_.reloc_symbol(info);
            auto here = [&] { return image_.place(index).at(at); };
            auto renumbered = TRY(new_symbol(old, here, "relocation names"));
            info += image_.reloc_info(renumbered, 0) - image_.reloc_info(old, 0);
            if (image_.is64)
                store<uint64_t>(p, info, image_.order);
            else
                store<uint32_t>(p, static_cast<uint32_t>(info), image_.order);
        }
        s.replace(std::move(now));
        return {};
    }

    Result<void> renumber_group(uint32_t index)
    {
        auto members = TRY(group_members(image_, index));
        ElfSection &s = image_.sections[index];
        ByteWriter now(image_.order);
        now.put_bytes(s.data.first(4));
        for (uint32_t member : members)
            if (!drop_[member])
                now.put<uint32_t>(section_map_[member]);
        if (!symtab_ || s.head.sh_link != symtab_)
            return fail(image_.place(index), "section group without a symbol table");
        auto here = [&] { return image_.place(index); };
        s.head.sh_info = TRY(new_symbol(s.head.sh_info, here, "section group is named by"));
        s.replace(now.take());
        return {};
    }

    Result<void> renumber_links(uint32_t index)
    {
        Elf64_Shdr &head = image_.sections[index].head;
        auto follow = [&](Elf64_Word &link, const char *what) -> Result<void> {
            if (link >= drop_.size())
                return fail(image_.place(index),
                            strf("%s is %u, but there are %zu sections", what, link, drop_.size()));
            if (drop_[link])
                return dangling(image_, image_.place(index), "is linked to", link);
            link = section_map_[link];
            return {};
        };
        if (head.sh_type == SHT_NULL)
            return {};
        TRY(follow(head.sh_link, "sh_link"));
        if (image_.sections[index].links_info())
            TRY(follow(head.sh_info, "sh_info"));
        return {};
    }

    ElfImage &image_;
    const std::vector<bool> &drop_;
    std::vector<uint32_t> section_map_;
    std::vector<uint32_t> symbol_map_;
    uint32_t symtab_ = 0;
    bool symbols_stay_ = false; // all symbols keep their indexes
};

} // namespace

Result<void> add_dependents(const ElfImage &image, std::vector<bool> &drop)
{
    for (uint32_t i = 1; i < drop.size(); ++i) {
        const ElfSection &s = image.sections[i];
        if (s.relocates() && s.head.sh_info < drop.size() && drop[s.head.sh_info])
            drop[i] = true;
    }
    for (uint32_t i = 1; i < drop.size(); ++i) {
        if (image.sections[i].head.sh_type != SHT_GROUP)
            continue;
        auto members = TRY(group_members(image, i));
        if (std::ranges::all_of(members, [&](uint32_t m) { return drop[m]; }))
            drop[i] = true;
    }
    return {};
}

Result<bool> is_referenced(const ElfImage &image, const std::vector<bool> &drop)
{
    auto hit = [&](uint32_t section) { return section < drop.size() && drop[section]; };
    for (uint32_t i = 1; i < drop.size(); ++i) {
        const ElfSection &s = image.sections[i];
        if (drop[i])
            continue;
        if (hit(s.head.sh_link) || (s.links_info() && hit(s.head.sh_info)))
            return true;
        if (s.head.sh_type == SHT_GROUP) {
            auto members = TRY(group_members(image, i));
            if (std::ranges::any_of(members, hit))
                return true;
        }
    }
    const std::vector<uint32_t> tables = TRY(symbol_tables(image));
    for (uint32_t i : tables) {
        if (drop[i])
            continue;
        const SymbolTable table = TRY(SymbolTable::open(image, i));
        for (size_t symbol = 0; symbol < table.size(); ++symbol)
            if (hit(table[symbol].section))
                return true;
    }
    return false;
}

Result<std::vector<uint32_t>> drop_sections(ElfImage &image, const std::vector<bool> &drop)
{
    CHECK(drop.size() == image.sections.size() && !drop.empty() && !drop[0]);
    return Renumbering(image, drop).run();
}

namespace
{

/// The indexes of all sections, in the order of their offsets in the file.
std::vector<uint32_t> order_of_offsets(const ElfImage &image)
{
    std::vector<uint32_t> order(image.sections.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {},
                             [&](uint32_t i) { return image.sections[i].head.sh_offset; });
    return order;
}

/// The length of the first part of the file, in which lay_out() moves nothing.
uint64_t end_of_fixed_part(const ElfImage &image, std::span<const uint32_t> order)
{
    uint64_t fixed = std::max<uint64_t>(image.header_size(), image.segments_end);
    for (uint32_t i : order) {
        const ElfSection &s = image.sections[i];
        const bool stays =
            s.head.sh_offset < fixed || (image.is_linked() && (s.head.sh_flags & SHF_ALLOC));
        if (stays && !s.data.empty())
            fixed = std::max(fixed, s.head.sh_offset + s.data.size());
    }
    return std::min<uint64_t>(fixed, image.file.size());
}

/// Adds a section at an offset of the same alignment as before. This alignment may be less than
/// sh_addralign, which may be wrong, and which some tools ignore.
void move_section(ElfSection &s, ByteParts &out)
{
    if (s.data.empty()) { // it may lie inside another section, so padding could lengthen the file
        s.head.sh_offset = out.size();
        return;
    }
    uint64_t alignment = std::max<uint64_t>(s.head.sh_addralign, 1);
    while (s.head.sh_offset % alignment)
        alignment /= 2;
    s.head.sh_offset = align_up(out.size(), alignment);
    out.add(std::vector<std::byte>(s.head.sh_offset - out.size()));
    if (s.own.empty())
        out.add(s.data);
    else
        out.add(std::move(s.own));
}

} // namespace

ByteParts lay_out(ElfImage &image)
{
    const std::vector<uint32_t> order = order_of_offsets(image);
    const uint64_t fixed = end_of_fixed_part(image, order);
    ByteParts out;
    uint64_t copied = 0; // bytes of the file's first part that are in `out`, or replaced there
    auto copy_until = [&](uint64_t end) {
        out.add(image.file.subspan(copied, end - copied));
        copied = end;
    };
    for (uint32_t i : order) {
        ElfSection &s = image.sections[i];
        if (s.head.sh_type == SHT_NULL)
            continue;
        if (s.head.sh_offset >= fixed) {
            copy_until(fixed);
            move_section(s, out);
        } else if (!s.own.empty()) {
            copy_until(s.head.sh_offset);
            copied += s.own.size();
            out.add(std::move(s.own));
        }
    }
    copy_until(fixed);
    return out;
}

} // namespace btflink
