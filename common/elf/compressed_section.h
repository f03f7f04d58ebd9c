// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Contents of sections that compilers, linkers or objcopy compressed: SHF_COMPRESSED (zlib, zstd),
// or GNU's older scheme, in which .debug_info is called .zdebug_info and has no flag.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <string_view>
#include <vector>

namespace btflink
{

/// Is a section with this name, these sh_flags and contents compressed?
bool is_compressed(std::string_view name, uint64_t flags, Bytes data);

/// Decompresses a section of a file of this class and byte order. Errors: an unknown compression,
/// damaged data, an impossible size.
Result<std::vector<std::byte>> decompress(Bytes packed, uint64_t flags, bool is64, ByteOrder order,
                                          const Where &where);

} // namespace btflink
