// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The layout section of BTF states the length of types of each kind, so that a reader can skip
// kinds that it does not know. Kernels read it from 7.1 on (commit 222edc843c15). The header then
// has two more words, and 4 bytes for each kind that the writer knew are between types and strings.
// Source: struct btf_layout and btf_header of <linux/btf.h>.
#pragma once

#include "common/io/bytes.h"

#include <vector>

namespace btflink
{

constexpr uint32_t layout_fields = 24;      // byte offset of layout_off, layout_len in the header
constexpr uint32_t layout_header_size = 32; // of a header with these fields
constexpr uint32_t layout_entry_size = 4;

/// The position of a layout section in bytes from the end of the header. Length 0: no section.
struct LayoutPlace {
    uint32_t offset = 0;
    uint32_t length = 0;
};
/// Reads the position from the header at the start of `blob`. `header_length`: hdr_len, already
/// checked.
LayoutPlace layout_place(Bytes blob, uint32_t header_length, ByteOrder order);

/// Extends the header of a blob from 24 to 32 bytes. `section`: also adds the layout of all known
/// kinds. Split BTF gets no layout of its own, because that of its base applies.
void add_layout(std::vector<std::byte> &blob, ByteOrder order, bool section);

} // namespace btflink
