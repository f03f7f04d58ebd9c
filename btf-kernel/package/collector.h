// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Takes the files of a package in any order, and makes a kernel of them (kernel.cc).
#pragma once

#include "btf-kernel/package/image.h"
#include "btf-kernel/package/names.h"

#include <atomic>
#include <set>

namespace btflink::kernel
{

/// A file of the package.
struct Content {
    std::string path;  // as clean_path() gives it
    std::string place; // for messages: "PACKAGE(PATH)"
    Bytes bytes;
    std::shared_ptr<const void> owner; // keeps `bytes` alive
};

class Collector
{
public:
    explicit Collector(const OpenOptions &options) : options_(options) {}

    /// The role of a file; none: it is not wanted.
    Role wants(const std::string &path);
    /// Files wait until there are enough to read several at a time. Role::none: their contents
    /// decide. Error: too much BTF is kept.
    Result<void> take(Role role, Content content);
    void refuse(Error error) { left_out_.push_back(std::move(error)); }

    Result<Kernel> finish(std::string package);

private:
    struct PendingFile {
        Role role;
        bool encoded; // by its name, btf-kernel encode wrote it
        Content content;
    };
    struct Image {
        std::string path;
        Result<ImageFacts> facts;
    };
    /// vmlinux and modules of the kernel, or those that btf-kernel encode wrote, which are ignored
    /// if the kernel's own files are there, too.
    struct Files {
        std::vector<Image> images;
        std::vector<Binary> modules;
    };
    Result<void> read_pending();
    void keep(const PendingFile &file, Result<ImageFacts> facts);
    Result<std::string> choose_release() const;
    Result<void> choose_image(Kernel &kernel, Result<void> &unreadable);

    const OpenOptions &options_;
    std::vector<PendingFile> pending_;
    uint64_t pending_bytes_ = 0;
    Files own_, encoded_;
    std::vector<std::pair<std::string, std::string>> configs_; // path, text
    std::string release_;                                      // from a build's kernel.release
    std::set<std::string> releases_seen_; // in paths, if options_.release is set
    std::vector<Error> left_out_;
    size_t modules_taken_ = 0;
    std::atomic<uint64_t> kept_ = 0; // bytes of BTF in memory
};

/// Goes through a file or folder, and passes wanted files to the collector (collect.cc).
Result<void> collect(const std::string &path, Collector &collector);

} // namespace btflink::kernel
