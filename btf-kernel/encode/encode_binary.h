// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Encodes the BTF of one vmlinux or module from its DWARF into a file.
#pragma once

#include "btf-kernel/encode/worker_pool.h"
#include "common/object_btf/features.h"
#include "kbuild-integration/btf-pahole/foreign_units.h"
#include "merge/input/final_btf.h"

#include <memory>
#include <string>

namespace btflink::kernel
{

class BinaryEncoder
{
public:
    /// `base_path`: the file of the BTF of vmlinux, which encode_vmlinux() writes.
    BinaryEncoder(FeatureSet features, bool self_contained, std::string base_path);

    // `file`: the file to read; `shown`: its name in errors.

    /// Writes the BTF of vmlinux. Error, among others: the DWARF has nothing to encode.
    Result<void> encode_vmlinux(const std::string &file, const std::string &shown,
                                unsigned threads);
    /// Read the BTF of vmlinux, unless modules are self-contained.
    Result<void> read_base();
    /// Writes the BTF of a module, compressed or not, to `output`. If the result has a text and has
    /// not failed, the DWARF has nothing to encode, and there is no file.
    WorkResult encode_module(const std::string &file, const std::string &shown,
                             const std::string &output) const;

private:
    Result<void> merge(const std::string &input, const std::string &image,
                       const std::string &output, unsigned threads) const;
    Result<bool> write_module(const std::string &file, const std::string &shown,
                              const std::string &output) const;

    kbuild::PaholeOptions settings_;
    const bool self_contained_;
    const std::string base_path_;
    std::shared_ptr<const merge::Base> base_;
};

} // namespace btflink::kernel
