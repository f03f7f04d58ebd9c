// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The corridor of btf-kernel encode: DWARF of a kernel and its modules in, a file of BTF for each
// out.
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
    std::string output;  // folder; made if need be
    std::string release; // of several kernels, this one
    FeatureSet features;
    bool self_contained = false; // BTF of modules has all its types, and needs no vmlinux
    bool anew = false;           // also what is there already
    unsigned jobs = 1;
    std::function<void(size_t done, size_t all)> progress; // all 0: not known
};

struct EncodeReport {
    size_t modules = 0, written = 0, kept = 0; // kept: were there already
    std::vector<std::string> without;          // modules whose DWARF has nothing for BTF
    std::vector<Error> failed;                 // modules, and members that were refused
};

/// Write OUTPUT/vmlinux.btf and OUTPUT/MODULE.btf for each module, at its path in the package.
/// OUTPUT/RELEASE.btf is a link to the first, by the release that vmlinux itself states. A
/// file is there whole or not at all. What an earlier run with the same settings left is kept, if
/// neither its source nor vmlinux has changed since. Nothing else is written: what an archive has
/// is read from files without names. Errors: nothing to encode; vmlinux cannot be; the folder
/// cannot be written; the archive is damaged (what came before the damage is there).
Result<EncodeReport> encode_kernel(const EncodeOptions &options);

} // namespace btflink::kernel
