// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the kernel in images that boot. Layouts: Documentation/arch/x86/boot.rst,
// Documentation/arch/arm64/booting.rst, drivers/firmware/efi/libstub/zboot-header.S of the kernel.
#include "btf-kernel/package/image.h"

#include "btf-kernel/package/archive.h"
#include "btf-kernel/package/limits.h"
#include "common/btf/btf.h"

#include <algorithm>
#include <cctype>

namespace btflink::kernel
{

namespace
{

uint32_t word(Bytes file, size_t at)
{
    return load<uint32_t>(file.data() + at, ByteOrder::little);
}

bool has(Bytes file, size_t at, std::string_view magic)
{
    return file.size() >= at + magic.size() &&
           std::memcmp(file.data() + at, magic.data(), magic.size()) == 0;
}

std::string_view as_text(Bytes bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

constexpr size_t most_of_banner = 1000;

/// Characters up to white space or the end.
std::string first_word(std::string_view text)
{
    size_t end = 0;
    while (end < text.size() && end < 200 && std::isgraph(static_cast<unsigned char>(text[end])))
        ++end;
    return std::string(text.substr(0, end));
}

struct Payload {
    Bytes bytes;
    std::string release;
};

/// A payload that is followed by its unpacked size in 4 bytes; gzip has that itself.
Bytes without_size(Bytes payload)
{
    bool has_size = is_compressed(payload) && !has(payload, 0, "\x1f\x8b") && payload.size() > 4;
    return has_size ? payload.first(payload.size() - 4) : payload;
}

Result<Payload> bz_image(Bytes file, const Where &where)
{
    constexpr size_t setup_sects = 0x1f1, version = 0x206, version_text = 0x20e, payload = 0x248,
                     header_end = 0x250;
    if (file.size() < header_end)
        return fail(where, "is a bzImage that is cut off");
    if (load<uint16_t>(file.data() + version, ByteOrder::little) < 0x208)
        return fail(where, "is a bzImage of a kernel before 2.6.26");
    size_t sectors = std::to_integer<size_t>(file[setup_sects]);
    const uint64_t start = ((sectors ? sectors : 4) + 1) * 512 + uint64_t{word(file, payload)};
    const uint64_t length = word(file, payload + 4);
    if (start > file.size() || length > file.size() - start)
        return fail(where.at(start), "bzImage: its payload ends behind the file");
    const uint64_t text =
        uint64_t{load<uint16_t>(file.data() + version_text, ByteOrder::little)} + 0x200;
    Payload out{without_size(file.subspan(start, length)), {}};
    if (text < file.size())
        out.release = first_word(as_text(file.subspan(text)));
    return out;
}

Result<Payload> zboot(Bytes file, const Where &where)
{
    if (file.size() < 16)
        return fail(where, "is an EFI image that is cut off");
    const uint64_t start = word(file, 8), length = word(file, 12);
    if (start > file.size() || length > file.size() - start)
        return fail(where.at(start), "EFI image: its payload ends behind the file");
    return Payload{without_size(file.subspan(start, length)), {}};
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

Result<BareImage> bare_image(Bytes file, std::shared_ptr<const void> owner, const Where &where)
{
    BareImage image{BareImage::Form::flat, file, std::move(owner), {}};
    uint64_t left = most_of_image;
    for (unsigned depth = 0; depth <= most_nested; ++depth) {
        Bytes bytes = image.bytes;
        Result<Payload> payload = Payload{bytes, {}};
        if (has(bytes, 0, "\177ELF")) {
            image.form = BareImage::Form::elf;
            return image;
        }
        if (is_btf(bytes)) {
            image.form = BareImage::Form::btf;
            return image;
        }
        if (has(bytes, 0x202, "HdrS"))
            payload = bz_image(bytes, where);
        else if (has(bytes, 0, "MZ") && has(bytes, 4, "zimg"))
            payload = zboot(bytes, where);
        else if (has(bytes, 56, "ARM\x64") || has(bytes, 56, "RSC\x05"))
            return image;
        else if (!is_compressed(bytes))
            return fail(where, "is no kernel image of a known form");
        if (!payload)
            return fail(payload.error());
        if (image.release.empty())
            image.release = std::move(payload->release);
        image.bytes = payload->bytes;
        if (!is_compressed(payload->bytes))
            continue;
        auto unpacked = TRY(unpack(payload->bytes, left, where));
        left -= unpacked.size();
        auto kept = std::make_shared<const std::vector<std::byte>>(std::move(unpacked));
        image.bytes = *kept;
        image.owner = kept;
    }
    return fail(where, strf("has more than %u compressed files inside each other", most_nested));
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
// at the next word or the next page, and nothing but zeros between; then it fills up the page. Its
// words are ids, counts and flags, all small; what follows soon is not. So it goes from the first
// word behind .BTF that is not zero to the first that is large.
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
            !rest.empty() && rest[0] >= '0' && rest[0] <= '9' && !first_word(rest).empty())
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
