// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a merge says of its passes: counts for --stats, notes for -v, warnings.
#pragma once

#include "merge/link/select_variables.h"
#include "merge/report.h"
#include "merge/stats.h"

namespace btflink::merge
{

/// How many bytes the inputs have, by what they are for. `base` may be null.
void count_bytes(const std::vector<Object> &objects, const Btf *base, Stats &stats);

/// Which objects were linked, and how their addresses were found.
void report_image(const std::vector<Input> &inputs, const Image &image,
                  const std::vector<Object> &objects, const Located &located, Report &report,
                  Stats &stats);

/// Which functions and variables the result has, and why not the others.
void report_selection(const std::vector<Object> &objects, const Functions &functions,
                      const Variables &variables, Report &report, Stats &stats);

} // namespace btflink::merge
