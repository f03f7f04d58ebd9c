// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What --stats says of the bytes that a merge reads, and how long it would take just to read those
// that no merge can do without.
#pragma once

#include "merge/input/load_objects.h"
#include "merge/stats.h"

namespace btflink::merge
{

/// Count bytes of blobs, stub hashes and the rest of link trailers (of the objects as they are in
/// memory: decompressed).
void count_bytes(const std::vector<Object> &objects, const Btf *base, Stats &stats);

/// The time, in milliseconds of wall time on `threads` threads, to read the link trailers (stub
/// hashes and all) once and add up their words: the best of three tries. From the files where the
/// trailers lie in one as they are, so that what the merge did before does not make it faster; else
/// from memory.
double read_once(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                 unsigned threads);

} // namespace btflink::merge
