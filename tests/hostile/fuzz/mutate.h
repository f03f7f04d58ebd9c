// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Mutations that keep what a reader checks first, so that the code after these checks is tested,
// too.
#pragma once

#include "tests/hostile/fuzz/bundle.h"

#include <functional>
#include <random>

namespace btflink::fuzz
{

using Random = std::mt19937;

/// Changes bytes without knowing their meaning; the result has at most `most` bytes.
using ByteMutator = std::function<void(Text &bytes, size_t most)>;

/// Flips bits, truncates, writes extreme values, and repeats, moves or removes pieces.
void mutate_bytes(Text &bytes, size_t most, Random &random);

/// Changes `bytes`, an ELF file, BTF or anything else, in one place or a few. Pieces of `other`,
/// which may be empty, may be inserted. `plain` makes the changes that need no knowledge of a
/// format.
void mutate_file(Text &bytes, const Text &other, Random &random, const ByteMutator &plain);

} // namespace btflink::fuzz
