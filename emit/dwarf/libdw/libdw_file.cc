// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prepares a file for libdw, and finds what its addresses refer to.
#include "emit/dwarf/libdw/libdw_file.h"

#include "common/elf/compressed_section.h"
#include "emit/dwarf/libdw/plain_elf.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// The debug sections that we or libdw on our behalf look into.
bool is_read(std::string_view name)
{
    for (std::string_view wanted :
         {".debug_info", ".debug_types", ".debug_abbrev", ".debug_str", ".debug_line_str",
          ".debug_str_offsets", ".debug_addr", ".debug_loc", ".debug_loclists"})
        if (name == wanted)
            return true;
    return false;
}

bool has_units(std::string_view name)
{
    return name == ".debug_info" || name == ".debug_types";
}

/// GNU's old scheme of compression has a name of its own: .zdebug_info.
std::string plain_name(std::string_view name)
{
    return name.starts_with(".zdebug_") ? "." + std::string(name.substr(2)) : std::string(name);
}

std::string elf_reason()
{
    return elf_errmsg(-1) ? elf_errmsg(-1) : "unknown error";
}

/// libelf takes memory that it may change; what we have it do changes nothing.
Elf *open_memory(Bytes bytes)
{
    return elf_memory(reinterpret_cast<char *>(const_cast<std::byte *>(bytes.data())),
                      bytes.size());
}

} // namespace

Result<std::unique_ptr<LibdwFile>> LibdwFile::open(const DwarfFile &file,
                                                   const std::string &debug_dir)
{
    std::unique_ptr<LibdwFile> out(new LibdwFile(file));
    TRY(out->start());
    TRY(out->open_alternate(debug_dir));
    return out;
}

Result<void> LibdwFile::start()
{
    elf_version(EV_CURRENT);
    elf_ = open_memory(file_.image().file);
    if (!elf_ || elf_kind(elf_) != ELF_K_ELF)
        return fail(file_.where(), "not a readable ELF file: " + elf_reason());
    TRY(read_symbols());
    TRY(read_sections());
    return start_libdw();
}

/// An alternate file has none itself.
Result<void> LibdwFile::open_alternate(const std::string &debug_dir)
{
    auto found = TRY(find_alternate(file_.image(), debug_dir));
    if (!found.file)
        return {};
    alternate_file_ = std::move(found);
    alternate_.reset(new LibdwFile(*alternate_file_.file));
    TRY(alternate_->start());
    dwarf_setalt(dwarf_, alternate_->dwarf());
    return {};
}

LibdwFile::~LibdwFile()
{
    if (dwarf_)
        dwarf_end(dwarf_);
    if (plain_elf_)
        elf_end(plain_elf_);
    if (elf_)
        elf_end(elf_);
}

Result<void> LibdwFile::read_symbols()
{
    const ElfImage &image = file_.image();
    auto index = TRY(image.find_symtab());
    if (!index)
        return {};
    Elf_Data *data = elf_getdata(elf_getscn(elf_, index), nullptr);
    Elf_Data *extended = nullptr;
    for (uint32_t i = 1; i < image.sections.size(); ++i)
        if (image.sections[i].head.sh_type == SHT_SYMTAB_SHNDX && !extended)
            extended = elf_getdata(elf_getscn(elf_, i), nullptr);
    auto count = image.symbol_count(index);
    if (!data || !count)
        return fail(image.place(index), "cannot read symbols: " + elf_reason());
    symbols_.reserve(*count);
    for (uint32_t i = 0; i < *count; ++i) {
        GElf_Sym sym;
        Elf32_Word section = 0;
        if (!gelf_getsymshndx(data, extended, static_cast<int>(i), &sym, &section))
            return fail(image.place(index),
                        strf("cannot read symbol %u: %s", i, elf_reason().c_str()));
        if (sym.st_shndx != SHN_XINDEX)
            section = sym.st_shndx < SHN_LORESERVE ? sym.st_shndx : 0;
        symbols_.push_back({sym.st_value, section, sym.st_shndx == SHN_COMMON,
                            GELF_ST_BIND(sym.st_info) == STB_WEAK});
    }
    return {};
}

Result<void> LibdwFile::read_sections()
{
    const std::vector<ElfSection> &sections = file_.image().sections;
    // Units of groups, which are type units, come behind all others.
    for (bool grouped : {false, true})
        for (uint32_t i = 1; i < sections.size(); ++i) {
            const ElfSection &s = sections[i];
            const std::string name = plain_name(s.name);
            if (((s.head.sh_flags & SHF_GROUP) != 0) == grouped && s.in_file() &&
                !(s.head.sh_flags & SHF_ALLOC) && is_read(name))
                TRY(take(i, name));
        }
    if (file_.relocatable())
        for (uint32_t i = 1; i < sections.size(); ++i)
            if (sections[i].relocates() && pieces_.contains(sections[i].head.sh_info))
                TRY(relocate(i));
    for (auto &[name, contents] : contents_)
        std::stable_sort(contents.relocs.begin(), contents.relocs.end(),
                         [](const Reloc &a, const Reloc &b) { return a.offset < b.offset; });
    info_ = &contents_[".debug_info"];
    addr_ = &contents_[".debug_addr"];
    return {};
}

/// Section `index` of the file is, or is a part of, what libdw knows as `name`.
Result<void> LibdwFile::take(uint32_t index, const std::string &name)
{
    const ElfSection &section = file_.image().sections[index];
    const bool packed = is_compressed(section.name, section.head.sh_flags, section.data);
    const bool grouped = section.head.sh_flags & SHF_GROUP;
    const bool known = contents_.contains(name);
    if (known && !(grouped && has_units(name)))
        return {}; // of several sections of a name the first counts
    Contents &all = contents_[name];
    std::vector<std::byte> plain;
    Bytes bytes = section.data;
    if (packed) {
        const ElfImage &image = file_.image();
        auto unpacked = TRY(decompress(section.data, section.head.sh_flags, image.is64, image.order,
                                       image.place(index)));
        plain = std::move(unpacked);
        bytes = plain;
    }
    pieces_[index] = {&all, all.bytes.size(), bytes.size()};
    if (!known && !packed && !file_.relocatable()) {
        all.bytes = bytes;
        return {};
    }
    as_in_file_ = false;
    if (known && all.own.empty())
        all.own.assign(all.bytes.begin(), all.bytes.end());
    const size_t end = all.own.size();
    all.own.resize(end + bytes.size());
    std::copy(bytes.begin(), bytes.end(), all.own.data() + end);
    all.bytes = all.own;
    return {};
}

Result<void> LibdwFile::relocate(uint32_t rel_index)
{
    const ElfSection &rel = file_.image().sections[rel_index];
    const Piece &target = pieces_.at(rel.head.sh_info);
    const Arch &arch = file_.arch();
    const ByteOrder order = file_.order();
    Where place = file_.image().place(rel_index);
    Elf_Data *relocs = elf_getdata(elf_getscn(elf_, rel_index), nullptr);
    if (!relocs)
        return fail(place, "cannot read relocations: " + elf_reason());
    auto count = TRY(file_.image().reloc_count(rel_index));
    bool rela = rel.head.sh_type == SHT_RELA;
    std::byte *bytes = target.contents->own.data() + target.base;
    for (int i = 0; static_cast<size_t>(i) < count; ++i) {
        GElf_Rela r;
        Where here = place.at(static_cast<uint64_t>(i) * rel.head.sh_entsize);
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
        if (arch.machine == EM_MIPS && arch.address_size == 8) {
            // r_info is a struct, which libelf takes for an integer: a symbol, four bytes of types.
            // Decoded here, too, so that the test of both readers compares it.
            const std::byte *info =
                rel.data.data() + static_cast<size_t>(i) * rel.head.sh_entsize + sizeof(uint64_t);
            symbol = load<uint32_t>(info, order);
            type = load<uint32_t>(info + sizeof(uint32_t), ByteOrder::big);
        }
        if (type == arch.reloc_none)
            continue;
        const DebugReloc *known = nullptr;
        for (const DebugReloc &candidate : arch.debug_relocs)
            if (candidate.type == type)
                known = &candidate;
        if (!known)
            return fail(here, strf("relocation type %u is not expected in debug information of %s",
                                   type, arch.name));
        if (r.r_offset > target.size || target.size - r.r_offset < known->size)
            return fail(here, strf("relocation is for offset 0x%llx, beyond the section's end",
                                   static_cast<unsigned long long>(r.r_offset)));
        if (symbol >= symbols_.size())
            return fail(here, strf("relocation names symbol %u, but there are %zu", symbol,
                                   symbols_.size()));
        if (known->size == 0)
            continue;
        std::byte *at = bytes + r.r_offset;
        if (!rela)
            r.r_addend = known->size == 8 ? static_cast<int64_t>(load<uint64_t>(at, order))
                                          : static_cast<int32_t>(load<uint32_t>(at, order));
        const Symbol &sym = symbols_[symbol];
        uint64_t value = (sym.common ? 0 : sym.value) + static_cast<uint64_t>(r.r_addend);
        if (known->op != RelocOp::set) {
            uint64_t there = known->size == 8   ? load<uint64_t>(at, order)
                             : known->size == 4 ? load<uint32_t>(at, order)
                                                : load<uint16_t>(at, order);
            value = known->op == RelocOp::add ? there + value : there - value;
        }
        if (known->size == 8)
            store<uint64_t>(at, value, order);
        else if (known->size == 4)
            store<uint32_t>(at, static_cast<uint32_t>(value), order);
        else
            store<uint16_t>(at, static_cast<uint16_t>(value), order);
        target.contents->relocs.push_back({target.base + r.r_offset, r.r_addend, symbol});
    }
    return {};
}

Result<void> LibdwFile::start_libdw()
{
    if (!as_in_file_) {
        std::vector<PlainSection> sections;
        for (const auto &[name, contents] : contents_)
            if (!contents.bytes.empty())
                sections.push_back({name, contents.bytes});
        plain_ = make_plain_elf(file_.image(), sections);
        plain_elf_ = open_memory(plain_);
    }
    Elf *elf = as_in_file_ ? elf_ : plain_elf_;
    dwarf_ = elf ? dwarf_begin_elf(elf, DWARF_C_READ, nullptr) : nullptr;
    if (!dwarf_)
        return fail(file_.where().in(".debug_info"),
                    std::string("cannot read DWARF: ") + dwarf_errmsg(-1));
    size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    for (Elf_Scn *scn = nullptr; (scn = elf_nextscn(elf, scn)) && !info_at_;) {
        GElf_Shdr shdr;
        const char *name =
            gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : nullptr;
        if (!name || std::strcmp(name, ".debug_info") != 0)
            continue;
        if (Elf_Data *data = elf_getdata(scn, nullptr))
            info_at_ = static_cast<const unsigned char *>(data->d_buf);
    }
    return {};
}

std::optional<AddressRef> LibdwFile::lookup(const Contents &section, uint64_t offset) const
{
    const uint8_t size = file_.arch().address_size;
    if (offset > section.bytes.size() || section.bytes.size() - offset < size)
        return std::nullopt;
    if (!file_.relocatable()) {
        const std::byte *p = section.bytes.data() + offset;
        uint64_t value =
            size == 8 ? load<uint64_t>(p, file_.order()) : load<uint32_t>(p, file_.order());
        return AddressRef{0, static_cast<int64_t>(value), value, 0, false, false, true};
    }
    auto it = std::ranges::lower_bound(section.relocs, offset, {}, &Reloc::offset);
    if (it == section.relocs.end() || it->offset != offset)
        return std::nullopt;
    const Symbol &symbol = symbols_[it->symbol];
    uint64_t at = (symbol.common ? 0 : symbol.value) + static_cast<uint64_t>(it->addend);
    return AddressRef{it->symbol,    it->addend,  at,   symbol.section,
                      symbol.common, symbol.weak, false};
}

std::optional<AddressRef> LibdwFile::address_in_info(const unsigned char *operand) const
{
    if (!info_at_ || operand < info_at_ || operand >= info_at_ + info_->bytes.size())
        return std::nullopt;
    return lookup(*info_, static_cast<uint64_t>(operand - info_at_));
}

std::optional<AddressRef> LibdwFile::address_in_pool(uint64_t index, uint64_t addr_base) const
{
    if (index > addr_->bytes.size() || addr_base > addr_->bytes.size())
        return std::nullopt;
    return lookup(*addr_, addr_base + index * file_.arch().address_size);
}

std::optional<AddressRef> LibdwFile::address_of(const Dwarf_Attribute &attr,
                                                uint64_t addr_base) const
{
    if (attr.form == DW_FORM_addr)
        return address_in_info(attr.valp);
    // The index operands of DW_FORM_addrx*; libdw checked that they lie inside the unit.
    const ByteOrder order = file_.order();
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
        index = load<uint16_t>(p, order);
        break;
    case DW_FORM_addrx3:
        index = order == ByteOrder::little
                    ? load<uint16_t>(p, order) | uint32_t{static_cast<uint8_t>(p[2])} << 16
                    : uint32_t{static_cast<uint8_t>(p[0])} << 16 | load<uint16_t>(p + 1, order);
        break;
    case DW_FORM_addrx4:
        index = load<uint32_t>(p, order);
        break;
    default:
        return std::nullopt;
    }
    return address_in_pool(index, addr_base);
}

Failure LibdwFile::dwarf_error(uint64_t offset, std::string_view what) const
{
    std::string text(what);
    if (const char *reason = dwarf_errmsg(0)) // 0: only if there was an error
        text += std::string(": ") + reason;
    return fail(file_.where().in(".debug_info").at(offset), text);
}

} // namespace btflink::emit
