// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The numbers of BTF: of types and of strings.
#pragma once

#include "common/graph/ids.h"

namespace btflink
{

/// Id of a type inside one BTF blob (with its base, if split). 0 is void.
enum class TypeId : uint32_t {};
/// Byte offset into a blob's string section (with its base's strings first, if split). 0 is "".
enum class StrOff : uint32_t {};

constexpr TypeId void_id{0};

} // namespace btflink
