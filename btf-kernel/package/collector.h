// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Takes the files of a package as they come, and gathers the kernel from them.
#pragma once

#include "btf-kernel/package/binary.h"
#include "btf-kernel/package/names.h"
#include "common/io/bytes.h"

#include <atomic>
#include <mutex>
#include <set>

namespace btflink::kernel
{

/// A file of the package.
struct Content {
    std::string path;  // as clean_path() gives it
    std::string place; // to be named in messages: "PACKAGE(PATH)"
    Bytes bytes;
    std::shared_ptr<const void> owner; // of bytes
};

class Collector
{
public:
    explicit Collector(const OpenOptions &options) : options_(options) {}

    /// What the file is wanted as; none: it is not.
    Role wants(const std::string &path) const;
    /// Look at a file. By several threads at once.
    void take(Role role, const Content &content);
    void refuse(Error error);
    /// An error that ends all: of the limits.
    Result<void> check() const;

    Result<Kernel> finish(std::string package);

private:
    struct Image {
        std::string path;
        Result<ImageFacts> facts;
    };
    /// What btf-kernel encode wrote. It may be beside what it was made of, and counts only where
    /// that is not there.
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
    mutable std::mutex mutex_; // of all below
    std::vector<Image> images_;
    std::vector<Binary> modules_;
    Encoded encoded_;
    std::vector<std::pair<std::string, std::string>> configs_; // path, text
    std::string release_;                                      // of a build
    mutable std::set<std::string> releases_seen_;              // in paths, if one is asked for
    std::vector<Error> left_out_;
    uint64_t kept_ = 0; // bytes of BTF
};

/// Go through a file or folder, and give the collector what it wants.
Result<void> collect(const std::string &path, const OpenOptions &options, Collector &collector);

} // namespace btflink::kernel
