// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Decompresses sections: those with the flag SHF_COMPRESSED, and those in GNU's older scheme
// (.zdebug_info, for example).
#include "common/elf/elf_image.h"

#include <cstring>
#include <zlib.h>
#include <zstd.h>

namespace btflink
{

namespace
{

/// The most bytes that a section may decompress to. The limit prevents a wrong header from claiming
/// all memory.
constexpr uint64_t max_section = uint64_t{4} << 30;

// Missing in some <elf.h>.
constexpr uint32_t compress_zstd = 2;

/// The highest compression ratio; a header that claims more is wrong. zlib: about 1:1032; zstd: 128
/// KB of equal bytes in a block of 4 bytes.
constexpr uint64_t max_ratio(uint32_t type)
{
    return type == compress_zstd ? 1 << 15 : 1100;
}

/// Decompresses `packed` into `out`. Returns whether the result has exactly the size of `out`.
bool unpack(uint32_t type, Bytes packed, std::span<std::byte> out)
{
    if (type == compress_zstd)
        return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
    auto length = static_cast<uLongf>(out.size());
    int rc = uncompress(reinterpret_cast<Bytef *>(out.data()), &length,
                        reinterpret_cast<const Bytef *>(packed.data()), packed.size());
    return rc == Z_OK && length == out.size();
}

/// Is a section with this name, these sh_flags and contents compressed?
bool is_compressed(std::string_view name, uint64_t flags, Bytes data)
{
    constexpr std::string_view magic = "ZLIB";
    if ((flags & SHF_COMPRESSED) || name.starts_with(".zdebug"))
        return true;
    // .debug holds address pools (common/object_btf/address_pool.h). objcopy compresses it without
    // renaming it; the result begins with the magic. A pool begins with its length, which would be
    // more than 1 GB if it looked like the magic.
    return name == ".debug" && data.size() >= magic.size() &&
           std::memcmp(data.data(), magic.data(), magic.size()) == 0;
}

/// Decompresses a section of a file of this class and byte order.
Result<std::vector<std::byte>> decompress(Bytes packed, uint64_t flags, bool is64, ByteOrder order,
                                          const Where &where)
{
    uint64_t size = 0;
    size_t header = 0;
    uint32_t type = ELFCOMPRESS_ZLIB;
    if (flags & SHF_COMPRESSED) {
        header = is64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
        if (packed.size() < header)
            return fail(where.at(0), "compression header is cut off");
        type = load<uint32_t>(packed.data(), order);
        if (type != ELFCOMPRESS_ZLIB && type != compress_zstd)
            return fail(where.at(0),
                        strf("compression type %u is not supported (zlib and zstd are)", type));
        size = is64 ? load<uint64_t>(packed.data() + 8, order)
                    : load<uint32_t>(packed.data() + 4, order);
    } else {
        header = 12; // "ZLIB", size as a big-endian 64-bit integer
        if (packed.size() < header || std::memcmp(packed.data(), "ZLIB", 4) != 0)
            return fail(where.at(0), "has no compression header");
        size = load<uint64_t>(packed.data() + 4, ByteOrder::big);
    }
    packed = packed.subspan(header);
    if (size > max_section)
        return fail(where.at(0), strf("compression header claims %llu bytes; sections of more "
                                      "than 4 GB are not supported",
                                      ull(size)));
    if (size > packed.size() * max_ratio(type) + 64)
        return fail(where.at(0), strf("compression header claims %llu bytes, more than the "
                                      "compressed data can hold",
                                      ull(size)));
    std::vector<std::byte> plain(size);
    if (!unpack(type, packed, plain))
        return fail(where.at(header), "cannot decompress: the data is damaged");
    return plain;
}

} // namespace

Result<SectionContents> ElfImage::contents(uint32_t section) const
{
    const ElfSection &s = sections[section];
    if (!s.in_file() || !is_compressed(s.name, s.head.sh_flags, s.data))
        return SectionContents{s.data, nullptr};
    auto plain = TRY(decompress(s.data, s.head.sh_flags, is64, order, place(section)));
    auto owned = std::make_shared<const std::vector<std::byte>>(std::move(plain));
    return SectionContents{*owned, owned};
}

} // namespace btflink
