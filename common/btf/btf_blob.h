// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Assembles a BTF blob from its parts.
#pragma once

#include "common/io/bytes.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace btflink
{

/// Types (words in host order) and strings after a 24-byte header. Together they must be less than
/// 4 GB. `room`: also reserves so many bytes, for the caller to append.
std::vector<std::byte> btf_blob(std::span<const uint32_t> words, std::string_view strings,
                                ByteOrder order, size_t room = 0);

} // namespace btflink
