// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The table of features, and the parser of lists of features.
#include "common/object_btf/features.h"

#include "common/io/bytes.h"

namespace btflink
{

namespace
{

struct Row {
    std::string_view name;
    Feature feature;
    bool by_default;
};

constexpr Row rows[] = {
    {"encode_force", Feature::encode_force, true},
    {"var", Feature::var, true},
    {"float", Feature::float_kind, true},
    {"decl_tag", Feature::decl_tag, true},
    {"type_tag", Feature::type_tag, true},
    {"enum64", Feature::enum64, true},
    {"optimized_func", Feature::optimized_func, true},
    {"consistent_func", Feature::consistent_func, true},
    {"decl_tag_kfuncs", Feature::decl_tag_kfuncs, true},
    {"reproducible_build", Feature::reproducible_build, false},
    {"global_var", Feature::global_var, false},
    {"distilled_base", Feature::distilled_base, false},
    {"attributes", Feature::attributes, false},
    {"true_signature", Feature::true_signature, false},
    {"layout", Feature::layout, false},
    {"force_cu_merging", Feature::force_cu_merging, false},
    {"linkage_names", Feature::linkage_names, false},
};

} // namespace

FeatureSet default_features()
{
    FeatureSet set;
    for (const Row &row : rows)
        if (row.by_default)
            set.add(row.feature);
    return set;
}

FeatureSet known_features()
{
    FeatureSet set;
    for (const Row &row : rows)
        set.add(row.feature);
    return set;
}

FeatureSet all_features()
{
    FeatureSet set = known_features();
    set.remove(Feature::distilled_base);
    set.remove(Feature::linkage_names);
    return set;
}

namespace
{

/// The features that a name in a list means; std::nullopt if the name is unknown.
std::optional<FeatureSet> named(std::string_view name)
{
    if (name == "default")
        return default_features();
    if (name == "all")
        return all_features();
    for (const Row &row : rows)
        if (row.name == name)
            return FeatureSet(static_cast<uint32_t>(row.feature));
    return std::nullopt;
}

} // namespace

Result<FeatureSet> parse_features(std::string_view list, FeatureSet start)
{
    FeatureSet set;
    if (list.starts_with('+')) {
        set = start;
        list.remove_prefix(1);
    }
    while (!list.empty()) {
        const std::string_view name = take_part(list, ',');
        if (name.empty())
            continue;
        auto known = named(name);
        if (!known)
            return fail({}, "unknown feature '" + std::string(name) + "'" +
                                (name.starts_with('+') ? " ('+' may only come first)" : "") +
                                "; known are default, all, " + feature_names(known_features()));
        set.add(*known);
    }
    return set;
}

Result<void> store_option(std::optional<FeatureSet> &features, std::string_view list)
{
    auto parsed = parse_features(list);
    if (!parsed)
        return fail({}, "--features: " + parsed.error().what);
    features.emplace(features.value_or(FeatureSet())).add(*parsed);
    return {};
}

std::string feature_names(FeatureSet set)
{
    std::string text;
    for (const Row &row : rows)
        if (set.has(row.feature))
            text += (text.empty() ? "" : ",") + std::string(row.name);
    return text.empty() ? "none" : text;
}

} // namespace btflink
