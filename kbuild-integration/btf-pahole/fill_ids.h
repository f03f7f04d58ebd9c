// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The section .BTF_ids (include/linux/btf_ids.h of the kernel): ids of types and functions that C
// code asks for by name, and sets of kfuncs.
#pragma once

#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// Put ids of the module's final BTF into its .BTF_ids, as the kernel's resolve_btfids does.
/// (Modules outside a tree may not have resolve_btfids.) `base`: as for read_final_types(). Names
/// that the BTF does not have keep the id 0, and are returned. Errors: a kfunc has no FUNC, or has
/// implicit arguments, which only resolve_btfids can hide.
Result<std::vector<std::string>> fill_btf_ids(const std::string &file, const std::string &base);

} // namespace btflink::kbuild
