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

/// An option of a program. `Draft` collects options until all are known. Exactly one function is
/// set: the field of an option without value, the field for the unparsed value, or a parser of the
/// value ("" if none was given).
template <typename Draft>
struct Option {
    OptionWords words;
    bool &(*flag)(Draft &) = nullptr;
    std::string &(*text)(Draft &) = nullptr;
    Result<void> (*take)(Draft &, std::string_view value) = nullptr;
};

/// The operands, and the indices of options that were given.
struct Given {
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

    struct Found {
        size_t index = SIZE_MAX; // SIZE_MAX: no options are left
        const char *value = "";
    };
    /// Errors are usage errors.
    Result<Found> next();
    const Given &given() const { return given_; }

private:
    std::span<const OptionWords> table_;
    int argc_;
    char **argv_;
    std::string letters_; // in getopt_long's format
    std::vector<option> names_;
    Given given_;
};

/// The options as --help prints them.
std::string options_text(std::span<const OptionWords> table);

/// A number of threads, 1 to 1024.
Result<unsigned> parse_threads(std::string_view text);

/// Parser for an option with a number of threads. `field`: "&Draft::threads".
template <auto field, typename Draft>
Result<void> take_threads(Draft &draft, std::string_view text)
{
    auto count = TRY(parse_threads(text));
    draft.*field = count;
    return {};
}

/// Reads all options into `draft`, or until `stop` returns true (--help).
template <typename Draft, size_t count, typename Stop>
Result<Given> read_options(const Option<Draft> (&options)[count], int argc, char **argv,
                           Draft &draft, Stop stop)
{
    OptionWords words[count];
    for (size_t i = 0; i < count; ++i)
        words[i] = options[i].words;
    OptionReader reader(words, argc, argv);
    while (!stop(draft)) {
        auto found = TRY(reader.next());
        if (found.index == SIZE_MAX)
            break;
        const Option<Draft> &option = options[found.index];
        if (option.flag)
            option.flag(draft) = true;
        else if (option.take)
            TRY(option.take(draft, found.value));
        else
            option.text(draft) = found.value;
    }
    return reader.given();
}

template <typename Draft, size_t count>
std::string options_text(const Option<Draft> (&options)[count])
{
    OptionWords words[count];
    for (size_t i = 0; i < count; ++i)
        words[i] = options[i].words;
    return options_text(words);
}

} // namespace btflink
