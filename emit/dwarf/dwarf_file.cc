// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the debug sections of a file, and resolves addresses in them.
#include "emit/dwarf/dwarf_file.h"

#include <algorithm>
#include <utility>

namespace btflink::emit
{

namespace
{

constexpr uint32_t note_lto_info = 0x101; // LINUX_ELFNOTE_LTO_INFO of the kernel's elfnote-lto.h

using F = DwarfFile;
constexpr NamedSection sections[] = {
    {".debug_info", &F::info},         {".debug_types", &F::types},
    {".debug_abbrev", &F::abbrev},     {".debug_str", &F::str},
    {".debug_line_str", &F::line_str}, {".debug_addr", &F::addr},
    {".debug_loc", &F::loc},           {".debug_str_offsets", &F::str_offsets},
    {".debug_loclists", &F::loclists},
};
constexpr NamedSection sections_of_split[] = {
    {".debug_info.dwo", &F::info},         {".debug_types.dwo", &F::types},
    {".debug_abbrev.dwo", &F::abbrev},     {".debug_str.dwo", &F::str},
    {".debug_loc.dwo", &F::loc},           {".debug_str_offsets.dwo", &F::str_offsets},
    {".debug_loclists.dwo", &F::loclists}, {".debug_rnglists.dwo", &F::rnglists},
    {".debug_cu_index", &F::cu_index},     {".debug_tu_index", &F::tu_index},
};

/// In GNU's older compression scheme, .debug_info is called .zdebug_info.
bool has_name(const ElfSection &section, std::string_view name)
{
    return section.name == name ||
           (section.name.starts_with(".zdebug_") && section.name.substr(2) == name.substr(1));
}

/// The strings up to the last NUL byte; what follows it is not a string.
Bytes up_to_last_nul(Bytes strings)
{
    while (!strings.empty() && strings.back() != std::byte{0})
        strings = strings.first(strings.size() - 1);
    return strings;
}

} // namespace

std::span<const NamedSection> DwarfFile::plain_sections()
{
    return sections;
}

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(Bytes bytes, const Where &where,
                                                   const DwarfFile *skeleton)
{
    auto image = TRY(read_elf(bytes, where));
    std::unique_ptr<DwarfFile> file(new DwarfFile);
    file->image_ = std::move(image);
    file->skeleton_ = skeleton;
    uint8_t address_size = file->image_.is64 ? 8 : 4;
    const Elf64_Ehdr &head = file->image_.head;
    file->arch_ = find_arch(head.e_machine, address_size);
    if (head.e_machine == EM_MIPS && address_size == 4 && (head.e_flags & EF_MIPS_ABI2))
        return fail(where, "unsupported ABI (MIPS n32)"); // pointers of o32, relocations of n64
    if (!file->arch_)
        return fail(where, strf("unsupported architecture (ELF machine %u, %u-bit)", head.e_machine,
                                address_size * 8));
    TRY(file->find_sections());
    return file;
}

Result<void> DwarfFile::find_sections()
{
    const Bytes lto = find_note(image_, "Linux", note_lto_info);
    lto_note_ = lto.size() >= sizeof(uint32_t) && load<uint32_t>(lto.data(), image_.order) != 0;
    std::vector<uint32_t> candidates; // debug sections
    for (uint32_t i = 1; i < image_.sections.size(); ++i) {
        const ElfSection &s = image_.sections[i];
        if (s.in_file() && !s.data.empty() && !(s.head.sh_flags & SHF_ALLOC) &&
            (s.name.starts_with(".debug_") || s.name.starts_with(".zdebug_")))
            candidates.push_back(i);
    }
    TRY(load_sections(candidates));
    if (!relocatable())
        return {};
    if (const uint32_t symtab = TRY(image_.find_symtab()))
        symbols_ = TRY(SymbolTable::open(image_, symtab));
    for (uint32_t i = 1; i < image_.sections.size(); ++i)
        if (image_.sections[i].relocates())
            TRY(attach_relocations(i));
    for (const NamedSection &row : sections)
        if (DebugSection &section = this->*row.section; !section.own_relocs.empty())
            section.relocs = RelocTable(section.own_relocs, image_.is64, section.rela, order());
    return {};
}

/// Loads the section of each name. If several sections have the same name, the first that is not in
/// a group is loaded; if all are in groups, the first of them. `info` and `types` also get all
/// sections in groups, because type units are in groups. In split DWARF, groups do not matter:
/// `info` and `types` get all sections of their names, and the others the first; then the sections
/// of `types` move to the end of `info`.
Result<void> DwarfFile::load_sections(const std::vector<uint32_t> &candidates)
{
    const std::span<const NamedSection> names =
        skeleton_ ? std::span<const NamedSection>(sections_of_split) : sections;
    for (const NamedSection &row : names) {
        DebugSection &section = this->*row.section;
        const bool has_units = &section == &info || &section == &types;
        for (bool grouped : {false, true})
            for (uint32_t i : candidates) {
                const ElfSection &s = image_.sections[i];
                if (grouped == (!skeleton_ && (s.head.sh_flags & SHF_GROUP)) &&
                    has_name(s, row.name) &&
                    (!section.present() || (has_units && (skeleton_ || grouped))))
                    TRY(append_section(i, section));
            }
    }
    for (DebugSection *strings : {&str, &line_str}) {
        strings->data = up_to_last_nul(strings->data); // so that readers need not search for ends
        // With half the length, may_have_string() finds every string longer than usual_string.
        has_long_strings_ |= may_have_string(as_text(strings->data), usual_string / 2);
        // In large programs of C++ many long names occur, each in several units.
        string_reads.allow(16 * uint64_t{strings->data.size()});
    }
    if (!skeleton_ || !types.present())
        return {};
    types_at = info.data.size();
    for (const DebugSection::Piece &piece : std::exchange(types, {}).pieces)
        TRY(append_section(piece.index, info));
    return {};
}

/// Appends the contents of section `index` of the file.
Result<void> DwarfFile::append_section(uint32_t index, DebugSection &section) const
{
    SectionContents added = TRY(image_.contents(index));
    section.pieces.push_back({index, section.data.size()});
    if (section.pieces.size() == 1) {
        section.data = added.bytes;
        section.unpacked = std::move(added.owned);
        return {};
    }
    if (section.joined.empty())
        section.joined.assign(section.data.begin(), section.data.end());
    const size_t end = section.joined.size();
    section.joined.resize(end + added.bytes.size());
    std::ranges::copy(added.bytes, section.joined.data() + end);
    section.data = section.joined;
    return {};
}

/// Gives the relocations in section `rel_index` to the debug section that they apply to, if any.
Result<void> DwarfFile::attach_relocations(uint32_t rel_index)
{
    const ElfSection &rel = image_.sections[rel_index];
    if (rel.head.sh_info >= image_.sections.size())
        return fail(image_.place(rel_index), strf("is for section %u, but there are %zu",
                                                  rel.head.sh_info, image_.sections.size()));
    for (const NamedSection &row : sections) {
        DebugSection &section = this->*row.section;
        auto piece =
            std::ranges::find(section.pieces, rel.head.sh_info, &DebugSection::Piece::index);
        if (piece == section.pieces.end())
            continue;
        const bool is_joined = section.pieces.size() > 1, rela = rel.head.sh_type == SHT_RELA;
        if (!is_joined && section.relocs.size())
            continue; // of several tables the first counts
        const bool is_last = std::next(piece) == section.pieces.end();
        const uint64_t end = is_last ? section.data.size() : std::next(piece)->begin;
        RelocTable table = TRY(read_relocations(rel_index, end - piece->begin));
        if (!section.own_relocs.empty() && section.rela != rela)
            return fail(image_.place(rel_index),
                        "mixes SHT_REL and SHT_RELA with an earlier table of relocations");
        section.rela = rela;
        if (is_joined)
            append_relocations(rel, piece->begin, section.own_relocs);
        else
            section.relocs = std::move(table);
    }
    return {};
}

/// Appends the relocations of the table `rel` to `out`. `begin`: where the section that they
/// relocate begins in the joined section.
void DwarfFile::append_relocations(const ElfSection &rel, uint64_t begin,
                                   std::vector<std::byte> &out) const
{
    const size_t start = out.size();
    out.resize(start + rel.data.size());
    std::ranges::copy(rel.data, out.data() + start);
    // An entry begins with its offset.
    for (std::byte *p = out.data() + start; p < out.data() + out.size(); p += rel.head.sh_entsize)
        if (image_.is64)
            store(p, load<uint64_t>(p, order()) + begin, order());
        else
            store(p, load<uint32_t>(p, order()) + static_cast<uint32_t>(begin), order());
}

/// Reads a table of relocations for a section of `size` bytes. Checks that the relocations are of
/// known types, lie inside the section, and name symbols that exist. Also limits how many may have
/// one place, because difference() looks at all of them each time it is called for the place.
Result<RelocTable> DwarfFile::read_relocations(uint32_t rel_index, uint64_t size) const
{
    const ElfSection &rel = image_.sections[rel_index];
    RelocTable table = TRY(RelocTable::read(image_, rel_index));
    // The table may have been sorted, so the offset is approximate.
    auto here = [&](size_t i) { return image_.place(rel_index).at(i * rel.head.sh_entsize); };
    constexpr size_t most_at_place = 16; // compilers write two: an addition and a subtraction
    const DebugReloc *known = nullptr;   // of the last entry: most have the same type
    for (size_t i = 0; i < table.size(); ++i) {
        RelocEntry r = table[i];
        uint32_t type = image_.reloc_type(r.info);
        if (!known || known->type != type)
            known = find_reloc(*arch_, type);
        if (!known && type != arch_->reloc_none)
            return fail(here(i),
                        strf("relocation type %u is not expected in debug information of %s", type,
                             arch_->name));
        if (known && (r.offset > size || size - r.offset < known->size))
            return fail(here(i), strf("relocation is for offset 0x%llx, beyond the section's end",
                                      ull(r.offset)));
        if (image_.reloc_symbol(r.info) >= symbols_.size())
            return fail(here(i), strf("relocation names symbol %u, but there are %zu",
                                      image_.reloc_symbol(r.info), symbols_.size()));
        if (arch_->reloc_pairs && i >= most_at_place && table.offset(i - most_at_place) == r.offset)
            return fail(here(i), strf("more than %zu relocations are for offset 0x%llx",
                                      most_at_place, ull(r.offset)));
    }
    return table;
}

uint64_t DwarfFile::difference(const DebugSection &section, size_t reloc, uint64_t raw) const
{
    uint64_t value = raw, offset = section.relocs.offset(reloc);
    for (; section.relocs.is_at(reloc, offset); ++reloc) {
        RelocEntry r = section.relocs[reloc];
        const DebugReloc *known = find_reloc(*arch_, image_.reloc_type(r.info));
        if (!known) // R_*_NONE
            continue;
        uint64_t operand = symbols_.value(image_.reloc_symbol(r.info)) +
                           static_cast<uint64_t>(r.addend); // with reloc_pairs always SHT_RELA
        value = known->op == RelocOp::set   ? operand
                : known->op == RelocOp::add ? value + operand
                                            : value - operand;
        if (known->size < 8)
            value &= (uint64_t{1} << known->size * 8) - 1;
    }
    return value;
}

void DwarfFile::relocate(const DebugSection &section, std::span<std::byte> contents) const
{
    for (size_t i = 0; i < section.relocs.size(); ++i) {
        const RelocEntry r = section.relocs[i];
        const DebugReloc *known = find_reloc(*arch_, image_.reloc_type(r.info));
        if (!known || (i && section.relocs.offset(i - 1) == r.offset))
            continue; // relocated() is called once for all relocations of one place
        std::byte *at = contents.data() + r.offset;
        auto apply = [&]<typename T>(T old) {
            store(at, static_cast<T>(relocated(section, i, old)), order());
        };
        if (known->size == 8)
            apply(load<uint64_t>(at, order()));
        else if (known->size == 4)
            apply(load<uint32_t>(at, order()));
        else if (known->size == 2)
            apply(load<uint16_t>(at, order()));
    }
}

uint64_t DwarfFile::value_at(const DebugSection &section, uint64_t offset, uint64_t raw) const
{
    const size_t i = section.relocs.find(offset);
    return section.relocs.is_at(i, offset) ? relocated(section, i, raw) : raw;
}

std::optional<AddressRef> DwarfFile::indexed_address(uint64_t index, uint64_t base) const
{
    const uint64_t size = addr.data.size();
    if (index > size || base > size)
        return std::nullopt;
    return address_at(addr, base + index * arch_->address_size);
}

std::optional<AddressRef> DwarfFile::address_at(const DebugSection &section, uint64_t offset) const
{
    uint8_t size = arch_->address_size;
    if (offset > section.data.size() || section.data.size() - offset < size)
        return std::nullopt;
    const std::byte *p = section.data.data() + offset;
    uint64_t raw = size == 8 ? load<uint64_t>(p, order()) : load<uint32_t>(p, order());
    AddressRef ref;
    if (!relocatable()) {
        ref.addend = static_cast<int64_t>(raw);
        ref.offset = raw;
        ref.is_final = true;
        return ref;
    }
    size_t i = section.relocs.find(offset);
    if (!section.relocs.is_at(i, offset))
        return std::nullopt;
    RelocEntry r = section.relocs[i];
    const DebugReloc *known = find_reloc(*arch_, image_.reloc_type(r.info));
    if (!known || known->op != RelocOp::set)
        return std::nullopt;
    ref.symbol = image_.reloc_symbol(r.info);
    const Symbol symbol = symbols_[ref.symbol];
    ref.addend = section.rela ? r.addend : static_cast<int64_t>(raw);
    ref.offset = symbols_.value(ref.symbol) + static_cast<uint64_t>(ref.addend);
    ref.section = symbol.section;
    ref.common = symbol.home == Home::common;
    ref.weak = symbol.binding == STB_WEAK;
    return ref;
}

} // namespace btflink::emit
