// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes JSON, and tells UTF-8 from other bytes.
#include "common/io/json_text.h"

#include "common/result.h"

namespace btflink
{

size_t utf8_character(std::string_view text)
{
    const auto first = static_cast<unsigned char>(text[0]);
    size_t size = first < 0x80 ? 1 : 0;
    if (first >= 0xc2 && first < 0xf5)
        size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 0 || size > text.size())
        return 0;
    for (size_t i = 1; i < size; ++i)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    const auto second = size > 1 ? static_cast<unsigned char>(text[1]) : 0;
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool surrogate = first == 0xed && second > 0x9f;
    const bool too_large = first == 0xf4 && second > 0x8f; // more than U+10FFFF
    return overlong || surrogate || too_large ? 0 : size;
}

std::string json_string(std::string_view text)
{
    std::string out = "\"";
    while (!text.empty()) {
        const size_t size = utf8_character(text);
        const char c = text[0];
        if (size == 0)
            out += "\xef\xbf\xbd";
        else if (c == '"' || c == '\\')
            out += {'\\', c};
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += strf("\\u%04x", c);
        else
            out += text.substr(0, size);
        text.remove_prefix(size ? size : 1);
    }
    return out + "\"";
}

JsonObject &JsonObject::text(std::string_view name, std::string_view value)
{
    return field(name, json_string(value));
}

JsonObject &JsonObject::number(std::string_view name, uint64_t value)
{
    return field(name, std::to_string(value));
}

JsonObject &JsonObject::boolean(std::string_view name, bool value)
{
    return field(name, value ? "true" : "false");
}

JsonObject &JsonObject::field(std::string_view name, std::string_view value)
{
    out_ += (out_.empty() ? "" : ", ") + json_string(name) + ": " + std::string(value);
    return *this;
}

} // namespace btflink
