// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes libdw's offsets unique in a file.
#include "emit/dwarf/libdw/entry_numbers.h"

#include <dwarf.h>

namespace btflink::emit
{

namespace
{

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

uint64_t EntryNumbers::base_of(Dwarf_CU *unit)
{
    if (unit == last_)
        return last_base_;
    auto [known, is_new] = bases_.try_emplace(unit, 0);
    if (is_new) {
        Dwarf *dwarf = dwarf_cu_getdwarf(unit);
        if (is_in_types(unit))
            known->second += extent(dwarf, false);
        if (dwarf == file_.alternate())
            known->second += extent(file_.dwarf(), false) + extent(file_.dwarf(), true);
    }
    last_ = unit;
    return last_base_ = known->second;
}

uint32_t EntryNumbers::of(Dwarf_Die &die)
{
    uint64_t number = base_of(die.cu) + dwarf_dieoffset(&die);
    return number < UINT32_MAX ? static_cast<uint32_t>(number) : 0;
}

} // namespace btflink::emit
