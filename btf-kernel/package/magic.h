// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Text and magic numbers in bytes.
#pragma once

#include "common/io/bytes.h"

#include <string_view>

namespace btflink::kernel
{

inline std::string_view as_text(Bytes bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// Does the file have the bytes `magic` at this offset?
inline bool has(Bytes file, size_t at, std::string_view magic)
{
    return at <= file.size() && as_text(file.subspan(at)).starts_with(magic);
}

/// Text from this offset up to a zero byte, or to the end.
inline std::string_view text_at(Bytes file, size_t at)
{
    const std::string_view rest = at < file.size() ? as_text(file.subspan(at)) : "";
    return rest.substr(0, rest.find('\0'));
}

} // namespace btflink::kernel
