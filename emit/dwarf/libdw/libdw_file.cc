// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prepares a file for libdw, and resolves its addresses.
#include "emit/dwarf/libdw/libdw_file.h"

#include "common/object_btf/elf_append.h"
#include "emit/dwarf/debug_cursor.h"

#include <algorithm>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// The debug sections that we let libdw read.
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

/// .zdebug_info, from GNU's older compression scheme, becomes .debug_info.
std::string plain_name(std::string_view name)
{
    return name.starts_with(".zdebug_") ? "." + std::string(name.substr(2)) : std::string(name);
}

/// The size of all units in .debug_info or in .debug_types.
uint64_t extent(Dwarf *dwarf, bool types)
{
    Dwarf_Off at = 0, next = 0, abbrevs = 0;
    size_t header = 0;
    Dwarf_Half version = 0;
    uint8_t address = 0, width = 0;
    uint64_t signature = 0;
    Dwarf_Off type = 0;
    while (dwarf_next_unit(dwarf, at, &next, &header, &version, &abbrevs, &address, &width,
                           types ? &signature : nullptr, types ? &type : nullptr) == 0)
        at = next;
    return at;
}

/// Is the unit in .debug_types? DWARF 5 has all units in .debug_info.
bool is_in_types(Dwarf_CU *unit)
{
    Dwarf_Half version = 0;
    uint8_t type = 0;
    dwarf_cu_info(unit, &version, &type, nullptr, nullptr, nullptr, nullptr, nullptr);
    return version < 5 && type == DW_UT_type;
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
    TRY(read_sections());
    plain_ = TRY(make_plain());
    elf_version(EV_CURRENT);
    // elf_memory() expects memory that it may change, but it only reads.
    elf_ = elf_memory(reinterpret_cast<char *>(plain_.data()), plain_.size());
    dwarf_ = elf_ ? dwarf_begin_elf(elf_, DWARF_C_READ, nullptr) : nullptr;
    if (!dwarf_)
        return fail(file_.where().in(".debug_info"),
                    std::string("cannot read DWARF: ") + dwarf_errmsg(-1));
    Dwarf_CU *next;
    Dwarf_Die first{};
    if (dwarf_get_units(dwarf_, nullptr, &next, nullptr, nullptr, &first, nullptr) == 0)
        info_at_ = static_cast<const unsigned char *>(first.addr) - dwarf_dieoffset(&first);
    return {};
}

/// Not recursive, because an alternate file has no alternate file.
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
    if (elf_)
        elf_end(elf_);
}

Result<void> LibdwFile::read_sections()
{
    const std::vector<ElfSection> &sections = file_.image().sections;
    // Sections of groups have type units, and come last.
    for (bool grouped : {false, true})
        for (uint32_t i = 1; i < sections.size(); ++i) {
            const ElfSection &s = sections[i];
            const std::string name = plain_name(s.name);
            if (((s.head.sh_flags & SHF_GROUP) != 0) == grouped && s.in_file() &&
                !(s.head.sh_flags & SHF_ALLOC) && is_read(name))
                TRY(take(i, name));
        }
    info_ = &contents_[".debug_info"];
    addr_ = &contents_[".debug_addr"];
    return {};
}

/// Adds section `index` of the file to the section that libdw sees as `name`.
Result<void> LibdwFile::take(uint32_t index, const std::string &name)
{
    const bool is_grouped = file_.image().sections[index].head.sh_flags & SHF_GROUP;
    Contents &all = contents_[name];
    const bool is_first = all.pieces.empty();
    if (!is_first && !(is_grouped && has_units(name)))
        return {}; // of several sections with a name the first counts
    DebugSection section = TRY(file_.read_section(index));
    const size_t end = all.bytes.size();
    if (is_first && section.own.empty() && !file_.relocatable()) {
        all.bytes = section.data;
    } else {
        if (all.own.empty())
            all.own.assign(all.bytes.begin(), all.bytes.end());
        all.own.resize(end + section.data.size());
        std::copy(section.data.begin(), section.data.end(), all.own.data() + end);
        file_.relocate(section, std::span(all.own).subspan(end));
        all.bytes = all.own;
    }
    all.pieces.push_back({std::move(section), end});
    return {};
}

/// An ELF file with the debug sections only, as `contents_` has them.
Result<std::vector<std::byte>> LibdwFile::make_plain() const
{
    ElfImage image;
    image.is64 = file_.image().is64;
    image.order = file_.order();
    image.head = file_.image().head;
    image.head.e_type = ET_EXEC; // nothing is left to be relocated
    image.head.e_phoff = image.head.e_phnum = 0;
    ElfAppender out(image, new_file(image));
    for (const auto &[name, contents] : contents_)
        if (!contents.bytes.empty())
            out.add_section(name, SHT_PROGBITS, 1, contents.bytes);
    const FileChange made = TRY(out.finish());
    return made.whole({});
}

std::optional<AddressRef> LibdwFile::lookup(const Contents &contents, uint64_t offset) const
{
    auto behind = std::ranges::upper_bound(contents.pieces, offset, {}, &Piece::base);
    if (behind == contents.pieces.begin())
        return std::nullopt;
    const Piece &piece = *std::prev(behind);
    return file_.address_at(piece.section, offset - piece.base);
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
    // libdw has checked that indices, of at most ten bytes, lie inside the unit.
    DebugCursor in({reinterpret_cast<const std::byte *>(attr.valp), 10}, 0, 10, file_.order());
    if (attr.form == DW_FORM_addr)
        return address_in_info(attr.valp);
    if (attr.form == DW_FORM_addrx || attr.form == DW_FORM_GNU_addr_index)
        return address_in_pool(in.uleb(), addr_base);
    if (attr.form >= DW_FORM_addrx1 && attr.form <= DW_FORM_addrx4)
        return address_in_pool(in.read_sized(attr.form - DW_FORM_addrx1 + 1), addr_base);
    return std::nullopt;
}

uint64_t LibdwFile::first_number(Dwarf_CU *unit)
{
    auto [known, is_new] = first_numbers_.try_emplace(unit, 0);
    if (is_new) {
        Dwarf *dwarf = dwarf_cu_getdwarf(unit);
        if (is_in_types(unit))
            known->second += extent(dwarf, false);
        if (alternate_ && dwarf == alternate_->dwarf())
            known->second += extent(dwarf_, false) + extent(dwarf_, true);
    }
    return known->second;
}

uint32_t LibdwFile::number_of(Dwarf_Die &die)
{
    if (die.cu != last_unit_) {
        last_unit_ = die.cu;
        last_first_number_ = first_number(die.cu);
    }
    const uint64_t number = last_first_number_ + dwarf_dieoffset(&die);
    return number < UINT32_MAX ? static_cast<uint32_t>(number) : 0;
}

Failure LibdwFile::dwarf_error(uint64_t offset, std::string_view what) const
{
    std::string text(what);
    if (const char *reason = dwarf_errmsg(0)) // 0: if there was an error at all
        text += std::string(": ") + reason;
    return fail(file_.where().in(".debug_info").at(offset), text);
}

} // namespace btflink::emit
