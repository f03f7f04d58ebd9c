// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the position of a layout section, and adds a layout section to a finished blob.
#include "common/btf/btf_layout.h"

#include "common/btf/btf_format.h"
#include "common/result.h"

namespace btflink
{

LayoutPlace layout_place(Bytes blob, uint32_t header_length, ByteOrder order)
{
    if (header_length < layout_header_size)
        return {};
    auto word = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
    LayoutPlace place{word(layout_fields), word(layout_fields + 4)};
    return place.length ? place : LayoutPlace();
}

void add_layout(std::vector<std::byte> &blob, ByteOrder order, bool section)
{
    auto word = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
    auto set = [&](size_t at, uint32_t value) { store(blob.data() + at, value, order); };
    CHECK(word(4) == btf::header_size && word(8) == 0 && word(12) == word(16));
    const uint32_t type_len = word(12), length = section ? btf::kind_count * layout_entry_size : 0;
    // For each kind: fixed bytes of a type, bytes of an element, two bytes of flags (0).
    std::byte entries[btf::kind_count * layout_entry_size] = {};
    for (uint32_t kind = 1; kind < btf::kind_count; ++kind) {
        std::byte *entry = entries + size_t{kind} * layout_entry_size;
        entry[0] = std::byte(btf::kinds[kind].fixed.count * 4);
        entry[1] = std::byte(btf::kinds[kind].element.count * 4);
    }
    blob.reserve(blob.size() + layout_header_size - btf::header_size + length);
    const auto types_end = blob.begin() + btf::header_size + type_len;
    blob.insert(types_end, entries, entries + length);
    blob.insert(blob.begin() + btf::header_size, layout_header_size - btf::header_size,
                std::byte{0});
    set(4, layout_header_size);
    set(16, type_len + length);
    if (section) {
        set(layout_fields, type_len);
        set(layout_fields + 4, length);
    }
}

} // namespace btflink
