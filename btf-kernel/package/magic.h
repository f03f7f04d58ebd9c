// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Text and marks in bytes.
#pragma once

#include "common/io/bytes.h"

#include <string_view>

namespace btflink::kernel
{

inline std::string_view as_text(Bytes bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// Are these the bytes at this place?
inline bool has(Bytes file, size_t at, std::string_view magic)
{
    return at <= file.size() && as_text(file.subspan(at)).starts_with(magic);
}

/// Text up to a zero, or to the end.
inline std::string_view text_at(Bytes file, size_t at)
{
    const std::string_view rest = at < file.size() ? as_text(file.subspan(at)) : "";
    return rest.substr(0, rest.find('\0'));
}

} // namespace btflink::kernel
