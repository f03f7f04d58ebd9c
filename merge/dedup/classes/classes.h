// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Classes of types with equal stub hashes: the first partition of all types, and the references and
// names of the classes.
#pragma once

#include "common/graph/graphs.h"
#include "merge/dedup/dedup.h"

#include <string_view>
#include <vector>

namespace btflink::merge
{

// group_by_hash.cc: the first partition.

struct Classes {
    /// The lowest type of each class. Classes are numbered in the order of these types.
    IdVector<ClassId, TypeAt> first;
    /// The class of each type, in the numbering of Sources; none if the type is not plain, or is a
    /// type of the base that was not chosen.
    std::vector<ClassId> of;
};

/// Groups the objects' types; choose_base() adds those of a base.
Classes group_by_hash(const Sources &sources, unsigned threads);

// choose_base.cc: the types of a base that take part in the deduplication.

/// Numbers the chosen types in `sources`, and adds their classes to `classes`, before those of the
/// objects. `all`: choose every type that the objects may share, so that the result can be
/// explained.
void choose_base(Sources &sources, Classes &classes, const BaseIndex &base, bool all);

// class_graph.cc: the references between classes, and the names that classes define or declare.

/// The name of a struct or union, or of a declarable enum (class_graph.cc): an index in
/// ClassGraph::names. The conflict graph gives a node without such a name a NameId beyond the end
/// of `names`.
enum class NameId : uint32_t { none = UINT32_MAX };

/// Unlike in C, structs, unions and enums have separate name spaces here. An enum has a StructName
/// only if it is declarable.
struct StructName {
    std::string_view text;
    std::vector<ClassId> definitions; // classes, in ascending order
    ClassId forward = ClassId::none;  // the class of its forward declarations
    bool is_enum = false;
};

struct ClassGraph {
    IdVector<ClassId, btf::Kind> kind;
    IdVector<ClassId, NameId> name; // that it defines or declares; or none
    Lists<ClassId, ClassId> refs;   // in the order of the type's words; none: void or not chosen
    IdVector<NameId, StructName> names;
    /// The class that replaces this one; for most classes the class itself. A class and its
    /// replacement differ only in versions of declarable enums that they reach, or both are
    /// declarations of one enum.
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
