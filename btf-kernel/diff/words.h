// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Texts for differences, and whole differences as text, as Markdown for a pull request, or as JSON.
#pragma once

#include "btf-kernel/diff/difference.h"

namespace btflink::kernel::diff
{

/// "types", "functions": a heading.
std::string space_heading(Space space);

/// The lines of a change's details, without indentation. Consecutive members that moved by the same
/// distance are one line.
std::vector<std::string> detail_lines(const Change &change);

/// "struct s", or the prototype of a function.
std::string subject(const Change &change);

/// " in nf_tables, nft_compat and 3 more modules"; "" for vmlinux alone.
std::string places_text(const Difference &difference, const Change &change);

/// Numbers of changes; `breaking`: those that break programs.
struct Counts {
    size_t added = 0, removed = 0, changed = 0, breaking = 0;
};
Counts count_changes(const Difference &difference, Space space);
Counts count_modules(const Difference &difference);

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
