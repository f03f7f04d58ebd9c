// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An ELF file opened for reading its DWARF. In a relocatable file, addresses are known only by
// their relocations.
#pragma once

#include "common/elf/arch.h"
#include "common/elf/elf_image.h"
#include "emit/tree/die_tree.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace btflink::emit
{

/// A debug section with the relocations that apply to it. The fast reader relocates a value when it
/// reads the value; most values are never read. For libdw, whole sections are relocated beforehand.
struct DebugSection {
    /// A section of the file.
    struct Piece {
        uint32_t index;
        uint64_t begin; // in `data`
    };
    std::vector<Piece> pieces; // several only if they contain units
    Bytes data;
    std::vector<std::byte> joined;                          // `data` of several pieces
    std::shared_ptr<const std::vector<std::byte>> unpacked; // `data` of one piece, if decompressed
    RelocTable relocs;                                      // empty in linked files
    std::vector<std::byte> own_relocs; // entries of `relocs`, if there are several pieces
    bool rela = true;                  // relocations have addends (SHT_RELA)

    bool present() const { return !data.empty(); }
};

/// Bounds the time for reading shared data. Any number of entries may refer to one location list or
/// string, and any number of units to one table of abbreviations. Each reference may cause another
/// read.
class SharedReads
{
public:
    /// `most`: bytes that may be read beyond the usual ones; files from compilers stay far below.
    explicit SharedReads(uint64_t most = 128 << 20) : most_(most) {}
    /// Counts one read of `bytes`, of which the first `usual` are free.
    void add(uint64_t bytes, uint64_t usual) const
    {
        if (bytes > usual)
            sum_ += bytes - usual;
    }
    bool are_too_many() const { return sum_ > most_; }
    /// Raises the limit. Call it before the first add().
    void allow(uint64_t more) { most_ += more; }

private:
    uint64_t most_;
    mutable std::atomic<uint64_t> sum_ = 0;
};

class DwarfFile;

/// The name of a debug section, and the member that has the section.
struct NamedSection {
    std::string_view name;
    DebugSection DwarfFile::*section;
};

class DwarfFile
{
public:
    /// `bytes`, the whole file, must outlive the result. If `skeleton` is set, opens a file of
    /// split DWARF (.dwo, .dwp), whose debug sections are those with names that end in ".dwo", and
    /// the indexes of a .dwp. Its addresses are in `skeleton`, which must outlive the result, too.
    /// Errors: a malformed ELF file; an unsupported architecture or ABI; a debug section that
    /// cannot be decompressed; malformed symbols or relocations; relocations of an unexpected type.
    static Result<std::unique_ptr<DwarfFile>> open(Bytes bytes, const Where &where,
                                                   const DwarfFile *skeleton = nullptr);
    bool is_split() const { return skeleton_; }
    /// The file that has .debug_addr.
    const DwarfFile &with_addresses() const { return skeleton_ ? *skeleton_ : *this; }

    bool has_dwarf() const { return info.present(); }
    const Arch &arch() const { return *arch_; }
    ByteOrder order() const { return image_.order; }
    bool relocatable() const { return image_.head.e_type == ET_REL; }
    const Where &where() const { return image_.where; }
    const ElfImage &image() const { return image_; }
    UnitFile unit_file() const
    {
        return {arch(), order(), relocatable(), where().in(".debug_info"), image_.sections};
    }
    /// Does the kernel's ELF note (owner "Linux", type 0x101) say that the file was made by
    /// link-time optimisation?
    bool lto_note() const { return lto_note_; }

    // Compilers write each type unit into its own section, so that linkers can drop duplicates.
    // `info` (DWARF 5) and `types` (DWARF 4) have all these sections, one after the other.
    DebugSection info, types, abbrev, str, line_str, str_offsets, addr, loc, loclists;
    DebugSection rnglists, cu_index, tu_index; // of split DWARF
    /// In split DWARF, `info` also has the units of .debug_types.dwo, from this offset on;
    /// UINT64_MAX if there is no .debug_types.dwo.
    uint64_t types_at = UINT64_MAX;

    /// The path of the stripped program, if this is its separate debug file; otherwise "".
    std::string program;

    SharedReads list_reads; // location lists of parameters
    /// The number of bytes of each location list that do not count in list_reads.
    static constexpr uint64_t usual_list = 1024;
    static constexpr const char *too_many_lists = "parameters share long location lists";

    SharedReads string_reads{1 << 30}; // strings of attributes
    static constexpr const char *too_many_strings = "entries share long strings";
    /// The number of bytes of each string that do not count in string_reads.
    static constexpr size_t usual_string = 64 << 10;
    /// May `str` or `line_str` have a longer string?
    bool has_long_strings() const { return has_long_strings_; }

    /// The relocated value of `raw`, which is in `section` at the place of relocation entry
    /// `reloc`.
    uint64_t relocated(const DebugSection &section, size_t reloc, uint64_t raw) const
    {
        RelocEntry r = section.relocs[reloc];
        if (image_.reloc_type(r.info) == arch_->reloc_none)
            return raw;
        if (arch_->reloc_pairs)
            return difference(section, reloc, raw);
        return symbols_.value(image_.reloc_symbol(r.info)) +
               (section.rela ? static_cast<uint64_t>(r.addend) : raw);
    }
    /// The relocated value of `raw`, which is at `offset` of `section`; `raw` itself if there is no
    /// relocation.
    uint64_t value_at(const DebugSection &section, uint64_t offset, uint64_t raw) const;

    /// The address at `offset` of a section. Empty if its bytes are not all inside the section, or
    /// if a relocatable file has no relocation there that sets an address.
    std::optional<AddressRef> address_at(const DebugSection &section, uint64_t offset) const;
    /// The same for entry `index` of a unit's part of .debug_addr, which begins at `base`.
    std::optional<AddressRef> indexed_address(uint64_t index, uint64_t base) const;

    /// The debug sections of a file that is not split.
    static std::span<const NamedSection> plain_sections();
    /// Applies the relocations of `section` to a copy of its contents.
    void relocate(const DebugSection &section, std::span<std::byte> contents) const;

private:
    DwarfFile() = default;
    Result<void> find_sections();
    Result<void> load_sections(const std::vector<uint32_t> &candidates);
    Result<void> append_section(uint32_t index, DebugSection &section) const;
    Result<void> attach_relocations(uint32_t rel_index);
    Result<RelocTable> read_relocations(uint32_t rel_index, uint64_t size) const;
    void append_relocations(const ElfSection &rel, uint64_t begin,
                            std::vector<std::byte> &out) const;

    ElfImage image_;
    const DwarfFile *skeleton_ = nullptr;
    const Arch *arch_ = nullptr;
    bool lto_note_ = false;
    bool has_long_strings_ = false;
    SymbolTable symbols_; // of a relocatable file

    /// Applies all relocations at the place of entry `reloc` to `raw`. For Arch::reloc_pairs.
    uint64_t difference(const DebugSection &section, size_t reloc, uint64_t raw) const;
};

// debug_files.cc: finds other files with a file's debug information: all of it, if the file was
// stripped, or the part that several files share (dwz). The search works like gdb's: by build id in
// a directory of debug files (`debug_dir`, usually /usr/lib/debug), and by the name that the file
// has in .gnu_debuglink or .gnu_debugaltlink.

struct DebugFile {
    FileParts parts;
    std::unique_ptr<DwarfFile> file; // nullptr if there is none
};

/// The file with all debug information of `image`, by build id or by .gnu_debuglink;
/// DebugFile::file is nullptr if none is found. Errors: those of read_parts() and
/// DwarfFile::open(), for any file at a place that is searched.
Result<DebugFile> find_separate(const ElfImage &image, const std::string &debug_dir);

/// The file that .gnu_debugaltlink of `image` names; DebugFile::file is nullptr if `image` does not
/// have this section. Errors: the section has no name; no file with DWARF and the right build id is
/// found; those of read_parts() and DwarfFile::open().
Result<DebugFile> find_alternate(const ElfImage &image, const std::string &debug_dir);

} // namespace btflink::emit
