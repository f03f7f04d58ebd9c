// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What there is to say of a merge.
#pragma once

#include "merge/link/select_functions.h"

#include <string>
#include <utility>
#include <vector>

namespace btflink::merge
{

struct Report {
    std::vector<std::string> warnings;                                    // worth saying always
    std::vector<std::string> notes;                                       // worth saying under -v
    std::vector<std::pair<std::string, FunctionSkip>> functions_left_out; // by name; the same
    std::string stats;                                                    // "name: value" lines
    std::string nothing; // why there is nothing to encode; empty: there is
    std::string why_dup; // lines that say why names have several definitions
};

} // namespace btflink::merge
