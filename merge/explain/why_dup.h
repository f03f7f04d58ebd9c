// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The report of --why-dup: why the result has several types of one name.
#pragma once

#include "merge/dedup/dedup.h"

#include <string>

namespace btflink::merge
{

/// Returns the report. `name`: only for this struct, union, enum or typedef, as "s" or "struct s";
/// empty: for all. `base_name`: what to call the base, if there is one.
std::string why_dup(const std::vector<Object> &objects, const MergedTypes &types,
                    std::string_view name, const std::string &base_name);

} // namespace btflink::merge
