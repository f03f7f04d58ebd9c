// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Puts object BTF into an ELF file: appends sections and a new section header table, and optionally
// drops DWARF. Does not interpret DWARF or BTF.
#pragma once

#include "common/elf/arch.h"
#include "common/io/bytes.h"
#include "common/io/file_change.h"
#include "common/result.h"

#include <vector>

namespace btflink::emit
{

/// A relocation of a new section. The section determines its type.
struct NewReloc {
    uint64_t offset; // in the new section
    uint32_t symbol; // index into the input file's .symtab
    int64_t addend;  // on REL targets stored in the section itself
};

struct ObjectBtf {
    std::vector<std::byte> btf;         // contents of .BTF; empty: only drop the old one
    std::vector<NewReloc> btf_relocs;   // 32-bit absolute
    std::vector<std::byte> pool;        // contents of the address pool; empty: no pool
    std::vector<NewReloc> pool_relocs;  // pointer-sized absolute
    uint32_t section_type = 0x80425446; // of .BTF
    bool exclude = true;                // SHF_EXCLUDE on .BTF
    bool strip_dwarf = false;           // drop .debug_* (also .zdebug_*, and .gnu.debuglto_* where
                                        // there is no .gnu.lto_*) and their relocations
};

/// The change that puts `added` into `object`. Replaces existing object BTF, so that running twice
/// has the same result as running once. For ET_REL, and for ET_EXEC and ET_DYN without relocations.
/// Error: a malformed ELF file.
Result<FileChange> plan_object_btf(Bytes object, const Arch &arch, const ObjectBtf &added,
                                   const Where &where);

} // namespace btflink::emit
