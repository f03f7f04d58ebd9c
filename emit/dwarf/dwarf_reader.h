// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The interface of both DWARF readers: fast/ for what compilers write for kernels, libdw/ for
// everything else.
#pragma once

#include "emit/dwarf/dwarf_file.h"
#include "emit/tree/die_tree.h"

#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <span>

namespace btflink::emit
{

/// A path that a unit's own entry states; nullptr if it is longer than a path can be. Any number of
/// units may have one long string, so not even its length may be looked for.
inline const char *usual_path(const char *path)
{
    return path && strnlen(path, PATH_MAX) < PATH_MAX ? path : nullptr;
}

/// What a compile unit's own entry says about the unit, and where the unit is.
struct UnitHead {
    const char *name = nullptr;
    uint16_t language = 0;              // DW_LANG_*
    bool clang = false;                 // by its DW_AT_producer
    uint64_t offset = 0;                // of the unit; its entries have higher offsets in trees
    bool is_split = false;              // in a file of split DWARF
    bool refers_to_other_units = false; // its entries may refer to other compile units
    Bytes entries;                      // the unit's bytes in the file; empty if unknown
    const void *file = nullptr;         // only compared: compile units of two files are independent
};

class DwarfReader
{
public:
    DwarfReader(const DwarfReader &) = delete;
    DwarfReader &operator=(const DwarfReader &) = delete;
    virtual ~DwarfReader() = default;

    /// All compile units that can be read, in order; a combined reader has those of split DWARF
    /// last.
    const std::vector<UnitHead> &units() const { return heads_; }

    /// States which units will be read. `units`: ascending indices. Call this once, before read();
    /// without this call, read() leaves out type units to which nothing refers.
    virtual void choose(std::span<const uint32_t> units);

    /// Reads one unit, or several as one, if link-time optimisation made them refer to each other.
    /// `units`: ascending indices. Strings in the result live as long as the reader. Thread-safe.
    /// Error: malformed DWARF.
    Result<DieTree> read(std::span<const uint32_t> units, Skips &skips) const;

    /// The part of read() that a reader implements: the entries of `units`, and the entries of
    /// other units that these need.
    virtual Result<DieTree> read_entries(std::span<const uint32_t> units, Skips &skips) const = 0;

protected:
    explicit DwarfReader(const Arch &arch) : arch_(arch) {}

    struct FileLanguage {
        const void *file;  // UnitHead::file
        uint16_t language; // 0: not stated
        auto operator<=>(const FileLanguage &) const = default;
    };

    /// Does the tree of `units` get all type units of this file and language, even those to which
    /// nothing refers? The tree of the first chosen unit of the file and language gets them, so
    /// those to which nothing refers are read once, and not at all if no unit of the language was
    /// chosen. If the language is not stated, or no unit of the file has it, the tree of the file's
    /// first chosen unit gets them.
    bool get_types(std::span<const uint32_t> units, FileLanguage types) const;
    /// Does the tree of `units` get all type units of this file in at least one language?
    bool get_types(std::span<const uint32_t> units, const void *file) const;

    std::vector<UnitHead> heads_;

private:
    std::map<FileLanguage, uint32_t> type_owners_; // the units that get type units
    const Arch &arch_;
};

// In the functions below, `file` must outlive the result, and have DWARF; `skips` counts units that
// are left out. `debug_dir`: see find_alternate().

/// Our own reader, for what gcc and clang write for kernels, including split DWARF. It is more than
/// twice as fast as libdw. It skips partial units, and type units outside of split DWARF. It counts
/// the skipped units of .debug_info and .debug_types, but not those of .dwo and .dwp files.
Result<std::unique_ptr<DwarfReader>> open_fast_reader(const DwarfFile &file, Skips &skips);

/// The general reader, for all DWARF that libdw can read, including type units, partial units and
/// alternate files (dwz). It decodes independently of the fast reader. If both can read a file,
/// their trees are the same, with three exceptions: this reader does not read range lists of split
/// DWARF 5; it reads a type unit of split DWARF only if an entry refers to the unit; and it reads
/// location expressions of any length (see max_ops in fast/location.cc).
Result<std::unique_ptr<DwarfReader>> open_libdw_reader(const DwarfFile &file,
                                                       const std::string &debug_dir, Skips &skips);

/// Reads the units of split DWARF with `split`, and the others with `plain`.
std::unique_ptr<DwarfReader> combine(const Arch &arch, std::unique_ptr<DwarfReader> plain,
                                     std::unique_ptr<DwarfReader> split);

/// Automatic: the fast reader, unless the file needs libdw. Even then, the fast reader reads its
/// split DWARF.
enum class ReaderChoice : uint8_t { automatic, fast, libdw };

struct ChosenReader {
    std::unique_ptr<DwarfReader> reader;
    const char *name = "fast";
    std::string why; // why libdw was chosen; "" if it was not chosen, or was requested
};

Result<ChosenReader> open_reader(const DwarfFile &file, ReaderChoice choice,
                                 const std::string &debug_dir, Skips &skips);

} // namespace btflink::emit
