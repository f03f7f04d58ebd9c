// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Removes wrappings and compression from an image one after the other, and searches flat memory for
// BTF.
#include "btf-kernel/package/image.h"

#include "btf-kernel/package/archive.h"
#include "btf-kernel/package/magic.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_of_banner = 1000;

/// Unpack data that begin somewhere behind code. The code may contain the bytes of a magic number
/// by chance; only the right data unpack to the size in the last four bytes.
Result<std::vector<std::byte>> unpack_behind_code(Bytes bytes, uint64_t most, const Where &where)
{
    constexpr size_t most_tries = 100;
    const Bytes tail = bytes.last(4);
    const auto size = load<uint32_t>(tail.data(), ByteOrder::little);
    size_t tries = 0;
    for (size_t at = 0; at + 8 < bytes.size() && tries < most_tries; ++at) {
        Bytes rest = bytes.subspan(at);
        if (!is_compressed(rest))
            continue;
        ++tries;
        if (!has(rest, 0, "\x1f\x8b"))
            rest = rest.first(rest.size() - 4);
        auto out = unpack(rest, std::min<uint64_t>(size, most), where);
        if (out && out->size() == size)
            return out;
    }
    return fail(where, "has no compressed kernel behind its code");
}

/// Unpack data to which Kbuild may have appended the unpacked size.
Result<std::vector<std::byte>> unpack_sized(Bytes bytes, uint64_t most, const Where &where)
{
    auto out = unpack(bytes, most, where);
    if (out || bytes.size() < 8)
        return out;
    auto shorter = unpack(bytes.first(bytes.size() - 4), most, where);
    const Bytes tail = bytes.last(4);
    return shorter && shorter->size() == load<uint32_t>(tail.data(), ByteOrder::little) ? shorter
                                                                                        : out;
}

} // namespace

bool is_btf(Bytes file)
{
    return has(file, 0, "\x9f\xeb\x01") || has(file, 0, "\xeb\x9f\x01");
}

ByteOrder order_of_btf(Bytes btf)
{
    return has(btf, 0, "\xeb") ? ByteOrder::big : ByteOrder::little;
}

bool is_image(Bytes file)
{
    return has(file, 0, "\177ELF") || is_btf(file) || find_wrapping(file);
}

Result<BareImage> bare_image(Bytes file, std::shared_ptr<const void> owner, const Where &where)
{
    BareImage image{BareImage::Form::flat, file, std::move(owner), {}};
    uint64_t left = most_of_image;
    bool wrapped = false;
    for (unsigned depth = 0; depth <= most_nested; ++depth) {
        if (has(image.bytes, 0, "\177ELF")) {
            image.form = BareImage::Form::elf;
            return image;
        }
        if (is_btf(image.bytes)) {
            image.form = BareImage::Form::btf;
            return image;
        }
        Payload payload{image.bytes};
        if (const Wrapping *wrapping = find_wrapping(image.bytes)) {
            if (!wrapping->open)
                return image;
            if (image.bytes.size() < wrapping->header)
                return fail(where, std::string(wrapping->name) + ": its header is cut off");
            payload = TRY(wrapping->open(image.bytes, where));
            wrapped = true;
        } else if (!is_compressed(image.bytes)) {
            // On some machines a kernel has no header of its own.
            if (wrapped && !find_banner(image.bytes).empty())
                return image;
            return fail(where, "is not a kernel image of a known form");
        }
        if (image.release.empty())
            image.release = std::move(payload.release);
        image.bytes = payload.bytes;
        if (!payload.behind_code && !is_compressed(payload.bytes))
            continue;
        auto unpacked = TRY(payload.behind_code ? unpack_behind_code(payload.bytes, left, where)
                                                : unpack_sized(payload.bytes, left, where));
        left -= unpacked.size();
        auto kept = std::make_shared<const std::vector<std::byte>>(std::move(unpacked));
        image.bytes = *kept;
        image.owner = kept;
    }
    return fail(where, strf("has more than %u wrappings around each other", most_nested));
}

Bytes find_btf(Bytes flat)
{
    const std::string_view text = as_text(flat);
    Bytes largest;
    for (std::string_view magic :
         {std::string_view("\x9f\xeb\x01\0", 4), std::string_view("\xeb\x9f\x01\0", 4)})
        for (size_t at = text.find(magic); at != std::string_view::npos;
             at = text.find(magic, at + 1)) {
            const Bytes rest = flat.subspan(at);
            auto size = btf_blob_size(rest, {});
            if (!size || *size > rest.size() || *size <= largest.size())
                continue;
            if (Btf::parse(rest.first(*size), {}))
                largest = rest.first(*size);
        }
    return largest;
}

// The kernel's linker script (BTF in include/asm-generic/vmlinux.lds.h) puts .BTF_ids behind .BTF,
// at the next word or page, with zeros between. The words of .BTF_ids are ids, counts and flags,
// which are all small; the data behind it soon have a larger word. So the section is taken to begin
// at the first word behind .BTF that is not zero, and to end at the first word that is large.
Bytes find_btf_ids(Bytes flat, Bytes btf)
{
    constexpr size_t largest_page = 64 * 1024;
    if (btf.empty())
        return {};
    const ByteOrder order = order_of_btf(btf);
    auto word_at = [&](size_t at) { return load<uint32_t>(flat.data() + at, order); };
    const auto end_of_btf = static_cast<size_t>(btf.data() + btf.size() - flat.data());
    size_t begin = (end_of_btf + 3) / 4 * 4;
    while (begin + 4 <= flat.size() && begin - end_of_btf < largest_page && word_at(begin) == 0)
        begin += 4;
    size_t end = begin;
    while (end + 4 <= flat.size() && end - begin < most_of_ids && word_at(end) <= btf::max_type_id)
        end += 4;
    return flat.subspan(std::min(begin, flat.size()), end - begin);
}

std::string find_banner(Bytes memory)
{
    constexpr std::string_view begin = "Linux version ";
    const std::string_view text = as_text(memory);
    for (size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1))
        if (std::string_view rest = text.substr(at + begin.size(), most_of_banner);
            !rest.empty() && rest[0] >= '0' && rest[0] <= '9')
            return std::string(rest.substr(0, rest.find_first_of(std::string_view("\n\0", 2))));
    return {};
}

std::string find_config(Bytes memory, const Where &where)
{
    const std::string_view text = as_text(memory);
    const size_t begin = text.find("IKCFG_ST\x1f\x8b");
    if (begin == std::string_view::npos)
        return {};
    const size_t end = text.find("IKCFG_ED", begin);
    if (end == std::string_view::npos)
        return {};
    auto config = unpack(memory.subspan(begin + 8, end - begin - 8), most_of_text, where);
    return config ? std::string(as_text(*config)) : std::string();
}

} // namespace btflink::kernel
