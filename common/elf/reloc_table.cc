// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Decodes relocations, and sorts them if a linker left them out of order.
#include "common/elf/arch.h"
#include "common/elf/elf_image.h"

#include <algorithm>
#include <numeric>

namespace btflink
{

RelocTable::RelocTable(Bytes raw, bool is64, bool rela, ByteOrder order)
    : raw_(raw), is64_(is64), rela_(rela), order_(order)
{
    if (is64)
        entry_size_ = rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    else
        entry_size_ = rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
    count_ = raw.size() / entry_size_;
    // Assemblers write the entries in order; linkers do not always.
    bool in_order = true;
    uint64_t last = 0;
    for (size_t i = 0; i < count_ && in_order; ++i) {
        in_order = last <= offset(i);
        last = offset(i);
    }
    if (in_order)
        return;
    std::vector<size_t> index(count_);
    std::iota(index.begin(), index.end(), size_t{0});
    std::ranges::stable_sort(index, [&](size_t a, size_t b) { return offset(a) < offset(b); });
    for (size_t i : index) {
        Bytes entry = raw_.subspan(i * entry_size_, entry_size_);
        sorted_.insert(sorted_.end(), entry.begin(), entry.end());
    }
    raw_ = sorted_;
}

Result<RelocTable> RelocTable::read(const ElfImage &image, uint32_t section)
{
    TRY(image.reloc_count(section));
    const ElfSection &s = image.sections[section];
    return RelocTable(s.data, image.is64, s.head.sh_type == SHT_RELA, image.order);
}

size_t RelocTable::find(uint64_t at) const
{
    size_t low = 0, high = count_;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (offset(middle) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Result<AbsoluteRelocs> AbsoluteRelocs::open(const ElfImage &image)
{
    AbsoluteRelocs out;
    out.image_ = &image;
    if (const uint32_t symtab = TRY(image.find_symtab()))
        out.symbols_ = TRY(image.symbol_count(symtab));
    for (uint32_t i = 1; i < image.sections.size(); ++i)
        if (image.sections[i].relocates())
            out.tables_.emplace_back(image.sections[i].head.sh_info, i);
    std::ranges::sort(out.tables_);
    return out;
}

Result<std::vector<Reloc>> AbsoluteRelocs::of(uint32_t section, Bytes contents, uint8_t width) const
{
    std::vector<Reloc> relocs;
    for (auto i = std::ranges::lower_bound(tables_, std::pair(section, uint32_t{0}));
         i != tables_.end() && i->first == section; ++i)
        TRY(add(i->second, contents, width, relocs));
    if (!std::ranges::is_sorted(relocs, {}, &Reloc::offset)) // several tables apply to the section
        std::ranges::stable_sort(relocs, {}, &Reloc::offset);
    return relocs;
}

/// Appends the relocations in section `table`.
Result<void> AbsoluteRelocs::add(uint32_t table, Bytes contents, uint8_t width,
                                 std::vector<Reloc> &out) const
{
    const ElfImage &image = *image_;
    const RelocTable entries = TRY(RelocTable::read(image, table));
    const Elf64_Shdr &head = image.sections[table].head;
    const Arch *arch = find_arch(image.head.e_machine, image.address_size());
    if (out.empty()) // with many small tables, reserve() would copy `out` for each of them
        out.reserve(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
        // If RelocTable had to sort the entries, this may be the position of another one.
        auto here = [&] { return image.place(table).at(i * head.sh_entsize); };
        const RelocEntry entry = entries[i];
        const uint32_t type = image.reloc_type(entry.info);
        if (type == 0) // R_*_NONE: written by `ld.lld -r` if it discards the target
            continue;
        if (!arch)
            return fail(here(), strf("relocation of type %u: unsupported architecture (ELF machine "
                                     "%u, %u-bit)",
                                     type, image.head.e_machine, image.address_size() * 8));
        if (!is_absolute(*arch, type))
            return fail(here(), strf("relocation of type %u is not an absolute address", type));
        Reloc reloc{entry.offset, image.reloc_symbol(entry.info), entry.addend};
        if (reloc.offset > contents.size() || width > contents.size() - reloc.offset)
            return fail(here(), "relocation is outside of its section");
        if (reloc.symbol >= symbols_)
            return fail(here(), strf("relocation names symbol %u, but there are %u", reloc.symbol,
                                     symbols_));
        const std::byte *place = contents.data() + reloc.offset;
        if (head.sh_type == SHT_REL)
            reloc.addend = width == 8 ? static_cast<int64_t>(load<uint64_t>(place, image.order))
                                      : static_cast<int32_t>(load<uint32_t>(place, image.order));
        out.push_back(reloc);
    }
    return {};
}

} // namespace btflink
