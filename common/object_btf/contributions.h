// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Splits a `.BTF` section into contributions: of one object, or of many that a linker concatenated.
// See FORMAT.md.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <vector>

namespace btflink
{

/// One object's part of a section.
struct Contribution {
    uint64_t offset; // of the blob, in the section
    Bytes blob;
    Bytes trailer; // empty if another tool made the blob
    uint64_t trailer_offset;
};

/// Walks a `.BTF` section (or a raw BTF file): blob, trailer if its magic follows, zero padding.
/// `where`: the position of the section. Errors: a blob or a trailer that claims more bytes than
/// exist.
Result<std::vector<Contribution>> split_contributions(Bytes section, const Where &where);

} // namespace btflink
