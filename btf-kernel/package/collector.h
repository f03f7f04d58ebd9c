// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Takes the files of a package in any order, and makes a kernel of them (kernel.cc).
#pragma once

#include "btf-kernel/package/image.h"
#include "btf-kernel/package/names.h"

#include <atomic>
#include <mutex>
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
    Role wants(const std::string &path) const;
    /// Reads a file. Several threads may call this at once. Role::none: its contents decide.
    void take(Role role, const Content &content);
    void refuse(Error error);
    /// Error: too much BTF is kept.
    Result<void> check() const;

    Result<Kernel> finish(std::string package);

private:
    struct Image {
        std::string path;
        Result<ImageFacts> facts;
    };
    /// Files that btf-kernel encode wrote. They are ignored if the kernel's own files are there,
    /// too.
    struct Encoded {
        std::vector<Image> images;
        std::vector<Binary> modules;
    };
    Role role_by_content(const Content &content) const;
    void take_image(const Content &content, std::vector<Image> &to);
    void take_module(const Content &content, std::vector<Binary> &to);
    void use_encoded();
    Result<std::string> choose_release() const;
    Result<void> choose_image(Kernel &kernel, Result<void> &unreadable);

    const OpenOptions &options_;
    mutable std::mutex mutex_; // guards all members below
    std::vector<Image> images_;
    std::vector<Binary> modules_;
    Encoded encoded_;
    std::vector<std::pair<std::string, std::string>> configs_; // path, text
    std::string release_;                                      // from a build's kernel.release
    mutable std::set<std::string> releases_seen_; // in paths, if options_.release is set
    std::vector<Error> left_out_;
    uint64_t kept_ = 0; // bytes of BTF in memory
};

/// Goes through a file or folder, and passes wanted files to the collector (collect.cc).
Result<void> collect(const std::string &path, const OpenOptions &options, Collector &collector);

} // namespace btflink::kernel
