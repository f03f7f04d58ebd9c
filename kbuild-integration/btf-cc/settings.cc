// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads btf-cc's options and variables, and writes the line of --settings.
#include "kbuild-integration/btf-cc/settings.h"

#include "common/io/file_io.h"
#include "kbuild-integration/btf-cc/kbuild_plans.h"
#include "kbuild-integration/environment.h"
#include "kbuild-integration/pahole_options.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

namespace btflink::kbuild
{

namespace
{

constexpr std::string_view features_option = "--features=";
constexpr const char *features_variable = "BTF_CC_FEATURES";

struct Switch {
    std::string_view option;
    const char *variable;
    bool &(*value)(Settings &);
};
constexpr Switch switches[] = {
    {"--plugin", "BTF_CC_PLUGIN", [](Settings &s) -> bool & { return s.plugin; }},
    {"--strip-dwarf", "BTF_CC_STRIP_DWARF",
     [](Settings &s) -> bool & { return s.emit.strip_dwarf; }},
    {"--strict", "BTF_CC_STRICT", [](Settings &s) -> bool & { return s.strict; }},
    {"--quiet", "BTF_CC_QUIET", [](Settings &s) -> bool & { return s.quiet; }},
    {"--verbose", "BTF_CC_VERBOSE", [](Settings &s) -> bool & { return s.verbose; }},
};

const Switch *find_switch(std::string_view option)
{
    auto found = std::find_if(std::begin(switches), std::end(switches),
                              [&](const Switch &s) { return option == s.option; });
    return found == std::end(switches) ? nullptr : found;
}

} // namespace

Result<Settings> read_settings(const std::vector<std::string> &options)
{
    Settings settings;
    for (const Switch &s : switches) {
        auto on = TRY(switch_variable(s.variable));
        s.value(settings) = on;
    }
    std::string features = variable(features_variable), features_from = features_variable;
    for (const std::string &option : options) {
        if (const Switch *found = find_switch(option)) {
            found->value(settings) = true;
        } else if (option.starts_with(features_option)) {
            features = option.substr(features_option.size());
            features_from = "--features";
        } else {
            return fail({}, "unknown option " + option);
        }
    }
    settings.emit.unit.address_pool = true;
    settings.emit.unit.features = default_features();

    // Objects need the features for which Kbuild will ask pahole at the link. Without PAHOLE_FLAGS
    // these are unknown, and objects get the default features.
    std::string flags = variable("PAHOLE_FLAGS");
    auto words = TRY(split_words(flags, Where{"PAHOLE_FLAGS"}));
    words.insert(words.begin(), "-J");
    auto asked = read_pahole_options(words, variable("PAHOLE_LANG_EXCLUDE"));
    if (!asked) {
        Error error = asked.error();
        if (error.kind != ErrorKind::environment)
            error.what = "PAHOLE_FLAGS: " + error.str();
        return fail(std::move(error));
    }
    if (!flags.empty())
        settings.emit.unit.features = asked->features;
    settings.emit.filter = asked->filter;
    if (!features.empty()) {
        auto parsed = parse_features(features);
        if (!parsed)
            return fail({}, features_from + ": " + parsed.error().str());
        settings.emit.unit.features = *parsed;
    }
    for (Feature of_the_link :
         {Feature::distilled_base, Feature::attributes, Feature::layout, Feature::force_cu_merging})
        settings.emit.unit.features.remove(of_the_link);
    if (settings.emit.strip_dwarf && reads_dwarf_later())
        settings.emit.strip_dwarf = false;
    return settings;
}

std::pair<std::string, std::string> variable_of(const std::string &option)
{
    if (const Switch *found = find_switch(option))
        return {found->variable, "1"};
    return {features_variable, option.substr(features_option.size())};
}

std::string describe(const Settings &settings)
{
    std::string text = "btf-cc " BTFLINK_VERSION " features=";
    text += feature_names(settings.emit.unit.features);
    text += " excluded-languages=";
    const emit::UnitFilter &filter = settings.emit.filter;
    auto add_codes = [&](const std::vector<uint16_t> &codes) {
        for (uint16_t code : std::set<uint16_t>(codes.begin(), codes.end()))
            text += std::to_string(code) + ",";
    };
    add_codes(filter.excluded_languages);
    if (!filter.languages.empty()) {
        text += " languages=";
        add_codes(filter.languages);
    }
    if (!filter.excluded_names.empty())
        text += " excluded-names=" + filter.excluded_names;
    text += settings.plugin ? " plugin=1" : " plugin=0";
    text += settings.emit.strip_dwarf ? " strip-dwarf=1" : " strip-dwarf=0";
    text += settings.strict ? " strict=1" : " strict=0"; // 0: a cached object may have no BTF
    return text;
}

} // namespace btflink::kbuild
