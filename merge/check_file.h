// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// `btf-merge --check`: why would a kernel refuse this BTF?
#pragma once

#include "common/kernel_forms.h"
#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// What is wrong with the final BTF in the file `path` (raw, or `.BTF` and `.BTF.base` of an ELF
/// file), a line each: the rules of the kernel that it violates (common/btf_check.h), and what of
/// it does not fit the BTF in the file `base` ("": none) that it is to be loaded over. Empty: a
/// kernel would take it. `kernel`: see kernel_forms(). Error: there is nothing to check.
Result<std::vector<Error>> check_file(const std::string &path, const std::string &base,
                                      std::optional<KernelVersion> kernel = std::nullopt);

} // namespace btflink::merge
