// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the result.
#pragma once

#include "merge/finish_result.h"

namespace btflink::merge
{

/// Returns the number of bytes written.
Result<uint64_t> write_result(const Options &options, const MergeResult &result,
                              const MergeInputs &in);

/// Ends a merge that has nothing to encode: warns with report.nothing (for pahole this is not an
/// error either), and removes an output of an earlier run so that it cannot be mistaken for this
/// run's.
Result<void> end_without_btf(const Options &options, Report &report);

} // namespace btflink::merge
