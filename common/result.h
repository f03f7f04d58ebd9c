// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Errors as values. A function that can fail returns Result<T>; bad input never causes an
// exception. An Error has a text, and names the place that caused it as far as known: file,
// section, byte offset within the section. A CHECK failure is a bug in btflink, never the fault of
// an input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <version>
#ifdef __cpp_lib_expected
#include <expected>
#else
#include <tl/expected.hpp>
#endif

namespace btflink
{

/// A place in a file. Empty fields are left out when printed.
struct Where {
    std::string file;         // path, "archive(member)", a name such as "merged BTF", or empty
    std::string section = {}; // ELF section name, or empty
    std::optional<uint64_t> offset = std::nullopt; // bytes from the start of the section (or file)

    Where at(uint64_t off) const { return Where{file, section, off}; }
    /// The place `bytes` further on.
    Where after(uint64_t bytes) const { return at(offset.value_or(0) + bytes); }
    Where in(std::string_view sec) const { return Where{file, std::string(sec), std::nullopt}; }
    /// "foo.o: .BTF+0x18", "foo.o: .BTF", "foo.o+0x18" or "foo.o".
    std::string str() const;
};

/// What the user must correct, where a program distinguishes errors by this (btf-pahole for its
/// exit status, btf-cc for its settings). Elsewhere, all errors are `input`.
enum class ErrorKind {
    input,       // a file, the system (such as a full disk), or anything else
    usage,       // btf-pahole's command line: an unknown option, a missing or unexpected value
    environment, // an environment variable; `what` names it
};

struct Error {
    Where where;
    std::string what;
    ErrorKind kind = ErrorKind::input;

    /// One line for the user: "WHERE: WHAT", or "WHAT" without a place; see plain_text().
    std::string str() const;
};

/// An error that converts to a Result of any type.
struct [[nodiscard]] Failure {
    Error error;
};

namespace detail
{
#ifdef __cpp_lib_expected
template <typename T>
using Expected = std::expected<T, Error>;
using Unexpect = std::unexpect_t;
#else
template <typename T>
using Expected = tl::expected<T, Error>;
using Unexpect = tl::unexpect_t;
#endif
} // namespace detail

/// A value or an Error. The compiler warns where a Result is ignored.
template <typename T>
class [[nodiscard]] Result : public detail::Expected<T>
{
public:
    using detail::Expected<T>::Expected;
    Result() {} // `= default` would make `return {}` zero the whole object first
    Result(Failure failure) : detail::Expected<T>(detail::Unexpect(), std::move(failure.error)) {}
    /// Moves the value out. Precondition: there is one.
    T take() &&
    {
        if constexpr (!std::is_void_v<T>)
            return *std::move(*this);
    }
};

/// Untrusted text for one line on a terminal: control characters become escapes such as "\x0a".
std::string plain_text(std::string_view text);

inline Failure fail(Error error)
{
    return {std::move(error)};
}

inline Failure fail(Where where, std::string what, ErrorKind kind = ErrorKind::input)
{
    return {{std::move(where), std::move(what), kind}};
}

/// The failure of the system call that just set errno: "WHERE: WHAT: No such file or directory".
Failure fail_errno(Where where, std::string_view what);

/// printf into a std::string; used for error texts and for the tools' output.
[[gnu::format(printf, 1, 2)]] std::string strf(const char *format, ...);

/// Converts a number to the type that strf's "%llu" takes.
constexpr unsigned long long ull(uint64_t value)
{
    return value;
}

[[noreturn]] void check_failed(const char *expr, const char *file, int line);

} // namespace btflink

/// Aborts unless `expr` is true. For our own invariants, never used to judge input.
#define CHECK(expr) ((expr) ? void(0) : ::btflink::check_failed(#expr, __FILE__, __LINE__))

/// The value of a Result; if it has an error, returns this error from the surrounding function. In
/// that case, temporaries that the rest of the expression has already made are not destroyed, so it
/// is best used alone, as a statement or after `=`.
#define TRY(...)                                                                                   \
    __extension__({                                                                                \
        auto result_ = (__VA_ARGS__);                                                              \
        if (!result_)                                                                              \
            return ::btflink::fail(std::move(result_).error());                                    \
        std::move(result_).take();                                                                 \
    })
