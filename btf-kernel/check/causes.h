// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups findings by their cause, so that a problem of a hundred modules is one line.
#pragma once

#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

struct Cause {
    Rule rule;
    Degree degree;
    std::string text;
    std::vector<const Finding *> findings; // in the given order
    std::vector<std::string> binaries;     // without duplicates
    std::vector<std::string> subjects;     // without duplicates, the most frequent first
};

/// Sorted by degree, then by their first findings. `findings` must outlive the result.
std::vector<Cause> group_by_cause(const std::vector<Finding> &findings);

/// One line: for several findings the cause with a few names, for one finding its whole text.
std::string line_of(const Cause &cause);
/// "RULE: BINARY: FILE: WHAT"
std::string line_of(const Finding &finding);

} // namespace btflink::kernel
