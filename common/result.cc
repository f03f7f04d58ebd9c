// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Formats errors; ends the program when a CHECK fails.
#include "common/result.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace btflink
{

std::string Where::str() const
{
    std::string text = file;
    if (!section.empty())
        text += (text.empty() ? "" : ": ") + section;
    if (offset)
        text += strf("+0x%llx", static_cast<unsigned long long>(*offset));
    return text;
}

std::string plain_text(std::string_view text)
{
    std::string out;
    unsigned char last = 0;
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        // U+0080 to U+009F, in UTF-8 C2 80 to C2 9F, are control characters, too.
        const bool is_c1 = last == 0xc2 && byte >= 0x80 && byte < 0xa0;
        if (is_c1)
            out.replace(out.size() - 1, 1, "\\xc2");
        if (is_c1 || byte < 0x20 || byte == 0x7f)
            out += strf("\\x%02x", byte);
        else
            out += c;
        last = byte;
    }
    return out;
}

std::string Error::str() const
{
    // Names come from the input. They must not break the line or contain control sequences.
    const std::string place = where.str();
    return plain_text(place.empty() ? what : place + ": " + what);
}

Failure fail_errno(Where where, std::string_view what)
{
    std::string reason = std::strerror(errno);
    return fail(std::move(where), what.empty() ? reason : std::string(what) + ": " + reason);
}

std::string strf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    std::string text;
    if (length > 0) {
        text.resize(static_cast<size_t>(length) + 1);
        std::vsnprintf(text.data(), text.size(), format, again);
        text.pop_back();
    }
    va_end(again);
    return text;
}

void check_failed(const char *expr, const char *file, int line)
{
    std::fprintf(stderr, "btflink: internal error at %s:%d: CHECK(%s)\n", file, line, expr);
    std::abort();
}

} // namespace btflink
