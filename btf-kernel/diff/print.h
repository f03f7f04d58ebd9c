// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A difference as text for a terminal, markdown for a pull request, JSON for programs.
#pragma once

#include "btf-kernel/diff/difference.h"

namespace btflink::kernel::diff
{

struct PrintOptions {
    bool only_breaking = false; // leave out what breaks nothing
    bool only_summary = false;  // numbers alone
};

std::string as_text(const Difference &difference, const PrintOptions &options);

/// At most about 60,000 characters, as much as a comment on a pull request may have; what breaks
/// something comes first, and what has no room is counted.
std::string as_markdown(const Difference &difference, const PrintOptions &options);

/// An object; see btf-kernel(1) for its fields. `further`: fields that are added at its end, each
/// with a comma in front.
std::string as_json(const Difference &difference, const PrintOptions &options,
                    const std::string &further = "");

} // namespace btflink::kernel::diff
