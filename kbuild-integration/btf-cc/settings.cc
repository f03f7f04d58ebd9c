// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads btf-cc's options and variables, and writes the line of --settings.
#include "kbuild-integration/btf-cc/steps.h"

#include "common/io/file_io.h"
#include "kbuild-integration/environment.h"
#include "kbuild-integration/pahole_options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

namespace btflink::kbuild
{

namespace
{

std::string variable_of(std::string_view option)
{
    std::string name = "BTF_CC_";
    for (char c : option)
        name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
    return name;
}

} // namespace

bool export_options(const OptionValues &options)
{
    return std::ranges::all_of(options, [](const auto &option) {
        return ::setenv(variable_of(option.first).c_str(), option.second.c_str(), 1) == 0;
    });
}

Result<Settings> read_settings(const OptionValues &options)
{
    Settings settings;
    const std::pair<const char *, bool *> switches[] = {
        {"plugin", &settings.plugin},   {"strip-dwarf", &settings.emit.strip_dwarf},
        {"strict", &settings.strict},   {"quiet", &settings.quiet},
        {"verbose", &settings.verbose},
    };
    for (const auto &[option, field] : switches)
        *field = options.contains(option) || TRY(switch_variable(variable_of(option).c_str()));
    settings.emit.unit.address_pool = true;
    settings.emit.unit.features = default_features();

    // Objects need the features for which Kbuild will ask pahole at the link. Without PAHOLE_FLAGS
    // these are unknown, and objects get the default features.
    std::string flags = variable("PAHOLE_FLAGS");
    auto words = TRY(split_words(flags, Where{"PAHOLE_FLAGS"}));
    words.insert(words.begin(), "-J"); // Kbuild gives it to pahole outside of PAHOLE_FLAGS
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
    const auto option = options.find("features");
    const bool by_option = option != options.end();
    const std::string features = by_option ? option->second : variable("BTF_CC_FEATURES");
    if (!features.empty()) {
        auto parsed = parse_features(features, settings.emit.unit.features);
        if (!parsed)
            return fail({},
                        (by_option ? "--features: " : "BTF_CC_FEATURES: ") + parsed.error().str());
        settings.emit.unit.features = *parsed;
    }
    // Objects do not depend on these.
    for (Feature unused :
         {Feature::distilled_base, Feature::attributes, Feature::layout, Feature::force_cu_merging})
        settings.emit.unit.features.remove(unused);
    if (settings.emit.strip_dwarf && reads_dwarf_later())
        settings.emit.strip_dwarf = false;
    return settings;
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
    text += settings.strict ? " strict=1" : " strict=0"; // if 0, a cached object may lack BTF
    text += settings.quiet ? " quiet=1" : "";            // ccache stores warnings, too
    return text;
}

} // namespace btflink::kbuild
