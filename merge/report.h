// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The report of a merge.
#pragma once

#include "merge/link/select.h"

#include <string>
#include <utility>
#include <vector>

namespace btflink::merge
{

struct Report {
    std::vector<std::string> warnings;                                    // always shown
    std::vector<std::string> notes;                                       // shown with -v
    std::vector<std::pair<std::string, FunctionSkip>> functions_left_out; // by name; with -v
    std::string stats;                                                    // "name: value" lines
    std::string nothing; // why there is nothing to encode; else empty
    std::string why_dup; // the report of --why-dup
};

} // namespace btflink::merge
