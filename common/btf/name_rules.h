// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which names kernels accept, and what other names are changed to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace btflink
{

/// Only letters, digits, '_' and '.', and not a digit first. Any length.
bool is_identifier(std::string_view name);

/// Only printable characters, as allowed in the name of a DATASEC. Any length.
bool is_section_name(std::string_view name);

/// Is it free of '$' and characters beyond ASCII? C compilers allow only these in identifiers
/// besides the characters of is_identifier().
bool is_plain_text(std::string_view text);

/// legal_name() shortens longer names.
constexpr size_t max_legal_name = 511; // KSYM_NAME_LEN without the NUL byte

/// An identifier like `name`: every other character becomes '_'.
std::string legal_name(std::string_view name, size_t length_limit = max_legal_name);

/// Would legal_name() leave `name` as it is?
bool is_legal_name(std::string_view name, size_t length_limit = max_legal_name);

} // namespace btflink
