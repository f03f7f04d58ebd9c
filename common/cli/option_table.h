// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The options of a program as a table, so that -h, abbreviations, "given twice" and errors are the
// same in all programs of this project. btf-pahole parses pahole's options itself.
#pragma once

#include "common/result.h"

#include <getopt.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink
{

/// The names of an option, and its help text.
struct OptionWords {
    char letter = 0; // 0: long option only
    const char *name;
    const char *value = ""; // as named in --help; "": no value; in brackets: optional
    const char *help;       // "": a former name, which --help does not list
    bool repeats = false;   // several values add up
};

/// An option of a program. `CommandLine` collects the options. Exactly one function is
/// set: the field of an option without value, the field for the unparsed value, or a parser of the
/// value ("" if none was given).
template <typename CommandLine>
struct Option {
    OptionWords words;
    bool &(*flag)(CommandLine &) = nullptr;
    std::string &(*text)(CommandLine &) = nullptr;
    Result<void> (*take)(CommandLine &, std::string_view value) = nullptr;
};

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

/// Parser for an option with a number of threads. `field`: "&CommandLine::threads".
template <auto field, typename CommandLine>
Result<void> take_threads(CommandLine &line, std::string_view text)
{
    auto count = TRY(parse_threads(text));
    line.*field = count;
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
        const Option<CommandLine> &option = options[found.index];
        if (option.flag)
            option.flag(line) = true;
        else if (option.take)
            TRY(option.take(line, found.value));
        else
            option.text(line) = found.value;
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
