// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares the features of objects with each other and with those that the link asks for.
#include "merge/input/load_objects.h"

#include <algorithm>
#include <map>

namespace btflink::merge
{

namespace
{

constexpr size_t named_at_most = 4;

/// A feature that changes object BTF. If objects lack it, the merge cannot make up for that.
struct Effect {
    Feature feature;
    const char *without; // the effect if objects lack it
    const char *with;    // the effect if the link does not ask for it; null: the merge drops it
};
constexpr Effect effects[] = {
    {Feature::var, "per-CPU variables are missing", nullptr},
    {Feature::global_var, "all but per-CPU variables are missing", nullptr},
    {Feature::float_kind, "floating-point types are INTs", "FLOATs stay"},
    {Feature::decl_tag, "tags of declarations are missing", "DECL_TAGs stay"},
    {Feature::type_tag, "tags of types are missing", "TYPE_TAGs stay"},
    {Feature::enum64, "enums of 64 bits are cut to 32", "ENUM64s stay"},
    {Feature::true_signature, "functions whose parameters were changed are left out", nullptr},
    {Feature::linkage_names, "functions whose symbols are mangled are left out", nullptr},
};

/// The features of `set` that change the result: those that are asked for, and those whose effect
/// the merge cannot drop.
FeatureSet relevant(FeatureSet set, FeatureSet asked)
{
    if (set.has(Feature::global_var)) // it includes per-CPU variables
        set.add(Feature::var);
    FeatureSet out;
    for (const Effect &e : effects)
        if (set.has(e.feature) && (e.with || asked.has(e.feature)))
            out.add(e.feature);
    return out;
}

FeatureSet difference(FeatureSet set, FeatureSet minus)
{
    return FeatureSet(set.bits() & ~minus.bits());
}

std::string name_of(const Effect &e)
{
    return feature_names(FeatureSet(static_cast<uint32_t>(e.feature)));
}

/// The properties in which objects of one link should agree. Whether the gcc plugin or btf-emit
/// made an object is not among them: both make the same types, and `btf-cc --plugin` leaves some
/// objects to btf-emit.
struct Setting {
    uint32_t emitter;
    uint32_t features;
    auto operator<=>(const Setting &) const = default;
};

std::string version_text(uint32_t emitter)
{
    return strf("%u.%u.%u", emitter / 10000, emitter / 100 % 100, emitter % 100);
}

/// ", without float (floating-point types are INTs)", and so on for each feature of `set`.
std::string each_feature(FeatureSet set, const char *preposition, const char *suffix)
{
    std::string text;
    for (const Effect &e : effects)
        if (set.has(e.feature))
            text += strf(", %s %s (%s%s)", preposition, name_of(e).c_str(), e.without, suffix);
    return text;
}

/// How `few` differ: "by btflink 0.1.0 (not 0.2.0), without float (floating-point types are
/// INTs)".
std::string difference_text(const Setting &few, const Setting &most)
{
    std::string text;
    const FeatureSet mine(few.features), theirs(most.features);
    if (few.emitter != most.emitter)
        text += ", by btflink " + version_text(few.emitter) + " (not " +
                version_text(most.emitter) + ")";
    text += each_feature(difference(theirs, mine), "without", "");
    text += each_feature(difference(mine, theirs), "with", " in the others");
    return text.substr(2);
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
    if (asked.has(Feature::global_var))
        asked.add(Feature::var); // as relevant() does
    std::map<Setting, std::vector<const Object *>> groups;
    for (const Object &o : objects)
        if (o.has_trailer)
            groups[{o.trailer.emitter, relevant(o.trailer.features, asked).bits()}].push_back(&o);
    if (groups.empty())
        return {};
    auto most = std::ranges::max_element(
        groups, [](const auto &a, const auto &b) { return a.second.size() < b.second.size(); });
    std::vector<std::string> warnings;
    for (auto it = groups.begin(); it != groups.end(); ++it)
        if (it != most)
            warnings.push_back(strf("%zu object%s emitted %s, unlike %zu other%s: %s",
                                    it->second.size(), it->second.size() == 1 ? " was" : "s were",
                                    difference_text(it->first, most->first).c_str(),
                                    most->second.size(), most->second.size() == 1 ? "" : "s",
                                    names_of(it->second).c_str()));
    const FeatureSet have(most->first.features);
    for (const Effect &e : effects) {
        if (have.has(e.feature) == asked.has(e.feature))
            continue;
        const bool missing = asked.has(e.feature);
        const char *effect = missing ? e.without : e.with;
        if (effect)
            warnings.push_back(strf("objects were emitted %s %s, which the link %s: %s",
                                    missing ? "without" : "with", name_of(e).c_str(),
                                    missing ? "asks for" : "does not ask for", effect));
    }
    return warnings;
}

} // namespace btflink::merge
