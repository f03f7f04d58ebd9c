// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Errors as values. Every fallible function returns Result<T>; an Error names the place in the
// input that caused it: file, section, byte offset within the section. No function throws on bad
// input. A CHECK failure is a bug in btflink, never the fault of an input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <version>
#ifdef __cpp_lib_expected
#include <expected>
namespace tl = std; // until everybody says btflink::unexpected
#else
#include <tl/expected.hpp>
#endif

namespace btflink
{

#ifdef __cpp_lib_expected
using std::expected;
using std::unexpected;
#else
using tl::expected;
using tl::unexpected;
#endif

/// A place in an input file. Empty fields are left out when printed.
struct Where {
    std::string file;                              // path; "archive(member)" for archive members
    std::string section = {};                      // ELF section name, or empty
    std::optional<uint64_t> offset = std::nullopt; // bytes from the start of the section (or file)

    Where at(uint64_t off) const { return Where{file, section, off}; }
    Where in(std::string_view sec) const { return Where{file, std::string(sec), std::nullopt}; }
    /// "foo.o: .BTF+0x18", "foo.o: .BTF", "foo.o+0x18" or "foo.o".
    std::string str() const;
};

struct Error {
    Where where;
    std::string what;

    /// The one line that a user sees: "WHERE: WHAT"; control characters as "\x0a".
    std::string str() const;
};

template <typename T>
using Result = expected<T, Error>;

/// Text that others made, for one line on a terminal: control characters as "\\x0a".
std::string plain_text(std::string_view text);

inline unexpected<Error> fail(Where where, std::string what)
{
    return unexpected<Error>(Error{std::move(where), std::move(what)});
}

/// An Error for the system call that just set errno: "WHERE: WHAT: No such file or directory".
unexpected<Error> fail_errno(Where where, std::string_view what);

/// printf into a std::string; used for error texts and for the tools' output.
[[gnu::format(printf, 1, 2)]] std::string strf(const char *format, ...);

[[noreturn]] void check_failed(const char *expr, const char *file, int line);

} // namespace btflink

/// Our own invariants. Never used to judge input.
#define CHECK(expr) ((expr) ? void(0) : ::btflink::check_failed(#expr, __FILE__, __LINE__))

/// Hand the error of `expr` (a Result) to our caller; go on if there is none.
#define RETURN_IF_ERROR(expr)                                                                      \
    do {                                                                                           \
        if (auto result_ = (expr); !result_)                                                       \
            return ::btflink::unexpected(std::move(result_).error());                              \
    } while (0)
