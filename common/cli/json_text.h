// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Text for programs that read ours: JSON.
#pragma once

#include <string>
#include <string_view>

namespace btflink
{

/// Bytes of the UTF-8 character at the start of `text`, which is not empty; 0: there is none.
size_t utf8_character(std::string_view text);

/// The text in double quotes, as JSON wants it. Bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

} // namespace btflink
