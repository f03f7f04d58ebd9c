// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes random programs. The objects of a program share a few names of structs, unions, enums and
// typedefs. A name has one definition or several. An object that uses a name usually has one of the
// definitions. Instead, it may have two definitions of a struct or union, or only a declaration of
// a struct, union or enum.
#pragma once

#include "common/btf/btf_builder.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace btflink::merge::test
{

struct Corpus {
    // One contribution per object: a blob and, with CorpusRules::trailers, a link trailer.
    std::vector<std::vector<std::byte>> objects;
};

struct CorpusRules {
    bool trailers = true;       // with link trailers, which hold hashes; all types are plain
    bool forwards = true;       // some objects only declare some structs and unions
    bool local_names = true;    // some objects have two definitions of some structs and unions
    bool enum_forwards = true;  // some objects only declare some enums
    bool base_complete = false; // `forwards` holds only for the second half of the objects
    bool knots = true;          // unnamed structs that may reach themselves
    bool loops = false;         // typedefs that may reach themselves without a struct, unlike in C
};

/// Calls test(seed) for the seeds that BTFLINK_SEEDS chooses, until one fails. With the value COUNT
/// these are 1 to COUNT; with FIRST:COUNT, COUNT seeds from FIRST; if it is not set, 1 to `count`.
void for_seeds(uint64_t count, const std::function<void(uint64_t)> &test);

Corpus random_corpus(uint64_t seed, const CorpusRules &rules);

} // namespace btflink::merge::test
