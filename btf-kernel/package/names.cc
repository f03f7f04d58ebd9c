// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Recognises the names that distributions and Kbuild give to images, modules, configurations and
// packages.
#include "btf-kernel/package/steps.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

std::string_view last_part(std::string_view path)
{
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/// Is the file called `name`, or does its name begin with `name` and a dash?
bool is_called(std::string_view file, std::string_view name)
{
    return file == name || (file.starts_with(name) && file[name.size()] == '-');
}

// Yocto has names such as Image.gz-RELEASE.
constexpr std::string_view image_names[] = {"vmlinux", "vmlinuz",  "bzImage",  "Image",   "zImage",
                                            "uImage",  "fitImage", "boot.img", "Image.gz"};

std::string_view without_end(std::string_view file, std::initializer_list<std::string_view> ends)
{
    for (std::string_view end : ends)
        if (file.ends_with(end))
            return file.substr(0, file.size() - end.size());
    return file;
}

std::string_view without_compression(std::string_view file)
{
    return without_end(file, {".gz", ".xz", ".zst", ".lz4", ".bz2", ".lzma"});
}

/// The release in lib/modules/RELEASE/...; empty if the path has another form.
std::string_view release_of_modules(std::string_view path)
{
    constexpr std::string_view folder = "lib/modules/";
    for (size_t at = path.find(folder); at != std::string_view::npos;
         at = path.find(folder, at + 1)) {
        if (at && path[at - 1] != '/')
            continue;
        std::string_view rest = path.substr(at + folder.size());
        size_t end = rest.find('/');
        if (end != std::string_view::npos && is_digit(rest[0])) // not lib/modules/extra of Android
            return rest.substr(0, end);
    }
    return {};
}

/// The release in MACHINE/RELEASE/linux, where systemd's kernel-install puts an image; empty if the
/// path has another form.
std::string_view release_of_entry(std::string_view path)
{
    constexpr std::string_view file = "/linux";
    if (!path.ends_with(file))
        return {};
    const std::string_view folder = last_part(path.substr(0, path.size() - file.size()));
    return parse_kernel_version(folder) ? folder : std::string_view();
}

/// Is the file an image by its name together with its folder? Such images are systemd's
/// MACHINE/RELEASE/linux, Gentoo's boot/kernel-RELEASE, and SUSE's for s390x: boot/image-RELEASE,
/// in newer packages lib/modules/RELEASE/image.
bool is_image_by_folder(std::string_view path)
{
    const std::string release(release_in(path));
    if (release.empty())
        return false;
    const std::string_view file = without_compression(last_part(path));
    const bool in_boot = path.starts_with("boot/") || path.find("/boot/") != std::string_view::npos;
    return !release_of_entry(path).empty() || path.ends_with("modules/" + release + "/image") ||
           (in_boot && (file == "kernel-" + release || file == "image-" + release));
}

/// Is it a .efi file in EFI/Linux, where systemd's kernel-install puts unified kernel images and
/// systemd-boot looks for them?
bool is_unified_image(std::string_view path)
{
    constexpr std::string_view folder = "EFI/Linux/", end = ".efi";
    const size_t at = path.rfind(folder);
    // Files in folders below it, such as those in EFI/Linux/NAME.efi.extra.d, are additions to
    // images.
    return at != std::string_view::npos && (at == 0 || path[at - 1] == '/') &&
           path.ends_with(end) && path.find('/', at + folder.size()) == std::string_view::npos;
}

/// Is it a source file? Some are named like images and configurations: vmlinux-gdb.py,
/// config-bisect.pl.
bool is_source(std::string_view file)
{
    return without_end(file, {".c", ".h", ".S", ".lds", ".pl", ".py", ".sh"}) != file;
}

bool has_image_name(std::string_view file)
{
    file = without_end(without_compression(file), {".efi", ".debug"});
    return file == "vmlinux.unstripped" ||
           std::ranges::any_of(image_names,
                               [&](std::string_view name) { return is_called(file, name); });
}

/// The release in the name of an image. `release`: what follows the dash, perhaps with suffixes of
/// the file. Red Hat's releases may end with .debug (vmlinuz-3.10.0-123.el7.x86_64.debug), so
/// .debug is removed only from SUSE's vmlinux-RELEASE.debug.
std::string_view without_image_suffix(std::string_view release, bool is_vmlinux)
{
    release = without_end(without_compression(release), {".efi"});
    return is_vmlinux ? without_end(release, {".debug"}) : release;
}

size_t module_suffix(std::string_view file)
{
    for (std::string_view end : {".ko", ".ko.xz", ".ko.zst", ".ko.gz", ".ko.debug"})
        if (file.size() > end.size() && file.ends_with(end))
            return end.size();
    return 0;
}

std::string_view without_btf(std::string_view file)
{
    return without_end(file, {".btf"});
}

bool is_in_debug_folder(std::string_view path)
{
    return path.starts_with("lib/debug/") || path.find("/lib/debug/") != std::string_view::npos;
}

} // namespace

Role role_of(std::string_view path)
{
    const std::string_view file = last_part(path);
    if (module_suffix(file))
        return Role::module;
    if (is_source(file))
        return Role::none;
    if (is_called(file, "config") || file == ".config")
        return Role::config;
    if (path == "kernel.release" || path.ends_with("include/config/kernel.release"))
        return Role::release;
    // Kbuild keeps parts of the boot image in folders called compressed; .hmac files are checksums.
    // Red Hat's rescue image is a copy of one of the other images. In builds for 32-bit arm, Image
    // has no header by which it could be recognised; vmlinux and zImage have the same BTF.
    if (path.find("/compressed/") != std::string_view::npos || file.ends_with(".hmac") ||
        file.find("-0-rescue-") != std::string_view::npos || path.ends_with("arch/arm/boot/Image"))
        return Role::none;
    return has_image_name(file) || is_unified_image(path) || is_image_by_folder(path) ? Role::image
                                                                                      : Role::none;
}

Role role_of_encoded(std::string_view path)
{
    const std::string_view file = last_part(path);
    if (file == "vmlinux.btf")
        return Role::image;
    const std::string_view of = without_btf(file);
    return of != file && module_suffix(of) ? Role::module : Role::none;
}

bool is_package(std::string_view path)
{
    return without_end(path, {".deb", ".ddeb", ".rpm", ".apk", ".ipk", ".xbps", ".pkg.tar.zst",
                              ".pkg.tar.xz"}) != path;
}

std::string module_name(std::string_view path)
{
    std::string_view file = without_btf(last_part(path));
    file.remove_suffix(module_suffix(file));
    std::string name(file);
    std::ranges::replace(name, '-', '_');
    return name;
}

std::string_view place_of_module(std::string_view path)
{
    path = without_btf(path);
    if (const std::string_view release = release_of_modules(path); !release.empty())
        path = path.substr(static_cast<size_t>(release.data() + release.size() + 1 - path.data()));
    path.remove_suffix(module_suffix(path));
    return path;
}

bool is_debug_file(std::string_view path)
{
    return is_in_debug_folder(path) || path.ends_with(".debug");
}

std::string_view release_in(std::string_view path)
{
    if (const std::string_view release = release_of_modules(path); !release.empty())
        return release;
    if (const std::string_view release = release_of_entry(path); !release.empty())
        return release;
    // BTF of a kernel may be named RELEASE.btf or vmlinux-RELEASE.btf.
    const std::string_view whole = without_compression(last_part(path)), file = without_btf(whole);
    // What follows the dash of "leds-88pm860x.ko" is not a release. A unified image may have any
    // name.
    if (module_suffix(file) || is_unified_image(path))
        return {};
    if (!file.empty() && is_digit(file.front()))
        return file != whole && parse_kernel_version(file) ? file : std::string_view();
    const size_t dash = file.find('-');
    if (dash == std::string_view::npos || dash + 1 == file.size() || !is_digit(file[dash + 1]))
        return {};
    const std::string_view release = file.substr(dash + 1);
    return has_image_name(file) ? without_image_suffix(release, is_called(file, "vmlinux"))
                                : release;
}

bool is_linked_image(std::string_view path)
{
    const std::string_view file = last_part(path);
    return role_of(path) == Role::image && without_compression(file) == file &&
           without_btf(file) == file &&
           (file == "vmlinux.unstripped" || file == "vmlinux.debug" || is_called(file, "vmlinux"));
}

unsigned image_rank(std::string_view path)
{
    const std::string_view file = last_part(path), whole = without_compression(file);
    unsigned kind = 4;
    if (file == "vmlinux.unstripped")
        kind = 0;
    else if (is_linked_image(path))
        kind = is_in_debug_folder(path) ? 1 : 2;
    else if (without_btf(whole) != whole)
        kind = 5;
    else if (is_called(whole, "vmlinux"))
        kind = 3;
    const auto depth = static_cast<unsigned>(std::ranges::count(path, '/'));
    return kind * 1000 + std::min(depth, 999u);
}

Result<std::string> clean_path(std::string_view path)
{
    std::string out;
    while (!path.empty()) {
        const std::string_view part = take_part(path, '/');
        if (part.empty() || part == ".")
            continue;
        if (part == "..")
            return fail({}, "its path has '..'");
        out += (out.empty() ? "" : "/") + std::string(part);
    }
    return out;
}

} // namespace btflink::kernel
