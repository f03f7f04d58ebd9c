// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Puts object BTF into an ELF file: new sections behind everything else, then a new section header
// table; optionally without DWARF. Knows ELF, knows nothing of DWARF's or BTF's contents.
#pragma once

#include "common/elf/arch.h"
#include "common/io/bytes.h"
#include "common/io/file_change.h"
#include "common/result.h"

#include <vector>

namespace btflink::emit
{

/// One relocation on a new section, of the type that the section calls for.
struct NewReloc {
    uint64_t offset; // in the new section
    uint32_t symbol; // index into the input file's .symtab
    int64_t addend;  // on REL targets stored in the section itself
};

struct ObjectBtf {
    std::vector<std::byte> btf;         // contents of .BTF; empty: only drop what is there
    std::vector<NewReloc> btf_relocs;   // 32-bit absolute
    std::vector<std::byte> pool;        // contents of the address pool; empty: none
    std::vector<NewReloc> pool_relocs;  // pointer-sized absolute
    uint32_t section_type = 0x80425446; // of .BTF
    bool exclude = true;                // SHF_EXCLUDE on .BTF
    bool strip_dwarf = false;           // drop .debug_* (also .zdebug_*, and .gnu.debuglto_* where
                                        // there is no .gnu.lto_*) and their relocations
};

/// How `object` changes when `added` is put into it. Object BTF that is already there is replaced,
/// so that doing it twice gives the same bytes as once. Works on ET_REL, ET_EXEC and ET_DYN
/// (relocations must then be empty). Errors: a malformed ELF file, by section and offset.
Result<FileChange> plan_object_btf(Bytes object, const Arch &arch, const ObjectBtf &added,
                                   const Where &where);

} // namespace btflink::emit
