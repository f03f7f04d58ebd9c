// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The last steps before the result is written: a base of its own, a layout, the check.
#pragma once

#include "merge/read_inputs.h"

namespace btflink::merge
{

struct MergeResult {
    std::vector<std::byte> blob;
    std::vector<std::byte> distilled; // the base that `blob` continues, if options ask for one
};

/// Adds what the options ask for, then checks that a kernel accepts it.
Result<MergeResult> finish_result(std::vector<std::byte> blob, const Options &options,
                                  const Base &base, const Read &read, Report &report, Stats &stats);

} // namespace btflink::merge
