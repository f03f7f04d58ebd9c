// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Goes through folders and archives, and passes the files of a kernel to the Collector. Also finds
// the paths of vmlinux and modules in a folder, for btf-kernel encode.
#include "btf-kernel/package/steps.h"

#include "common/io/file_io.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace btflink::kernel
{

namespace
{

namespace fs = std::filesystem;

uint64_t most_of(Role role)
{
    switch (role) {
    case Role::image:
        return most_of_image;
    case Role::module:
        return most_of_module;
    case Role::config:
    case Role::release:
        return most_of_text;
    case Role::none:
        break;
    }
    return 0;
}

/// The path under which the Collector gets a file that the user names: only the last part. The
/// folders in front of it do not count when release_in() looks for a release.
std::string own_name(const std::string &path)
{
    return fs::path(path).filename().string();
}

Result<void> collect_archive(const std::string &path, Collector &collector)
{
    ArchiveVisitor visitor;
    visitor.wants = [&](const std::string &member) {
        if (!member.empty())
            return most_of(collector.wants(member));
        return role_of(own_name(path)) == Role::module ? most_of_module : most_of_image;
    };
    visitor.take = [&](const std::string &member, std::vector<std::byte> bytes) {
        auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        if (member.empty()) // a compressed file
            return collector.take(Role::none, {own_name(path), path, *kept, kept});
        return collector.take(collector.wants(member),
                              {member, path + "(" + member + ")", *kept, kept});
    };
    visitor.refuse = [&](Error error) { collector.refuse(std::move(error)); };
    return walk_archive(path, visitor);
}

/// Is `root` a build, and do Kbuild's package targets copy files of this build into `folder`?
/// `folder`: a folder directly in `root`.
bool is_copy_of_build(const fs::path &root, const fs::path &folder)
{
    const fs::path name = folder.filename();
    std::error_code ignored;
    return (name == "debian" || name == "tar-install" || name == "rpmbuild" || name == "pacman") &&
           fs::exists(root / "include/config", ignored);
}

/// What role_of() and release_in() need before the paths in `folder`: "lib/modules/" if `folder` is
/// itself a lib/modules (then its paths begin with a release), "boot/" if it is a boot; otherwise
/// "".
std::string missing_prefix(const std::string &folder)
{
    constexpr const char name[] = "lib/modules";
    std::error_code unknown;
    const fs::path whole = fs::canonical(folder, unknown);
    const bool has_name = whole.parent_path().filename() / whole.filename() == name;
    if (has_name)
        return std::string(name) + "/";
    return whole.filename() == "boot" ? "boot/" : "";
}

/// Is this a folder that /boot may have, and that perhaps only root may read?
bool may_be_closed(const fs::path &folder)
{
    static const std::set<std::string> known = {"lost+found", "efi",    "EFI",     "grub",
                                                "grub2",      "loader", "extlinux"};
    return known.contains(folder.filename().string());
}

/// Is the folder at this place below `root` to be skipped? Error: it must be read, but cannot be.
Result<bool> is_skipped(const std::string &root, const fs::recursive_directory_iterator &at)
{
    const fs::path &folder = at->path();
    if (at.depth() >= int{most_depth} || (at.depth() == 0 && is_copy_of_build(root, folder)))
        return true;
    if (::access(folder.c_str(), R_OK | X_OK) == 0)
        return false;
    if (may_be_closed(folder))
        return true;
    return fail_errno(Where{folder.string()}, "cannot be read");
}

/// The paths of wanted files, relative to the folder; sorted. Links are not followed. Some folders
/// are skipped (see is_skipped()). Errors: the folder, or one in it that is not skipped, cannot be
/// read; there are too many files.
Result<std::vector<std::string>> list_folder(const std::string &folder, Collector &collector)
{
    std::error_code error;
    std::vector<std::string> found;
    const std::string prefix = missing_prefix(folder);
    uint64_t count = 0;
    fs::recursive_directory_iterator it(folder, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (++count > most_members)
            return fail(Where{folder}, "has more than 4,000,000 files");
        std::error_code unknown;
        const fs::file_status status = it->symlink_status(unknown);
        if (fs::is_directory(status)) {
            if (TRY(is_skipped(folder, it)))
                it.disable_recursion_pending();
        }
        if (!fs::is_regular_file(status))
            continue;
        std::string path = it->path().lexically_relative(folder).string();
        if (collector.wants(prefix + path) != Role::none)
            found.push_back(std::move(path));
    }
    if (error)
        return fail(Where{folder}, "cannot be read: " + error.message());
    std::ranges::sort(found);
    return found;
}

/// The packages in a folder, sorted by name. They may include packages of other programs. Links are
/// not followed: they may lead out of the folder, or to a package that is there, too.
std::vector<std::string> list_packages(const std::string &folder)
{
    std::vector<std::string> found;
    std::error_code error, unknown;
    for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
         it.increment(error))
        if (is_package(it->path().native()) && fs::is_regular_file(it->symlink_status(unknown)))
            found.push_back(it->path().string());
    std::ranges::sort(found);
    return found;
}

Result<void> collect_folder(const std::string &folder, Collector &collector)
{
    auto files = TRY(list_folder(folder, collector));
    if (files.empty())
        for (const std::string &package : list_packages(folder))
            TRY(collect_archive(package, collector));
    const std::string prefix = missing_prefix(folder);
    for (const std::string &path : files) {
        const std::string place = (fs::path(folder) / path).string();
        const Role role = collector.wants(prefix + path);
        auto parts = read_parts(place);
        if (!parts)
            collector.refuse(parts.error());
        else if (parts->bytes.size() > most_of(role))
            collector.refuse({Where{place}, "is too large"});
        else
            TRY(collector.take(role, {prefix + path, place, parts->bytes, parts->owner}));
    }
    return {};
}

/// An image or module in a folder.
struct FoundFile {
    std::string path;    // relative to the folder
    std::string release; // empty: not known
};

struct FoundFiles {
    std::vector<FoundFile> images, modules; // images: ELF files
    std::set<std::string> stated; // releases in paths of modules and of all images, also vmlinuz
};

/// The release that the path of a vmlinux states, or else the one in its banner; empty: neither.
std::string release_of_image(const std::string &folder, const std::string &prefix,
                             const std::string &path)
{
    const std::string whole = prefix + path;
    if (const std::string_view stated = release_in(whole); !stated.empty())
        return std::string(stated);
    const auto parts = read_parts((fs::path(folder) / path).string());
    return parts ? release_of(parts->bytes) : "";
}

std::set<std::string> releases_of(const std::vector<FoundFile> &files)
{
    std::set<std::string> releases;
    for (const FoundFile &file : files)
        releases.insert(file.release);
    releases.erase("");
    return releases;
}

/// Drops files of other releases. Returns their number.
size_t keep_release(std::vector<FoundFile> &files, const std::string &release)
{
    return std::erase_if(files, [&](const FoundFile &file) {
        return !file.release.empty() && file.release != release;
    });
}

Result<FoundFiles> find_files(const std::string &folder)
{
    const OpenOptions any_release;
    Collector names(any_release);
    const auto files = TRY(list_folder(folder, names));
    const std::string prefix = missing_prefix(folder);
    FoundFiles found;
    for (const std::string &path : files) {
        const std::string own(release_in(prefix + path));
        const Role role = role_of(prefix + path);
        if (role == Role::module || role == Role::image)
            found.stated.insert(own);
        if (role == Role::module)
            found.modules.push_back({path, own});
        else if (is_linked_image(path))
            found.images.push_back({path, release_of_image(folder, prefix, path)});
    }
    found.stated.erase("");
    return found;
}

/// Drops the files of all releases but one: `release`; if it is empty, the release of the modules;
/// if no module has one, that of the images. Files without a known release stay. If `release` is
/// empty and no path states a release, all files stay. Errors: those of find_kernel_files(), except
/// those of list_folder().
Result<void> choose_release(FoundFiles &found, const std::string &folder,
                            const std::string &release)
{
    std::set<std::string> seen = releases_of(found.images), chosen = {release};
    seen.insert(found.stated.begin(), found.stated.end());
    if (!release.empty() && !seen.empty() && !seen.contains(release))
        return fail(Where{folder}, no_such_kernel(release, seen));
    if (release.empty() && found.stated.empty()) // a build, in which image_rank() decides
        chosen.clear();
    else if (release.empty())
        chosen = releases_of(releases_of(found.modules).empty() ? found.images : found.modules);
    if (chosen.size() > 1)
        return fail(Where{folder},
                    "has several kernels; choose one with --release=NAME: " + joined(chosen, ", "));
    for (const std::string &only : chosen) {
        keep_release(found.modules, only);
        if (keep_release(found.images, only) && found.images.empty())
            return fail(Where{folder}, no_image_of(only));
    }
    return {};
}

/// The path of the first image with the lowest image_rank(). Images whose release is not known
/// count only if there are no others. "" if there is no image.
std::string best_image(const std::vector<FoundFile> &images)
{
    const auto best = std::ranges::min_element(images, {}, [](const FoundFile &image) {
        return std::pair(image.release.empty(), image_rank(image.path));
    });
    return best == images.end() ? "" : best->path;
}

/// The paths of modules. If a module has a debug file, too, only that is listed.
std::vector<std::string> without_debugged(const std::vector<FoundFile> &modules)
{
    std::set<std::string> debugged;
    for (const FoundFile &module : modules)
        if (is_debug_file(module.path))
            debugged.emplace(place_of_module(module.path));
    std::vector<std::string> paths;
    for (const FoundFile &module : modules)
        if (is_debug_file(module.path) ||
            !debugged.contains(std::string(place_of_module(module.path))))
            paths.push_back(module.path);
    return paths;
}

} // namespace

std::string no_image_of(const std::string &release)
{
    return "has no vmlinux of " + release + ", only of other releases";
}

Result<KernelFiles> find_kernel_files(const std::string &folder, const std::string &release)
{
    auto found = TRY(find_files(folder));
    TRY(choose_release(found, folder, release));
    return KernelFiles{best_image(found.images), without_debugged(found.modules)};
}

Result<void> collect(const std::string &path, Collector &collector)
{
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        return collect_folder(path, collector);
    // A pipe is read to its end here, so it cannot be an archive, which is opened again.
    auto parts = TRY(read_parts(path));
    if (!is_binary(parts.bytes) && fs::is_regular_file(path, ignored))
        return collect_archive(path, collector);
    return collector.take(Role::none, {own_name(path), path, parts.bytes, parts.owner});
}

} // namespace btflink::kernel
