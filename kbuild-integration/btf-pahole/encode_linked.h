// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The driver of btf-pahole: one linked file (vmlinux, a module, a program) gets its final BTF.
#pragma once

#include "kbuild-integration/btf-pahole/dwarf_units.h"
#include "merge/link/select.h"

namespace btflink::kbuild
{

struct EncodeReport : DwarfReport {
    std::vector<std::string> notes;                                              // for -V
    std::vector<std::pair<std::string, merge::FunctionSkip>> functions_left_out; // by name
    bool written = false; // false also if there was nothing to encode
};

/// Encodes `file` as `options` say, into its `.BTF` (and `.BTF.base`) or into options.detached. In
/// the second case, if `file` is a module, only its object BTF is removed. On an error no file is
/// changed.
Result<void> encode_linked(const std::string &file, const PaholeOptions &options,
                           EncodeReport &report);

} // namespace btflink::kbuild
