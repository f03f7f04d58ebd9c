// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the entries of a unit and encodes them.
#include "emit/encode_unit.h"

namespace btflink::emit
{

Result<UnitObject> encode_unit(const DwarfFile &file, const DwarfReader &reader,
                               std::span<const uint32_t> units, const UnitOptions &options)
{
    Skips skips;
    StepTimes times;
    const char *source = reader.units()[units.front()].name;
    StepClock clock(times, source ? source : "");
    clock.begin(Step::entries);
    auto tree = reader.read(units, skips);
    clock.end();
    if (!tree)
        return fail(tree.error());
    return encode_tree(file.unit_file(), std::move(*tree), options, std::move(skips), times);
}

} // namespace btflink::emit
