// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Texts for differences, for all output formats.
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

} // namespace btflink::kernel::diff
