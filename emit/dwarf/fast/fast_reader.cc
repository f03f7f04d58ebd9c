// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The fast reader's implementation of the interface of both readers.
#include "emit/dwarf/fast/fast_reader.h"

#include "emit/dwarf/fast/split_files.h"

namespace btflink::emit
{

namespace
{

class FastReader : public DwarfReader
{
public:
    explicit FastReader(const DwarfFile &file) : splits_(file) {}

    Result<void> list(const DwarfFile &file, Skips &skips)
    {
        auto units = TRY(list_units(file, splits_, skips));
        units_ = std::move(units);
        heads_.assign(units_.begin(), units_.end());
        for (size_t i = 0; i < units_.size(); ++i)
            heads_[i].file = units_[i].file;
        return {};
    }

    Result<DieTree> read(std::span<const uint32_t> units, Skips &skips) const override
    {
        std::vector<const Unit *> chosen;
        for (uint32_t i : units)
            chosen.push_back(&units_[i]);
        return read_units(chosen, skips);
    }

private:
    SplitFiles splits_;
    std::vector<Unit> units_;
};

} // namespace

Result<std::unique_ptr<DwarfReader>> open_fast_reader(const DwarfFile &file, Skips &skips)
{
    auto reader = std::make_unique<FastReader>(file);
    TRY(reader->list(file, skips));
    return reader;
}

} // namespace btflink::emit
