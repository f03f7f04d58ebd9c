// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Types as one line of C, their sizes and members, and comparisons of types.
#pragma once

#include "common/btf/btf.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel::diff
{

// Limits for malformed BTF, whose types may refer to each other in loops.
constexpr unsigned max_steps = 64; // along a chain of pointers, arrays and modifiers
constexpr unsigned max_depth = 16; // of nested unnamed structs, and in mean_the_same()

/// A declaration of `name` with the type, on one line, cut after 160 characters.
std::string one_line(const Btf &btf, uint32_t id, std::string_view name = {});
/// "struct s", "enum e", "u32".
std::string type_name(const Btf &btf, uint32_t id);
/// A function's prototype with its name.
std::string prototype_text(const Btf &btf, uint32_t func);

/// The type behind typedefs, qualifiers and type tags; void if there are max_steps of these or
/// more.
uint32_t behind_modifiers(const Btf &btf, uint32_t id);
/// The size in bytes; a pointer has 8. std::nullopt for types without a size, if the size does not
/// fit into 64 bits, and behind max_steps or more arrays or modifiers.
std::optional<uint64_t> size_of(const Btf &btf, uint32_t id);
/// Is this an unnamed struct, union or enum?
bool is_anonymous_aggregate(const Btf &btf, uint32_t id);

struct Member {
    std::string_view name;
    uint32_t type;
    uint32_t offset; // bits from the start
    uint32_t bits;   // width of a bitfield, or 0
    bool is_last;    // of its struct or union
};
/// Member `index` of a struct or union; the name is empty for an unnamed member.
Member member_at(const Btf &btf, const btf_type &type, uint32_t index);
/// The members of a struct or union, in the order of the definition. An unnamed member is replaced
/// by its own members, as in C.
std::vector<Member> members_of(const Btf &btf, uint32_t id);

struct EnumValue {
    std::string_view name;
    int64_t value;
    bool is_unsigned; // `value` is then the bits of a uint64_t
};
EnumValue enum_value(const Btf &btf, uint32_t id, uint32_t index);
std::string number_text(int64_t value, bool is_unsigned);

/// Does CO-RE (libbpf and the kernel) accept a field of type `target` for code that was compiled
/// for type `local`?
bool fields_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                           uint32_t target);

/// Do values of both types mean the same to a program that reads them? Typedefs, qualifiers, type
/// tags, names of numbers and the signedness of bytes do not count. Structs, unions and enums count
/// by name, unnamed ones by size and number of members or enumerators; declarations of structs and
/// unions count by name, too. A pointer to void equals any pointer. False for types that are too
/// large to compare (max_depth; max_looks in types.cc).
bool mean_the_same(const Btf &a_btf, uint32_t a, const Btf &b_btf, uint32_t b);

/// "name" for "name___flavour": the kernel's name for a type of a BPF program.
std::string_view essential_name(std::string_view name);

} // namespace btflink::kernel::diff
