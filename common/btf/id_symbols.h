// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The symbols of .BTF_ids. This section of kernels and modules has ids of types and functions. The
// build fills in the ids. A symbol at the place of an id names the type or function; a symbol at
// the start of a set names the set:
//
//     __BTF_ID__KIND__NAME__NUMBER   an id
//     __BTF_ID__set__NAME            struct btf_id_set: a count, ids
//     __BTF_ID__set8__NAME           struct btf_id_set8: a count, flags, pairs of id and flags
#pragma once

#include "common/btf/btf_format.h"

#include <string_view>

namespace btflink
{

/// A flag of a set8: its functions are kfuncs (BTF_SET8_KFUNCS).
constexpr uint32_t set_of_kfuncs = 1;
/// Flags of a kfunc: KF_FASTCALL, KF_IMPLICIT_ARGS (programs do not pass the kfunc's last
/// arguments). The three bits from kf_arena_shift on are KF_ARENA_RET, KF_ARENA_ARG1 and
/// KF_ARENA_ARG2: the result or parameter is a pointer into an arena.
constexpr uint32_t kf_fastcall = 1 << 12;
constexpr unsigned kf_arena_shift = 13;
constexpr uint32_t kf_implicit_args = 1 << 16;

/// The meaning of a symbol in .BTF_ids. `kind` is empty if the symbol has another form.
struct IdSymbol {
    std::string_view kind; // "func", "struct", ..., "set", "set8"
    std::string_view name;

    bool is_set() const { return kind == "set" || kind == "set8"; }
    /// The kind of the type whose id is looked up; VOID for a set or an unknown `kind`.
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
