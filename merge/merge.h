// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge as a function: the BTF of many objects becomes that of their link.
#pragma once

#include "merge/options.h"
#include "merge/report.h"

namespace btflink::merge
{

/// Merge, and write if there is an output or an update. What there is to say comes out in `report`,
/// also if it fails.
Result<void> merge(const Options &options, Report &report);

} // namespace btflink::merge
