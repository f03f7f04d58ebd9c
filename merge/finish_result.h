// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The last steps before the result is written: the check, a base of its own, a layout.
#pragma once

#include "merge/read_inputs.h"

namespace btflink::merge
{

struct MergeResult {
    std::vector<std::byte> blob;
    std::vector<std::byte> distilled; // the base that `blob` continues, if options ask for one
};

/// Checks that a kernel accepts it, mends what it would not, and adds what the options ask for.
Result<MergeResult> finish_result(std::vector<std::byte> blob, const Options &options,
                                  const Base &base, const Read &read, Report &report, Stats &stats);

} // namespace btflink::merge
