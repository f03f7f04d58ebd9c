// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the deduplication numbers. README.md defines the terms.
#pragma once

#include "common/graph/ids.h"

namespace btflink::merge
{

/// A class of types with equal stub hashes. Final classes that are split from one are numbered
/// behind all of these. In lists of references, none is void.
enum class ClassId : uint32_t { none = UINT32_MAX };

/// A name that can be declared without being defined. In the conflict graph, structs without a name
/// have numbers behind all names.
enum class NameId : uint32_t { none = UINT32_MAX };

/// A struct of one object, or a forward declaration in it. A slot that leads to none agrees with
/// anything.
enum class NodeId : uint32_t { none = UINT32_MAX };

/// A group of nodes that are one type in the result. It has the number of its representative.
enum class GroupId : uint32_t { none = UINT32_MAX };

constexpr NodeId representative(GroupId group)
{
    return NodeId{raw(group)};
}
constexpr GroupId group_founded_by(NodeId node)
{
    return GroupId{raw(node)};
}

/// The place of a slot among those of its class.
enum class SlotId : uint32_t {};

} // namespace btflink::merge
