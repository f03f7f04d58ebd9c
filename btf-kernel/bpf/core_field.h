// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Fields of CO-RE relocations: the meaning of an access string in a program, and the position of
// the field in a kernel.
#pragma once

#include "common/btf/btf.h"

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel::bpf
{

/// A member by name, or an element of an array.
struct Step {
    std::string_view name; // "": an element
    uint32_t index;        // of the element
    uint32_t type;         // in the program's BTF: the type that the step leads to
    uint32_t bits = 0;     // of a bitfield
};

/// A field of a program's struct: the steps to it, and its offset in bits.
struct LocalField {
    std::vector<Step> steps;
    uint64_t offset = 0;
};

/// A field of a kernel.
struct KernelField {
    uint64_t offset = 0; // bits
    uint32_t type = 0, bits = 0;
    bool is_end = false; // the last member of its struct

    auto operator<=>(const KernelField &) const = default;
};

/// The indexes of an access string such as "0:1:2"; empty if it is malformed.
std::optional<std::vector<uint32_t>> parse_access(std::string_view text);

/// Empty if the indexes do not fit the type.
std::optional<LocalField> parse_field(const Btf &btf, uint32_t type,
                                      const std::vector<uint32_t> &access);

/// Looks up a program's field in the struct `root` of a kernel. Returns an explanation if it does
/// not fit; empty: `out` is the field.
std::optional<std::string> find_field(const Btf &local_btf, const LocalField &local,
                                      const Btf &target_btf, uint32_t root, KernelField &out);

/// Bytes that are loaded for a field of this type; for an array, one element.
uint64_t load_size(const Btf &btf, uint32_t type);
bool is_unsigned_or_pointer(const Btf &btf, uint32_t type);

} // namespace btflink::kernel::bpf
