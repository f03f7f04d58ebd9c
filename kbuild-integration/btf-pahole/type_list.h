// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The list of types that `btf-pahole -J -V` prints, in pahole's format, which programs parse.
#pragma once

#include "common/btf/btf.h"
#include "merge/link/select_functions.h"

#include <string>

namespace btflink::kbuild
{

/// "[3] STRUCT point size=8\n\tx type_id=1 bits_offset=0\n": one type.
std::string pahole_line(const Btf &btf, TypeId id);

/// Why a function has no FUNC, in pahole's words.
const char *pahole_reason(merge::FunctionSkip reason);

/// Print the types of the final BTF in a file to standard output. `base`: as for
/// read_final_types().
Result<void> list_types(const std::string &path, const std::string &base);

} // namespace btflink::kbuild
