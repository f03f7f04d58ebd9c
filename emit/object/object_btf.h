// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Object BTF in an ELF file: what is there already, and what replaces it.
#pragma once

#include "common/elf/arch.h"
#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "common/object_btf/features.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace btflink::emit
{

struct ObjectBtf {
    std::vector<std::byte> btf;         // contents of .BTF; empty: only drop the old one
    std::vector<Reloc> btf_relocs;      // 32-bit; symbols are those of the input file
    std::vector<std::byte> pool;        // contents of the address pool; empty: no pool
    std::vector<Reloc> pool_relocs;     // pointer-sized
    uint32_t section_type = 0x80425446; // of .BTF
    bool exclude = true;                // SHF_EXCLUDE on .BTF
    /// Drop sections of DWARF that are not loaded, with their relocations: .debug, .debug_*,
    /// .zdebug, .zdebug_*, .gdb_index, and .gnu.debuglto_* if the file does not have .gnu.lto_*.
    bool strip_dwarf = false;
};

// existing_btf.cc: the object BTF that a relocatable file already has: its own, or that of the
// objects from which it was linked. EmitOptions::keep_settings takes features and the address pool
// setting from this BTF, and EmitOptions::add_missing_units keeps all of it.

/// The number of units or contributions per source file (DW_AT_name of a unit).
using SourceCounts = std::map<std::string, uint32_t, std::less<>>;

struct ExistingBtf {
    /// All contributions and pools, in order. Pools whose section has other contents, too, are not
    /// here, because such a section stays in the file.
    ObjectBtf all;
    SourceCounts sources; // of the contributions whose DWARF is still in the file
    /// The union of the objects' features. Nothing if no BTF was made by btflink.
    std::optional<FeatureSet> features;
    bool has_pool = false; // an address pool, empty or not, was written for some object
};

/// Errors: a malformed `.BTF`, link trailer or symbol table; an unexpected relocation; those of
/// find_object_btf().
Result<ExistingBtf> read_existing_btf(const ElfImage &image, const Arch &arch);

// object_writer.cc: drops old object BTF and, if requested, DWARF; appends the new object BTF.

/// The change that puts `added` into `object`. Replaces existing object BTF, so that running twice
/// has the same result as running once. Errors: a malformed ELF file; a section that cannot be
/// dropped, such as a `.BTF` that a linked file loads at run time; relocations in a linked file, or
/// of symbols that the new file does not have; a result or a symbol number that is too large for
/// 32-bit ELF.
Result<FileChange> plan_object_btf(Bytes object, const Arch &arch, const ObjectBtf &added,
                                   const Where &where);

} // namespace btflink::emit
