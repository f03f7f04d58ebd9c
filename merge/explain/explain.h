// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Explains results: `btf-merge --check` and `--why-dup`.
#pragma once

#include "common/btf/kernel_forms.h"
#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::merge
{

struct Object;
struct MergedTypes;

// check_file.cc: finds what a kernel would refuse in final BTF.

/// Violations in the final BTF of the file `path` (raw, or `.BTF` and `.BTF.base` of an ELF file):
/// of the kernel's rules (common/btf/btf_check.h), and mismatches with the BTF of the file `base`
/// ("": none), over which it will be loaded. Empty if a kernel would accept it. `kernel`: see
/// kernel_forms(). Error: there is nothing to check.
Result<std::vector<Error>> check_file(const std::string &path, const std::string &base,
                                      std::optional<KernelVersion> kernel = std::nullopt);

// why_dup.cc: why the result has several types of one name.

/// Returns the report. `name`: only for this struct, union, enum or typedef, as "s" or "struct s";
/// empty: for all. `base_name`: what to call the base, if there is one.
std::string why_dup(const std::vector<Object> &objects, const MergedTypes &types,
                    std::string_view name, const std::string &base_name);

} // namespace btflink::merge
