// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What `btf-pahole -J -V` prints, in pahole's format, for programs that parse it.
#pragma once

#include "common/btf/btf.h"
#include "merge/link/select_functions.h"

#include <string>

namespace btflink::kbuild
{

/// "[3] STRUCT point size=8\n\tx type_id=1 bits_offset=0\n": one type.
std::string pahole_line(const Btf &btf, TypeId id);

/// Why a function has no FUNC.
const char *pahole_reason(merge::FunctionSkip reason);

/// Print the types of the final BTF in the file at `path` to standard output. `base`: the file
/// that it continues, if it has no distilled base of its own; "": none.
Result<void> list_types(const std::string &path, const std::string &base);

} // namespace btflink::kbuild
