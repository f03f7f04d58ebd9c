// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Limits for unpacking untrusted packages, so that a small file cannot use up all memory.
#pragma once

#include <cstdint>

namespace btflink::kernel
{

// Bytes, unpacked.
constexpr uint64_t most_of_module = uint64_t{1} << 30;
constexpr uint64_t most_of_image = uint64_t{4} << 30;
constexpr uint64_t most_of_text = 64 << 20;       // a configuration, a System.map
constexpr uint64_t most_of_ids = 1 << 20;         // .BTF_ids of a flat image
constexpr uint64_t most_waiting = 512 << 20;      // modules that wait to be read
constexpr uint64_t most_kept = uint64_t{4} << 30; // BTF of all files
constexpr uint64_t most_members = 4'000'000;      // files of an archive or folder
constexpr unsigned most_nested = 4;               // compressed files within compressed files
constexpr unsigned most_depth = 64;               // nested folders

} // namespace btflink::kernel
