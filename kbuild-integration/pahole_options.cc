// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "kbuild-integration/pahole_options.h"

#include "common/io/response_file.h"
#include "emit/dwarf/languages.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <getopt.h>
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
    opt_ignored,
    opt_foreign,
    opt_version,
    opt_numeric_version,
    opt_supported,
};

const option long_options[] = {
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
    {"version", no_argument, nullptr, opt_version},
    {"numeric_version", no_argument, nullptr, opt_numeric_version},
    {"supported_btf_features", no_argument, nullptr, opt_supported},
    // Not ours, but their values must not be taken for options or files.
    {"bit_holes", required_argument, nullptr, opt_foreign},
    {"cacheline_size", required_argument, nullptr, opt_foreign},
    {"class_name", required_argument, nullptr, opt_foreign},
    {"contains", required_argument, nullptr, opt_foreign},
    {"contains_enumerator", required_argument, nullptr, opt_foreign},
    {"count", required_argument, nullptr, opt_foreign},
    {"cu_exclude", required_argument, nullptr, opt_foreign},
    {"decl_exclude", required_argument, nullptr, opt_foreign},
    {"exclude", required_argument, nullptr, opt_foreign},
    {"find_pointers_to", required_argument, nullptr, opt_foreign},
    {"hashbits", required_argument, nullptr, opt_foreign},
    {"header_type", required_argument, nullptr, opt_foreign},
    {"hole_size_ge", required_argument, nullptr, opt_foreign},
    {"holes", required_argument, nullptr, opt_foreign},
    {"lang", required_argument, nullptr, opt_foreign},
    {"padding_ge", required_argument, nullptr, opt_foreign},
    {"prefix_filter", required_argument, nullptr, opt_foreign},
    {"prettify", required_argument, nullptr, opt_foreign},
    {"range", required_argument, nullptr, opt_foreign},
    {"seek_bytes", required_argument, nullptr, opt_foreign},
    {"separator", required_argument, nullptr, opt_foreign},
    {"size_bytes", required_argument, nullptr, opt_foreign},
    {"skip", required_argument, nullptr, opt_foreign},
    {"word_size", required_argument, nullptr, opt_foreign},
    {},
};

/// The same for short options: ours, and pahole's that take a value.
const char short_options[] = "+:Jj::VF:B:C:D:H:X:c:f:i:t:w:x:y:z:";

/// Features by the old options, for a command line without --btf_features.
FeatureSet legacy_features()
{
    FeatureSet set;
    for (Feature f : {Feature::var, Feature::decl_tag, Feature::type_tag, Feature::enum64})
        set.add(f);
    return set;
}

class Reader
{
public:
    Result<PaholeOptions> run(const std::vector<std::string> &arguments,
                              const std::string &environment_languages)
    {
        out_.features = legacy_features();
        std::vector<std::string> words = {"btf-pahole"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char *> argv;
        for (std::string &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);

        optind = 0; // start anew
        opterr = 0;
        std::string wrong; // matters only if we are to encode
        for (;;) {
            const std::string word = words[std::min<size_t>(std::max(optind, 1), words.size() - 1)];
            int c = getopt_long(static_cast<int>(words.size()), argv.data(), short_options,
                                long_options, nullptr);
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
                RETURN_IF_ERROR(take(c, optarg ? optarg : ""));
            else if (wrong.empty())
                wrong = problem;
        }
        if (out_.action != PaholeOptions::Action::encode)
            return std::move(out_);
        if (!wrong.empty())
            return fail({}, wrong);
        if (!languages_given_)
            if (auto done = exclude(environment_languages); !done)
                return fail({}, "PAHOLE_LANG_EXCLUDE: " + done.error().str());
        return std::move(out_);
    }

private:
    using Action = PaholeOptions::Action;

    /// What is wrong with the option in `word` that getopt_long() returned `c` for; empty: nothing.
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
        if (refused || c == opt_foreign || (c < opt_base && !std::strchr("JjVF", c)))
            return name + " is not known";
        if ((c == opt_base || c == opt_detached) && !*optarg)
            return name.substr(0, name.find('=')) + " needs a value";
        return "";
    }

    /// Take the argument at hand, which is no option; false if there is none.
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
        case 'F': // DWARF is what we read, whatever else pahole can
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
            out_.features.add(default_features());
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
        case opt_version:
            out_.action = Action::version;
            break;
        case opt_numeric_version:
            out_.action = Action::numeric_version;
            break;
        case opt_supported:
            out_.action = Action::supported_features;
            break;
        default: // opt_ignored
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

    /// The first list turns off all that earlier options had turned on; later lists add up.
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
            if (known && !name.starts_with('+')) // means something only before the whole list
                out_.features.add(*known);
            else if (strict)
                return fail({}, "feature '" + std::string(name) + "' is not known");
            else
                out_.unknown_features.emplace_back(name);
        }
        return {};
    }

    Result<void> exclude(const std::string &list)
    {
        auto codes = emit::parse_languages(list);
        if (!codes)
            return tl::unexpected(codes.error());
        out_.excluded_languages.insert(out_.excluded_languages.end(), codes->begin(), codes->end());
        return {};
    }

    PaholeOptions out_;
    bool features_given_ = false, languages_given_ = false;
};

} // namespace

Result<PaholeOptions> read_pahole_options(const std::vector<std::string> &arguments,
                                          const std::string &environment_languages)
{
    return Reader().run(arguments, environment_languages);
}

} // namespace btflink::kbuild
