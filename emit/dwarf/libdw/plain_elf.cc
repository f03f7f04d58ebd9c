// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes ELF header, section headers, names and contents, in this order.
#include "emit/dwarf/libdw/plain_elf.h"

#include <cstring>

namespace btflink::emit
{

namespace
{

/// Appends numbers in the class and byte order of `like`.
class Out
{
public:
    Out(std::vector<std::byte> &bytes, const ElfImage &like) : bytes_(bytes), like_(like) {}

    template <std::unsigned_integral T>
    void put(T value)
    {
        bytes_.resize(bytes_.size() + sizeof value);
        store<T>(bytes_.data() + bytes_.size() - sizeof value, value, like_.order);
    }
    void word(uint64_t value) // as wide as addresses
    {
        if (like_.is64)
            put<uint64_t>(value);
        else
            put<uint32_t>(static_cast<uint32_t>(value));
    }

private:
    std::vector<std::byte> &bytes_;
    const ElfImage &like_;
};

void put_elf_header(Out &out, const ElfImage &like, size_t section_count)
{
    for (size_t i = 0; i < EI_NIDENT; ++i)
        out.put<uint8_t>(like.head.e_ident[i]);
    out.put<uint16_t>(ET_EXEC); // libdw need not relocate anything
    out.put<uint16_t>(like.head.e_machine);
    out.put<uint32_t>(EV_CURRENT);
    out.word(0); // entry point
    out.word(0); // program headers
    out.word(like.header_size());
    out.put<uint32_t>(like.head.e_flags);
    out.put<uint16_t>(static_cast<uint16_t>(like.header_size()));
    out.put<uint16_t>(0);
    out.put<uint16_t>(0);
    out.put<uint16_t>(static_cast<uint16_t>(like.section_header_size()));
    out.put<uint16_t>(static_cast<uint16_t>(section_count));
    out.put<uint16_t>(static_cast<uint16_t>(section_count - 1)); // names
}

void put_section_header(Out &out, uint32_t name, uint32_t type, uint64_t offset, uint64_t size)
{
    out.put<uint32_t>(name);
    out.put<uint32_t>(type);
    out.word(0); // flags
    out.word(0); // address
    out.word(offset);
    out.word(size);
    out.put<uint32_t>(0); // link
    out.put<uint32_t>(0); // info
    out.word(1);          // alignment
    out.word(0);          // entry size
}

} // namespace

std::vector<std::byte> make_plain_elf(const ElfImage &like, std::span<const PlainSection> sections)
{
    constexpr std::string_view names_name = ".shstrtab";
    std::string names(1, '\0');
    uint64_t size = 0;
    for (const PlainSection &s : sections) {
        names += std::string(s.name) + '\0';
        size += s.contents.size();
    }
    const auto names_at = static_cast<uint32_t>(names.size());
    names += std::string(names_name) + '\0';

    const size_t count = sections.size() + 2;
    uint64_t offset = like.header_size() + count * like.section_header_size();
    std::vector<std::byte> bytes;
    bytes.reserve(offset + names.size() + size);
    Out out(bytes, like);
    put_elf_header(out, like, count);
    put_section_header(out, 0, SHT_NULL, 0, 0);
    uint32_t name = 1;
    uint64_t contents_at = offset + names.size();
    for (const PlainSection &s : sections) {
        put_section_header(out, name, SHT_PROGBITS, contents_at, s.contents.size());
        name += static_cast<uint32_t>(s.name.size() + 1);
        contents_at += s.contents.size();
    }
    put_section_header(out, names_at, SHT_STRTAB, offset, names.size());

    auto append = [&](Bytes more) {
        bytes.resize(bytes.size() + more.size());
        std::copy(more.begin(), more.end(), bytes.end() - static_cast<ptrdiff_t>(more.size()));
    };
    append(std::as_bytes(std::span(names)));
    for (const PlainSection &s : sections)
        append(s.contents);
    return bytes;
}

} // namespace btflink::emit
