// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The DWARF reader for a file that needs libdw and has split DWARF, too. libdw reads the units in
// the file itself. The fast reader reads those of split DWARF, because libdw reads only one section
// of type units per .dwo file, and its older versions find neither compile units that follow type
// units nor packages (.dwp).
#include "emit/dwarf/dwarf_reader.h"

namespace btflink::emit
{

namespace
{

class CombinedReader : public DwarfReader
{
public:
    CombinedReader(const Arch &arch, std::unique_ptr<DwarfReader> plain,
                   std::unique_ptr<DwarfReader> split)
        : DwarfReader(arch), plain_(std::move(plain)), split_(std::move(split))
    {
        add_units(*plain_, false);
        add_units(*split_, true);
    }

    void choose(std::span<const uint32_t> units) override
    {
        plain_->choose(numbers_in(*plain_, units));
        split_->choose(numbers_in(*split_, units));
    }

    Result<DieTree> read_entries(std::span<const uint32_t> units, Skips &skips) const override
    {
        // Units that are read as one are in one file, so they have the same reader.
        const DwarfReader &reader = *sources_[units.front()].reader;
        return reader.read_entries(numbers_in(reader, units), skips);
    }

private:
    struct Source {
        const DwarfReader *reader;
        uint32_t number; // of the unit in reader->units()
    };

    void add_units(const DwarfReader &reader, bool is_split)
    {
        for (uint32_t i = 0; i < reader.units().size(); ++i)
            if (reader.units()[i].is_split == is_split) {
                heads_.push_back(reader.units()[i]);
                sources_.push_back({&reader, i});
            }
    }

    std::vector<uint32_t> numbers_in(const DwarfReader &reader,
                                     std::span<const uint32_t> units) const
    {
        std::vector<uint32_t> numbers;
        for (uint32_t i : units)
            if (sources_[i].reader == &reader)
                numbers.push_back(sources_[i].number);
        return numbers;
    }

    std::unique_ptr<DwarfReader> plain_, split_;
    std::vector<Source> sources_; // of each unit in heads_
};

} // namespace

std::unique_ptr<DwarfReader> combine(const Arch &arch, std::unique_ptr<DwarfReader> plain,
                                     std::unique_ptr<DwarfReader> split)
{
    return std::make_unique<CombinedReader>(arch, std::move(plain), std::move(split));
}

} // namespace btflink::emit
