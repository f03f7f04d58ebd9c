// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "emit/command_line.h"
#include "emit/languages.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <elf.h>
#include <getopt.h>
#include <iterator>
#include <optional>

namespace btflink::emit
{

namespace
{

constexpr unsigned max_threads = 1024;

/// What options say until all of them are known.
struct Draft {
    CommandLine line;
    bool no_exclude = false;
    std::optional<FeatureSet> features;
};

struct Option {
    char letter = 0; // 0: none
    const char *name;
    const char *value = ""; // what --help calls it; "": takes none
    const char *help;
    bool repeats = false; // several values add up
    // One of these: the field of an option without value, of one whose value is kept as it is, or
    // what understands the value.
    bool &(*flag)(Draft &) = nullptr;
    std::string &(*text)(Draft &) = nullptr;
    Result<void> (*take)(Draft &, std::string_view value) = nullptr;
};

Result<void> take_features(Draft &draft, std::string_view list)
{
    auto parsed = parse_features(list);
    if (!parsed)
        return tl::unexpected(parsed.error());
    draft.features.emplace(draft.features.value_or(FeatureSet())).add(*parsed);
    return {};
}

Result<void> take_languages(Draft &draft, std::string_view list)
{
    auto parsed = parse_languages(list);
    if (!parsed)
        return tl::unexpected(parsed.error());
    std::vector<uint16_t> &all = draft.line.emit.filter.excluded_languages;
    all.insert(all.end(), parsed->begin(), parsed->end());
    return {};
}

Result<void> take_section_type(Draft &draft, std::string_view type)
{
    if (type != "btf" && type != "progbits")
        return fail({}, "--section-type: '" + std::string(type) + "' is neither btf nor progbits");
    if (type == "progbits")
        draft.line.emit.section_type = SHT_PROGBITS;
    return {};
}

Result<void> take_threads(Draft &draft, std::string_view text)
{
    unsigned count = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1 ||
        count > max_threads)
        return fail({}, strf("--threads: '%.*s' is no number from 1 to %u",
                             static_cast<int>(text.size()), text.data(), max_threads));
    draft.line.emit.threads = count;
    return {};
}

constexpr Option options[] = {
    {.letter = 'h',
     .name = "help",
     .help = "Print this help and exit",
     .flag = [](Draft &d) -> bool & { return d.line.help; }},
    {.name = "version",
     .help = "Print the version and exit",
     .flag = [](Draft &d) -> bool & { return d.line.version; }},
    {.letter = 'o',
     .name = "output",
     .value = "OUT",
     .help = "Write the ELF file here, leave FILE alone",
     .text = [](Draft &d) -> std::string & { return d.line.emit.output; }},
    {.name = "detached",
     .value = "OUT",
     .help = "Write plain BTF here, leave FILE alone",
     .text = [](Draft &d) -> std::string & { return d.line.emit.detached; }},
    {.name = "features",
     .value = "LIST",
     .help = "What to encode: pahole's --btf_features names (default: default)",
     .repeats = true,
     .take = take_features},
    {.name = "lang-exclude",
     .value = "LIST",
     .help = "Leave out units of these languages",
     .repeats = true,
     .take = take_languages},
    {.name = "address-pool",
     .help = "Add a pool of addresses for the link to fill (kernel builds)",
     .flag = [](Draft &d) -> bool & { return d.line.emit.unit.address_pool; }},
    {.name = "strip-dwarf",
     .help = "Drop DWARF from the object",
     .flag = [](Draft &d) -> bool & { return d.line.emit.strip_dwarf; }},
    {.name = "section-type",
     .value = "TYPE",
     .help = "Type of .BTF: btf (default) or progbits",
     .take = take_section_type},
    {.name = "no-exclude",
     .help = "Let a final link keep .BTF",
     .flag = [](Draft &d) -> bool & { return d.no_exclude; }},
    {.name = "image",
     .help = "FILE is linked, or an object of many units",
     .flag = [](Draft &d) -> bool & { return d.line.emit.image; }},
    {.name = "threads",
     .value = "N",
     .help = "Threads for --image, 1 to 1024 (default: 1)",
     .take = take_threads},
    {.name = "stats",
     .help = "Print what was encoded, what was left out, and times",
     .flag = [](Draft &d) -> bool & { return d.line.stats; }},
    {.name = "time-trace",
     .value = "OUT",
     .help = "Write a trace of the steps here (JSON)",
     .text = [](Draft &d) -> std::string & { return d.line.trace_path; }},
    {.letter = 'v',
     .name = "verbose",
     .help = "One line per file",
     .flag = [](Draft &d) -> bool & { return d.line.verbose; }},
};

constexpr size_t option_count = std::size(options);
// What getopt_long returns for options[i]; letters are less.
constexpr int first_code = 256;

/// `as_given`: its name, for errors; `value`: null if it takes none.
Result<void> take(const Option &option, const std::string &as_given, const char *value,
                  Draft &draft)
{
    if (option.flag)
        option.flag(draft) = true;
    else if (!*value) // "--output= FILE" is a slip of the pen, or a variable that is empty
        return fail({}, as_given + " needs a value");
    else if (option.take)
        return option.take(draft, value);
    else
        option.text(draft) = value;
    return {};
}

/// What getopt_long did not like.
tl::unexpected<Error> refused(int code, const char *word)
{
    if (optopt >= first_code || code == ':') {
        std::string name = optopt >= first_code
                               ? "--" + std::string(options[optopt - first_code].name)
                               : std::string{'-', static_cast<char>(optopt)};
        return fail({}, name + (code == ':' ? " needs a value" : " takes no value"));
    }
    return fail({}, "there is no option " +
                        (optopt ? std::string{'-', static_cast<char>(optopt)} : word));
}

Result<CommandLine> finish(Draft &&draft)
{
    CommandLine &line = draft.line;
    if (line.files.empty())
        return fail({}, "FILE is required");
    bool one_place = !line.emit.output.empty(), other_place = !line.emit.detached.empty();
    if (line.files.size() > 1 && (one_place || other_place))
        return fail({}, "--output and --detached take one input file");
    if (one_place && other_place)
        return fail({}, "--output and --detached exclude each other");
    line.emit.exclude_flag = !draft.no_exclude;
    line.emit.unit.features = draft.features ? *draft.features : default_features();
    return std::move(line);
}

} // namespace

Result<CommandLine> parse_command_line(int argc, char **argv)
{
    std::string letters = ":"; // tell a missing value apart
    std::array<option, option_count + 1> names = {};
    for (size_t i = 0; i < option_count; ++i) {
        const Option &o = options[i];
        int has_value = *o.value ? required_argument : no_argument;
        names[i] = {o.name, has_value, nullptr, first_code + static_cast<int>(i)};
        if (o.letter)
            (letters += o.letter) += *o.value ? ":" : "";
    }
    opterr = 0;
    Draft draft;
    std::bitset<option_count> given;
    for (;;) {
        const char *word = optind < argc ? argv[optind] : "";
        int code = getopt_long(argc, argv, letters.c_str(), names.data(), nullptr);
        if (code == -1)
            break;
        if (code == '?' || code == ':')
            return refused(code, word);
        auto found = std::find_if(std::begin(options), std::end(options),
                                  [&](const Option &o) { return o.letter == code; });
        const auto index = static_cast<size_t>(code >= first_code ? code - first_code
                                                                  : found - std::begin(options));
        const Option &o = options[index];
        std::string as_given =
            code >= first_code ? "--" + std::string(o.name) : std::string{'-', o.letter};
        if (given[index] && *o.value && !o.repeats)
            return fail({}, as_given + " is given twice");
        given.set(index);
        RETURN_IF_ERROR(take(o, as_given, optarg, draft));
        if (draft.line.help || draft.line.version)
            return std::move(draft.line);
    }
    draft.line.files.assign(argv + optind, argv + argc);
    return finish(std::move(draft));
}

std::string help_text()
{
    std::string text = "Encode the DWARF of object files as BTF and put it into them.\n"
                       "Usage: btf-emit [OPTIONS] FILE...\n\nOptions:\n";
    for (const Option &o : options) {
        std::string head = o.letter ? std::string{'-', o.letter, ','} : std::string();
        (head += "--") += o.name;
        if (*o.value)
            (head += "=") += o.value;
        text += strf("  %-22s %s\n", head.c_str(), o.help);
    }
    return text;
}

} // namespace btflink::emit
