// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Lengths of types, places of ids and string offsets in them, the other byte order.
#include "common/btf/btf_format.h"

namespace btflink::btf
{

constexpr KindInfo kinds[kind_count] = {
    {"VOID", Third::unused, 0, 0, -1, -1, false},   {"INT", Third::size, 1, 0, -1, -1, true},
    {"PTR", Third::type, 0, 0, -1, -1, false},      {"ARRAY", Third::unused, 3, 0, -1, -1, false},
    {"STRUCT", Third::size, 0, 3, 0, 1, true},      {"UNION", Third::size, 0, 3, 0, 1, true},
    {"ENUM", Third::size, 0, 2, 0, -1, true},       {"FWD", Third::unused, 0, 0, -1, -1, true},
    {"TYPEDEF", Third::type, 0, 0, -1, -1, true},   {"VOLATILE", Third::type, 0, 0, -1, -1, false},
    {"CONST", Third::type, 0, 0, -1, -1, false},    {"RESTRICT", Third::type, 0, 0, -1, -1, false},
    {"FUNC", Third::type, 0, 0, -1, -1, true}, // vlen is the linkage
    {"FUNC_PROTO", Third::type, 0, 2, 0, 1, false}, {"VAR", Third::type, 1, 0, -1, -1, true},
    {"DATASEC", Third::size, 0, 3, -1, 0, true},    {"FLOAT", Third::size, 0, 0, -1, -1, true},
    {"DECL_TAG", Third::type, 1, 0, -1, -1, true},  {"TYPE_TAG", Third::type, 0, 0, -1, -1, true},
    {"ENUM64", Third::size, 0, 3, 0, -1, true},
};
static_assert(kinds[kind_count - 1].name, "a kind has no row");

} // namespace btflink::btf
