// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A file of known findings, which may stay. A line is RULE BINARY [SUBJECT], where '*' is any; '#'
// begins a comment. Without a subject the line is about all findings of that rule and binary.
#pragma once

#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

struct Known {
    Rule rule;
    std::string binary, subject; // "*": any
    Where where;
    bool met = false; // by a finding
};

/// Error: a line is of another form, or names no rule.
Result<std::vector<Known>> read_known(const std::string &path);

/// Takes known findings out of the list, and notes which lines met one. Returns how many.
size_t drop_known(std::vector<Finding> &findings, std::vector<Known> &known);

} // namespace btflink::kernel
