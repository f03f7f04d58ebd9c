// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The driver of btf-kernel encode: reads the DWARF of a kernel and its modules, and writes a file
// of BTF for each.
#pragma once

#include "common/object_btf/features.h"
#include "common/result.h"

#include <functional>
#include <string>
#include <vector>

namespace btflink::kernel
{

struct EncodeOptions {
    std::string package; // folder or archive with vmlinux and modules that have DWARF
    std::string output;  // folder; created if it does not exist
    std::string release; // which kernel to encode, if there are several
    FeatureSet features;
    bool self_contained = false; // modules get all of their types, and need no vmlinux
    bool force = false;          // do not keep files of an earlier run
    unsigned jobs = 1;
    std::function<void(size_t done, size_t all)> progress; // `all` is 0 if not known
};

struct EncodeReport {
    size_t modules = 0, written = 0, kept = 0; // kept: from an earlier run
    std::vector<std::string> without;          // modules whose DWARF has nothing to encode
    std::vector<Error> failed;                 // modules, and members that were refused
};

/// Writes OUTPUT/vmlinux.btf and, for each module, OUTPUT/PATH.btf, where PATH is the module's path
/// in the package. OUTPUT/RELEASE.btf becomes a link to vmlinux.btf; RELEASE is stated by vmlinux.
/// Files are complete or absent. Files of an earlier run with the same settings are kept if neither
/// the module nor vmlinux has changed since. Errors: there is nothing to encode; vmlinux cannot be
/// encoded; the folder cannot be written; the archive is damaged (modules before the damage are
/// encoded).
Result<EncodeReport> encode_kernel(const EncodeOptions &options);

} // namespace btflink::kernel
