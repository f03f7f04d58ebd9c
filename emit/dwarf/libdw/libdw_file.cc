// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prepares a file for libdw, numbers its entries, and resolves its addresses.
#include "emit/dwarf/libdw/libdw_file.h"

#include "common/object_btf/elf_append.h"

#include <algorithm>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// The size of all units in .debug_info.
uint64_t size_of_units(Dwarf *dwarf)
{
    Dwarf_Off at = 0, next = 0, abbrevs = 0;
    size_t header = 0;
    Dwarf_Half version = 0;
    uint8_t address = 0, width = 0;
    while (dwarf_next_unit(dwarf, at, &next, &header, &version, &abbrevs, &address, &width, nullptr,
                           nullptr) == 0)
        at = next;
    return at;
}

/// Is the unit in .debug_types or .debug_types.dwo? DWARF 5 has all units in .debug_info.
bool is_in_types(Dwarf_CU *unit)
{
    Dwarf_Half version = 0;
    uint8_t type = 0;
    dwarf_cu_info(unit, &version, &type, nullptr, nullptr, nullptr, nullptr, nullptr);
    return version < 5 && type == DW_UT_type;
}

/// Where libdw has .debug_info; null if no unit in .debug_info is of a type that libdw knows.
const unsigned char *find_info(Dwarf *dwarf)
{
    Dwarf_CU *unit = nullptr, *next = nullptr;
    Dwarf_Die die{};
    for (; dwarf_get_units(dwarf, unit, &next, nullptr, nullptr, &die, nullptr) == 0; unit = next)
        if (die.addr && !is_in_types(die.cu)) // null if the type of the unit is unknown
            return static_cast<const unsigned char *>(die.addr) - dwarf_dieoffset(&die);
    return nullptr;
}

/// Reads the value of `attr` as if it had the form `form`. Unlike a plain read at attr.valp,
/// dwarf_formudata() never reads beyond the section. Empty if it reports an error. It does not
/// report a DW_FORM_udata that is cut off: this becomes UINT64_MAX.
std::optional<uint64_t> read_as(Dwarf_Attribute attr, unsigned form)
{
    attr.form = form;
    Dwarf_Word value = 0;
    return dwarf_formudata(&attr, &value) == 0 ? std::optional<uint64_t>(value) : std::nullopt;
}

std::optional<uint64_t> read_three_bytes(Dwarf_Attribute attr, ByteOrder order)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 3; ++i, ++attr.valp) {
        const std::optional<uint64_t> byte = read_as(attr, DW_FORM_data1);
        if (!byte)
            return std::nullopt;
        value |= *byte << 8 * (order == ByteOrder::little ? i : 2 - i);
    }
    return value;
}

/// The index of an address in .debug_addr. Empty if the form of `attr` is not for such an index, or
/// read_as() cannot read the index.
std::optional<uint64_t> index_of_address(const Dwarf_Attribute &attr, ByteOrder order)
{
    switch (attr.form) {
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
        return read_as(attr, DW_FORM_udata);
    case DW_FORM_addrx1:
        return read_as(attr, DW_FORM_data1);
    case DW_FORM_addrx2:
        return read_as(attr, DW_FORM_data2);
    case DW_FORM_addrx3:
        return read_three_bytes(attr, order);
    case DW_FORM_addrx4:
        return read_as(attr, DW_FORM_data4);
    default:
        return std::nullopt;
    }
}

} // namespace

const char *string_attribute(Dwarf_Die &die, unsigned attribute)
{
    Dwarf_Attribute attr;
    return dwarf_attr(&die, attribute, &attr) ? dwarf_formstring(&attr) : nullptr;
}

bool is_empty(const Dwarf_Die &unit)
{
    Dwarf_Attribute code{};
    code.valp = static_cast<unsigned char *>(unit.addr);
    code.cu = unit.cu;
    return read_as(code, DW_FORM_udata).value_or(0) == 0;
}

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
    plain_ = TRY(make_plain());
    elf_version(EV_CURRENT);
    elf_ = elf_memory(reinterpret_cast<char *>(plain_.data()), plain_.size());
    dwarf_ = elf_ ? dwarf_begin_elf(elf_, DWARF_C_READ, nullptr) : nullptr;
    if (!dwarf_)
        return fail(file_.where().in(".debug_info"),
                    std::string("cannot read DWARF: ") + dwarf_errmsg(-1));
    info_at_ = find_info(dwarf_);
    return {};
}

/// Opens the alternate file, if this file names one. The alternate file itself names none.
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

/// The file that libdw reads: only the debug sections that the readers use, decompressed and
/// relocated.
Result<std::vector<std::byte>> LibdwFile::make_plain() const
{
    ElfImage image;
    image.is64 = file_.image().is64;
    image.order = file_.order();
    image.head = file_.image().head;
    image.head.e_type = ET_EXEC; // nothing is left to be relocated
    image.head.e_phoff = image.head.e_phnum = 0;
    ElfAppender out(image, new_file(image));
    for (const auto &[name, member] : DwarfFile::plain_sections()) {
        const DebugSection &section = file_.*member;
        std::vector<std::byte> relocated;
        if (section.relocs.size()) {
            relocated.assign(section.data.begin(), section.data.end());
            file_.relocate(section, relocated);
        }
        if (section.present())
            out.add_section(name, SHT_PROGBITS, 1,
                            relocated.empty() ? section.data : Bytes(relocated));
    }
    const FileChange made = TRY(out.finish());
    return made.whole({});
}

std::optional<AddressRef> LibdwFile::address_in_info(const unsigned char *operand) const
{
    if (!info_at_ || operand < info_at_ || operand >= info_at_ + file_.info.data.size())
        return std::nullopt;
    return file_.address_at(file_.info, static_cast<uint64_t>(operand - info_at_));
}

std::optional<AddressRef> LibdwFile::address_of(const Dwarf_Attribute &attr,
                                                uint64_t addr_base) const
{
    if (attr.form == DW_FORM_addr)
        return address_in_info(attr.valp);
    const std::optional<uint64_t> index = index_of_address(attr, file_.order());
    return index ? file_.indexed_address(*index, addr_base) : std::nullopt;
}

/// What number_of() adds to the offset of each entry of `unit`.
uint64_t LibdwFile::first_number(Dwarf_CU *unit)
{
    Dwarf *dwarf = dwarf_cu_getdwarf(unit);
    const bool in_types = is_in_types(unit);
    if (alternate_ && dwarf == alternate_->dwarf())
        return file_.info.data.size() + file_.types.data.size() +
               (in_types ? alternate_->file_.info.data.size() : 0);
    if (!in_types)
        return 0;
    if (dwarf == dwarf_)
        return file_.info.data.size();
    if (dwarf != split_) {
        split_ = dwarf;
        split_types_at_ = size_of_units(dwarf);
    }
    return split_types_at_;
}

uint32_t LibdwFile::number_of(Dwarf_Die &die)
{
    const uint64_t number = first_number(die.cu) + dwarf_dieoffset(&die);
    return number < UINT32_MAX ? static_cast<uint32_t>(number) : 0;
}

void LibdwFile::name_split(Dwarf_Die &skeleton, Dwarf_Die &split)
{
    const char *name = string_attribute(skeleton, DW_AT_dwo_name);
    if (!name)
        name = string_attribute(skeleton, DW_AT_GNU_dwo_name);
    const char *folder = string_attribute(skeleton, DW_AT_comp_dir);
    if (name)
        split_paths_.try_emplace(dwarf_cu_getdwarf(split.cu),
                                 (*name == '/' || !folder ? "" : std::string(folder) + "/") + name);
}

Where LibdwFile::place(Dwarf_Die &die) const
{
    Dwarf *dwarf = dwarf_cu_getdwarf(die.cu);
    std::string file = file_.where().file;
    if (alternate_ && dwarf == alternate_->dwarf())
        file = alternate_->file_.where().file;
    else if (const auto split = split_paths_.find(dwarf); split != split_paths_.end())
        file = split->second;
    return Where{file}
        .in(is_in_types(die.cu) ? ".debug_types" : ".debug_info")
        .at(dwarf_dieoffset(&die));
}

Failure LibdwFile::dwarf_error(Dwarf_Die &die, std::string_view what) const
{
    std::string text(what);
    if (const char *reason = dwarf_errmsg(0)) // null if there was no error
        text += std::string(": ") + reason;
    return fail(place(die), text);
}

} // namespace btflink::emit
