// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads pahole's command line.
#include "kbuild-integration/pahole_options.h"

#include "common/io/response_file.h"
#include "emit/dwarf/languages.h"

#include <algorithm>
#include <charconv>
#include <getopt.h>
#include <iterator>
#include <thread>

namespace btflink::kbuild
{

namespace
{

enum Option : int {
    opt_base = 1000,
    opt_detached,
    opt_features,
    opt_features_strict,
    opt_force,
    opt_floats,
    opt_all,
    opt_optimized,
    opt_no_vars,
    opt_no_decl_tag,
    opt_no_type_tag,
    opt_no_enum64,
    opt_no_inconsistent,
    opt_reproducible,
    opt_attributes,
    opt_lang_exclude,
    opt_lang,
    opt_ignored,
    opt_instead,
    opt_help,
    opt_version,
    opt_numeric_version,
    opt_devel_version,
    opt_supported,
};

constexpr option encoding_options[] = {
    {"btf_encode", no_argument, nullptr, 'J'},
    {"btf_base", required_argument, nullptr, opt_base},
    {"btf_encode_detached", required_argument, nullptr, opt_detached},
    {"btf_features", required_argument, nullptr, opt_features},
    {"btf_features_strict", required_argument, nullptr, opt_features_strict},
    {"btf_encode_force", no_argument, nullptr, opt_force},
    {"btf_gen_floats", no_argument, nullptr, opt_floats},
    {"btf_gen_all", no_argument, nullptr, opt_all},
    {"btf_gen_optimized", no_argument, nullptr, opt_optimized},
    {"skip_encoding_btf_vars", no_argument, nullptr, opt_no_vars},
    {"skip_encoding_btf_decl_tag", no_argument, nullptr, opt_no_decl_tag},
    {"skip_encoding_btf_type_tag", no_argument, nullptr, opt_no_type_tag},
    {"skip_encoding_btf_enum64", no_argument, nullptr, opt_no_enum64},
    {"skip_encoding_btf_inconsistent_proto", no_argument, nullptr, opt_no_inconsistent},
    {"reproducible_build", no_argument, nullptr, opt_reproducible},
    {"btf_attributes", no_argument, nullptr, opt_attributes},
    {"lang_exclude", required_argument, nullptr, opt_lang_exclude},
    {"jobs", optional_argument, nullptr, 'j'},
    {"verbose", no_argument, nullptr, 'V'},
    {"format_path", required_argument, nullptr, 'F'},
    {"kabi_prefix", required_argument, nullptr, opt_ignored},
    {"skip_missing", no_argument, nullptr, opt_ignored},
    {"hashbits", required_argument, nullptr, opt_ignored},
    {"skip_emitting_atomic_typedefs", no_argument, nullptr, opt_ignored},
    {"features", required_argument, nullptr, opt_features},
    {"lang", required_argument, nullptr, opt_lang},
    {"cu_exclude", required_argument, nullptr, 'X'},
    {"quiet", no_argument, nullptr, 'q'},
    {"help", no_argument, nullptr, opt_help},
    {"version", no_argument, nullptr, opt_version},
    {"numeric_version", no_argument, nullptr, opt_numeric_version},
    {"devel_version", no_argument, nullptr, opt_devel_version},
    {"supported_btf_features", no_argument, nullptr, opt_supported},
    // With these options pahole does not encode, not even with -J.
    {"contains_enumerator", required_argument, nullptr, opt_instead},
    {"running_kernel_vmlinux", no_argument, nullptr, opt_instead},
    {"usage", no_argument, nullptr, opt_instead},
};

// Options for showing types. They have no meaning with -J, but their values must not be taken for
// options or files.
constexpr const char *display_options[] = {"anon_include",
                                           "class_name_len",
                                           "classes_as_structs",
                                           "compile",
                                           "defined_in",
                                           "expand_pointers",
                                           "expand_types",
                                           "first_obj_only",
                                           "fixup_silly_bitfields",
                                           "flat_arrays",
                                           "hex",
                                           "nested_anon_include",
                                           "nr_definitions",
                                           "nr_members",
                                           "nr_methods",
                                           "packable",
                                           "packed",
                                           "ptr_table_stats",
                                           "recursive",
                                           "rel_offset",
                                           "reorganize",
                                           "show_decl_info",
                                           "show_first_biggest_size_base_type_member",
                                           "show_only_data_members",
                                           "show_private_classes",
                                           "show_reorg_steps",
                                           "sizes",
                                           "sort",
                                           "structs",
                                           "suppress_aligned_attribute",
                                           "suppress_force_paddings",
                                           "suppress_packed",
                                           "unions",
                                           "with_embedded_flexible_array",
                                           "with_flexible_array"};
constexpr const char *display_options_with_value[] = {
    "bit_holes",    "cacheline_size", "class_name",    "contains", "count",
    "decl_exclude", "exclude",        "hole_size_ge",  "holes",    "find_pointers_to",
    "header_type",  "padding_ge",     "prefix_filter", "prettify", "range",
    "seek_bytes",   "separator",      "size_bytes",    "skip",     "word_size",
};
/// Short options: first those with a meaning here, then pahole's without and with a value.
constexpr const char short_options[] = "+:Jj::VF:X:qaAdEIlmMnNpPrRsSTuB:C:D:H:c:f:i:t:w:x:y:z:";

std::vector<option> all_long_options()
{
    std::vector<option> all(std::begin(encoding_options), std::end(encoding_options));
    for (const char *name : display_options)
        all.push_back({name, no_argument, nullptr, opt_ignored});
    for (const char *name : display_options_with_value)
        all.push_back({name, required_argument, nullptr, opt_ignored});
    all.push_back({});
    return all;
}

/// The features of a command line without --btf_features, before its other options.
FeatureSet legacy_features()
{
    FeatureSet set;
    for (Feature f : {Feature::var, Feature::decl_tag, Feature::type_tag, Feature::enum64})
        set.add(f);
    return set;
}

class PaholeOptionReader
{
public:
    Result<PaholeOptions> run(const std::vector<std::string> &arguments,
                              const std::string &environment_languages)
    {
        out_.features = legacy_features();
        std::vector<std::string> words = {"btf-pahole"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char *> argv;
        argv.reserve(words.size() + 1);
        for (std::string &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);

        optind = 0; // start anew
        opterr = 0;
        const std::vector<option> long_options = all_long_options();
        std::string wrong; // matters only for encoding
        for (;;) {
            const std::string word = words[std::min<size_t>(std::max(optind, 1), words.size() - 1)];
            int c = getopt_long(static_cast<int>(words.size()), argv.data(), short_options,
                                long_options.data(), nullptr);
            if (c == '?' && optopt == '?') // "-?" is an option of pahole's
                c = opt_help;
            if (c == -1 && word == "--") { // getopt_long() must not be asked again
                while (next_file(argv))
                    ;
                break;
            }
            if (c == -1) {
                if (!next_file(argv))
                    break;
                continue;
            }
            std::string problem = problem_with(word, c);
            if (problem.empty())
                TRY(take(c, optarg ? optarg : ""));
            else if (wrong.empty())
                wrong = problem;
        }
        if (instead_ && out_.action == Action::encode)
            out_.action = Action::other;
        if (out_.action != Action::encode)
            return std::move(out_);
        if (!wrong.empty())
            return fail({}, wrong, ErrorKind::usage);
        if (!languages_given_)
            if (auto done = exclude(environment_languages); !done)
                return fail({}, "PAHOLE_LANG_EXCLUDE: " + done.error().str(),
                            ErrorKind::environment);
        return std::move(out_);
    }

private:
    using Action = PaholeOptions::Action;

    /// What is wrong with the option in `word`, for which getopt_long() returned `c`; or empty.
    static std::string problem_with(const std::string &word, int c)
    {
        const bool is_long = word.starts_with("--"), refused = c == '?' || c == ':';
        const std::string name =
            "option " +
            (is_long ? word : std::string("-") + static_cast<char>(refused ? optopt : c));
        if (c == ':')
            return name + " needs a value";
        if (c == '?' && is_long && optopt != 0)
            return name + " takes no value";
        if (refused)
            return name + " is not known";
        if ((c == opt_base || c == opt_detached) && !*optarg)
            return name.substr(0, name.find('=')) + " needs a value";
        return "";
    }

    /// Take the next argument, which is no option. False: there is none.
    bool next_file(const std::vector<char *> &argv)
    {
        if (argv[static_cast<size_t>(optind)] == nullptr)
            return false;
        out_.files.emplace_back(argv[static_cast<size_t>(optind++)]);
        return true;
    }

    Result<void> take(int option, const std::string &value)
    {
        auto set = [&](Feature f) { out_.features.add(f); };
        auto clear = [&](Feature f) { out_.features.remove(f); };
        switch (option) {
        case 'J':
            encode();
            break;
        case 'j':
            return jobs(value);
        case 'V':
            out_.verbose = true;
            break;
        case 'X':
            out_.filter.excluded_names = value;
            break;
        case 'q':
            out_.quiet = true;
            break;
        case opt_base:
            out_.base = value;
            break;
        case opt_detached:
            out_.detached = value;
            encode();
            break;
        case opt_features:
            return features(value, false);
        case opt_features_strict:
            return features(value, true);
        case opt_force:
            set(Feature::encode_force);
            break;
        case opt_floats:
            set(Feature::float_kind);
            break;
        case opt_all:
            out_.features.add(all_features());
            break;
        case opt_optimized:
            set(Feature::optimized_func);
            break;
        case opt_no_inconsistent:
            set(Feature::consistent_func);
            break;
        case opt_reproducible:
            set(Feature::reproducible_build);
            break;
        case opt_attributes:
            return features_add("attributes", false);
        case opt_no_vars:
            clear(Feature::var);
            break;
        case opt_no_decl_tag:
            clear(Feature::decl_tag);
            break;
        case opt_no_type_tag:
            clear(Feature::type_tag);
            break;
        case opt_no_enum64:
            clear(Feature::enum64);
            break;
        case opt_lang_exclude:
            languages_given_ = true;
            return exclude(value);
        case opt_lang:
            return add_languages(value, out_.filter.languages);
        case opt_instead:
            instead_ = true;
            break;
        case opt_help:
            out_.action = Action::help;
            break;
        case opt_version:
            out_.action = Action::version;
            break;
        case opt_devel_version:
            out_.action = Action::devel_version;
            break;
        case opt_numeric_version:
            out_.action = Action::numeric_version;
            break;
        case opt_supported:
            out_.action = Action::supported_features;
            break;
        default: // no meaning here; -F, too, because only DWARF is read
            break;
        }
        return {};
    }

    void encode()
    {
        if (out_.action == Action::other)
            out_.action = Action::encode;
    }

    Result<void> jobs(const std::string &value)
    {
        unsigned all = std::max(1u, std::thread::hardware_concurrency());
        out_.jobs = all;
        if (value.empty())
            return {};
        unsigned number = 0;
        auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || *end != '\0')
            return fail({}, "-j" + value + ": not a number");
        out_.jobs = std::clamp(number, 1u, 1024u);
        return {};
    }

    /// The first list replaces what earlier options turned on; later lists add to it.
    Result<void> features(std::string_view list, bool strict)
    {
        if (!features_given_)
            out_.features = FeatureSet();
        features_given_ = true;
        if (list.starts_with('+')) {
            out_.features.add(default_features());
            list.remove_prefix(1);
        }
        return features_add(list, strict);
    }

    Result<void> features_add(std::string_view list, bool strict)
    {
        while (!list.empty()) {
            std::string_view name = list.substr(0, list.find(','));
            list.remove_prefix(std::min(name.size() + 1, list.size()));
            auto known = parse_features(name);
            if (known && !name.starts_with('+')) // + is allowed only in front of the list
                out_.features.add(*known);
            else if (strict)
                return fail({}, "feature '" + std::string(name) + "' is not known");
            else
                out_.unknown_features.emplace_back(name);
        }
        return {};
    }

    static Result<void> add_languages(const std::string &list, std::vector<uint16_t> &all)
    {
        auto codes = TRY(emit::parse_languages(list));
        all.insert(all.end(), codes.begin(), codes.end());
        return {};
    }

    Result<void> exclude(const std::string &list)
    {
        return add_languages(list, out_.filter.excluded_languages);
    }

    PaholeOptions out_;
    bool features_given_ = false, languages_given_ = false;
    bool instead_ = false; // an option is given with which pahole does not encode
};

} // namespace

Result<PaholeOptions> read_pahole_options(const std::vector<std::string> &arguments,
                                          const std::string &environment_languages)
{
    return PaholeOptionReader().run(arguments, environment_languages);
}

} // namespace btflink::kbuild
