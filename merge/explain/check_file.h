// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// `btf-merge --check`: finds what a kernel would refuse in final BTF.
#pragma once

#include "common/btf/kernel_forms.h"
#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// Violations in the final BTF of the file `path` (raw, or `.BTF` and `.BTF.base` of an ELF file):
/// of the kernel's rules (common/btf/btf_check.h), and mismatches with the BTF of the file `base`
/// ("": none), over which it will be loaded. Empty if a kernel would accept it. `kernel`: see
/// kernel_forms(). Error: there is nothing to check.
Result<std::vector<Error>> check_file(const std::string &path, const std::string &base,
                                      std::optional<KernelVersion> kernel = std::nullopt);

} // namespace btflink::merge
