// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The options of a program as a table. All programs of this project that have options of their own
// read them by it, so that -h, abbreviations, "given twice" and the words of errors are the same.
// (btf-pahole's options are pahole's, and have a reader of their own.)
#pragma once

#include "common/result.h"

#include <getopt.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink
{

/// What an option is called, and what it is for.
struct OptionWords {
    char letter = 0; // 0: none
    const char *name;
    const char *value = ""; // what --help calls it; "": takes none; in brackets: may have one
    const char *help;
    bool repeats = false; // several values add up
};

/// An option of a program. `Draft` is what options say until all of them are known. One of the
/// functions is there: the field of an option without value, of one whose value is kept as it is,
/// or what understands the value ("": none was given).
template <typename Draft>
struct Option {
    OptionWords words;
    bool &(*flag)(Draft &) = nullptr;
    std::string &(*text)(Draft &) = nullptr;
    Result<void> (*take)(Draft &, std::string_view value) = nullptr;
};

/// What was given besides, and which options, by their places in the table.
struct Given {
    std::vector<std::string> operands;
    std::vector<size_t> options;
};

/// Reads words one by one. Once per process: getopt_long has a state, and puts operands last in
/// `argv`.
class OptionReader
{
public:
    enum class Operands : uint8_t {
        anywhere,
        end_options, // the first, and all that follows, is left as it is
    };
    OptionReader(std::span<const OptionWords> table, int argc, char **argv,
                 Operands operands = Operands::anywhere);

    struct Found {
        size_t index = SIZE_MAX; // that: no option is left
        const char *value = "";
    };
    /// Errors are wrong usage.
    Result<Found> next();
    const Given &given() const { return given_; }

private:
    std::span<const OptionWords> table_;
    int argc_;
    char **argv_;
    std::string letters_; // as getopt_long has them
    std::vector<option> names_;
    Given given_;
};

/// The option part of what --help prints: a line or more for each.
std::string options_text(std::span<const OptionWords> table);

/// A number of threads, 1 to 1024.
Result<unsigned> parse_threads(std::string_view text);

/// An option that is such a number; `field`: "&Draft::threads".
template <auto field, typename Draft>
Result<void> take_threads(Draft &draft, std::string_view text)
{
    auto count = TRY(parse_threads(text));
    draft.*field = count;
    return {};
}

/// Read all options into `draft`, until `stop` says that no other counts (--help).
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
