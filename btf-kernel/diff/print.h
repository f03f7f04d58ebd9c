// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Texts for differences, and whole differences as text, as Markdown for a pull request, or as JSON.
#pragma once

#include "btf-kernel/diff/difference.h"

namespace btflink::kernel::diff
{

/// The lines of a change's details, without indentation. Consecutive members that moved by the same
/// distance are one line.
std::vector<std::string> detail_lines(const Change &change);

struct PrintOptions {
    bool only_breaking = false; // only changes that break programs
    bool only_summary = false;  // only numbers of changes
};

std::string as_text(const Difference &difference, const PrintOptions &options);

/// At most about 60,000 characters, the limit of a comment on a pull request. Breaking changes come
/// first; changes that do not fit are counted.
std::string as_markdown(const Difference &difference, const PrintOptions &options);

/// An object; btf-kernel(1) describes its fields.
std::string as_json(const Difference &difference, const PrintOptions &options);

} // namespace btflink::kernel::diff
