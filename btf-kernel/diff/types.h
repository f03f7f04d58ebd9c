// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Types as one line of C, their sizes and their members, whatever strangers wrote into the BTF.
#pragma once

#include "common/btf/btf.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel::diff
{

/// `name` declared with the type, on one line; long bodies of unnamed structs are cut.
std::string one_line(const Btf &btf, uint32_t id, std::string_view name = {});
/// "struct s", "enum e", "u32".
std::string type_name(const Btf &btf, uint32_t id);
/// A function's prototype with its name.
std::string prototype_text(const Btf &btf, uint32_t func);

/// The type behind typedefs, qualifiers and type tags. Error in the BTF (a loop): void.
uint32_t behind_modifiers(const Btf &btf, uint32_t id);
/// Bytes; nothing for what has no size.
std::optional<uint64_t> size_of(const Btf &btf, uint32_t id);
bool is_anonymous_aggregate(const Btf &btf, uint32_t id);

/// A member, those of members without a name included, as C finds them.
struct Member {
    std::string_view name;
    uint32_t type;
    uint32_t offset; // bits from the start
    uint32_t bits;   // of a bitfield, else 0
};
/// In order. Members that no C program can name are left out.
std::vector<Member> members_of(const Btf &btf, uint32_t id);

struct EnumValue {
    std::string_view name;
    int64_t value;
    bool is_unsigned; // then `value` has its bits
};
EnumValue enum_value(const Btf &btf, uint32_t id, uint32_t index);
std::string number_text(int64_t value, bool is_unsigned);

/// May code that was compiled for a field of type `local` be given one of type `target`, by the
/// rules of CO-RE relocations (libbpf's, and the kernel's)?
bool fields_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                           uint32_t target);

/// Are values of both types the same to those who read them? Typedefs, qualifiers and the spelling
/// of integers do not count, structs count by their names, behind a pointer to void is anything.
bool mean_the_same(const Btf &a_btf, uint32_t a, const Btf &b_btf, uint32_t b);

/// "name" of "name___flavour": what a type of a BPF program is called in the kernel.
std::string_view essential_name(std::string_view name);

} // namespace btflink::kernel::diff
