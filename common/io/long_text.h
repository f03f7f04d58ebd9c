// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Long strings in a string section. Names may be tails of such a string, so that the names of a
// file can be far larger than the file.
#pragma once

#include <cstring>
#include <string_view>

namespace btflink
{

/// May a string, which ends with NUL, have `length` characters or more? True if one has twice as
/// many. Looks at one string in `length` bytes.
inline bool may_have_string(std::string_view strings, size_t length)
{
    for (size_t at = length; at + length <= strings.size(); at += length)
        if (!std::memchr(strings.data() + at, 0, length))
            return true;
    return false;
}

} // namespace btflink
