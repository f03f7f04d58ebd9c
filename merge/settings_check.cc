// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "merge/settings_check.h"

#include <algorithm>
#include <map>

namespace btflink::merge
{

namespace
{

constexpr size_t named_at_most = 4;

/// Features that decide what emit writes; of the others merge takes care. True signatures that
/// nobody asks for make no difference.
FeatureSet of_emit(FeatureSet set, FeatureSet asked)
{
    FeatureSet out;
    for (Feature f : {Feature::var, Feature::float_kind, Feature::decl_tag, Feature::type_tag,
                      Feature::enum64, Feature::global_var, Feature::true_signature})
        if (set.has(f) && (f != Feature::true_signature || asked.has(f)))
            out.add(f);
    return out;
}

struct Setting {
    uint32_t emitter;
    uint32_t features;
    auto operator<=>(const Setting &) const = default;
};

std::string text_of(const Setting &setting)
{
    return strf("btf-emit %u.%u.%u with %s", setting.emitter / 10000, setting.emitter / 100 % 100,
                setting.emitter % 100, feature_names(FeatureSet(setting.features)).c_str());
}

std::string names_of(const std::vector<const Object *> &objects)
{
    std::string text;
    for (size_t i = 0; i < std::min(objects.size(), named_at_most); ++i)
        text += (i ? ", " : "") + objects[i]->describe();
    return objects.size() > named_at_most ? text + ", ..." : text;
}

} // namespace

std::vector<std::string> check_settings(const std::vector<Object> &objects, FeatureSet asked)
{
    std::map<Setting, std::vector<const Object *>> groups;
    for (const Object &o : objects)
        if (o.has_trailer)
            groups[{o.trailer.emitter, of_emit(o.trailer.features, asked).bits()}].push_back(&o);
    if (groups.empty())
        return {};
    auto most = std::max_element(groups.begin(), groups.end(), [](const auto &a, const auto &b) {
        return a.second.size() < b.second.size();
    });
    std::vector<std::string> warnings;
    for (auto it = groups.begin(); it != groups.end(); ++it)
        if (it != most)
            warnings.push_back(strf("%zu object%s emitted by %s, not by %s as %zu other%s: %s",
                                    it->second.size(), it->second.size() == 1 ? " was" : "s were",
                                    text_of(it->first).c_str(), text_of(most->first).c_str(),
                                    most->second.size(), most->second.size() == 1 ? "" : "s",
                                    names_of(it->second).c_str()));
    FeatureSet have(most->first.features);
    if (FeatureSet wanted = of_emit(asked, asked); have != wanted) {
        const bool no_signatures =
            wanted.has(Feature::true_signature) && !have.has(Feature::true_signature);
        warnings.push_back(strf("objects were emitted with %s, but the link asks for %s; types "
                                "stay as they were emitted%s",
                                feature_names(have).c_str(), feature_names(wanted).c_str(),
                                no_signatures ? ", and functions whose parameters were changed "
                                                "are left out"
                                              : ""));
    }
    return warnings;
}

} // namespace btflink::merge
