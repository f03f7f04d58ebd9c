// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes final BTF into ELF files.
#pragma once

#include "common/io/bytes.h"
#include "common/io/file_io.h"
#include "common/result.h"

#include <set>
#include <string>
#include <vector>

namespace btflink::merge
{

/// The target of an object file.
struct Target {
    uint16_t machine = 0; // EM_*
    uint32_t flags = 0;   // e_flags
    uint8_t address_size = 8;
    ByteOrder order = host_order;
};

/// A relocatable object that holds `btf` in an allocated, read-only `.BTF`.
std::vector<std::byte> btf_object(Bytes btf, const Target &target);

/// The sections to add to an ELF file.
struct FinalBtf {
    Bytes btf;                     // `.BTF`
    Bytes base;                    // `.BTF.base`, the distilled base; empty: none
    std::set<uint64_t> object_ids; // of the merged objects, to recognise their pools
};

/// The change that gives the ELF file `file` a section `.BTF` and, with a distilled base,
/// `.BTF.base`, of type SHT_PROGBITS and not allocated. They replace all sections with these two
/// names and their relocations and, in a relocatable file (a module), the address pools. Nothing
/// else changes in a linked file, except that an empty allocated `.BTF` is renamed. Running twice
/// has the same result as running once. Errors: a malformed ELF file; BTF that is allocated, or
/// that something else in the file refers to; a result that is too large for 32-bit ELF.
Result<FileChange> with_final_btf(Bytes file, const FinalBtf &added, const Where &where);

/// Applies the change of with_final_btf() to the file at `path`. At any time the file is the old or
/// the new one.
Result<void> put_final_btf(const std::string &path, const FinalBtf &added);

/// Removes object BTF and address pools, but not final BTF, from a relocatable file: a module whose
/// BTF is written elsewhere.
Result<void> remove_object_btf(const std::string &path);

} // namespace btflink::merge
