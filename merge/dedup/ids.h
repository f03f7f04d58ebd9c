// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The ids of the deduplication. README.md defines the terms.
#pragma once

#include "common/graph/ids.h"

namespace btflink::merge
{

/// A class of types with equal stub hashes. Final classes that were split off are numbered after
/// all of these. In lists of references, none means void.
enum class ClassId : uint32_t { none = UINT32_MAX };

/// A name that can be declared without being defined. In the conflict graph, structs without a name
/// have numbers after all names.
enum class NameId : uint32_t { none = UINT32_MAX };

/// A struct of one object, or a forward declaration in it. A slot without target (none) agrees with
/// anything.
enum class NodeId : uint32_t { none = UINT32_MAX };

/// A group of nodes that become one type in the result. It has the number of its representative.
enum class GroupId : uint32_t { none = UINT32_MAX };

constexpr NodeId representative(GroupId group)
{
    return NodeId{raw(group)};
}
constexpr GroupId group_founded_by(NodeId node)
{
    return GroupId{raw(node)};
}

/// The position of a slot among the slots of its class.
enum class SlotId : uint32_t {};

} // namespace btflink::merge
