// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "emit/dwarf/fast/fast_reader.h"

#include "emit/dwarf/fast/unit.h"

namespace btflink::emit
{

namespace
{

class FastReader : public DwarfReader
{
public:
    FastReader(const DwarfFile &file, std::vector<Unit> units)
        : file_(file), units_(std::move(units))
    {
        heads_.assign(units_.begin(), units_.end());
    }

    Result<DieTree> read(std::span<const uint32_t> units, Skips &skips) const override
    {
        std::vector<const Unit *> chosen;
        for (uint32_t i : units)
            chosen.push_back(&units_[i]);
        return read_units(file_, chosen, skips);
    }

private:
    const DwarfFile &file_;
    std::vector<Unit> units_;
};

} // namespace

Result<std::unique_ptr<DwarfReader>> open_fast_reader(const DwarfFile &file, Skips &skips)
{
    auto units = list_units(file, skips);
    if (!units)
        return tl::unexpected(units.error());
    return std::make_unique<FastReader>(file, std::move(*units));
}

} // namespace btflink::emit
