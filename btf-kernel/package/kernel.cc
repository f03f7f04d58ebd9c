// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes a kernel of the files in packages: reads each file by its role, and chooses one vmlinux in
// the end. Also finds settings in a kernel's configuration, and parses the BTF of vmlinux and
// modules.
#include "btf-kernel/package/steps.h"

#include "common/elf/elf_image.h"
#include "common/io/parallel.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

std::string_view trimmed(std::string_view text)
{
    const size_t end = text.find_last_not_of(" \n\t\r");
    return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

bool is_module(const Content &content)
{
    return role_of(content.path) == Role::module || role_of_encoded(content.path) == Role::module ||
           is_relocatable(content.bytes);
}

/// For a module, only `binary` is set.
Result<ImageFacts> read_file_of_kernel(Role role, const Content &content)
{
    const Where where{content.place};
    if (role == Role::image)
        return read_image(content.bytes, content.owner, where);
    ImageFacts facts;
    facts.binary = TRY(read_module(content.bytes, where));
    return facts;
}

Result<std::shared_ptr<const Btf>> shared_btf(Bytes bytes, const Where &where,
                                              std::shared_ptr<const Btf> base = nullptr)
{
    Btf btf = TRY(Btf::parse(bytes, where, std::move(base)));
    return std::make_shared<const Btf>(std::move(btf));
}

/// Drops a module's file with debug information if the shipped file, which the kernel loads, is
/// there, too.
void drop_debug_files(std::vector<Binary> &modules)
{
    std::set<std::string> shipped;
    for (const Binary &module : modules)
        if (!module.is_debug)
            shipped.emplace(place_of_module(module.path));
    std::erase_if(modules, [&](const Binary &module) {
        return module.is_debug && shipped.contains(std::string(place_of_module(module.path)));
    });
}

} // namespace

std::string no_such_kernel(const std::string &release, const std::set<std::string> &seen)
{
    return "has no kernel " + release + ", but: " + joined(seen, ", ");
}

Role Collector::wants(const std::string &path)
{
    Role role = role_of(path);
    if (role == Role::none)
        role = role_of_encoded(path);
    const std::string_view release = release_in(path);
    if (role == Role::none || options_.release.empty() || release.empty())
        return role;
    releases_seen_.emplace(release);
    return release == options_.release ? role : Role::none;
}

Result<void> Collector::take(Role role, Content content)
{
    if (role == Role::config || role == Role::release) {
        const std::string_view text = as_text(content.bytes);
        if (role == Role::release)
            release_ = trimmed(text);
        else if (text.find("CONFIG_") != text.npos) // other programs call files "config", too
            configs_.emplace_back(content.path, text);
        return {};
    }
    // A file that the user names counts as the kernel's own, even if btf-kernel encode wrote it.
    const bool encoded = role != Role::none && role_of_encoded(content.path) != Role::none;
    if (role == Role::none) {
        role = is_module(content) ? Role::module : Role::image;
        if (const std::string_view release = release_in(content.path); !release.empty())
            releases_seen_.emplace(release); // as wants() does for files in folders and archives
    }
    modules_taken_ += role == Role::module;
    if (options_.progress)
        options_.progress->set("reading modules", modules_taken_);
    pending_bytes_ += content.bytes.size();
    pending_.push_back({role, encoded, std::move(content)});
    if (pending_bytes_ < most_pending && pending_.size() < most_pending_files)
        return {};
    return read_pending();
}

Result<void> Collector::read_pending()
{
    std::vector<Result<ImageFacts>> read(pending_.size());
    TRY(parallel_try(read.size(), options_.threads, [&](size_t i) -> Result<void> {
        if (kept_ <= most_kept) { // otherwise the error is certain, and no more memory is used
            read[i] = read_file_of_kernel(pending_[i].role, pending_[i].content);
            if (read[i])
                kept_ += read[i]->binary.btf.size() + read[i]->binary.base.size();
        }
        if (kept_ > most_kept)
            return fail({}, "has more than " + std::to_string(most_kept) + " bytes of BTF");
        return {};
    }));
    for (size_t i = 0; i < read.size(); ++i)
        keep(pending_[i], std::move(read[i]));
    pending_.clear();
    pending_bytes_ = 0;
    return {};
}

void Collector::keep(const PendingFile &file, Result<ImageFacts> facts)
{
    Files &to = file.encoded ? encoded_ : own_;
    if (file.role == Role::image) {
        to.images.push_back({file.content.path, std::move(facts)});
        return;
    }
    Binary &module = to.modules.emplace_back();
    if (facts)
        module = std::move(facts->binary);
    else
        module.unreadable = std::move(facts).error();
    module.name = module_name(file.content.path);
    module.path = file.content.path;
    // Folders that the user named, such as /usr/lib/debug, are not in module.path, but count, too.
    // The folders in which an archive lies do not count.
    const std::string &place = file.content.place;
    const bool in_archive = place.ends_with("(" + module.path + ")");
    module.is_debug = is_debug_file(module.path) || (!in_archive && is_debug_file(place));
}

/// The release of the kernel to open, from the first of these that states one: the user, paths of
/// modules, paths of images, Kbuild's file kernel.release, contents of images, contents of modules;
/// empty: none does. Errors: paths of modules, or else of images, state several releases; the user
/// has chosen one, but paths, or else contents, state only others.
Result<std::string> Collector::choose_release() const
{
    if (!options_.release.empty()) {
        std::set<std::string> seen = releases_seen_;
        if (seen.empty()) { // no path states a release, but contents may
            seen.insert(release_);
            for (const Image &image : own_.images)
                if (image.facts)
                    seen.emplace(image.facts->release);
            for (const Binary &module : own_.modules)
                seen.emplace(module.release);
            seen.erase("");
        }
        if (seen.empty() || seen.contains(options_.release))
            return options_.release;
        return fail({}, no_such_kernel(options_.release, seen));
    }
    std::set<std::string> releases;
    for (const Binary &module : own_.modules)
        releases.emplace(release_in(module.path));
    releases.erase("");
    if (releases.empty())
        for (const Image &image : own_.images)
            releases.emplace(release_in(image.path));
    releases.erase("");
    if (releases.size() > 1)
        return fail({}, "has several kernels; " + std::string(options_.if_several) + ": " +
                            joined(releases, ", "));
    if (!releases.empty())
        return *releases.begin();
    if (!release_.empty())
        return release_;
    for (const Image &image : own_.images)
        if (image.facts && !image.facts->release.empty())
            return image.facts->release;
    for (const Binary &module : own_.modules)
        if (!module.release.empty())
            return module.release;
    return std::string();
}

/// Sets kernel.vmlinux to the image with the lowest image_rank() among those with BTF, or else
/// among all that can be read. An image does not count if its path states another release than
/// kernel.release. If its path states no release, the image counts, whatever its contents state.
/// There is one exception: the user has chosen a release, and the contents of at least one image
/// state this release. Then an image whose path states no release and whose contents state another
/// one does not count. Also sets kernel.banner and kernel.other_builds, and kernel.config if that
/// is empty; a banner or configuration that the chosen image lacks comes from the first image that
/// has one. `unreadable`: set to the error of the first image that cannot be read. Error: there are
/// images, but none can be read.
Result<void> Collector::choose_image(Kernel &kernel, std::optional<Error> &unreadable)
{
    auto stated_by = [](const Image &image) {
        return image.facts ? std::string_view(image.facts->release) : std::string_view();
    };
    // Names such as vmlinuz-linux and vmlinuz-linux-lts state no release.
    const bool by_contents =
        !options_.release.empty() &&
        std::ranges::find(own_.images, options_.release, stated_by) != own_.images.end();
    std::erase_if(own_.images, [&](const Image &image) {
        std::string_view release = release_in(image.path);
        if (release.empty() && by_contents)
            release = stated_by(image);
        return !release.empty() && !kernel.release.empty() && release != kernel.release;
    });
    std::ranges::sort(own_.images, [](const Image &a, const Image &b) {
        return std::make_tuple(image_rank(a.path), std::string_view(a.path)) <
               std::make_tuple(image_rank(b.path), std::string_view(b.path));
    });
    Image *best = nullptr;
    for (Image &image : own_.images) {
        if (!image.facts) {
            if (!unreadable)
                unreadable = image.facts.error();
            continue;
        }
        if (!best || (!best->facts->binary.has_btf && image.facts->binary.has_btf))
            best = &image;
    }
    if (!best && unreadable)
        return fail(*unreadable);
    if (!best)
        return {};
    kernel.vmlinux = std::move(best->facts->binary);
    kernel.banner = best->facts->banner;
    if (kernel.config.empty())
        kernel.config = best->facts->config;
    for (const Image &image : own_.images) {
        if (!image.facts)
            continue;
        if (kernel.config.empty())
            kernel.config = image.facts->config;
        if (kernel.banner.empty())
            kernel.banner = image.facts->banner;
        else if (!image.facts->banner.empty() && image.facts->banner != kernel.banner)
            kernel.other_builds.push_back(
                {Where{image.path}, "is \"" + image.facts->banner + "\""});
    }
    return {};
}

Result<Kernel> Collector::finish(std::string package)
{
    auto in_package = [&](Error error) {
        if (error.where.file.empty())
            error.where.file = package;
        return fail(std::move(error));
    };
    if (auto read = read_pending(); !read)
        return in_package(read.error());
    if (own_.images.empty())
        own_.images = std::move(encoded_.images);
    if (own_.modules.empty())
        own_.modules = std::move(encoded_.modules);
    Kernel kernel;
    kernel.package = package;
    auto release = choose_release();
    if (!release)
        return in_package(release.error());
    kernel.release = *release;
    kernel.version = parse_kernel_version(kernel.release);
    std::ranges::sort(configs_);
    // First a configuration whose path states this release, then one whose path states none.
    for (const std::string_view wanted : {std::string_view(kernel.release), std::string_view()})
        for (auto &[path, text] : configs_)
            if (kernel.config.empty() && release_in(path) == wanted)
                kernel.config = std::move(text);
    std::optional<Error> unreadable;
    if (auto chosen = choose_image(kernel, unreadable); !chosen)
        return in_package(chosen.error());
    kernel.modules = std::move(own_.modules);
    drop_debug_files(kernel.modules);
    std::ranges::sort(kernel.modules, {}, &Binary::path);
    if (unreadable)
        left_out_.push_back(*unreadable);
    kernel.left_out = std::move(left_out_);
    std::ranges::sort(kernel.left_out,
                      [](const Error &a, const Error &b) { return a.str() < b.str(); });
    if (!kernel.vmlinux && kernel.modules.empty()) {
        if (!kernel.left_out.empty())
            return fail(kernel.left_out.front());
        return fail(Where{package}, "has neither vmlinux nor modules");
    }
    return kernel;
}

Result<Kernel> open_kernel(const std::vector<std::string> &paths, const OpenOptions &options)
{
    Collector collector(options);
    for (const std::string &path : paths)
        if (auto collected = collect(path, collector); !collected) {
            Error error = collected.error();
            if (error.where.file.empty())
                error.where.file = path;
            return fail(std::move(error));
        }
    return collector.finish(joined(paths, ", "));
}

std::string_view Kernel::config_value(std::string_view name) const
{
    const std::string key = "CONFIG_" + std::string(name) + "=";
    const std::string_view text = config;
    for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        if (at && text[at - 1] != '\n')
            continue;
        std::string_view value = text.substr(at + key.size());
        value = value.substr(0, value.find('\n'));
        if (value.size() > 1 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        return value;
    }
    return {};
}

bool Kernel::config_has(std::string_view name) const
{
    return config_value(name) == "y";
}

Result<std::shared_ptr<const Btf>> parse_vmlinux(const Kernel &kernel)
{
    if (!kernel.vmlinux)
        return fail(Where{kernel.package}, "has no vmlinux");
    if (!kernel.vmlinux->has_btf)
        return fail(Where{kernel.vmlinux->path}, "has no .BTF");
    return shared_btf(kernel.vmlinux->btf, kernel.vmlinux->btf_where);
}

Result<ModuleBtf> parse_module(const Binary &module, const std::shared_ptr<const Btf> &vmlinux)
{
    ModuleBtf out;
    if (module.unreadable)
        return fail(*module.unreadable);
    if (!module.has_btf)
        return fail(Where{module.path}, "has no .BTF");
    if (!module.base.empty()) {
        out.distilled = TRY(shared_btf(module.base, module.base_where));
    } else {
        // Only raw BTF can be self-contained: kernels read the BTF of an ELF module as split BTF.
        // Split BTF does not parse without a base, because its strings do not begin with the empty
        // string. BTF without types may be either; it is read as split BTF.
        if (module.form == Binary::Form::raw_btf) {
            auto whole = shared_btf(module.btf, module.btf_where);
            if (whole && (*whole)->size())
                return ModuleBtf{nullptr, *whole};
            if (!whole && !Btf::seems_split(module.btf))
                return fail(whole.error());
        }
        if (!vmlinux)
            return fail(module.btf_where, "extends the BTF of a vmlinux, and there is no vmlinux");
    }
    out.btf =
        TRY(shared_btf(module.btf, module.btf_where, out.distilled ? out.distilled : vmlinux));
    return out;
}

} // namespace btflink::kernel
