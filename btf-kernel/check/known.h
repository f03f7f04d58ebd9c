// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The file of --known, whose findings are ignored. A line is RULE BINARY [SUBJECT]; '*' matches
// everything, and '#' begins a comment. A line without a subject matches all subjects.
#pragma once

#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

struct Known {
    Rule rule;
    std::string binary, subject; // or "*"
    Where where;
    bool met = false; // matches a finding
};

/// Error: a line is malformed, or its rule is unknown.
Result<std::vector<Known>> read_known(const std::string &path);

/// Drop known findings from the list, and mark their lines as met. Returns the number of dropped
/// findings.
size_t drop_known(std::vector<Finding> &findings, std::vector<Known> &known);

} // namespace btflink::kernel
