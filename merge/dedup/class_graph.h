// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The class graph: how classes refer to each other, and which names they define or declare.
#pragma once

#include "common/graph/lists.h"
#include "merge/dedup/group_by_hash.h"

#include <string_view>
#include <vector>

namespace btflink::merge
{

constexpr uint32_t no_name = UINT32_MAX;

/// A name that can be declared without being defined: of a struct, a union, or an enum; each kind
/// is a name space of its own. Enums that nobody only declares have no such name.
struct StructName {
    std::string_view text;
    std::vector<uint32_t> definitions; // classes, in order
    uint32_t forward = no_class;       // class of its forward declarations
    bool is_enum = false;
};

struct ClassGraph {
    std::vector<uint8_t> kind;  // per class
    std::vector<uint32_t> name; // per class: definition or declaration of a name; or no_name
    Lists refs;                 // per class, in the order of the type; no_class: void
    std::vector<StructName> names;
    /// Per class: its representative, itself for most. Classes differ from their representatives
    /// only by the definition or declaration of an enum that they refer to.
    std::vector<uint32_t> alias;

    size_t size() const { return kind.size(); }
    bool is_forward(uint32_t c) const { return name[c] != no_name && names[name[c]].forward == c; }
};

ClassGraph make_class_graph(const Sources &sources, const Classes &classes, unsigned threads);

} // namespace btflink::merge
