// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The options of a program as a table, so that --help, abbreviations and error messages work alike
// in all programs that use this file. btf-pahole uses only sets<>: it parses pahole's options
// itself.
#pragma once

#include "common/result.h"

#include <algorithm>
#include <array>
#include <functional>
#include <getopt.h>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace btflink
{

/// How an option may be used.
enum class Use : uint8_t {
    once,    // a second time is an error, unless the option has no value
    repeats, // each time with a further value
    alone,   // the rest of the command line is not read
};
constexpr Use repeats = Use::repeats; // shorter in rows of tables

/// The names of an option, and its help text.
struct OptionWords {
    char letter; // 0: long option only
    const char *name;
    const char *value; // as named in --help; "": no value; in brackets: optional
    const char *help;  // "": a former name, which --help does not list
    Use use = Use::once;
};

constexpr OptionWords help_option = {'h', "help", "", "Print this help and exit", Use::alone};
constexpr OptionWords version_option = {0, "version", "", "Print the version and exit", Use::alone};

/// A row of a program's table. `CommandLine` collects the options. `take` is
/// sets<&CommandLine::field> or a parser of the value; `value` is "" if none was given.
template <typename CommandLine>
struct Option {
    OptionWords words;
    Result<void> (*take)(CommandLine &, std::string_view value);
};

// store_option(): what an option does to its field. A type that is parsed from a value has an
// overload next to its own declaration.

inline Result<void> store_option(bool &field, std::string_view)
{
    field = true;
    return {};
}

/// For std::string and other types to which a text can be assigned.
template <typename Text>
std::enable_if_t<std::is_assignable_v<Text &, std::string_view>, Result<void>>
store_option(Text &field, std::string_view value)
{
    field = value;
    return {};
}

inline Result<void> store_option(std::vector<std::string> &field, std::string_view value)
{
    field.emplace_back(value);
    return {};
}

/// A function for Option::take that stores the value in a field of `line`. Member pointers lead to
/// the field: sets<&CommandLine::emit, &EmitOptions::output> sets line.emit.output.
template <auto... members, typename CommandLine>
Result<void> sets(CommandLine &line, std::string_view value)
{
    return store_option((line.*....*members), value);
}

/// The operands, and the index in the table of each option that was given.
struct GivenWords {
    std::vector<std::string> operands;
    std::vector<size_t> options;
};

enum class Operands : uint8_t {
    anywhere,
    end_options, // the first operand ends the options
};

/// Calls take(index, value) for each option; `value` is "" if none was given. Call this once per
/// process: getopt_long() keeps a state, and permutes `argv`. Errors, including those of take(),
/// are meant for usage_error().
Result<GivenWords> read_words(std::span<const OptionWords> table, int argc, char **argv,
                              Operands operands,
                              const std::function<Result<void>(size_t, const char *)> &take);

/// The list of options that --help prints.
std::string options_text(std::span<const OptionWords> table);

/// Parses the value of --threads, a number from 1 to 1024.
Result<unsigned> parse_threads(std::string_view text);

/// Like sets<>, for a field with a number of threads.
template <auto... members, typename CommandLine>
Result<void> take_threads(CommandLine &line, std::string_view text)
{
    (line.*....*members) = TRY(parse_threads(text));
    return {};
}

template <typename CommandLine, size_t count>
std::array<OptionWords, count> words_of(const Option<CommandLine> (&options)[count])
{
    std::array<OptionWords, count> words;
    std::ranges::transform(options, words.begin(), &Option<CommandLine>::words);
    return words;
}

/// Reads the options into `line`; operands may be anywhere. Otherwise like read_words().
template <typename CommandLine, size_t count>
Result<GivenWords> read_options(const Option<CommandLine> (&options)[count], int argc, char **argv,
                                CommandLine &line)
{
    return read_words(
        words_of(options), argc, argv, Operands::anywhere,
        [&](size_t index, const char *value) { return options[index].take(line, value); });
}

template <typename CommandLine, size_t count>
std::string options_text(const Option<CommandLine> (&options)[count])
{
    return options_text(words_of(options));
}

} // namespace btflink
