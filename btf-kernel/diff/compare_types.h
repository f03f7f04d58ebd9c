// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Two definitions of one name, beside each other: what exactly differs.
#pragma once

#include "btf-kernel/diff/side.h"

namespace btflink::kernel::diff
{

/// A type of a side.
struct TypeOf {
    const Side &side;
    uint32_t id;

    const Btf &btf() const { return *side.btf; }
    const btf_type &type() const { return btf().type(TypeId{id}); }
    btf::Kind kind() const { return btf().kind(TypeId{id}); }
    TypeOf at(uint32_t other) const { return {side, other}; }
};

/// Both are of one space: two structs, unions or enums, two typedefs, two functions, two variables.
std::vector<Detail> compare_types(const TypeOf &before, const TypeOf &after);

/// A constant with another value.
Detail compare_constants(const TypeOf &before, uint32_t old_index, const TypeOf &after,
                         uint32_t new_index);

/// The struct or union because of which members of a struct moved and it changed its size, if
/// nothing else is in `details`: "struct t", or "".
std::string find_cause(const TypeOf &before, const TypeOf &after,
                       const std::vector<Detail> &details);

/// How alike two definitions are, to find out which became which: the larger, the more.
size_t likeness(const TypeOf &before, const TypeOf &after);

} // namespace btflink::kernel::diff
