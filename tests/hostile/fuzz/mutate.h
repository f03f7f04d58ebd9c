// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Mutations of files. Most keep what a reader checks first, so that the code after these checks is
// tested, too.
#pragma once

#include "tests/hostile/fuzz/bundle.h"

#include <functional>
#include <random>

namespace btflink::fuzz
{

using Random = std::mt19937;

/// Changes bytes without knowing their meaning; the result has at most `most` bytes.
using ByteMutator = std::function<void(Text &bytes, size_t most)>;

/// Makes one to three random changes: flips a bit; writes a byte, a number that often breaks
/// checks, or a copy of another word; repeats or removes a piece; or truncates.
void mutate_bytes(Text &bytes, size_t most, Random &random);

/// Makes one to four changes in `bytes`, an ELF file, BTF or anything else. `other`, another file
/// or empty, is a source of contents to copy. `plain` makes the changes that need no knowledge of
/// a format.
void mutate_file(Text &bytes, const Text &other, Random &random, const ByteMutator &plain);

} // namespace btflink::fuzz
