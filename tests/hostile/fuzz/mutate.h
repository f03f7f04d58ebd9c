// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Changes to files that keep the shape which a reader looks for first, so that what comes behind it
// is tested, too.
#pragma once

#include "tests/hostile/fuzz/bundle.h"

#include <functional>
#include <random>

namespace btflink::fuzz
{

using Random = std::mt19937;

/// Changes bytes that it knows nothing about; the result has at most `most` bytes.
using ByteMutator = std::function<void(Text &bytes, size_t most)>;

/// Bit flips, truncations, numbers at the edges, pieces that are repeated, moved or taken out.
void mutate_bytes(Text &bytes, size_t most, Random &random);

/// Change `bytes`, an ELF file, BTF or anything else, in one place or a few. `other` gives pieces
/// for splicing; it may be empty.
void mutate_file(Text &bytes, const Text &other, Random &random, const ByteMutator &plain);

} // namespace btflink::fuzz
