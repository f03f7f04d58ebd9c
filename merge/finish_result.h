// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The last steps before the result is written: the check, the distilled base, the layout.
#pragma once

#include "merge/read_inputs.h"

namespace btflink::merge
{

struct MergeResult {
    std::vector<std::byte> blob;
    std::vector<std::byte> distilled; // the base of `blob`; empty: not distilled
};

/// Checks and mends `blob`, and adds the distilled base and the layout if the options ask for them.
Result<MergeResult> finish_result(std::vector<std::byte> blob, const Options &options,
                                  const Base &base, const MergeInputs &in, Report &report,
                                  Stats &stats);

} // namespace btflink::merge
