// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests objects of one link that were emitted by different versions of btf-emit or with different
// features, and objects that a caller adds to the inputs (Options::more_inputs).
#include "tests/merge/object_maker.h"

namespace btflink::merge::test
{

namespace
{

FeatureSet without(Feature f)
{
    FeatureSet set = default_features();
    set.remove(f);
    return set;
}

class Settings : public ObjectTest
{
protected:
    std::string object(const std::string &name, FeatureSet features, uint32_t emitter = 100)
    {
        return make_object(
            dir_, name,
            {.btf = "[1] INT '" + name + "' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED",
             .plain_end = 2,
             .features = features,
             .emitter = emitter});
    }

    std::vector<std::string> warnings(std::vector<std::string> inputs,
                                      FeatureSet asked = default_features())
    {
        Options options;
        options.inputs = std::move(inputs);
        options.output = dir_ / "out.btf";
        options.features = asked;
        Report report;
        EXPECT_TRUE(merge(options, report));
        return report.warnings;
    }
};

TEST_F(Settings, GlobalVariablesIncludePerCpuOnes)
{
    FeatureSet asked = without(Feature::var);
    asked.add(Feature::global_var);
    const auto said = warnings({object("a", without(Feature::var))}, asked);
    ASSERT_EQ(said.size(), 2u);
    EXPECT_TRUE(has(said[0], "without var, which the link asks for")) << said[0];
    EXPECT_TRUE(has(said[1], "without global_var, which the link asks for")) << said[1];
    EXPECT_TRUE(warnings({object("b", asked)}, asked).empty());
}

TEST_F(Settings, EqualSettingsAreSilent)
{
    EXPECT_TRUE(
        warnings({object("a", default_features()), object("b", default_features())}).empty());
}

TEST_F(Settings, MinorityIsNamed)
{
    auto said = warnings({object("few", without(Feature::enum64)), object("b", default_features()),
                          object("c", default_features())});
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "1 object was emitted without enum64")) << said[0];
    EXPECT_TRUE(said[0].ends_with("2 others: " + (dir_ / "few.o") + ": .BTF+0x0")) << said[0];
}

TEST_F(Settings, MinorityWithMoreFeaturesIsNamed)
{
    auto said =
        warnings({object("few", default_features()), object("b", without(Feature::type_tag)),
                  object("c", without(Feature::type_tag))},
                 without(Feature::type_tag));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "1 object was emitted with type_tag")) << said[0];
    EXPECT_TRUE(said[0].ends_with("2 others: " + (dir_ / "few.o") + ": .BTF+0x0")) << said[0];
}

TEST_F(Settings, ManyAreNotAllNamed)
{
    std::vector<std::string> inputs;
    for (const char *name : {"a", "b", "c", "d", "e", "f"})
        inputs.push_back(object(name, default_features(), 99));
    for (const char *name : {"m", "n", "o", "p", "q", "r", "s"})
        inputs.push_back(object(name, default_features()));
    auto said = warnings(inputs);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "6 objects were emitted by btflink 0.0.99 ")) << said[0];
    EXPECT_TRUE(has(said[0], "7 others")) << said[0];
    EXPECT_TRUE(has(said[0], "d.o: .BTF+0x0, ...")) << said[0];
    EXPECT_FALSE(has(said[0], "e.o:")) << said[0];
}

TEST_F(Settings, RequestedFeatureThatAllLack)
{
    auto said = warnings({object("a", without(Feature::float_kind))});
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "without float, which the link asks for")) << said[0];
}

TEST_F(Settings, FeatureThatIsNotRequestedStays)
{
    FeatureSet more = default_features();
    more.add(Feature::global_var); // no warning: the merge drops variables that are not asked for
    auto said = warnings({object("a", more)}, without(Feature::enum64));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "with enum64, which the link does not ask for")) << said[0];
    more.remove(Feature::var); // no warning: global_var includes per-CPU variables
    EXPECT_TRUE(warnings({object("b", more)}).empty());
}

TEST_F(Settings, VariablesThatAreNotRequestedDoNotMatter)
{
    FeatureSet all = default_features();
    all.add(Feature::global_var);
    const std::vector<std::string> mixed = {object("few", all), object("b", default_features()),
                                            object("c", default_features())};
    EXPECT_TRUE(warnings(mixed).empty());
    // One warning says that an object differs from most, the other that most lack a feature that
    // the link asks for.
    EXPECT_EQ(warnings(mixed, all).size(), 2u);
}

/// consistent_func does not change what btf-emit writes. btf-merge applies it.
TEST_F(Settings, FeaturesOfTheLinkDoNotCount)
{
    EXPECT_TRUE(
        warnings({object("a", default_features())}, without(Feature::consistent_func)).empty());
}

TEST_F(Settings, ACallerCompletesTheInputs)
{
    std::string added = object("added", default_features());
    for (Engine engine : {Engine::hash, Engine::libbpf}) {
        Options options;
        options.inputs = {object("given", default_features())};
        options.engine = engine;
        size_t asked_for = 0;
        options.more_inputs =
            [&](std::span<const std::string_view> sources) -> Result<std::vector<std::string>> {
            asked_for = sources.size();
            return std::vector<std::string>{added};
        };
        EXPECT_EQ(merged(dir_, options),
                  "[1] INT 'given' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                  "[2] INT 'added' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n");
        EXPECT_EQ(asked_for, 1u);
    }
}

TEST_F(Settings, NoInputsAreNoError)
{
    Options options;
    options.more_inputs =
        [](std::span<const std::string_view>) -> Result<std::vector<std::string>> {
        return std::vector<std::string>();
    };
    options.output = dir_ / "out.btf";
    Report report;
    ASSERT_TRUE(merge(options, report));
    EXPECT_FALSE(report.why_nothing.empty());
}

} // namespace

} // namespace btflink::merge::test
