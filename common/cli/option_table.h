// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The options of a program as a table, so that -h, abbreviations, "given twice" and errors are the
// same in all programs of this project. btf-pahole parses pahole's options itself.
#pragma once

#include "common/result.h"

#include <getopt.h>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace btflink
{

/// The names of an option, and its help text.
struct OptionWords {
    char letter; // 0: long option only
    const char *name;
    const char *value;    // as named in --help; "": no value; in brackets: optional
    const char *help;     // "": a former name, which --help does not list
    bool repeats = false; // several values add up
};

constexpr bool repeats = true; // last word of a row

constexpr OptionWords help_option = {'h', "help", "", "Print this help and exit"};
constexpr OptionWords version_option = {0, "version", "", "Print the version and exit"};

/// A row of a program's table. `CommandLine` collects the options. `take` gets "" if the option has
/// no value: sets<&CommandLine::field>, or a parser of the value.
template <typename CommandLine>
struct Option {
    OptionWords words;
    Result<void> (*take)(CommandLine &, std::string_view value);
};

// store_option(): what an option does to its field. Types with values of their own have an overload
// where they are declared.

inline Result<void> store_option(bool &field, std::string_view)
{
    field = true;
    return {};
}

/// Of type std::string, or made from one.
template <typename Text>
requires std::is_assignable_v<Text &, std::string_view> Result<void>
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

/// The field is given as its member pointers: sets<&CommandLine::emit, &EmitOptions::output>.
template <auto... members, typename CommandLine>
Result<void> sets(CommandLine &line, std::string_view value)
{
    return store_option((line.*....*members), value);
}

/// The operands, and the indices of options that were given.
struct GivenWords {
    std::vector<std::string> operands;
    std::vector<size_t> options;
};

/// Reads words one by one. Use it once per process: getopt_long() keeps a state, and permutes
/// `argv`.
class OptionReader
{
public:
    enum class Operands : uint8_t {
        anywhere,
        end_options, // the first operand ends the options
    };
    OptionReader(std::span<const OptionWords> table, int argc, char **argv,
                 Operands operands = Operands::anywhere);

    struct ParsedOption {
        size_t index = SIZE_MAX; // SIZE_MAX: no options are left
        const char *value = "";
    };
    /// Errors are usage errors.
    Result<ParsedOption> next();
    const GivenWords &given() const { return given_; }

private:
    std::span<const OptionWords> table_;
    int argc_;
    char **argv_;
    std::string letters_; // in getopt_long's format
    std::vector<option> names_;
    GivenWords given_;
};

/// The options as --help prints them.
std::string options_text(std::span<const OptionWords> table);

/// A number of threads, 1 to 1024.
Result<unsigned> parse_threads(std::string_view text);

/// Like sets<>, for a field with a number of threads.
template <auto... members, typename CommandLine>
Result<void> take_threads(CommandLine &line, std::string_view text)
{
    (line.*....*members) = TRY(parse_threads(text));
    return {};
}

/// Reads all options into `line`, or until `stop` returns true (--help).
template <typename CommandLine, size_t count, typename Stop>
Result<GivenWords> read_options(const Option<CommandLine> (&options)[count], int argc, char **argv,
                                CommandLine &line, Stop stop)
{
    OptionWords words[count];
    for (size_t i = 0; i < count; ++i)
        words[i] = options[i].words;
    OptionReader reader(words, argc, argv);
    while (!stop(line)) {
        auto found = TRY(reader.next());
        if (found.index == SIZE_MAX)
            break;
        TRY(options[found.index].take(line, found.value));
    }
    return reader.given();
}

template <typename CommandLine, size_t count>
std::string options_text(const Option<CommandLine> (&options)[count])
{
    OptionWords words[count];
    for (size_t i = 0; i < count; ++i)
        words[i] = options[i].words;
    return options_text(words);
}

} // namespace btflink
