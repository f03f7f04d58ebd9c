// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Prints types as readable C: short ones completely, others around a given member.
#pragma once

#include "common/btf/btf.h"

#include <span>
#include <string>

namespace btflink::merge
{

/// Declares `name`, which may be empty, with type `id`: "int (*name)(struct s *)". Named types are
/// not expanded. `indent`: the number of tabs before lines after the first; members have one more.
/// `place` tells which part of a long type to show. Its first number is the index of a member or
/// enumerator. If the type of this member is an unnamed struct, union or enum, perhaps behind
/// pointers, qualifiers and arrays, the second number is an index in the unnamed type, and so on.
std::string c_declaration(const Btf &btf, TypeId id, std::string_view name, unsigned indent = 0,
                          std::span<const uint32_t> place = {});

/// The definition of a struct, union, enum or typedef, or a forward declaration, with its
/// semicolon. If there are more than ten members or enumerators, only those around `place` are
/// printed, or the first ones if `place` is empty.
std::string c_definition(const Btf &btf, TypeId id, unsigned indent = 0,
                         std::span<const uint32_t> place = {});

/// Member or enumerator `i` of a struct, union or enum; "nothing" if it does not exist.
std::string c_element(const Btf &btf, TypeId id, uint32_t i);

/// "struct s", "enum e", "foo_t", "int", "void"; "struct" for an unnamed struct.
std::string c_name(const Btf &btf, TypeId id);

} // namespace btflink::merge
