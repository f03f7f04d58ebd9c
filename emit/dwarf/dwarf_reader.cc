// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Completes the trees of both readers.
#include "emit/dwarf/dwarf_reader.h"

#include "emit/dwarf/languages.h"

#include <algorithm>

namespace btflink::emit
{

Result<DieTree> DwarfReader::read(std::span<const uint32_t> units, Skips &skips) const
{
    DieTree tree = TRY(read_entries(units, skips));
    const UnitHead &first = heads_[units.front()];
    tree.source = first.name;
    tree.clang = first.clang;
    tree.address_size = arch_.address_size;
    for (uint32_t i : units) {
        const UnitHead &unit = heads_[i];
        tree.c_names &= has_c_names(unit.language);
        tree.languages.push_back(
            {static_cast<uint32_t>(unit.offset), language_name(unit.language)});
    }
    std::ranges::sort(tree.languages, {}, &UnitLanguage::offset);
    tree.index();
    return tree;
}

} // namespace btflink::emit
