// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reports about the passes: counts for --stats, notes for -v, warnings.
#pragma once

#include "merge/link/select_variables.h"
#include "merge/report.h"
#include "merge/stats.h"

namespace btflink::merge
{

/// Bytes of the inputs, by purpose. `base` may be null.
void count_bytes(const std::vector<Object> &objects, const Btf *base, Stats &stats);

/// Reports which objects were linked, and how their addresses were found.
void report_image(const std::vector<Input> &inputs, const Image &image,
                  const std::vector<Object> &objects, const Locations &locations, Report &report,
                  Stats &stats);

/// Reports which functions and variables were selected, and why the others were not.
void report_selection(const std::vector<Object> &objects, const Functions &functions,
                      const Variables &variables, Report &report, Stats &stats);

} // namespace btflink::merge
