// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which names kernels take, of any length.
#pragma once

#include <string_view>

namespace btflink
{

/// Letters, digits, '_' and '.'; no digit first.
bool is_identifier(std::string_view name);

/// Of a DATASEC: printable characters.
bool is_section_name(std::string_view name);

} // namespace btflink
