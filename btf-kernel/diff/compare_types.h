// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The differences between two definitions of one name, and their effects on BPF programs that were
// compiled with the old kernel's types.
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

/// Both types belong to one space: structs, unions or enums; typedefs; functions; variables.
std::vector<Detail> compare_types(const TypeOf &before, const TypeOf &after);

/// For a constant whose value changed.
Detail compare_constants(const TypeOf &before, uint32_t old_index, const TypeOf &after,
                         uint32_t new_index);

/// "struct t" if members only moved because the size of a member of this type changed; otherwise
/// "".
std::string find_cause(const TypeOf &before, const TypeOf &after,
                       const std::vector<Detail> &details);

/// Larger for more similar definitions. Used to pair several definitions of one name.
size_t similarity(const TypeOf &before, const TypeOf &after);

/// All other fields of `change` must be set. `is_struct_ops`: BPF programs can implement the
/// struct.
std::vector<Effect> find_effects(const Change &change, bool is_struct_ops);

} // namespace btflink::kernel::diff
