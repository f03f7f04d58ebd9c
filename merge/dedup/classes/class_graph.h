// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The class graph: the references between classes, and the names that they define or declare.
#pragma once

#include "common/graph/lists.h"
#include "merge/dedup/classes/group_by_hash.h"

#include <string_view>
#include <vector>

namespace btflink::merge
{

/// A name that can be declared without being defined: of a struct, a union, or an enum; each of
/// these has its own name space. Only enums that some object declares have such a name.
struct StructName {
    std::string_view text;
    std::vector<ClassId> definitions; // in order
    ClassId forward = ClassId::none;  // of its forward declarations
    bool is_enum = false;
};

struct ClassGraph {
    IdVector<ClassId, btf::Kind> kind;
    IdVector<ClassId, NameId> name; // that it defines or declares; or none
    Lists<ClassId, ClassId> refs;   // in the order of the type's words; none: void
    IdVector<NameId, StructName> names;
    /// The class's representative; for most classes the class itself. A class differs from its
    /// representative only in the definition or declaration of an enum to which it refers.
    IdVector<ClassId, ClassId> alias;

    size_t size() const { return kind.size(); }
    IdRange<ClassId> classes() const { return kind.ids(); }
    bool is_forward(ClassId c) const
    {
        return name[c] != NameId::none && names[name[c]].forward == c;
    }
};

ClassGraph make_class_graph(const Sources &sources, const Classes &classes);

} // namespace btflink::merge
