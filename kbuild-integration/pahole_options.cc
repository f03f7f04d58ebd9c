// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Parses pahole's command line.
#include "kbuild-integration/pahole_options.h"

#include "common/cli/option_table.h"
#include "common/io/file_io.h"
#include "common/io/parallel.h"

#include <algorithm>
#include <charconv>
#include <getopt.h>
#include <iterator>
#include <utility>

namespace btflink::kbuild
{

namespace
{

/// The features without --btf_features. Other options add to them or remove some.
FeatureSet legacy_features()
{
    FeatureSet set;
    for (Feature f : {Feature::var, Feature::decl_tag, Feature::type_tag, Feature::enum64})
        set.add(f);
    return set;
}

/// The options that have been read so far.
struct PaholeCommandLine : PaholeOptions {
    bool encodes = false, features_given = false, languages_given = false;
    // An option is given with which pahole encodes nothing, or only some units.
    bool does_other = false;
};

// The effects of options, besides sets<> (common/cli/option_table.h). The value is "" for an option
// without a value.

template <PaholeOptions::Action action>
Result<void> act(PaholeCommandLine &line, std::string_view)
{
    line.action = action;
    return {};
}

template <Feature feature>
Result<void> add(PaholeCommandLine &line, std::string_view)
{
    line.features.add(feature);
    return {};
}

template <Feature feature>
Result<void> remove(PaholeCommandLine &line, std::string_view)
{
    line.features.remove(feature);
    return {};
}

Result<void> add_all(PaholeCommandLine &line, std::string_view)
{
    line.features.add(all_features());
    return {};
}

/// The first list replaces all features so far, also legacy_features(); later lists only add
/// features.
template <bool strict>
Result<void> add_features(PaholeCommandLine &line, std::string_view list)
{
    if (!std::exchange(line.features_given, true))
        line.features = FeatureSet();
    if (list.starts_with('+')) {
        line.features.add(default_features());
        list.remove_prefix(1);
    }
    while (!list.empty()) {
        const std::string_view name = take_part(list, ',');
        auto known = parse_features(name);
        if (known && !name.starts_with('+')) // + is allowed only in front of the list
            line.features.add(*known);
        else if (strict)
            return fail({}, "feature '" + std::string(name) + "' is not known");
        else
            line.unknown_features.emplace_back(name);
    }
    return {};
}

template <std::vector<uint16_t> emit::UnitFilter::*field>
Result<void> add_languages(PaholeCommandLine &line, std::string_view list)
{
    line.languages_given = true;
    const std::vector<uint16_t> codes = TRY(emit::parse_languages(list));
    std::vector<uint16_t> &all = line.filter.*field;
    all.insert(all.end(), codes.begin(), codes.end());
    return {};
}
constexpr auto exclude_languages = add_languages<&emit::UnitFilter::excluded_languages>;

Result<void> set_jobs(PaholeCommandLine &line, std::string_view value)
{
    unsigned number = processors();
    if (!value.empty()) {
        auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size())
            return fail({}, "--jobs: '" + std::string(value) + "' is not a number of threads");
        number = std::clamp(number, 1u, 1024u);
    }
    line.jobs = number;
    return {};
}

/// An option of pahole that is not among the display options below.
struct PaholeOption {
    const char *name;
    int has_value; // has_arg of getopt_long()
    Result<void> (*take)(PaholeCommandLine &line,
                         std::string_view value) = nullptr; // null: ignored
    char letter = 0;
    bool needs_text = false; // an empty value is an error
};

constexpr PaholeOption encoding_options[] = {
    {"btf_encode", no_argument, sets<&PaholeCommandLine::encodes>, 'J'},
    {"btf_base", required_argument, sets<&PaholeCommandLine::base>, 0, true},
    {"btf_encode_detached", required_argument, sets<&PaholeCommandLine::detached>, 0, true},
    {"btf_features", required_argument, add_features<false>},
    {"btf_features_strict", required_argument, add_features<true>},
    {"features", required_argument, add_features<false>},
    {"btf_encode_force", no_argument, add<Feature::encode_force>},
    {"btf_gen_floats", no_argument, add<Feature::float_kind>},
    {"btf_gen_all", no_argument, add_all},
    {"btf_gen_optimized", no_argument, add<Feature::optimized_func>},
    {"skip_encoding_btf_inconsistent_proto", no_argument, add<Feature::consistent_func>},
    {"reproducible_build", no_argument, add<Feature::reproducible_build>},
    {"btf_attributes", no_argument, add<Feature::attributes>},
    {"skip_encoding_btf_vars", no_argument, remove<Feature::var>},
    {"skip_encoding_btf_decl_tag", no_argument, remove<Feature::decl_tag>},
    {"skip_encoding_btf_type_tag", no_argument, remove<Feature::type_tag>},
    {"skip_encoding_btf_enum64", no_argument, remove<Feature::enum64>},
    {"lang_exclude", required_argument, exclude_languages},
    {"lang", required_argument, add_languages<&emit::UnitFilter::languages>},
    {"cu_exclude", required_argument,
     sets<&PaholeCommandLine::filter, &emit::UnitFilter::excluded_names>, 'X'},
    {"jobs", optional_argument, set_jobs, 'j'},
    {"verbose", no_argument, sets<&PaholeCommandLine::verbose>, 'V'},
    {"quiet", no_argument, sets<&PaholeCommandLine::quiet>, 'q'},
    {"help", no_argument, act<PaholeOptions::Action::help>, '?'},
    {"version", no_argument, act<PaholeOptions::Action::version>},
    {"numeric_version", no_argument, act<PaholeOptions::Action::numeric_version>},
    {"devel_version", no_argument, act<PaholeOptions::Action::devel_version>},
    {"supported_btf_features", no_argument, act<PaholeOptions::Action::supported_features>},
    // With -J and one of the next three options, pahole encodes nothing, or with
    // --contains_enumerator only some units. btf-pahole leaves such command lines to pahole.
    {"contains_enumerator", required_argument, sets<&PaholeCommandLine::does_other>},
    {"running_kernel_vmlinux", no_argument, sets<&PaholeCommandLine::does_other>},
    {"usage", no_argument, sets<&PaholeCommandLine::does_other>},
    {"format_path", required_argument, nullptr, 'F'}, // only DWARF is read
    {"kabi_prefix", required_argument},
    {"skip_missing", no_argument},
    {"hashbits", required_argument},
    {"skip_emitting_atomic_typedefs", no_argument},
};

// Options for showing types. They have no meaning with -J, but their values must not be taken for
// options or files.
constexpr const char display_options[] =
    "anon_include class_name_len classes_as_structs compile defined_in expand_pointers "
    "expand_types first_obj_only fixup_silly_bitfields flat_arrays hex nested_anon_include "
    "nr_definitions nr_members nr_methods packable packed ptr_table_stats recursive rel_offset "
    "reorganize show_decl_info show_first_biggest_size_base_type_member show_only_data_members "
    "show_private_classes show_reorg_steps sizes sort structs suppress_aligned_attribute "
    "suppress_force_paddings suppress_packed unions with_embedded_flexible_array "
    "with_flexible_array";
constexpr const char display_options_with_value[] =
    "bit_holes cacheline_size class_name contains count decl_exclude exclude hole_size_ge holes "
    "find_pointers_to header_type padding_ge prefix_filter prettify range seek_bytes separator "
    "size_bytes skip word_size";
/// Short options: first those of encoding_options, then pahole's others without and with a value.
/// '+': getopt_long() stops at a file, which next_file() takes. ':': it returns ':' for a missing
/// value.
constexpr const char short_options[] = "+:Jj::VF:X:qaAdEIlmMnNpPrRsSTuB:C:D:H:c:f:i:t:w:x:y:z:";

// What getopt_long() returns for a long option: its letter, opt_ignored, opt_help, or opt_first
// plus the option's index.
constexpr int opt_ignored = 1000, opt_help = 1001, opt_first = 1002;

/// What getopt_long() returns for an option.
int number_of(const PaholeOption &option)
{
    if (option.letter == '?') // what getopt_long() returns for errors
        return opt_help;
    if (option.letter)
        return option.letter;
    return option.take ? opt_first + static_cast<int>(&option - encoding_options) : opt_ignored;
}

/// The option for which getopt_long() returned `number`; null if the option is ignored.
const PaholeOption *option_of(int number)
{
    const auto *found = std::ranges::find_if(encoding_options, [&](const PaholeOption &option) {
        return option.take && number_of(option) == number;
    });
    return found == std::end(encoding_options) ? nullptr : found;
}

std::vector<option> all_long_options()
{
    std::vector<option> all;
    for (const PaholeOption &option : encoding_options)
        all.push_back({option.name, option.has_value, nullptr, number_of(option)});
    static const auto plain = *split_words(display_options, {}),
                      with_value = *split_words(display_options_with_value, {});
    for (const std::string &name : plain)
        all.push_back({name.c_str(), no_argument, nullptr, opt_ignored});
    for (const std::string &name : with_value)
        all.push_back({name.c_str(), required_argument, nullptr, opt_ignored});
    all.push_back({});
    return all;
}

/// What is wrong with the option in `word`, for which getopt_long() returned `c`; or empty.
std::string problem_with(const std::string &word, int c)
{
    const bool is_long = word.starts_with("--"), refused = c == '?' || c == ':';
    const std::string name =
        "option " + (is_long ? word : std::string("-") + static_cast<char>(refused ? optopt : c));
    if (c == ':')
        return name + " needs a value";
    if (c == '?' && is_long && optopt != 0)
        return name + " takes no value";
    if (refused)
        return name + " is not known";
    if (const PaholeOption *option = option_of(c); option && option->needs_text && !*optarg)
        return name.substr(0, name.find('=')) + " needs a value";
    return "";
}

/// Takes the next argument as a file. Returns false if no arguments are left.
bool next_file(PaholeCommandLine &line, const std::vector<char *> &argv)
{
    if (argv[static_cast<size_t>(optind)] == nullptr)
        return false;
    line.files.emplace_back(argv[static_cast<size_t>(optind++)]);
    return true;
}

/// Reads options and files; words[0] is the program. Returns what is wrong with the first option
/// that is unknown, or wrongly has or lacks a value; or "". (This is an error only in a command
/// line that encodes.) Error: a wrong value.
Result<std::string> read_words(std::vector<std::string> words, PaholeCommandLine &line)
{
    std::vector<char *> argv;
    argv.reserve(words.size() + 1);
    for (std::string &word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    optind = 0; // start again
    opterr = 0;
    const std::vector<option> long_options = all_long_options();
    std::string wrong;
    for (;;) {
        // What getopt_long() reads next. optind is 0 at first, and past all words at the end.
        const std::string word = words[std::min<size_t>(std::max(optind, 1), words.size() - 1)];
        int c = getopt_long(static_cast<int>(words.size()), argv.data(), short_options,
                            long_options.data(), nullptr);
        if (c == -1) {
            bool more = next_file(line, argv);
            while (more && word == "--") // all words after it are files
                more = next_file(line, argv);
            if (!more)
                return wrong;
            continue;
        }
        if (c == '?' && optopt == '?') // "-?" is an option of pahole's
            c = opt_help;
        const std::string problem = problem_with(word, c);
        if (!problem.empty())
            wrong = wrong.empty() ? problem : wrong;
        else if (const PaholeOption *option = option_of(c))
            TRY(option->take(line, optarg ? optarg : ""));
    }
}

} // namespace

Result<PaholeOptions> read_pahole_options(const std::vector<std::string> &arguments,
                                          const std::string &environment_languages)
{
    using Action = PaholeOptions::Action;
    PaholeCommandLine line;
    line.features = legacy_features();
    std::vector<std::string> words = {"btf-pahole"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::string wrong = TRY(read_words(std::move(words), line));
    if (line.action == Action::other && (line.encodes || !line.detached.empty()) &&
        !line.does_other)
        line.action = Action::encode;
    if (line.action != Action::encode)
        return PaholeOptions(std::move(line));
    if (!wrong.empty())
        return fail({}, wrong, ErrorKind::usage);
    if (!line.languages_given)
        if (auto done = exclude_languages(line, environment_languages); !done)
            return fail({}, "PAHOLE_LANG_EXCLUDE: " + done.error().str(), ErrorKind::environment);
    return PaholeOptions(std::move(line));
}

} // namespace btflink::kbuild
