// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The section .BTF_ids (include/linux/btf_ids.h of the kernel): ids of types and functions that C
// code asks for by name, among them sets of kfuncs.
#pragma once

#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// Put the ids of its final BTF into .BTF_ids of the module `file`, as the kernel's resolve_btfids
/// does, which modules outside a tree may lack. `base`: as for read_final_types(). Names that the
/// BTF does not have keep 0, and are returned. Errors: a kfunc is such a name, or one that
/// resolve_btfids would do more for.
Result<std::vector<std::string>> fill_btf_ids(const std::string &file, const std::string &base);

} // namespace btflink::kbuild
