// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Final BTF inside ELF files.
#pragma once

#include "common/io/bytes.h"
#include "common/io/file_change.h"
#include "common/result.h"

#include <set>
#include <string>
#include <vector>

namespace btflink::merge
{

/// The target that an object file is for.
struct Target {
    uint16_t machine = 0; // EM_*
    uint32_t flags = 0;   // e_flags
    uint8_t address_size = 8;
    ByteOrder order = host_order;
};

/// A relocatable object that holds `btf` in an allocated, read-only `.BTF`.
std::vector<std::byte> btf_object(Bytes btf, const Target &target);

/// What is put into an ELF file.
struct FinalBtf {
    Bytes btf;                     // `.BTF`
    Bytes base;                    // `.BTF.base`, the distilled base; empty: none
    std::set<uint64_t> object_ids; // of the objects that were merged: their pools can be told
};

/// How the ELF file `file` gets `added`: `.BTF` and `.BTF.base` of type SHT_PROGBITS, not
/// allocated, in place of all by these names that it has, their relocations too. From a
/// relocatable file (a module) address pools go with them; in a linked one nothing else changes.
/// Doing it twice gives the same bytes as once. Errors: a malformed ELF file, allocated BTF, BTF
/// that something else in the file refers to.
Result<FileChange> with_final_btf(Bytes file, const FinalBtf &added, const Where &where);

/// Carry that out on the file at `path`, which is at every instant the old or the new one.
Result<void> put_final_btf(const std::string &path, const FinalBtf &added);

/// Drop object BTF and address pools from a relocatable file, final BTF that it may have stays.
/// For modules whose BTF goes elsewhere or that have nothing to encode.
Result<void> remove_object_btf(const std::string &path);

} // namespace btflink::merge
