// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "merge/elf_header.h"

namespace btflink::merge
{

SectionHeader decode_header(const std::byte *p, ElfShape shape)
{
    SectionHeader h;
    size_t word = shape.is64 ? 8 : 4;
    auto next32 = [&] {
        auto v = load<uint32_t>(p, shape.order);
        p += 4;
        return v;
    };
    auto next = [&] {
        uint64_t v = shape.load_word(p);
        p += word;
        return v;
    };
    h.name = next32();
    h.type = next32();
    h.flags = next();
    h.address = next();
    h.offset = next();
    h.size = next();
    h.link = next32();
    h.info = next32();
    h.alignment = next();
    h.entry_size = next();
    return h;
}

void put_header(ByteWriter &out, const SectionHeader &h, ElfShape shape)
{
    auto put = [&](uint64_t v) {
        if (shape.is64)
            out.put<uint64_t>(v);
        else
            out.put<uint32_t>(static_cast<uint32_t>(v));
    };
    out.put<uint32_t>(h.name);
    out.put<uint32_t>(h.type);
    put(h.flags);
    put(h.address);
    put(h.offset);
    put(h.size);
    out.put<uint32_t>(h.link);
    out.put<uint32_t>(h.info);
    put(h.alignment);
    put(h.entry_size);
}

} // namespace btflink::merge
