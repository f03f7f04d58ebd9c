// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the kernel in a boot image.
//
// These documents describe the layouts; paths are in the kernel's sources, except that of U-Boot:
//   bzImage: Documentation/arch/x86/boot.rst
//   Image of arm64: Documentation/arch/arm64/booting.rst
//   Image of riscv: Documentation/arch/riscv/boot-image-header.rst
//   Image of loongarch: arch/loongarch/kernel/head.S
//   EFI zboot: drivers/firmware/efi/libstub/zboot-header.S
//   zImage of arm: arch/arm/boot/compressed/head.S and vmlinux.lds.S
//   Image of s390x: arch/s390/boot/head.S and vmlinux.lds.S
//   unified kernel image: the UAPI group's specification
//   uImage: include/image.h of U-Boot
//   FIT (flat image tree): its specification, and the devicetree specification, chapter 5
//   boot.img: Android's documentation of boot image headers
#include "btf-kernel/package/steps.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>
#include <optional>
#include <vector>

namespace btflink::kernel
{

namespace
{

uint16_t u16(Bytes file, size_t at)
{
    return load<uint16_t>(file.data() + at, ByteOrder::little);
}

uint32_t u32(Bytes file, size_t at, ByteOrder order = ByteOrder::little)
{
    return load<uint32_t>(file.data() + at, order);
}

uint32_t be32(Bytes file, size_t at)
{
    return load<uint32_t>(file.data() + at, ByteOrder::big);
}

/// `length` bytes of `file` from `start`. Error: they are not all there. `name`: of the wrapping.
/// `where`: the place of the first byte of `file`. If it has no offset, `file` is a whole file.
Result<Bytes> part_of(Bytes file, uint64_t start, uint64_t length, const char *name,
                      const Where &where)
{
    if (start > file.size() || length > file.size() - start)
        return fail(where.after(start),
                    std::string(name) + ": it is cut off, or refers to bytes beyond its end");
    return file.subspan(start, length);
}

/// The text from offset `at` up to a zero byte, or to the end.
std::string_view text_at(Bytes file, size_t at)
{
    const std::string_view rest = at < file.size() ? as_text(file.subspan(at)) : "";
    return rest.substr(0, rest.find('\0'));
}

/// The beginning of `text`, up to a blank or unprintable character; at most 200 characters.
std::string first_word(std::string_view text)
{
    text = text.substr(0, 200);
    auto is_space = [](char c) { return !std::isgraph(static_cast<unsigned char>(c)); };
    return {text.begin(), std::ranges::find_if(text, is_space)};
}

Result<Payload> open_bz_image(Bytes file, const Where &where)
{
    constexpr size_t setup_sects = 0x1f1, version = 0x206, version_text = 0x20e, payload = 0x248;
    if (u16(file, version) < 0x208)
        return fail(where, "is a bzImage of a kernel before 2.6.26");
    const size_t sectors = std::to_integer<size_t>(file[setup_sects]);
    const uint64_t start = ((sectors ? sectors : 4) + 1) * 512 + uint64_t{u32(file, payload)};
    auto part = TRY(part_of(file, start, u32(file, payload + 4), "bzImage", where));
    return Payload{part, first_word(text_at(file, size_t{u16(file, version_text)} + 0x200))};
}

Result<Payload> open_zboot(Bytes file, const Where &where)
{
    auto part = TRY(part_of(file, u32(file, 8), u32(file, 12), "EFI image", where));
    return Payload{part};
}

/// A table to which the header refers states the end of the compressed data, but not their
/// beginning.
Result<Payload> open_arm(Bytes file, const Where &where)
{
    constexpr const char name[] = "zImage";
    constexpr size_t header_end = 0x3c;
    const ByteOrder order =
        has(file, 0x24, "\x18\x28\x6f\x01") ? ByteOrder::little : ByteOrder::big;
    const uint32_t start = u32(file, 0x28, order), end = u32(file, 0x2c, order);
    if (end < start || end - start > file.size())
        return fail(where, "is a zImage that is cut off");
    constexpr uint32_t has_table = 0x45454545, of_sizes = 0x5a534c4b;
    if (u32(file, 0x34, order) != has_table)
        return fail(where, "is a zImage of a kernel before 4.15");
    const uint32_t at = u32(file, 0x38, order);
    auto table = TRY(part_of(file, at, 12, name, where));
    if (u32(table, 4, order) != of_sizes)
        return fail(where.at(at), "zImage: there is no table of sizes");
    // The offset of the unpacked size, which follows the compressed data or, with gzip, ends them.
    const uint64_t size_at = u32(table, 8, order);
    if (size_at < header_end)
        return fail(where.at(at), "zImage: its payload ends in the header");
    auto part = TRY(part_of(file, header_end, size_at + 4 - header_end, name, where));
    return Payload{.bytes = part, .after_code = true};
}

constexpr size_t end_of_s390_head = 0x10010;

/// The header states neither beginning nor end of the compressed data. From Linux 6.1 on, and in
/// later stable releases of older kernels, zeros pad the file to a whole page. The last 32 bytes of
/// this page are a trailer for secure boot. The kernel's sign-file may append a signature, which
/// ends as those of modules do (struct module_signature in include/linux/module_signature.h).
Result<Payload> open_s390(Bytes file, const Where &)
{
    constexpr size_t trailer = 32;
    constexpr std::string_view end_of_trailer = "zIPL";
    constexpr std::string_view end_of_signature = "~Module signature appended~\n";
    constexpr size_t after_signature = 12 + end_of_signature.size();
    const uint64_t rest = file.size() - end_of_s390_head;
    if (rest >= after_signature &&
        has(file, file.size() - end_of_signature.size(), end_of_signature)) {
        const uint64_t length = be32(file, file.size() - end_of_signature.size() - 4);
        file = file.first(file.size() - after_signature - std::min(length, rest - after_signature));
    }
    if (has(file, file.size() - end_of_trailer.size(), end_of_trailer))
        file = file.first(file.size() - trailer);
    return Payload{.bytes = file, .after_code = true};
}

/// Any EFI program. Only unified kernel images have a kernel: in the section .linux. Their section
/// .uname has the release.
Result<Payload> open_pe(Bytes file, const Where &where)
{
    constexpr const char name[] = "EFI program";
    constexpr size_t file_header = 24, section_header = 40;
    const uint64_t pe = u32(file, 0x3c);
    auto head = TRY(part_of(file, pe, file_header, name, where));
    if (!has(head, 0, std::string_view("PE\0\0", 4)))
        return fail(where.at(pe), "is neither a kernel nor a program for EFI");
    const uint64_t sections = pe + file_header + u16(head, 20);
    auto table = TRY(part_of(file, sections, u16(head, 6) * section_header, name, where));
    Payload out;
    for (size_t at = 0; at < table.size(); at += section_header) {
        const std::string_view section = text_at(table.subspan(at, 8), 0);
        if (section != ".linux" && section != ".uname")
            continue;
        // Not all tools write the size of the contents; it is then 0. `block` includes padding.
        const uint32_t contents = u32(table, at + 8), block = u32(table, at + 16);
        auto part = TRY(part_of(file, u32(table, at + 20),
                                contents ? std::min(contents, block) : block, name, where));
        // Later sections of the same name are for other profiles (boot menu entries).
        if (section == ".uname" && out.release.empty())
            out.release = first_word(as_text(part));
        else if (section == ".linux" && out.bytes.empty())
            out.bytes = part;
    }
    if (out.bytes.empty())
        return fail(where, "is a program for EFI without a kernel in it (section .linux)");
    return out;
}

Result<Payload> open_uimage(Bytes file, const Where &where)
{
    constexpr const char name[] = "uImage";
    constexpr size_t header = 64;
    constexpr unsigned kernel = 2, kernel_noload = 14, several = 4;
    const auto type = std::to_integer<unsigned>(file[30]);
    auto part = TRY(part_of(file, header, be32(file, 12), name, where));
    if (type == kernel || type == kernel_noload)
        return Payload{part};
    if (type != several)
        return fail(where, strf("is a uImage without a kernel (its type is %u)", type));
    size_t sizes = 0; // offset of the 0 that ends the list of sizes; the kernel is the first part
    for (;; sizes += 4) {
        if (sizes + 4 > part.size())
            return fail(where.at(header), "uImage: its list of sizes has no end");
        if (be32(part, sizes) == 0)
            break;
    }
    auto first = TRY(part_of(part, sizes + 4, be32(part, 0), name, where.at(header)));
    return Payload{first};
}

Result<Payload> open_android(Bytes file, const Where &where)
{
    const uint32_t version = u32(file, 40);
    if (version > 4)
        return fail(where, strf("is a boot.img of version %u, which is not known", version));
    const uint32_t page = version < 3 ? u32(file, 36) : 4096;
    if (!std::has_single_bit(page) || page < 2048 || page > 65536)
        return fail(where.at(36), strf("boot.img: its pages have %u bytes, not a power of 2 "
                                       "from 2048 to 65536",
                                       page));
    auto part = TRY(part_of(file, page, u32(file, 8), "boot.img", where));
    if (part.empty())
        return fail(where, "is a boot.img without a kernel");
    return Payload{part};
}

Result<Payload> open_vendor_boot(Bytes, const Where &where)
{
    return fail(where, "is a vendor_boot.img, which has no kernel; boot.img has it");
}

/// A property of the node /FOLDER/NODE of a flattened device tree. `node`: "" if the property is
/// that of /FOLDER itself.
struct Property {
    std::string_view folder, node, name;
    Bytes value;
};

/// The properties of all nodes /FOLDER and /FOLDER/NODE, but not those of the root or of deeper
/// nodes.
Result<std::vector<Property>> read_tree(Bytes nodes, Bytes names, const Where &where)
{
    constexpr size_t most_parts = 3;
    // The properties that are needed have names shorter than longest_name. Names of nodes are cut
    // to longest_node, because comparing long ones for each property would take minutes.
    constexpr size_t longest_name = 16, longest_node = 255;
    enum : uint32_t { begin_node = 1, end_node = 2, property = 3, nothing = 4, end = 9 };
    std::vector<Property> out;
    std::vector<std::string_view> path; // begins with the root
    uint64_t at = 0;
    // Padding up to a whole word is skipped.
    auto take = [&](uint64_t size) {
        auto part = part_of(nodes, at, size, "FIT", where);
        at = std::min<uint64_t>(at + (size + 3) / 4 * 4, nodes.size());
        return part;
    };
    for (;;) {
        const Where place = where.after(at);
        const Bytes token = TRY(take(4));
        switch (be32(token, 0)) {
        case begin_node:
            path.push_back(text_at(nodes, at));
            TRY(take(path.back().size() + 1));
            path.back() = path.back().substr(0, longest_node);
            break;
        case property: {
            const Bytes head = TRY(take(8));
            const Bytes value = TRY(take(be32(head, 0)));
            if (path.size() < 2 || path.size() > most_parts)
                break;
            // Names are cut, because any number of properties can refer to one long name, and
            // reading it for each would take minutes.
            const Bytes rest = names.subspan(std::min<size_t>(be32(head, 4), names.size()));
            const Bytes name = rest.first(std::min(rest.size(), longest_name));
            out.push_back(
                {path[1], path.size() > 2 ? path[2] : std::string_view(), text_at(name, 0), value});
            break;
        }
        case end_node:
            if (path.empty())
                return fail(place, "FIT: a node ends that did not begin");
            path.pop_back();
            break;
        case nothing:
            break;
        case end:
            return out;
        default:
            return fail(place, "FIT: its tree is damaged");
        }
    }
}

/// The kernel in a FIT, U-Boot's flattened image tree: that of the default configuration, or else
/// the first one.
Result<Payload> open_fit(Bytes file, const Where &where)
{
    constexpr const char form[] = "FIT";
    const uint64_t total = be32(file, 4);
    auto tree = TRY(part_of(file, 0, total, form, where));
    auto nodes = TRY(part_of(tree, be32(file, 8), be32(file, 36), form, where));
    auto names = TRY(part_of(tree, be32(file, 12), be32(file, 32), form, where));
    const std::vector<Property> properties = TRY(read_tree(nodes, names, where.at(be32(file, 8))));
    auto value = [&](std::string_view folder, std::string_view node, std::string_view name) {
        auto found = std::ranges::find_if(properties, [&](const Property &p) {
            return p.name == name && p.folder == folder && p.node == node;
        });
        return found == properties.end() ? Bytes() : found->value;
    };
    auto is_kernel = [](Bytes type) {
        return text_at(type, 0) == "kernel" || text_at(type, 0) == "kernel_noload";
    };
    const std::string_view chosen = text_at(value("configurations", "", "default"), 0);
    std::string_view image = text_at(value("configurations", chosen, "kernel"), 0);
    if (!is_kernel(value("images", image, "type"))) {
        const auto first = std::ranges::find_if(properties, [&](const Property &p) {
            return p.name == "type" && p.folder == "images" && is_kernel(p.value);
        });
        if (first == properties.end())
            return fail(where,
                        "is a device tree without a kernel in it (a FIT has one in /images)");
        image = first->node;
    }
    auto number = [&](std::string_view name) -> std::optional<uint32_t> {
        const Bytes bytes = value("images", image, name);
        return bytes.size() == 4 ? std::optional(be32(bytes, 0)) : std::nullopt;
    };
    const auto position = number("data-position"), offset = number("data-offset");
    if (!position && !offset)
        return Payload{value("images", image, "data")};
    const uint64_t start = position ? *position : (total + 3) / 4 * 4 + *offset;
    auto data = TRY(part_of(file, start, number("data-size").value_or(0), form, where));
    return Payload{data};
}

// In the order in which they are tried. A bzImage and EFI zboot may also have the magic number of
// loongarch's Image. A bzImage, EFI zboot, Image or zImage may be an EFI program, too.
constexpr Wrapping wrappings[] = {
    {"bzImage", 0x250, [](Bytes f) { return has(f, 0x202, "HdrS"); }, open_bz_image},
    {"EFI image", 64, [](Bytes f) { return has(f, 0, "MZ") && has(f, 4, "zimg"); }, open_zboot},
    // arm64, riscv, loongarch
    {"Image", 60,
     [](Bytes f) {
         return has(f, 56, "ARM\x64") || has(f, 56, "RSC\x05") || has(f, 56, "\xcd\x23\x82\x81");
     },
     nullptr},
    {"zImage", 0x3c,
     [](Bytes f) { return has(f, 0x24, "\x18\x28\x6f\x01") || has(f, 0x24, "\x01\x6f\x28\x18"); },
     open_arm},
    {"Image of s390x", end_of_s390_head, [](Bytes f) { return has(f, 0x10008, "S390EP"); },
     open_s390},
    {"EFI program", 0x40, [](Bytes f) { return has(f, 0, "MZ"); }, open_pe},
    {"uImage", 64, [](Bytes f) { return has(f, 0, "\x27\x05\x19\x56"); }, open_uimage},
    {"FIT", 40, [](Bytes f) { return has(f, 0, "\xd0\x0d\xfe\xed"); }, open_fit},
    {"boot.img", 44, [](Bytes f) { return has(f, 0, "ANDROID!"); }, open_android},
    {"vendor_boot.img", 8, [](Bytes f) { return has(f, 0, "VNDRBOOT"); }, open_vendor_boot},
};

} // namespace

const Wrapping *find_wrapping(Bytes file)
{
    const auto *found =
        std::ranges::find_if(wrappings, [&](const Wrapping &w) { return w.begins(file); });
    return found == std::end(wrappings) ? nullptr : found;
}

} // namespace btflink::kernel
