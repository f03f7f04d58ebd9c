// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Goes through folders and archives.
//
// Problem. Only one thread can read an archive, from beginning to end. Several threads read the
// members, and not all members fit into memory.
//
// Method. The thread that reads the archive puts members into a queue of bounded size, from which
// the other threads take them. In a folder each thread opens files itself.
#include "btf-kernel/package/collector.h"

#include "btf-kernel/package/archive.h"
#include "btf-kernel/package/image.h"
#include "common/io/file_io.h"
#include "common/io/parallel.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <set>

namespace btflink::kernel
{

namespace
{

namespace fs = std::filesystem;

/// Members that wait to be read: at most most_waiting bytes, or one member.
class Queue
{
public:
    void put(Role role, Content content)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            return waiting_.empty() || bytes_ + content.bytes.size() <= most_waiting;
        });
        bytes_ += content.bytes.size();
        waiting_.emplace_back(role, std::move(content));
        changed_.notify_all();
    }
    void end()
    {
        std::lock_guard lock(mutex_);
        over_ = true;
        changed_.notify_all();
    }
    /// False: no member is left.
    bool take(Role &role, Content &content)
    {
        std::unique_lock lock(mutex_);
        bytes_ -= content.bytes.size(); // of the previous member, which has been read
        content = {};
        changed_.notify_all();
        changed_.wait(lock, [&] { return over_ || !waiting_.empty(); });
        if (waiting_.empty())
            return false;
        role = waiting_.front().first;
        content = std::move(waiting_.front().second);
        waiting_.pop_front();
        return true;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::pair<Role, Content>> waiting_;
    uint64_t bytes_ = 0; // of members that wait or are being read
    bool over_ = false;
};

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

/// For a file that the user names, the folders in its path do not name the kernel's release.
std::string own_name(const std::string &path)
{
    return fs::path(path).filename().string();
}

Result<void> collect_archive(const std::string &path, unsigned threads, Collector &collector)
{
    Queue queue;
    auto work = [&] {
        Role role;
        Content content;
        while (queue.take(role, content))
            collector.take(role, content);
    };
    ArchiveVisitor visitor;
    visitor.wants = [&](const std::string &member) {
        return member.empty() ? most_of_image : most_of(collector.wants(member));
    };
    visitor.take = [&](const std::string &member, std::vector<std::byte> bytes) -> Result<void> {
        auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        Content content{member, path + "(" + member + ")", *kept, kept};
        if (member.empty()) // a compressed file
            content.path = own_name(content.place = path);
        queue.put(member.empty() ? Role::none : collector.wants(member), std::move(content));
        return collector.check();
    };
    visitor.refuse = [&](Error error) { collector.refuse(std::move(error)); };
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < std::max(1u, threads); ++i)
        workers.emplace_back(work);
    Result<void> walked = walk_archive(path, visitor);
    queue.end();
    for (std::thread &worker : workers)
        worker.join();
    return walked;
}

/// Folders in which Kbuild's package targets put copies of the build's files.
bool is_copy_of_build(const fs::path &root, const fs::path &folder)
{
    const fs::path name = folder.filename();
    std::error_code ignored;
    return (name == "debian" || name == "tar-install" || name == "rpmbuild") &&
           folder.parent_path() == root && fs::exists(root / "include/config", ignored);
}

/// Wanted files of a folder, by path; links are not followed.
Result<std::vector<std::string>> list_folder(const std::string &folder, const Collector &collector)
{
    std::error_code error;
    std::vector<std::string> found;
    uint64_t count = 0;
    fs::recursive_directory_iterator it(folder, error); // an unreadable folder is an error
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (++count > most_members)
            return fail(Where{folder}, "has more than 4,000,000 files");
        std::error_code unknown;
        const fs::file_status status = it->symlink_status(unknown);
        if (fs::is_directory(status) &&
            (it.depth() >= int{most_depth} || is_copy_of_build(folder, it->path())))
            it.disable_recursion_pending();
        if (!fs::is_regular_file(status))
            continue;
        std::string path = it->path().lexically_relative(folder).string();
        if (collector.wants(path) != Role::none)
            found.push_back(std::move(path));
    }
    if (error)
        return fail(Where{folder}, "cannot be read: " + error.message());
    std::sort(found.begin(), found.end());
    return found;
}

/// Packages in a folder, by name. They may include packages of other programs.
std::vector<std::string> list_packages(const std::string &folder)
{
    std::vector<std::string> found;
    std::error_code ignored;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored))
        if (is_package(entry.path().native()) && entry.is_regular_file(ignored))
            found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
}

Result<void> collect_folder(const std::string &folder, unsigned threads, Collector &collector)
{
    auto files = TRY(list_folder(folder, collector));
    if (files.empty()) {
        for (const std::string &package : list_packages(folder))
            TRY(collect_archive(package, threads, collector));
        return {};
    }
    return parallel_try(files.size(), threads, [&](size_t i) -> Result<void> {
        const std::string &path = files[i];
        const std::string place = (fs::path(folder) / path).string();
        auto parts = read_parts(place);
        if (!parts) {
            collector.refuse(parts.error());
            return {};
        }
        if (parts->bytes.size() > most_of(collector.wants(path))) {
            collector.refuse({Where{place}, "is too large"});
            return {};
        }
        collector.take(collector.wants(path), {path, place, parts->bytes, parts->owner});
        return collector.check();
    });
}

} // namespace

Result<KernelFiles> find_kernel_files(const std::string &folder, const std::string &release)
{
    OpenOptions options;
    options.release = release;
    auto files = TRY(list_folder(folder, Collector(options)));
    KernelFiles found;
    std::set<std::string_view> releases;
    for (const std::string &path : files) {
        const Role role = role_of(path);
        if (role == Role::module) {
            found.modules.push_back(path);
            releases.insert(release_in(path));
        } else if (role == Role::image && image_rank(path) < image_rank("vmlinuz") &&
                   (found.vmlinux.empty() || image_rank(path) < image_rank(found.vmlinux))) {
            found.vmlinux = path;
        }
    }
    releases.erase("");
    if (releases.size() > 1)
        return fail(Where{folder}, "has several kernels, of which --release=NAME chooses one");
    return found;
}

Result<void> collect(const std::string &path, const OpenOptions &options, Collector &collector)
{
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        return collect_folder(path, options.threads, collector);
    // A pipe can be read only once, so it cannot be an archive.
    auto parts = TRY(read_parts(path));
    if (!is_image(parts.bytes) && fs::is_regular_file(path, ignored))
        return collect_archive(path, options.threads, collector);
    collector.take(Role::none, {own_name(path), path, parts.bytes, parts.owner});
    return collector.check();
}

} // namespace btflink::kernel
