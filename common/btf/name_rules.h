// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which names kernels take, of any length, and what becomes of others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace btflink
{

/// Letters, digits, '_' and '.'; no digit first.
bool is_identifier(std::string_view name);

/// Of a DATASEC: printable characters.
bool is_section_name(std::string_view name);

/// Is there neither '$' in it nor a character beyond ASCII? What else no identifier has, C
/// compilers do not take for one.
bool is_plain_text(std::string_view text);

/// Longer names are made shorter by legal_name().
constexpr size_t max_legal_name = 511; // KSYM_NAME_LEN without the NUL byte

/// An identifier that is like `name`: each character that may not be in one becomes '_'.
std::string legal_name(std::string_view name, size_t length_limit = max_legal_name);

/// Is `name` what legal_name() makes of it?
bool is_legal_name(std::string_view name, size_t length_limit = max_legal_name);

} // namespace btflink
