// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The layout section of BTF: how long the types of each kind are, so that a reader can pass over
// those of kinds that it does not know. Kernels read it from 7.1 on (the kernel's commit
// 222edc843c15): two more words in the header, and between types and strings 4 bytes for each kind
// that the writer knew. Source: struct btf_layout and btf_header of <linux/btf.h>.
#pragma once

#include "common/io/bytes.h"

#include <vector>

namespace btflink
{

constexpr uint32_t layout_fields = 24;      // byte offset of layout_off, layout_len in the header
constexpr uint32_t layout_header_size = 32; // of a header that has them
constexpr uint32_t layout_entry_size = 4;

/// Where a layout section is, in bytes from the end of the header; length 0: there is none.
struct LayoutPlace {
    uint32_t offset = 0;
    uint32_t length = 0;
};
/// What the header at the start of `blob` says of it. `header_length`: its hdr_len, which fits.
LayoutPlace layout_place(Bytes blob, uint32_t header_length, ByteOrder order);

/// Give a blob with a header of 24 bytes one of 32, and, if `section` is true, the layout of all
/// kinds that we know. Split BTF has none: its base's holds for it.
void add_layout(std::vector<std::byte> &blob, ByteOrder order, bool section);

} // namespace btflink
