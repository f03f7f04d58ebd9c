// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The result of the deduplication: final equivalence classes.
#pragma once

#include "common/graph/unset_vector.h"
#include "merge/dedup/ids.h"
#include "merge/dedup/type_space.h"

#include <vector>

namespace btflink::merge
{

constexpr uint32_t no_refs = UINT32_MAX;

/// An equivalence class: one type of the result.
struct FinalClass {
    TypeAt first;            // its lowest type or resolved forward declaration; gives the order
    TypeAt canonical;        // the type that is written out
    bool live;               // false if all of its types moved to other classes
    uint32_t refs = no_refs; // index in Partition::refs; no_refs: those of `canonical`
};

struct Partition {
    IdVector<ClassId, FinalClass> classes;  // the classes of Classes, then those split off
    IdVector<ClassId, ClassId> alias;       // the class's representative
    UnsetVector<ClassId> of;                // per type, as in Classes; see class_of()
    std::vector<std::vector<ClassId>> refs; // in the order of the type; none: void

    ClassId class_of(size_t index) const { return alias[of[index]]; }
    bool is_live(ClassId c) const { return classes[c].live && alias[c] == c; }
    size_t live_count() const
    {
        size_t count = 0;
        for (ClassId c : classes.ids())
            count += is_live(c);
        return count;
    }
};

} // namespace btflink::merge
