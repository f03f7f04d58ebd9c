// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes a BTF header, followed by types and strings.
#include "common/btf/btf_blob.h"

#include "common/btf/btf_format.h"

namespace btflink
{

std::vector<std::byte> btf_blob(std::span<const uint32_t> words, std::string_view strings,
                                ByteOrder order, size_t room)
{
    ByteWriter out(order);
    auto type_len = static_cast<uint32_t>(words.size_bytes());
    out.reserve(btf::header_size + uint64_t{type_len} + strings.size() + room);
    out.put<uint16_t>(BTF_MAGIC);
    out.put<uint8_t>(BTF_VERSION);
    out.put<uint8_t>(0);
    out.put<uint32_t>(btf::header_size);
    out.put<uint32_t>(0);
    out.put<uint32_t>(type_len);
    out.put<uint32_t>(type_len);
    out.put<uint32_t>(static_cast<uint32_t>(strings.size()));
    if (order == host_order)
        out.put_bytes(std::as_bytes(words));
    else
        for (uint32_t word : words)
            out.put<uint32_t>(word);
    out.put_bytes(as_bytes(strings));
    return out.take();
}

} // namespace btflink
