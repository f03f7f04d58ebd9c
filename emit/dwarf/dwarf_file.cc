// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the debug sections of a file, and resolves addresses in them.
#include "emit/dwarf/dwarf_file.h"

#include "common/elf/compressed_section.h"

#include <algorithm>

namespace btflink::emit
{

namespace
{

constexpr uint32_t note_lto_info = 0x101; // LINUX_ELFNOTE_LTO_INFO of the kernel's elfnote-lto.h

struct NamedSection {
    std::string_view name;
    DebugSection DwarfFile::*section;
};
using F = DwarfFile;
constexpr NamedSection sections[] = {
    {".debug_info", &F::info}, {".debug_abbrev", &F::abbrev},
    {".debug_str", &F::str},   {".debug_line_str", &F::line_str},
    {".debug_addr", &F::addr}, {".debug_str_offsets", &F::str_offsets},
    {".debug_loc", &F::loc},   {".debug_loclists", &F::loclists},
};
constexpr NamedSection sections_of_split[] = {
    {".debug_info.dwo", &F::info},         {".debug_abbrev.dwo", &F::abbrev},
    {".debug_str.dwo", &F::str},           {".debug_str_offsets.dwo", &F::str_offsets},
    {".debug_loc.dwo", &F::loc},           {".debug_loclists.dwo", &F::loclists},
    {".debug_rnglists.dwo", &F::rnglists}, {".debug_cu_index", &F::cu_index},
    {".debug_tu_index", &F::tu_index},
};

} // namespace

/// Null if the section is not needed. In GNU's older compression scheme, .debug_info is called
/// .zdebug_info.
DebugSection *DwarfFile::wanted(std::string_view name)
{
    const bool old = !skeleton_ && name.starts_with(".zdebug_");
    for (const NamedSection &row :
         skeleton_ ? std::span<const NamedSection>(sections_of_split) : sections)
        if (name == row.name || (old && name.substr(2) == row.name.substr(1)))
            return &(this->*row.section);
    return nullptr;
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
    auto symtab = TRY(image_.find_symtab());
    if (symtab) {
        auto count = TRY(image_.symbol_count(symtab));
        symbol_count_ = count;
        symtab_ = image_.sections[symtab].data;
    }
    std::vector<uint32_t> units, types; // sections of split DWARF that have them
    for (uint32_t i = 1; i < image_.sections.size(); ++i) {
        const ElfSection &s = image_.sections[i];
        if (s.head.sh_type == SHT_SYMTAB_SHNDX && s.head.sh_link == symtab)
            xindex_ = s.data;
        if (s.head.sh_type == SHT_NOTE && s.name == ".note.Linux")
            if (Bytes lto = find_note(s.data, "Linux", note_lto_info, image_.order);
                lto.size() >= sizeof(uint32_t))
                lto_note_ = load<uint32_t>(lto.data(), image_.order) != 0;
        if (s.head.sh_type == SHT_NOBITS || (s.head.sh_flags & SHF_ALLOC))
            continue;
        if (skeleton_ && s.name == ".debug_types.dwo")
            types.push_back(i);
        DebugSection *mine = wanted(s.name);
        if (!mine)
            continue;
        if (skeleton_ && mine == &info)
            units.push_back(i);
        // Of several sections with the same name the first counts. Sections of groups hold type
        // units and come last.
        bool grouped = s.head.sh_flags & SHF_GROUP;
        if (mine->present() && (grouped || !mine->grouped))
            continue;
        mine->grouped = grouped;
        TRY(load_section(i, *mine));
    }
    if (units.size() + types.size() > 1)
        TRY(join_units(units, types));
    if (!relocatable())
        return {};
    TRY(check_symbols());
    for (uint32_t i = 1; i < image_.sections.size(); ++i)
        if (image_.sections[i].relocates())
            TRY(attach_relocations(i));
    return {};
}

/// The contents of section `index` of the file.
Result<void> DwarfFile::load_section(uint32_t index, DebugSection &section) const
{
    const ElfSection &s = image_.sections[index];
    section.own.clear();
    section.data = s.data;
    if (!is_compressed(s.name, s.head.sh_flags, s.data))
        return {};
    section.own =
        TRY(decompress(s.data, s.head.sh_flags, image_.is64, image_.order, image_.place(index)));
    section.data = section.own;
    return {};
}

/// Concatenates sections with units. Compilers write each type unit of split DWARF into its own
/// section, so that linkers can drop duplicates.
Result<void> DwarfFile::join_units(const std::vector<uint32_t> &units,
                                   const std::vector<uint32_t> &types)
{
    std::vector<std::byte> all;
    auto add = [&](const std::vector<uint32_t> &parts) -> Result<void> {
        for (uint32_t i : parts) {
            DebugSection part;
            TRY(load_section(i, part));
            const size_t end = all.size();
            all.resize(end + part.data.size());
            std::copy(part.data.begin(), part.data.end(), all.data() + end);
        }
        return {};
    };
    TRY(add(units));
    if (!types.empty())
        types_at = all.size();
    TRY(add(types));
    info.own = std::move(all);
    info.data = info.own;
    return {};
}

Result<void> DwarfFile::attach_relocations(uint32_t rel_index)
{
    const ElfSection &rel = image_.sections[rel_index];
    if (rel.head.sh_info >= image_.sections.size())
        return fail(image_.place(rel_index), strf("is for section %u, but there are %zu",
                                                  rel.head.sh_info, image_.sections.size()));
    const ElfSection &target = image_.sections[rel.head.sh_info];
    DebugSection *mine = target.head.sh_flags & SHF_ALLOC ? nullptr : wanted(target.name);
    if (!mine)
        return {};
    bool first =
        mine->own.empty() ? mine->data.data() == target.data.data() : mine->relocs.size() == 0;
    return first ? read_relocations(rel_index, *mine) : Result<void>();
}

/// Also checks that each relocation fits into `section`.
Result<void> DwarfFile::read_relocations(uint32_t rel_index, DebugSection &section) const
{
    const ElfSection &rel = image_.sections[rel_index];
    if (rel.head.sh_type == sht_crel)
        return fail(image_.place(rel_index), "compact relocations are not supported");
    TRY(image_.reloc_count(rel_index));
    bool rela = rel.head.sh_type == SHT_RELA;
    RelocTable table(rel.data, image_.is64, rela, image_.order);
    // The table may have been sorted, so the offset is approximate.
    auto here = [&](size_t i) { return image_.place(rel_index).at(i * rel.head.sh_entsize); };
    const DebugReloc *known = nullptr; // of the last entry: most have the same type
    for (size_t i = 0; i < table.size(); ++i) {
        RelocEntry r = table[i];
        uint32_t type = image_.reloc_type(r.info);
        if (!known || known->type != type)
            known = find_reloc(type);
        if (!known && type != arch_->reloc_none)
            return fail(here(i),
                        strf("relocation type %u is not expected in debug information of %s", type,
                             arch_->name));
        if (known &&
            (r.offset > section.data.size() || section.data.size() - r.offset < known->size))
            return fail(here(i), strf("relocation is for offset 0x%llx, beyond the section's end",
                                      static_cast<unsigned long long>(r.offset)));
        if (image_.reloc_symbol(r.info) >= symbol_count_)
            return fail(here(i), strf("relocation names symbol %u, but there are %u",
                                      image_.reloc_symbol(r.info), symbol_count_));
    }
    section.relocs = std::move(table);
    section.rela = rela;
    return {};
}

Result<DebugSection> DwarfFile::read_section(uint32_t index) const
{
    DebugSection section;
    TRY(load_section(index, section));
    for (uint32_t i = 1; i < image_.sections.size() && relocatable(); ++i)
        if (image_.sections[i].relocates() && image_.sections[i].head.sh_info == index)
            TRY(read_relocations(i, section));
    return section;
}

Result<void> DwarfFile::check_symbols() const
{
    for (uint32_t i = 0; i < symbol_count_; ++i)
        if (uint32_t section = symbol(i).section; section >= image_.sections.size())
            return fail(where().in(".symtab").at(uint64_t{i} * image_.symbol_size()),
                        strf("symbol %u is in section %u, but there are %zu", i, section,
                             image_.sections.size()));
    return {};
}

/// `index` was checked when relocations were attached.
DwarfFile::Symbol DwarfFile::symbol(uint32_t index) const
{
    const Elf64_Sym symbol = image_.symbol(symtab_, index);
    uint32_t section = symbol.st_shndx;
    if (section == SHN_COMMON)
        return {0, 0, true, false};
    if (section == SHN_XINDEX)
        section = (size_t{index} + 1) * 4 <= xindex_.size()
                      ? load<uint32_t>(xindex_.data() + size_t{index} * 4, image_.order)
                      : 0;
    else if (section >= SHN_LORESERVE)
        section = 0;
    return {symbol.st_value, section, false, ELF64_ST_BIND(symbol.st_info) == STB_WEAK};
}

const DebugReloc *DwarfFile::find_reloc(uint32_t type) const
{
    for (const DebugReloc &candidate : arch_->debug_relocs)
        if (candidate.type == type)
            return &candidate;
    return nullptr;
}

uint64_t DwarfFile::difference(const DebugSection &section, size_t reloc, uint64_t raw) const
{
    uint64_t value = raw, offset = section.relocs.offset(reloc);
    for (; section.relocs.is_at(reloc, offset); ++reloc) {
        RelocEntry r = section.relocs[reloc];
        const DebugReloc *known = find_reloc(image_.reloc_type(r.info));
        if (!known) // R_*_NONE
            continue;
        uint64_t operand = symbol(image_.reloc_symbol(r.info)).value +
                           static_cast<uint64_t>(r.addend); // RELA only
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
        const DebugReloc *known = find_reloc(image_.reloc_type(r.info));
        if (!known || (i && section.relocs.offset(i - 1) == r.offset))
            continue; // relocated() applies all relocations of one place together
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
    const DebugReloc *known = find_reloc(image_.reloc_type(r.info));
    if (!known || known->op != RelocOp::set)
        return std::nullopt;
    ref.symbol = image_.reloc_symbol(r.info);
    Symbol sym = symbol(ref.symbol);
    ref.addend = section.rela ? r.addend : static_cast<int64_t>(raw);
    ref.offset = sym.value + static_cast<uint64_t>(ref.addend);
    ref.section = sym.section;
    ref.common = sym.common;
    ref.weak = sym.weak;
    return ref;
}

} // namespace btflink::emit
