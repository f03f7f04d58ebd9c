// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks all symbols of a table once, and decodes them one by one.
#include "common/elf/elf_image.h"

namespace btflink
{

namespace
{

/// Error: the names of symbols add up to so many characters that a pass over all names would take
/// too long, because many names are tails of one long string. Looks at symbols only if a string is
/// very long.
Result<void> check_name_lengths(const SymbolTable &symbols, std::string_view names,
                                const Where &where)
{
    constexpr size_t very_long = 4096;
    if (!may_have_string(names, very_long))
        return {};
    const uint64_t most = (uint64_t{64} << 20) + 4 * names.size();
    uint64_t sum = 0;
    for (size_t i = 0; i < symbols.size(); ++i)
        if (sum += symbols[i].name().size(); sum > most)
            return fail(
                where, strf("the names of symbols add up to more than %llu characters", ull(most)));
    return {};
}

} // namespace

Result<SymbolTable> SymbolTable::open(const ElfImage &image, uint32_t section)
{
    SymbolTable out;
    out.size_ = TRY(image.symbol_count(section));
    const ElfSection &table = image.sections[section];
    const Where where = image.place(section);
    out.records_ = table.data;
    out.sections_ = image.sections.size();
    out.is64_ = image.is64;
    out.order_ = image.order;
    out.machine_ = image.head.e_machine;
    for (uint32_t i = 1; i < out.sections_; ++i) {
        const ElfSection &s = image.sections[i];
        if (s.head.sh_type != SHT_SYMTAB_SHNDX || s.head.sh_link != section)
            continue;
        if (s.data.size() / 4 < out.size_)
            return fail(image.place(i),
                        strf("%zu bytes are too few for section indexes of %zu symbols",
                             s.data.size(), out.size_));
        out.extended_ = s.data;
        out.extended_section_ = i;
    }
    if (table.head.sh_link < out.sections_)
        out.names_ = as_text(image.sections[table.head.sh_link].data);
    if (out.size_ && !out.names_.ends_with('\0'))
        return fail(where, "the table of symbols' names is missing, or does not end with NUL");
    for (size_t i = 0; i < out.size_; ++i) {
        const Elf64_Sym symbol = out.record(i);
        if (symbol.st_name >= out.names_.size())
            return fail(where.at(i * image.symbol_size()),
                        strf("name of symbol %zu at %u is not in the %zu bytes of names", i,
                             symbol.st_name, out.names_.size()));
        uint32_t index = symbol.st_shndx;
        if (index == SHN_XINDEX && out.extended_.empty())
            return fail(where.at(i * image.symbol_size()),
                        strf("symbol %zu has no extended section index", i));
        if (index == SHN_XINDEX)
            index = load<uint32_t>(out.extended_.data() + i * 4, out.order_);
        else if (index >= SHN_LORESERVE)
            continue;
        if (index >= out.sections_)
            return fail(
                where.at(i * image.symbol_size()),
                strf("symbol %zu is in section %u, but there are %zu", i, index, out.sections_));
    }
    TRY(check_name_lengths(out, out.names_, where));
    return out;
}

Symbol SymbolTable::operator[](size_t number) const
{
    const Elf64_Sym symbol = record(number);
    Symbol s{symbol.st_name < names_.size() ? names_.data() + symbol.st_name : "",
             symbol.st_value,
             symbol.st_size,
             symbol.st_shndx,
             Home::section,
             static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
             static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info))};
    if (machine_ == EM_ARM && s.type == STT_FUNC)
        s.value &= ~uint64_t{1}; // Thumb bit; debug information has the address without it
    if (s.section >= SHN_LORESERVE) {
        if (s.section == SHN_XINDEX)
            s.section =
                extended_.empty() ? 0 : load<uint32_t>(extended_.data() + number * 4, order_);
        else
            s.home = is_common(symbol.st_shndx) ? Home::common : Home::absolute;
    }
    if (s.home != Home::section || s.section >= sections_)
        s.section = 0;
    if (s.home == Home::section && s.section == 0)
        s.home = Home::undefined;
    return s;
}

} // namespace btflink
