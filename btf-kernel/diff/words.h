// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a difference is called in words, for all forms of the output.
#pragma once

#include "btf-kernel/diff/difference.h"

namespace btflink::kernel::diff
{

/// "types", "functions": a heading.
std::string_view space_heading(Space space);

/// Lines of a change's details, without indentation. Members that moved by the same number of bytes
/// one behind the other are one line.
std::vector<std::string> detail_lines(const Change &change);

/// "struct s" or, of a function, its prototype.
std::string subject(const Change &change);

/// " in nf_tables, nft_compat and 3 more modules"; "" for vmlinux alone.
std::string places_text(const Difference &difference, const Change &change);

/// Numbers of changes: came, went, changed, and those that break something.
struct Counts {
    size_t came = 0, went = 0, changed = 0, breaking = 0;
};
Counts count_changes(const Difference &difference, Space space);
Counts count_modules(const Difference &difference);

} // namespace btflink::kernel::diff
