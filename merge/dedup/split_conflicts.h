// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Engine pass 3: classes become final. What reaches a name with several definitions is split by
// which of them it means; forward declarations take the definitions that they stand for.
#pragma once

#include "merge/dedup/class_graph.h"

namespace btflink::merge
{

constexpr uint32_t no_refs = UINT32_MAX;

/// Types that the result has once.
struct FinalClass {
    TypeAt first; // the lowest, FWDs that others complete included: decides about the order
    TypeAt donor; // whose words and references it has
    bool live;    // false: all of its types went to other classes
    uint32_t refs = no_refs; // if not that: what it refers to is Partition::refs[refs], not what
                             // its donor does
};

struct Partition {
    std::vector<FinalClass> classes; // those of Classes, by their numbers, then further ones
    std::vector<uint32_t> alias;     // per class: the class that it is in truth
    std::vector<uint32_t> of;        // per type, as in Classes; see class_of()
    std::vector<std::vector<uint32_t>> refs; // classes, in the order of the type; no_class: void

    // For --stats.
    uint64_t conflicts = 0;       // names with several definitions
    uint64_t tainted_classes = 0; // that reach one
    uint64_t tainted_types = 0;   // their types, of all objects
    uint64_t rounds = 0;

    uint32_t class_of(size_t index) const { return alias[of[index]]; }
};

Partition refine(const Sources &sources, Classes classes, const ClassGraph &graph,
                 unsigned threads);

} // namespace btflink::merge
