// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the linker decided: which objects, functions and variables exist, and where.
#pragma once

#include "merge/link/select_variables.h"
#include "merge/read_inputs.h"

namespace btflink::merge
{

struct LinkResult {
    Image image;
    Locations locations; // of each object's variables and functions
    Functions functions; // of the result
    Variables variables;
};

Result<LinkResult> follow_link(FeatureSet features, const MergeInputs &in, Report &report,
                               Stats &stats);

} // namespace btflink::merge
