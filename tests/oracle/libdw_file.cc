// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "tests/oracle/libdw_file.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>
#include <elf.h>

namespace btflink::oracle
{

namespace
{

constexpr uint32_t note_lto_info = 0x101; // LINUX_ELFNOTE_LTO_INFO of the kernel's elfnote-lto.h

/// The debug sections that we or libdw on our behalf look into; the rest is not relocated.
bool is_read(std::string_view name)
{
    for (std::string_view wanted :
         {".debug_info", ".debug_types", ".debug_abbrev", ".debug_str", ".debug_line_str",
          ".debug_str_offsets", ".debug_addr", ".debug_loc", ".debug_loclists"})
        if (name == wanted)
            return true;
    return false;
}

std::string elf_reason()
{
    return elf_errmsg(-1) ? elf_errmsg(-1) : "unknown error";
}

} // namespace

Result<std::unique_ptr<LibdwFile>> LibdwFile::open(std::span<std::byte> bytes, Where where)
{
    std::unique_ptr<LibdwFile> file(new LibdwFile(std::move(where)));
    const Where &place = file->where_;
    elf_version(EV_CURRENT);
    if (bytes.size() < EI_NIDENT || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
        return fail(place, "not an ELF file");
    file->elf_ = elf_memory(reinterpret_cast<char *>(bytes.data()), bytes.size());
    GElf_Ehdr ehdr;
    if (!file->elf_ || elf_kind(file->elf_) != ELF_K_ELF || !gelf_getehdr(file->elf_, &ehdr))
        return fail(place, "not a readable ELF file: " + elf_reason());
    file->order_ = ehdr.e_ident[EI_DATA] == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
    uint8_t address_size = ehdr.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    file->arch_ = find_arch(ehdr.e_machine, address_size);
    if (!file->arch_)
        return fail(place, strf("unsupported architecture (ELF machine %u, %u-bit)", ehdr.e_machine,
                                address_size * 8));
    file->relocatable_ = ehdr.e_type == ET_REL;
    RETURN_IF_ERROR(file->read_symbols());
    RETURN_IF_ERROR(file->read_sections());

    bool has_info = std::any_of(file->sections_.begin(), file->sections_.end(), [](auto &s) {
        return (s.name == ".debug_info" || s.name == ".zdebug_info") && s.size;
    });
    if (has_info) {
        file->dwarf_ = dwarf_begin_elf(file->elf_, DWARF_C_READ, nullptr);
        if (!file->dwarf_)
            return fail(place.in(".debug_info"),
                        std::string("cannot read DWARF: ") + dwarf_errmsg(-1));
    }
    return file;
}

LibdwFile::~LibdwFile()
{
    if (dwarf_)
        dwarf_end(dwarf_);
    if (elf_)
        elf_end(elf_);
}

Result<void> LibdwFile::read_symbols()
{
    Elf_Scn *symtab = nullptr, *xindex = nullptr;
    GElf_Shdr shdr;
    for (Elf_Scn *scn = nullptr; (scn = elf_nextscn(elf_, scn));) {
        if (!gelf_getshdr(scn, &shdr))
            return fail(where_, "cannot read section headers: " + elf_reason());
        if (shdr.sh_type == SHT_SYMTAB && !symtab)
            symtab = scn;
        if (shdr.sh_type == SHT_SYMTAB_SHNDX && !xindex)
            xindex = scn;
    }
    if (!symtab)
        return {};
    Elf_Data *data = elf_getdata(symtab, nullptr);
    Elf_Data *extended = xindex ? elf_getdata(xindex, nullptr) : nullptr;
    if (!data || !gelf_getshdr(symtab, &shdr) || shdr.sh_entsize == 0)
        return fail(where_.in(".symtab"), "cannot read symbols: " + elf_reason());
    size_t section_count;
    if (elf_getshdrnum(elf_, &section_count) != 0)
        return fail(where_, "cannot count the sections: " + elf_reason());
    auto count = static_cast<int>(data->d_size / shdr.sh_entsize);
    symbols_.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        GElf_Sym sym;
        Elf32_Word section = 0;
        if (!gelf_getsymshndx(data, extended, i, &sym, &section))
            return fail(where_.in(".symtab"),
                        strf("cannot read symbol %d: %s", i, elf_reason().c_str()));
        bool common = sym.st_shndx == SHN_COMMON;
        if (sym.st_shndx != SHN_XINDEX)
            section = sym.st_shndx < SHN_LORESERVE ? sym.st_shndx : 0;
        if (section >= section_count)
            return fail(
                where_.in(".symtab").at(static_cast<uint64_t>(i) * shdr.sh_entsize),
                strf("symbol %d is in section %u, but there are %zu", i, section, section_count));
        symbols_.push_back({sym.st_value, section, common, GELF_ST_BIND(sym.st_info) == STB_WEAK});
    }
    return {};
}

Result<void> LibdwFile::read_sections()
{
    size_t names;
    if (elf_getshdrstrndx(elf_, &names) != 0)
        return fail(where_, "cannot read the section name table: " + elf_reason());
    struct RelSection {
        Elf_Scn *scn;
        GElf_Shdr shdr;
    };
    std::vector<RelSection> relocations;
    sections_.emplace_back();
    for (Elf_Scn *scn = nullptr; (scn = elf_nextscn(elf_, scn));) {
        GElf_Shdr shdr;
        if (!gelf_getshdr(scn, &shdr))
            return fail(where_, "cannot read section headers: " + elf_reason());
        const char *name = elf_strptr(elf_, names, shdr.sh_name);
        if (!name)
            return fail(where_, strf("section %zu has no readable name", elf_ndxscn(scn)));
        sections_.push_back({name, shdr.sh_type, shdr.sh_flags, shdr.sh_addr, shdr.sh_size});
        std::string_view view = name;
        if (shdr.sh_type == SHT_REL || shdr.sh_type == SHT_RELA)
            relocations.push_back({scn, shdr});
        if (view == ".note.Linux" && shdr.sh_type == SHT_NOTE) {
            if (Elf_Data *notes = elf_getdata(scn, nullptr)) {
                GElf_Nhdr note;
                size_t name_at, desc_at;
                for (size_t at = 0; (at = gelf_getnote(notes, at, &note, &name_at, &desc_at)) > 0;)
                    if (note.n_type == note_lto_info && note.n_descsz >= 4)
                        lto_note_ = load<uint32_t>(static_cast<std::byte *>(notes->d_buf) + desc_at,
                                                   order_) != 0;
            }
        }
        bool gnu_compressed = view.starts_with(".zdebug_");
        if (gnu_compressed && elf_compress_gnu(scn, 0, 0) < 0)
            return fail(where_.in(view), "cannot decompress: " + elf_reason());
        if ((shdr.sh_flags & SHF_COMPRESSED) && is_read(view) && elf_compress(scn, 0, 0) < 0)
            return fail(where_.in(view), "cannot decompress: " + elf_reason());
        DebugSection *kept = view == ".debug_info" || view == ".zdebug_info" ? &info_
                             : view == ".debug_addr"                         ? &addr_
                                                                             : nullptr;
        // Of several sections of one name libdw reads the first, and so do we.
        if (kept && !kept->data && shdr.sh_type != SHT_NOBITS) {
            Elf_Data *data = elf_getdata(scn, nullptr);
            if (!data)
                return fail(where_.in(view), "cannot read: " + elf_reason());
            kept->data = static_cast<unsigned char *>(data->d_buf);
            kept->size = data->d_size;
        }
    }
    if (!relocatable_)
        return {};
    for (const RelSection &rel : relocations) {
        if (rel.shdr.sh_info >= sections_.size())
            return fail(where_, strf("relocation section %zu is for section %u, but there are %zu",
                                     elf_ndxscn(rel.scn), rel.shdr.sh_info, sections_.size()));
        std::string_view name = sections_[rel.shdr.sh_info].name;
        std::string plain(name);
        if (name.starts_with(".zdebug_"))
            plain = "." + std::string(name.substr(2));
        if (!is_read(plain))
            continue;
        std::vector<Reloc> *keep = plain == ".debug_info"   ? &info_.relocs
                                   : plain == ".debug_addr" ? &addr_.relocs
                                                            : nullptr;
        if (keep && !keep->empty())
            keep = nullptr; // a second section of that name
        RETURN_IF_ERROR(relocate(rel.scn, rel.shdr, keep));
    }
    return {};
}

Result<void> LibdwFile::relocate(Elf_Scn *rel_scn, const GElf_Shdr &rel, std::vector<Reloc> *keep)
{
    Elf_Scn *target_scn = elf_getscn(elf_, rel.sh_info);
    Elf_Data *target = target_scn ? elf_getdata(target_scn, nullptr) : nullptr;
    Elf_Data *relocs = elf_getdata(rel_scn, nullptr);
    Where place = where_.in(sections_[elf_ndxscn(rel_scn)].name);
    if (!target || !relocs || rel.sh_entsize == 0)
        return fail(place, "cannot read relocations: " + elf_reason());
    bool rela = rel.sh_type == SHT_RELA;
    auto *bytes = static_cast<std::byte *>(target->d_buf);
    auto count = static_cast<int>(relocs->d_size / rel.sh_entsize);
    if (keep)
        keep->reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        GElf_Rela r;
        Where here = place.at(static_cast<uint64_t>(i) * rel.sh_entsize);
        if (rela) {
            if (!gelf_getrela(relocs, i, &r))
                return fail(here, "cannot read relocation: " + elf_reason());
        } else {
            GElf_Rel plain;
            if (!gelf_getrel(relocs, i, &plain))
                return fail(here, "cannot read relocation: " + elf_reason());
            r = {plain.r_offset, plain.r_info, 0};
        }
        auto type = static_cast<uint32_t>(GELF_R_TYPE(r.r_info));
        auto symbol = static_cast<uint32_t>(GELF_R_SYM(r.r_info));
        if (type == arch_->reloc_none)
            continue;
        const DebugReloc *known = nullptr;
        for (const DebugReloc &candidate : arch_->debug_relocs)
            if (candidate.type == type)
                known = &candidate;
        if (!known)
            return fail(here, strf("relocation type %u is not expected in debug information of %s",
                                   type, arch_->name));
        if (r.r_offset > target->d_size || target->d_size - r.r_offset < known->size)
            return fail(here, strf("relocation is for offset 0x%llx, beyond the section's end",
                                   static_cast<unsigned long long>(r.r_offset)));
        if (symbol >= symbols_.size())
            return fail(here, strf("relocation names symbol %u, but there are %zu", symbol,
                                   symbols_.size()));
        if (known->size == 0)
            continue;
        std::byte *at = bytes + r.r_offset;
        if (!rela)
            r.r_addend = known->size == 8 ? static_cast<int64_t>(load<uint64_t>(at, order_))
                                          : static_cast<int32_t>(load<uint32_t>(at, order_));
        const Symbol &sym = symbols_[symbol];
        uint64_t value = (sym.common ? 0 : sym.value) + static_cast<uint64_t>(r.r_addend);
        if (known->op != RelocOp::set) {
            uint64_t there = known->size == 8   ? load<uint64_t>(at, order_)
                             : known->size == 4 ? load<uint32_t>(at, order_)
                                                : load<uint16_t>(at, order_);
            value = known->op == RelocOp::add ? there + value : there - value;
        }
        if (known->size == 8)
            store<uint64_t>(at, value, order_);
        else if (known->size == 4)
            store<uint32_t>(at, static_cast<uint32_t>(value), order_);
        else
            store<uint16_t>(at, static_cast<uint16_t>(value), order_);
        if (keep)
            keep->push_back({r.r_offset, r.r_addend, symbol});
    }
    if (keep)
        std::stable_sort(keep->begin(), keep->end(),
                         [](const Reloc &a, const Reloc &b) { return a.offset < b.offset; });
    return {};
}

std::optional<AddressRef> LibdwFile::lookup(const DebugSection &section, uint64_t offset,
                                            uint8_t size) const
{
    if (offset > section.size || section.size - offset < size)
        return std::nullopt;
    if (!relocatable_) {
        auto *p = reinterpret_cast<const std::byte *>(section.data) + offset;
        uint64_t value = size == 8 ? load<uint64_t>(p, order_) : load<uint32_t>(p, order_);
        return AddressRef{0, static_cast<int64_t>(value), value, 0, false, true};
    }
    auto it = std::lower_bound(section.relocs.begin(), section.relocs.end(), offset,
                               [](const Reloc &r, uint64_t at) { return r.offset < at; });
    if (it == section.relocs.end() || it->offset != offset)
        return std::nullopt;
    const Symbol &symbol = symbols_[it->symbol];
    uint64_t at = (symbol.common ? 0 : symbol.value) + static_cast<uint64_t>(it->addend);
    return AddressRef{it->symbol,    it->addend,  at,   symbol.section,
                      symbol.common, symbol.weak, false};
}

std::optional<AddressRef> LibdwFile::address_in_info(const unsigned char *operand) const
{
    if (operand < info_.data || operand >= info_.data + info_.size)
        return std::nullopt;
    return lookup(info_, static_cast<uint64_t>(operand - info_.data), arch_->address_size);
}

std::optional<AddressRef> LibdwFile::address_in_pool(uint64_t index,
                                                     const Dwarf_Attribute &attr) const
{
    if (index > addr_.size)
        return std::nullopt;
    Dwarf_Die unit;
    Dwarf_Attribute base_attr;
    Dwarf_Word addr_base = 0;
    if (!dwarf_cu_die(attr.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
        return std::nullopt;
    if (dwarf_attr(&unit, DW_AT_addr_base, &base_attr) ||
        dwarf_attr(&unit, DW_AT_GNU_addr_base, &base_attr))
        dwarf_formudata(&base_attr, &addr_base);
    if (addr_base > addr_.size)
        return std::nullopt;
    return lookup(addr_, addr_base + index * arch_->address_size, arch_->address_size);
}

std::optional<AddressRef> LibdwFile::address_of(Dwarf_Attribute &attr) const
{
    if (attr.form == DW_FORM_addr)
        return address_in_info(attr.valp);
    // The index operands of DW_FORM_addrx*; libdw checked that they lie inside the unit.
    auto *p = reinterpret_cast<const std::byte *>(attr.valp);
    uint64_t index = 0;
    switch (attr.form) {
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
        for (unsigned shift = 0; shift < 64; shift += 7) {
            auto byte = static_cast<uint8_t>(*p++);
            index |= uint64_t{byte & 0x7fu} << shift;
            if (!(byte & 0x80))
                break;
        }
        break;
    case DW_FORM_addrx1:
        index = static_cast<uint8_t>(*p);
        break;
    case DW_FORM_addrx2:
        index = load<uint16_t>(p, order_);
        break;
    case DW_FORM_addrx3:
        index = order_ == ByteOrder::little
                    ? load<uint16_t>(p, order_) | uint32_t{static_cast<uint8_t>(p[2])} << 16
                    : uint32_t{static_cast<uint8_t>(p[0])} << 16 | load<uint16_t>(p + 1, order_);
        break;
    case DW_FORM_addrx4:
        index = load<uint32_t>(p, order_);
        break;
    default:
        return std::nullopt;
    }
    return address_in_pool(index, attr);
}

tl::unexpected<Error> LibdwFile::dwarf_error(uint64_t offset, std::string_view what) const
{
    std::string text(what);
    if (const char *reason = dwarf_errmsg(0)) // 0: only if there was an error
        text += std::string(": ") + reason;
    return fail(where_.in(".debug_info").at(offset), text);
}

} // namespace btflink::oracle
