// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests functions and clones that do not take the parameters that the source states, with and
// without the feature true_signature.
#include "tests/merge/object_maker.h"

namespace btflink::merge::test
{

namespace
{

FeatureSet with_signatures()
{
    return *parse_features("+true_signature");
}

class TrueSignatures : public ObjectTest
{
protected:
    /// An object with one instance of void f(int a, int b), at `symbol`, that takes only b. The
    /// object records this true signature only if `features` contain true_signature.
    std::string object(const std::string &name, const std::string &symbol,
                       uint32_t flags = fn_reordered, FeatureSet features = with_signatures())
    {
        return make_object(dir_, name,
                           {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    'a' type_id=1
                    'b' type_id=1
                [3] FUNC 'f' type_id=2 linkage=static
                [4] FUNC_PROTO '' ret_type_id=0
                    'b' type_id=1
                [5] FUNC 'f' type_id=4 linkage=static
                [6] DECL_TAG 'tag' type_id=5 component_idx=0)",
                            .plain_end = 2,
                            .assembly = ".text\n.balign 16\n.type " + symbol + ", @function\n" +
                                        symbol + ": ret\n",
                            .functions = {instance(symbol, flags, features)},
                            .features = features});
    }
    /// An object that defines `symbol`, and has an instance of void f(int a, int b, int c) that
    /// takes these parameters. `address`: that of the instance, or "" if it has none.
    std::string other(const std::string &name, const std::string &address,
                      const std::string &symbol = "any", uint32_t flags = 0)
    {
        std::string code =
            ".text\n.balign 16\n.type " + symbol + ", @function\n" + symbol + ": ret\n";
        return make_object(dir_, name,
                           {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    'a' type_id=1
                    'b' type_id=1
                    'c' type_id=1
                [3] FUNC 'f' type_id=2 linkage=static)",
                            .plain_end = 2,
                            .assembly = code,
                            .functions = {{"f", address, 3, flags}},
                            .features = with_signatures()});
    }
    static FunctionSpec instance(const std::string &symbol, uint32_t flags, FeatureSet features)
    {
        uint32_t true_func = features.has(Feature::true_signature) ? 5 : 0;
        return {"f", symbol, 3, flags | fn_optimized_param, true_func};
    }

    /// Merges with a linked image and without, with both engines. Returns the result, which must
    /// always be the same.
    std::string all_ways(const std::vector<std::string> &objects, FeatureSet features)
    {
        std::string text;
        for (const std::string &image : {std::string(), link_file(dir_, "image", "-e 0", objects)})
            for (Engine engine : {Engine::hash, Engine::libbpf}) {
                Options options;
                options.inputs = objects;
                options.image = image;
                options.engine = engine;
                options.features = features;
                std::string found = text_of(merged(dir_, options));
                EXPECT_TRUE(text.empty() || found == text) << found << text;
                text = found;
            }
        return text;
    }

    std::vector<std::string> warnings(const std::vector<std::string> &objects, FeatureSet features)
    {
        Options options;
        options.inputs = objects;
        options.output = dir_ / "out.btf";
        options.features = features;
        Report report;
        EXPECT_TRUE(merge(options, report));
        return report.warnings;
    }
};

constexpr const char *of_the_clone =
    R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
	'b' type_id=1
[3] FUNC 'f.isra.0' type_id=2 linkage=static
[4] DECL_TAG 'tag' type_id=3 component_idx=0
)";
constexpr const char *nothing = "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n";

TEST_F(TrueSignatures, CloneUnderTheNameOfItsSymbol)
{
    EXPECT_EQ(all_ways({object("a", "f.isra.0")}, with_signatures()), of_the_clone);
}

TEST_F(TrueSignatures, WithoutTheFeatureTheyAreIgnored)
{
    EXPECT_EQ(all_ways({object("a", "f.isra.0")}, default_features()), nothing);
    EXPECT_TRUE(warnings({object("a", "f.isra.0")}, default_features()).empty());
}

TEST_F(TrueSignatures, MissingOnesAreNotInvented)
{
    std::string a = object("a", "f.isra.0", fn_reordered, default_features());
    EXPECT_EQ(all_ways({a}, with_signatures()), nothing);
    auto said = warnings({a}, with_signatures());
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "functions whose parameters were changed are left out")) << said[0];
    // A clone that lost a parameter, but has the others in order, gets the source's prototype.
    EXPECT_TRUE(has(all_ways({object("a", "f.isra.0", 0, default_features())}, with_signatures()),
                    "vlen=2\n\t'a' type_id=1\n\t'b' type_id=1\n[3] FUNC 'f.isra.0'"));
}

TEST_F(TrueSignatures, ChangedByClangUnderItsOwnName)
{
    std::string text = all_ways({object("a", "f", fn_signature_changed)}, with_signatures());
    EXPECT_TRUE(has(text, "vlen=1\n\t'b' type_id=1\n[3] FUNC 'f' type_id=2")) << text;
    EXPECT_EQ(all_ways({object("a", "f", fn_signature_changed)}, default_features()), nothing);
    std::string without = object("a", "f", fn_signature_changed, default_features());
    EXPECT_EQ(all_ways({without}, with_signatures()), nothing);
}

TEST_F(TrueSignatures, SomeObjectsWithoutThem)
{
    std::string a = object("a", "f.isra.0", fn_reordered, default_features());
    std::string b = object("b", "f.isra.1");
    EXPECT_TRUE(has(all_ways({a, b}, with_signatures()), "FUNC 'f.isra.1'"));
    auto said = warnings({a, b}, with_signatures());
    ASSERT_GE(said.size(), 1u);
    EXPECT_TRUE(has(said[0], "1 object was emitted with true_signature")) << said[0];
}

TEST_F(TrueSignatures, InlinedInstancesCountOnlyForTheFirstClone)
{
    // An inlined instance with a parameter in an unexpected register.
    std::string inlined = other("inlined", "", "any", fn_unexpected_reg);
    std::string a = object("a", "f.isra.0"), b = object("b", "f.isra.1");
    for (const auto &objects : {std::vector{inlined, a}, std::vector{a, inlined}})
        EXPECT_FALSE(has(all_ways(objects, with_signatures()), "FUNC 'f"));
    for (const auto &objects : {std::vector{inlined, a, b}, std::vector{a, inlined, b}})
        EXPECT_TRUE(has(all_ways(objects, with_signatures()), "FUNC 'f.isra.1'"));
}

TEST_F(TrueSignatures, InstanceAtTheSymbolNeedNotAgreeWithInlinedOnes)
{
    std::string a = object("a", "f", fn_signature_changed);
    for (const auto &objects : {std::vector{a, other("b", "")}, std::vector{other("b", ""), a}}) {
        std::string text = all_ways(objects, with_signatures());
        EXPECT_TRUE(has(text, "\t'b' type_id=1\n")) << text;
        EXPECT_FALSE(has(text, "'c'")) << text;
        EXPECT_FALSE(has(all_ways(objects, default_features()), "FUNC 'f'"));
    }
    // The same if the instance in b is at another symbol than f.
    EXPECT_TRUE(has(all_ways({other("b", "any"), a}, with_signatures()), "\t'b' type_id=1\n"));
    // The instance in c has no address, as if its code were in two parts, hot and cold. It may be
    // at symbol f, so the parameters of the function at f are unknown.
    EXPECT_FALSE(has(
        all_ways({object("d", "g", fn_signature_changed), other("c", "", "f")}, with_signatures()),
        "FUNC 'f'"));
}

/// BTF of other tools may have FUNCs with the names of clones' symbols.
TEST_F(TrueSignatures, CloneInRawBtf)
{
    const std::string image = link_file(dir_, "image", "-e 0", {object("a", "f.isra.0")});
    const std::string raw = make_raw(dir_, "raw", of_the_clone);
    for (Engine engine : {Engine::hash, Engine::libbpf}) {
        Options options;
        options.inputs = {raw};
        options.engine = engine;
        EXPECT_EQ(merged(dir_, options), of_the_clone);
        options.image = image;
        EXPECT_EQ(merged(dir_, options), of_the_clone);
        options.inputs = {make_raw(dir_, "gone", R"(
            [1] FUNC_PROTO '' ret_type_id=0
            [2] FUNC 'f.isra.1' type_id=1 linkage=static)")};
        EXPECT_TRUE(fails(merged(dir_, options), "gone.btf: has no types"));
    }
}

/// The raw BTF and the object have the same clone. The result has it once, with the object's tag.
TEST_F(TrueSignatures, CloneInRawBtfAndInAnObject)
{
    const std::string a = object("a", "f.isra.0"), raw = make_raw(dir_, "raw", R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] FUNC_PROTO '' ret_type_id=0
            'b' type_id=1
        [3] FUNC 'f.isra.0' type_id=2 linkage=static)");
    Options options;
    options.features = with_signatures();
    for (const std::string &image : {std::string(), link_file(dir_, "image", "-e 0", {a})})
        for (const auto &inputs : {std::vector{a, raw}, std::vector{raw, a}}) {
            options.image = image;
            options.inputs = inputs;
            EXPECT_EQ(merged(dir_, options), of_the_clone);
        }
}

TEST_F(TrueSignatures, CloneThatTheBaseHas)
{
    for (Engine engine : {Engine::hash, Engine::libbpf}) {
        Options options;
        options.inputs = {object("a", "f.isra.0")};
        options.engine = engine;
        options.features = with_signatures();
        EXPECT_EQ(merged(dir_, options), of_the_clone);
        run("mv " + (dir_ / "out.btf") + " " + (dir_ / "base.btf"));
        options.base = dir_ / "base.btf";
        EXPECT_EQ(merged(dir_, options), "");
        options.inputs = {object("b", "f.isra.1")};
        EXPECT_EQ(merged(dir_, options), "[5] FUNC 'f.isra.1' type_id=2 linkage=static\n"
                                         "[6] DECL_TAG 'tag' type_id=5 component_idx=0\n");
    }
}

} // namespace

} // namespace btflink::merge::test
