// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes JSON, and tells UTF-8 from other bytes.
#pragma once

#include "common/io/bytes.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace btflink
{

/// The length in bytes of the UTF-8 character at the start of `text`; 0 if `text` does not begin
/// with one. `text` must not be empty.
size_t utf8_character(std::string_view text);

/// The text as a JSON string in double quotes. Each byte that is not part of a UTF-8 character
/// becomes U+FFFD.
std::string json_string(std::string_view text);

/// Collects the fields of an object.
class JsonObject
{
public:
    JsonObject &text(std::string_view name, std::string_view value);
    JsonObject &number(std::string_view name, uint64_t value);
    JsonObject &boolean(std::string_view name, bool value);
    /// `value`: JSON.
    JsonObject &field(std::string_view name, std::string_view value);
    std::string result() const { return "{" + out_ + "}"; }

private:
    std::string out_;
};

/// An array of the list's items. `write` returns the JSON of an item.
template <typename List, typename Write>
std::string json_array(const List &list, Write write, std::string_view between = ", ")
{
    return "[" + joined(list, between, write) + "]";
}

/// The same array with each item on a line of its own, after `indent`.
template <typename List, typename Write>
std::string json_lines(const List &list, Write write, const std::string &indent = "")
{
    const std::string lines = joined(list, ",\n" + indent, write);
    return lines.empty() ? "[]" : "[\n" + indent + lines + "]";
}

} // namespace btflink
