// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge as a function: merges the BTF of objects into the BTF of their link.
#pragma once

#include "merge/options.h"
#include "merge/report.h"

namespace btflink::merge
{

/// Merges, and writes the result if `options` name an output or an update. Fills in `report` even
/// on an error.
Result<void> merge(const Options &options, Report &report);

} // namespace btflink::merge
