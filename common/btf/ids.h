// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The numbers of BTF: of types and of strings.
#pragma once

#include "common/graph/ids.h"

namespace btflink
{

/// The id of a type in a blob, or in its base. 0 is void.
enum class TypeId : uint32_t {};
/// A byte offset into the strings of a blob. The strings of its base come first. 0 is "".
enum class StrOff : uint32_t {};

constexpr TypeId void_id{0};

} // namespace btflink
