// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which functions and variables the result has.
#pragma once

#include "merge/follow_link.h"
#include "merge/link/select_variables.h"

namespace btflink::merge
{

struct SelectedContents {
    Functions functions;
    Variables variables;
};

SelectedContents select_contents(FeatureSet features, const MergeInputs &in,
                                 const LinkResult &link);

/// What was selected, and why the rest was not.
void report_selection(const std::vector<Object> &objects, const SelectedContents &selected,
                      Report &report, Stats &stats);

} // namespace btflink::merge
