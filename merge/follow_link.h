// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the linker decided: which objects are in the image, and where their contents are.
#pragma once

#include "merge/link/image.h"
#include "merge/read_inputs.h"

namespace btflink::merge
{

struct LinkResult {
    Image image;
    Locations locations; // of each object's variables and functions
};

Result<LinkResult> follow_link(const MergeInputs &in, Report &report, Stats &stats);

} // namespace btflink::merge
