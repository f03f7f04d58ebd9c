// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the linker decided, or would decide: which objects, functions and variables there are.
#pragma once

#include "merge/link/select_variables.h"
#include "merge/read_inputs.h"

namespace btflink::merge
{

struct Link {
    Image image;
    Located located;     // each object's variables and functions, with their final addresses
    Functions functions; // that the result has, as the variables; from here on names are settled
    Variables variables;
};

Result<Link> follow_link(FeatureSet features, const Read &read, Report &report, Stats &stats);

} // namespace btflink::merge
