// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The symbols of .BTF_ids, a section of kernels and modules with ids of types and functions, which
// the build fills in. The symbol of an id is __BTF_ID__KIND__NAME__NUMBER; those of sets are
// __BTF_ID__set__NAME (struct btf_id_set: a count, ids) and __BTF_ID__set8__NAME (btf_id_set8: a
// count, flags, pairs of id and flags).
#pragma once

#include "common/btf/btf_format.h"

#include <string_view>

namespace btflink
{

/// A flag of a set8: its functions are kfuncs (BTF_SET8_KFUNCS).
constexpr uint32_t set_of_kfuncs = 1;
/// Flags of a kfunc.
constexpr uint32_t kf_fastcall = 1 << 12;
constexpr unsigned kf_arena_shift = 13;        // KF_ARENA_RET, _ARG1, _ARG2: pointers into an arena
constexpr uint32_t kf_implicit_args = 1 << 16; // programs do not pass its last arguments

/// The meaning of a symbol in .BTF_ids. `kind` is empty for any other symbol.
struct IdSymbol {
    std::string_view kind; // "func", "struct", ..., "set", "set8"
    std::string_view name;

    bool is_set() const { return kind == "set" || kind == "set8"; }
    /// The kind of the type whose id is looked up; VOID for a set.
    btf::Kind type_kind() const
    {
        return kind == "struct"    ? btf::Kind::STRUCT
               : kind == "union"   ? btf::Kind::UNION
               : kind == "typedef" ? btf::Kind::TYPEDEF
               : kind == "func"    ? btf::Kind::FUNC
                                   : btf::Kind::VOID;
    }
};

inline IdSymbol parse_id_symbol(std::string_view symbol)
{
    constexpr std::string_view mark = "__BTF_ID__";
    if (!symbol.starts_with(mark))
        return {};
    symbol.remove_prefix(mark.size());
    const size_t end = symbol.find("__");
    if (end == symbol.npos)
        return {};
    IdSymbol out{symbol.substr(0, end), symbol.substr(end + 2)};
    if (!out.is_set())
        out.name = out.name.substr(0, out.name.rfind("__"));
    return out;
}

} // namespace btflink
