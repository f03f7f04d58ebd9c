// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens .dwo and .dwp files and matches their units with the skeletons.
#include "emit/dwarf/fast/unit.h"

#include "common/io/file_io.h"
#include "emit/dwarf/debug_cursor.h"

#include <sys/stat.h>

namespace btflink::emit
{

namespace
{

/// .debug_cu_index or .debug_tu_index: a hash table of units' ids or types' signatures, each with a
/// row of offsets. Its parts: a header of 16 bytes; an id per slot; a row number per slot; a row
/// with the columns' kinds, then the rows of offsets; rows of sizes, which are not read.
class PackageIndex
{
public:
    PackageIndex(const DwarfFile &file, const DebugSection &index)
        : file_(file), bytes_(index.data), order_(file.order())
    {
        DebugCursor in(bytes_, 0, bytes_.size(), order_);
        in.skip(4); // version
        columns_ = in.read<uint32_t>();
        units_ = in.read<uint32_t>();
        slots_ = in.read<uint32_t>();
        const uint64_t size = 16 + uint64_t{slots_} * 12 + (uint64_t{units_} + 1) * columns_ * 4;
        if (in.overrun() || columns_ > 16 || size > bytes_.size())
            slots_ = 0; // no units
    }

    /// The places of units by id. The file's hash table is not searched: if it is malformed, a
    /// search for one unit could be as long as the table.
    std::map<uint64_t, SplitPlace> places() const
    {
        std::map<uint64_t, SplitPlace> out;
        for (uint32_t slot = 0; slot < slots_; ++slot)
            if (row_of(slot))
                out.try_emplace(id_in(slot), place_of(slot));
        return out;
    }

    Result<TypeUnits> type_units() const
    {
        TypeUnits types;
        for (const auto &[signature, place] : places()) {
            auto unit = TRY(read_type_unit(place));
            types.emplace(signature, std::move(unit));
        }
        return types;
    }

private:
    uint64_t id_in(uint32_t slot) const { return number<uint64_t>(16 + uint64_t{slot} * 8); }

    /// 0: the slot is free, or its row does not exist.
    uint32_t row_of(uint32_t slot) const
    {
        const auto row = number<uint32_t>(16 + uint64_t{slots_} * 8 + uint64_t{slot} * 4);
        return row <= units_ ? row : 0;
    }

    SplitPlace place_of(uint32_t slot) const
    {
        SplitPlace place;
        place.file = &file_;
        for (uint32_t column = 0; column < columns_; ++column) {
            const uint32_t part = cell(0, column), offset = cell(row_of(slot), column);
            // Without .debug_types.dwo the place is UINT64_MAX, which is beyond the end of `info`.
            // A type unit at such a place is an error; a compile unit is not found.
            if (part == SplitPlace::types)
                place.at[SplitPlace::info] =
                    file_.types_at == UINT64_MAX ? UINT64_MAX : file_.types_at + offset;
            else if (part < std::size(place.at))
                place.at[part] = offset;
        }
        return place;
    }

    /// Row 0 has the SplitPlace::Part of each column.
    uint32_t cell(uint32_t row, uint32_t column) const
    {
        return number<uint32_t>(16 + uint64_t{slots_} * 12 +
                                (uint64_t{row} * columns_ + column) * 4);
    }

    template <std::unsigned_integral T>
    T number(uint64_t at) const
    {
        return load<T>(bytes_.data() + at, order_);
    }

    const DwarfFile &file_;
    Bytes bytes_;
    ByteOrder order_;
    uint32_t columns_ = 0, units_ = 0, slots_ = 0;
};

} // namespace

Result<const SplitFiles::OpenFile *> SplitFiles::open(const std::string &path)
{
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return nullptr;
    auto [known, is_new] =
        opened_.try_emplace(std::pair<uint64_t, uint64_t>(status.st_dev, status.st_ino));
    OpenFile &opened = known->second;
    if (!is_new)
        return opened.file ? &opened : nullptr;
    auto parts = TRY(read_parts(path));
    auto file = TRY(DwarfFile::open(parts.bytes, Where{path}, &skeletons_));
    if (file->info.data.size() > UINT32_MAX)
        return fail(file->where().in(".debug_info.dwo"), "has more than 4 GB");
    if (!file->has_dwarf())
        return nullptr;
    SplitUnits list;
    std::map<uint64_t, SplitPlace> places;
    if (file->cu_index.present()) {
        list.types = TRY(PackageIndex(*file, file->tu_index).type_units());
        places = PackageIndex(*file, file->cu_index).places();
    } else {
        list = TRY(list_split_units(*file));
    }
    spare_ += file->info.data.size();
    opened = {std::move(parts), std::move(file), std::move(list), std::move(places)};
    return &opened;
}

Result<std::optional<Unit>> SplitFiles::find_in(const std::string &path, const Unit &skeleton)
{
    auto file = TRY(open(path));
    if (!file)
        return std::nullopt;
    std::optional<Unit> unit;
    if (auto known = file->list.units.find(skeleton.dwo_id); known != file->list.units.end())
        unit = known->second;
    else if (auto place = file->places.find(skeleton.dwo_id); place != file->places.end())
        unit = TRY(read_split_unit(place->second, abbrevs_));
    if (!unit || unit->dwo_id != skeleton.dwo_id)
        return std::nullopt;
    // Any number of skeletons may have one unit, and the index of a package may place units inside
    // one another. The unit is encoded for each skeleton.
    const uint64_t size = unit->end - unit->offset;
    if (size > spare_)
        return fail(skeletons_.where().in(".debug_info").at(skeleton.offset),
                    "skeletons share long units of split DWARF");
    spare_ -= size;
    unit->addr_base = skeleton.addr_base;
    unit->low_pc = skeleton.low_pc;
    unit->types = &file->list.types;
    return unit;
}

Result<std::optional<Unit>> SplitFiles::find(const Unit &skeleton)
{
    std::vector<std::string> files = {skeletons_.where().file};
    if (!skeletons_.program.empty())
        files.insert(files.begin(), skeletons_.program);
    std::vector<std::string> paths;
    if (!skeletons_.relocatable())
        for (const std::string &file : files)
            paths.push_back(file + ".dwp");
    if (skeleton.dwo_name && *skeleton.dwo_name) {
        // The .dwo file may be at the path that the compiler named, or in the folder of the file
        // with the skeletons. If that is the debug file of a program, the .dwo file may also be in
        // the folder of the program. With -gsplit-dwarf=single, the file with the skeletons has the
        // split units itself.
        const std::string name = skeleton.dwo_name;
        const bool has_folder = skeleton.comp_dir && *skeleton.comp_dir; // prefix maps may empty it
        const std::string comp_dir = has_folder ? std::string(skeleton.comp_dir) + "/" : "";
        paths.push_back(name.front() == '/' ? name : comp_dir + name);
        for (const std::string &file : files)
            paths.push_back(folder_of(file) + name.substr(folder_of(name).size()));
        paths.push_back(skeletons_.where().file);
    }
    for (const std::string &path : paths) {
        auto unit = find_in(path, skeleton);
        if (!unit || *unit)
            return unit;
    }
    return std::nullopt;
}

} // namespace btflink::emit
