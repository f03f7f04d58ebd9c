// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests lists of features: defaults, parsing, names, bits.
#include "common/object_btf/features.h"

#include <gtest/gtest.h>

namespace btflink
{

namespace
{

FeatureSet parse(std::string_view list)
{
    auto set = parse_features(list);
    EXPECT_TRUE(set) << list;
    return set ? *set : FeatureSet();
}

TEST(Features, DefaultIsWhatPahole127Had)
{
    EXPECT_EQ(feature_names(default_features()),
              "encode_force,var,float,decl_tag,type_tag,enum64,optimized_func,consistent_func,"
              "decl_tag_kfuncs");
    EXPECT_EQ(parse("default"), default_features());
    EXPECT_EQ(parse("+"), default_features());
}

TEST(Features, ListsReplaceOrAdd)
{
    EXPECT_EQ(feature_names(parse("enum64,var")), "var,enum64");
    EXPECT_EQ(feature_names(parse("")), "none");
    EXPECT_EQ(feature_names(parse(",var,,")), "var");
    FeatureSet more = default_features();
    more.add(Feature::global_var);
    EXPECT_EQ(parse("+global_var"), more);
    EXPECT_EQ(parse("global_var,default"), more);
}

TEST(Features, AllExceptDistilledBaseAndLinkageNames)
{
    FeatureSet all = parse("all");
    EXPECT_TRUE(all.has(Feature::layout));
    EXPECT_TRUE(all.has(Feature::attributes));
    EXPECT_FALSE(all.has(Feature::distilled_base));
    EXPECT_FALSE(all.has(Feature::linkage_names));
    EXPECT_EQ(parse("all,distilled_base,linkage_names"), known_features());
    EXPECT_EQ(parse("var,all"), all);
    EXPECT_EQ(parse("+all"), all);
    EXPECT_FALSE(parse_features("all,nonsense"));
}

TEST(Features, UnknownNamesAreErrors)
{
    auto set = parse_features("var,nonsense");
    ASSERT_FALSE(set);
    EXPECT_NE(set.error().str().find("unknown feature 'nonsense'"), std::string::npos);
    EXPECT_NE(set.error().str().find("decl_tag_kfuncs"), std::string::npos);
    EXPECT_FALSE(parse_features("VAR"));
    EXPECT_FALSE(parse_features("var+"));
    set = parse_features("+var,+float");
    ASSERT_FALSE(set);
    EXPECT_NE(set.error().str().find("'+float' ('+' may only come first)"), std::string::npos);
}

TEST(Features, NamesParseBack)
{
    EXPECT_EQ(parse(feature_names(known_features())), known_features());
    EXPECT_EQ(parse(feature_names(default_features())), default_features());
}

TEST(Features, BitsAreThoseOfTheFormat)
{
    uint32_t bit = 1;
    for (const char *name : {"encode_force", "var", "float", "decl_tag", "type_tag", "enum64",
                             "optimized_func", "consistent_func", "decl_tag_kfuncs",
                             "reproducible_build", "global_var", "distilled_base", "attributes",
                             "true_signature", "layout", "force_cu_merging", "linkage_names"}) {
        EXPECT_EQ(parse(name).bits(), bit) << name;
        bit <<= 1;
    }
    EXPECT_EQ(known_features().bits(), bit - 1);
}

} // namespace

} // namespace btflink
