// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pass 9: final BTF inside ELF files.
#pragma once

#include "common/bytes.h"
#include "common/result.h"

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

/// The ELF file `file` with `btf` as its `.BTF`, not allocated. Object BTF that is there is
/// replaced, its relocations are dropped.
Result<std::vector<std::byte>> with_final_btf(Bytes file, Bytes btf, const Where &where);

} // namespace btflink::merge
