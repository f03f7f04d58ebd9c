// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "kbuild-integration/settings.h"

#include "common/response_file.h"
#include "kbuild-integration/pahole_options.h"

#include <cstdlib>

namespace btflink::kbuild
{

namespace
{

std::string variable(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

Result<bool> switch_of(const char *name)
{
    std::string value = variable(name);
    if (value.empty() || value == "0")
        return false;
    if (value == "1")
        return true;
    return fail({}, std::string(name) + "=" + value + ": must be 0 or 1");
}

} // namespace

Result<Settings> read_settings()
{
    Settings settings;
    auto strict = switch_of("BTF_CC_STRICT");
    if (!strict)
        return tl::unexpected(strict.error());
    auto strip = switch_of("BTF_CC_STRIP_DWARF");
    if (!strip)
        return tl::unexpected(strip.error());
    auto verbose = switch_of("BTF_CC_VERBOSE");
    if (!verbose)
        return tl::unexpected(verbose.error());
    settings.strict = *strict;
    settings.verbose = *verbose;
    settings.emit.strip_dwarf = *strip;
    settings.emit.unit.address_pool = true;
    settings.emit.unit.features = default_features();

    // What Kbuild will ask of pahole at the link is what the objects should have.
    if (std::string flags = variable("PAHOLE_FLAGS"); !flags.empty()) {
        auto words = split_words(flags, Where{"PAHOLE_FLAGS"});
        if (!words)
            return tl::unexpected(words.error());
        words->insert(words->begin(), "-J");
        auto options = read_pahole_options(*words, variable("PAHOLE_LANG_EXCLUDE"));
        if (!options)
            return fail({}, "PAHOLE_FLAGS: " + options.error().str());
        settings.emit.unit.features = options->features;
        settings.emit.excluded_languages = options->excluded_languages;
    }
    if (std::string list = variable("BTF_CC_FEATURES"); !list.empty()) {
        auto features = parse_features(list);
        if (!features)
            return fail({}, "BTF_CC_FEATURES: " + features.error().str());
        settings.emit.unit.features = *features;
    }
    return settings;
}

std::string describe(const Settings &settings)
{
    std::string text = "btf-cc " BTFLINK_VERSION " features=";
    text += feature_names(settings.emit.unit.features);
    text += " excluded-languages=";
    for (uint16_t code : settings.emit.excluded_languages)
        text += std::to_string(code) + ",";
    text += settings.emit.strip_dwarf ? " strip-dwarf=1" : " strip-dwarf=0";
    text += settings.strict ? " strict=1" : " strict=0"; // else objects without BTF may be there
    return text;
}

} // namespace btflink::kbuild
