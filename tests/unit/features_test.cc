// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "common/features.h"

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

TEST(Features, DefaultIsAllButFour)
{
    FeatureSet set = default_features();
    EXPECT_TRUE(set.has(Feature::var));
    EXPECT_TRUE(set.has(Feature::decl_tag_kfuncs));
    EXPECT_FALSE(set.has(Feature::reproducible_build));
    EXPECT_FALSE(set.has(Feature::global_var));
    EXPECT_FALSE(set.has(Feature::distilled_base));
    EXPECT_FALSE(set.has(Feature::attributes));
    EXPECT_EQ(parse("default"), set);
    EXPECT_EQ(parse("+"), set);
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

TEST(Features, UnknownNamesAreErrors)
{
    auto set = parse_features("var,nonsense");
    ASSERT_FALSE(set);
    EXPECT_NE(set.error().str().find("unknown feature 'nonsense'"), std::string::npos);
    EXPECT_NE(set.error().str().find("decl_tag_kfuncs"), std::string::npos);
    EXPECT_FALSE(parse_features("VAR"));
    EXPECT_FALSE(parse_features("var+"));
}

TEST(Features, NamesParseBack)
{
    FeatureSet all(0x3fff);
    EXPECT_EQ(parse(feature_names(all)), all);
    EXPECT_EQ(parse(feature_names(default_features())), default_features());
}

TEST(Features, BitsAreThoseOfTheFormat)
{
    EXPECT_EQ(parse("encode_force").bits(), 1u);
    EXPECT_EQ(parse("enum64").bits(), 32u);
    EXPECT_EQ(parse("global_var").bits(), 1024u);
}

} // namespace

} // namespace btflink
