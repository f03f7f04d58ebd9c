// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Findings by cause: what is true of a hundred modules is said once.
#pragma once

#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

struct Cause {
    Rule rule;
    Degree degree;
    std::string text;
    std::vector<const Finding *> findings; // in their order
    std::vector<std::string> binaries;     // each once
    std::vector<std::string> subjects;     // each once, those of most findings first
};

/// By degree, then in the order of their first findings. `findings` must outlive the result.
std::vector<Cause> group_by_cause(const std::vector<Finding> &findings);

/// One line: a cause of several findings with a few names; of one finding all that it says.
std::string line_of(const Cause &cause);
/// "RULE: BINARY: FILE: WHAT"
std::string line_of(const Finding &finding);

} // namespace btflink::kernel
