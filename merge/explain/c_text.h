// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Types as C, for people: complete where they are short, else what is around one place in them.
#pragma once

#include "common/btf/btf.h"

#include <span>
#include <string>

namespace btflink::merge
{

/// `name` declared with type `id`: "int (*name)(struct s *)". `name` may be empty. Names are not
/// followed. `indent`: tabs before further lines, if there are any. `place`: the index of a member
/// or enumerator, then that of a member of the unnamed struct or union that this one is, and so on.
std::string c_declaration(const Btf &btf, TypeId id, std::string_view name, unsigned indent = 0,
                          std::span<const uint32_t> place = {});

/// A struct, union, enum or typedef as it is written in a source, with its semicolon. Lists of more
/// than ten members are cut to those around `place`.
std::string c_definition(const Btf &btf, TypeId id, unsigned indent = 0,
                         std::span<const uint32_t> place = {});

/// Member or enumerator `i` of a struct, union or enum; "nothing" if there is none.
std::string c_element(const Btf &btf, TypeId id, uint32_t i);

/// "struct s", "enum e", "foo_t", "int".
std::string c_name(const Btf &btf, TypeId id);

} // namespace btflink::merge
