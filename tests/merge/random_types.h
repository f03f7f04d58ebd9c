// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes random programs, whose objects share a few names of structs. A name has one definition or
// several. Each object has one of them, or only a declaration.
#pragma once

#include "common/btf/btf_builder.h"

#include <cstdint>
#include <vector>

namespace btflink::merge::test
{

struct Corpus {
    std::vector<std::vector<std::byte>> objects; // contributions: blob, trailer
};

struct CorpusRules {
    bool trailers = true;    // with link trailers, as btf-emit writes them
    bool forwards = true;    // some objects only declare some structs
    bool local_names = true; // some objects have two definitions of one name
    bool enum_forwards = true;
    bool base_complete = false; // the first half of the objects knows all definitions
    bool knots = true;          // unnamed structs that reach themselves
    bool loops = false;         // typedefs that reach themselves without a struct, which C lacks
};

/// The programs are made from the seeds [first, last).
struct Seeds {
    uint64_t first = 1, last;
};
/// The seeds that BTFLINK_SEEDS chooses (COUNT or FIRST:COUNT), by default up to `last`.
Seeds chosen_seeds(uint64_t last);

Corpus random_corpus(uint64_t seed, const CorpusRules &rules);

} // namespace btflink::merge::test
