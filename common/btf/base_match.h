// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Was split BTF made over this base? And will a kernel find what a distilled base names?
#pragma once

#include "common/btf/name_index.h"
#include "common/result.h"

#include <string>
#include <vector>

namespace btflink
{

/// What tells that `split`, a blob of the base's byte order that Btf::parse() takes, was made over
/// another base than `base`, which is called `name` in the lines. `where`: of the blob's first
/// byte.
std::vector<Error> compare_to_base(Bytes split, const Where &where, const Btf &base,
                                   const std::string &name);

/// What a kernel, whose types are those of `whole`, does not find of a distilled base, by name and
/// size, when it loads the module whose BTF is `split`: as kernel/bpf/btf_relocate.c looks, up to
/// ambiguous names. `name`: what to call the kernel. `where`: of the distilled base.
std::vector<Error> look_up_distilled(const Btf &distilled, const Btf &split, const NameIndex &whole,
                                     const Where &where, const std::string &name);

} // namespace btflink
