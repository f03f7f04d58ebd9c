// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The id spaces of BTF as distinct types, so that one cannot be taken for another.
#pragma once

#include <cstdint>
#include <functional>

namespace btflink
{

/// Id of a type inside one BTF blob (with its base, if split). 0 is void.
enum class TypeId : uint32_t {};
/// Byte offset into a blob's string section (with its base's strings first, if split). 0 is "".
enum class StrOff : uint32_t {};

constexpr TypeId void_id{0};

constexpr uint32_t raw(TypeId id)
{
    return static_cast<uint32_t>(id);
}
constexpr uint32_t raw(StrOff off)
{
    return static_cast<uint32_t>(off);
}

} // namespace btflink
