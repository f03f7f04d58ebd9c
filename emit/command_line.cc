// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "emit/command_line.h"
#include "emit/languages.h"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <elf.h>
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
    std::string_view name;
    std::string_view value = {}; // what --help calls it; "": takes none
    std::string_view help;
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
    std::vector<uint16_t> &all = draft.line.emit.excluded_languages;
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

class Parser
{
public:
    explicit Parser(std::span<const char *const> words) : words_(words) {}

    Result<CommandLine> run()
    {
        while (!words_.empty()) {
            std::string_view word = next();
            if (word == "--") {
                draft_.line.files.insert(draft_.line.files.end(), words_.begin(), words_.end());
                break;
            }
            if (word.starts_with("--"))
                RETURN_IF_ERROR(long_option(word));
            else if (word.size() > 1 && word.front() == '-')
                RETURN_IF_ERROR(letters(word));
            else
                draft_.line.files.emplace_back(word);
            if (draft_.line.help || draft_.line.version)
                return std::move(draft_.line);
        }
        return finish();
    }

private:
    std::string_view next()
    {
        std::string_view word = words_.front();
        words_ = words_.subspan(1);
        return word;
    }

    Result<void> long_option(std::string_view word)
    {
        size_t sign = word.find('=');
        std::string_view name = word.substr(2, sign == word.npos ? word.npos : sign - 2);
        auto found = std::find_if(std::begin(options), std::end(options),
                                  [&](const Option &o) { return o.name == name; });
        if (found == std::end(options))
            return unknown(word);
        if (sign == word.npos)
            return take(*found, word, std::nullopt);
        if (found->value.empty())
            return fail({}, "--" + std::string(name) + " takes no value");
        return take(*found, word, word.substr(sign + 1));
    }

    /// "-v", "-oOUT", "-vo OUT".
    Result<void> letters(std::string_view word)
    {
        for (size_t i = 1; i < word.size(); ++i) {
            auto found = std::find_if(std::begin(options), std::end(options),
                                      [&](const Option &o) { return o.letter == word[i]; });
            if (found == std::end(options))
                return unknown(word);
            bool rest = !found->value.empty() && i + 1 < word.size();
            std::string name{'-', word[i]};
            RETURN_IF_ERROR(
                take(*found, name, rest ? std::optional(word.substr(i + 1)) : std::nullopt));
            if (rest)
                break;
        }
        return {};
    }

    Result<void> take(const Option &option, std::string_view as_given,
                      std::optional<std::string_view> value)
    {
        if (option.flag) {
            option.flag(draft_) = true;
            return {};
        }
        auto index = static_cast<size_t>(&option - options);
        if (given_[index] && !option.repeats)
            return fail({}, std::string(as_given) + " is given twice");
        given_.set(index);
        if (!value && !words_.empty())
            value = next();
        // "--output= FILE" is a slip of the pen, or a variable that is empty.
        if (!value || value->empty())
            return fail({}, std::string(as_given) + " needs a value");
        if (option.take)
            return option.take(draft_, *value);
        option.text(draft_) = *value;
        return {};
    }

    static tl::unexpected<Error> unknown(std::string_view word)
    {
        return fail({}, "there is no option " + std::string(word));
    }

    Result<CommandLine> finish()
    {
        CommandLine &line = draft_.line;
        if (line.files.empty())
            return fail({}, "FILE is required");
        bool one_place = !line.emit.output.empty(), other_place = !line.emit.detached.empty();
        if (line.files.size() > 1 && (one_place || other_place))
            return fail({}, "--output and --detached take one input file");
        if (one_place && other_place)
            return fail({}, "--output and --detached exclude each other");
        line.emit.exclude_flag = !draft_.no_exclude;
        line.emit.unit.features = draft_.features ? *draft_.features : default_features();
        return std::move(line);
    }

    std::span<const char *const> words_;
    Draft draft_;
    std::bitset<std::size(options)> given_;
};

} // namespace

Result<CommandLine> parse_command_line(std::span<const char *const> arguments)
{
    return Parser(arguments).run();
}

std::string help_text()
{
    std::string text = "Encode the DWARF of object files as BTF and put it into them.\n"
                       "Usage: btf-emit [OPTIONS] FILE...\n\nOptions:\n";
    for (const Option &o : options) {
        std::string head = o.letter ? std::string{'-', o.letter, ','} : std::string();
        head += "--" + std::string(o.name);
        if (!o.value.empty())
            head += "=" + std::string(o.value);
        text += strf("  %-22s ", head.c_str()) + std::string(o.help) + "\n";
    }
    return text;
}

} // namespace btflink::emit
