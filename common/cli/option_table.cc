// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads options by getopt_long(), and formats them for --help. btf-emit starts once per object, so
// a class library for options would cost too much time (emit/NOTES.md).
#include "common/cli/option_table.h"

#include "common/io/parallel.h"

#include <charconv>

namespace btflink
{

namespace
{

constexpr size_t help_column = 25, help_width = 80;
// getopt_long returns first_code + i for the long name of table[i]. first_code is larger than any
// letter, also in musl, whose getopt_long reads letters as wide characters.
constexpr int first_code = 0x110000;

/// The field has_arg of getopt_long's table.
int has_arg(const OptionWords &option)
{
    return !*option.value         ? no_argument
           : *option.value == '[' ? optional_argument
                                  : required_argument;
}

/// The error for a word that getopt_long refused. optopt is a letter, first_code + i for the long
/// name of table[i], or 0 for a long name that is unknown or ambiguous. Only in the last case is
/// `word` used. getopt_long accepts an abbreviation that fits exactly one long name. So a refused
/// name is ambiguous if any long name begins with it.
Failure refused(std::span<const OptionWords> table, int code, const char *word)
{
    if (optopt >= first_code || code == ':') {
        std::string name =
            optopt >= first_code
                ? "--" + std::string(table[static_cast<size_t>(optopt - first_code)].name)
                : std::string{'-', static_cast<char>(optopt)};
        return fail({}, name + (code == ':' ? " needs a value" : " takes no value"));
    }
    if (optopt)
        return fail({}, "there is no option " + std::string{'-', static_cast<char>(optopt)});
    const std::string given(word), name = given.substr(0, given.find('='));
    const bool has_name = name != "--"; // "--=x" has none
    const bool is_ambiguous = has_name && std::ranges::any_of(table, [&](const OptionWords &o) {
                                  return ("--" + std::string(o.name)).starts_with(name);
                              });
    return fail({}, is_ambiguous ? given + " is ambiguous" : "there is no option " + given);
}

/// `text` as lines, broken at spaces; all lines but the first are indented by `help_column` spaces.
std::string folded(std::string_view text)
{
    std::string out;
    while (text.size() > help_width - help_column) {
        size_t end = text.rfind(' ', help_width - help_column);
        if (end == text.npos)
            break;
        out.append(text.substr(0, end)).append("\n").append(help_column, ' ');
        text.remove_prefix(end + 1);
    }
    return out.append(text);
}

} // namespace

Result<GivenWords> read_words(std::span<const OptionWords> table, int argc, char **argv,
                              Operands operands,
                              const std::function<Result<void>(size_t, const char *)> &take)
{
    opterr = 0;
    GivenWords given;
    std::vector<option> names;
    // In getopt_long's format. '+': the first operand ends the options. ':': getopt_long reports a
    // missing value as ':', not '?'.
    std::string letters = operands == Operands::end_options ? "+:" : ":";
    for (const OptionWords &o : table) {
        names.push_back({o.name, has_arg(o), nullptr, first_code + static_cast<int>(names.size())});
        if (o.letter)
            (letters += o.letter) += has_arg(o) == required_argument ? ":" : "";
    }
    names.push_back({});
    for (;;) {
        const int code = getopt_long(argc, argv, letters.c_str(), names.data(), nullptr);
        if (code == -1)
            break;
        if (code == '?' || code == ':')
            return refused(table, code, argv[optind - 1]); // the refused word, even after operands
        const auto by_letter = std::ranges::find_if(
            table, [&](const OptionWords &o) { return o.letter && o.letter == code; });
        const auto index =
            static_cast<size_t>(code >= first_code ? code - first_code : by_letter - table.begin());
        const OptionWords &o = table[index];
        const std::string as_given =
            code >= first_code ? "--" + std::string(o.name) : std::string{'-', o.letter};
        if (*o.value && o.use != Use::repeats && std::ranges::count(given.options, index))
            return fail({}, as_given + " is given twice");
        given.options.push_back(index);
        if (*o.value && optarg && !*optarg) // "--output= FILE", or the value is an unset variable
            return fail({}, as_given + " needs a value");
        TRY(take(index, *o.value && optarg ? optarg : ""));
        if (o.use == Use::alone)
            return given;
    }
    given.operands.assign(argv + optind, argv + argc);
    if (operands == Operands::anywhere && std::ranges::count(given.operands, ""))
        return fail({}, "the name of a file is empty"); // perhaps an unset variable
    return given;
}

std::string options_text(std::span<const OptionWords> table)
{
    std::string text = "Options:\n";
    for (const OptionWords &o : table) {
        if (!*o.help)
            continue;
        std::string head = o.letter ? std::string{'-', o.letter, ','} : std::string();
        (head += "--") += o.name;
        if (*o.value == '[')
            (head += "[=") += o.value + 1; // "[NAME]" becomes "[=NAME]"
        else if (*o.value)
            (head += "=") += o.value;
        text += strf("  %-22s %s\n", head.c_str(), folded(o.help).c_str());
    }
    return text;
}

Result<unsigned> parse_threads(std::string_view text)
{
    unsigned count = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1 ||
        count > max_threads)
        return fail({}, strf("--threads: '%.*s' is not a number from 1 to %u",
                             static_cast<int>(text.size()), text.data(), max_threads));
    return count;
}

} // namespace btflink
