// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests functions whose symbols differ from their names (C++, Rust): which functions get a FUNC,
// and with which tags.
#include "tests/merge/object_maker.h"

namespace btflink::merge::test
{

namespace
{

class LinkageNames : public ObjectTest
{
protected:
    /// An object with void f(int PARAM) at SYMBOL. If `named` is not empty, f has two tags: one
    /// that says that its symbol is `named`, and `own` on the parameter.
    std::string object(const std::string &file, const std::string &named, const std::string &symbol,
                       const std::string &param = "x")
    {
        std::string tags;
        if (!named.empty())
            tags = "\n[4] DECL_TAG 'c++:linkage:" + named +
                   "' type_id=3 component_idx=-1\n[5] DECL_TAG 'own' type_id=3 component_idx=0";
        return make_object(dir_, file,
                           {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    ')" + param + R"(' type_id=1
                [3] FUNC 'f' type_id=2 linkage=static)" +
                                   tags,
                            .plain_end = 2,
                            .assembly = ".text\n.balign 16\n.weak \"" + symbol + "\"\n.type \"" +
                                        symbol + "\", @function\n\"" + symbol + "\": ret\n",
                            .functions = {{"f", '"' + symbol + '"', 3, 0, true_func_}},
                            .features = features_});
    }

    Options options(const std::vector<std::string> &objects) const
    {
        Options options;
        options.inputs = objects;
        options.features = features_;
        return options;
    }

    /// Merges without an image and with a linked one. Both results must be the same text, which is
    /// returned.
    std::string all_ways(const std::vector<std::string> &objects)
    {
        Options all = options(objects);
        std::string text = text_of(merged(dir_, all));
        all.image = link_file(dir_, "image", "-e 0", objects);
        EXPECT_EQ(text_of(merged(dir_, all)), text);
        return text;
    }

    FeatureSet features_ = *parse_features("+linkage_names");
    uint32_t true_func_ = 0;
};

constexpr const char *head = "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                             "[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1\n\t'x' type_id=1\n";

TEST_F(LinkageNames, EqualFunctionsOfTwoSymbolsAreTwo)
{
    EXPECT_EQ(
        all_ways({object("b", "_ZN1b1fEi", "_ZN1b1fEi"), object("a", "_ZN1a1fEi", "_ZN1a1fEi")}),
        head + std::string("[3] FUNC 'f' type_id=2 linkage=static\n"
                           "[4] DECL_TAG 'c++:linkage:_ZN1a1fEi' type_id=3 component_idx=-1\n"
                           "[5] DECL_TAG 'own' type_id=3 component_idx=0\n"
                           "[6] FUNC 'f' type_id=2 linkage=static\n"
                           "[7] DECL_TAG 'c++:linkage:_ZN1b1fEi' type_id=6 component_idx=-1\n"
                           "[8] DECL_TAG 'own' type_id=6 component_idx=0\n"));
}

TEST_F(LinkageNames, InstancesInTwoObjectsAreOne)
{
    EXPECT_EQ(all_ways({object("a", "_Z1fi", "_Z1fi"), object("b", "_Z1fi", "_Z1fi")}),
              head + std::string("[3] FUNC 'f' type_id=2 linkage=static\n"
                                 "[4] DECL_TAG 'c++:linkage:_Z1fi' type_id=3 component_idx=-1\n"
                                 "[5] DECL_TAG 'own' type_id=3 component_idx=0\n"));
}

TEST_F(LinkageNames, FunctionWhoseSymbolIsItsNameComesFirst)
{
    EXPECT_EQ(all_ways({object("a", "A", "A"), object("c", "", "f")}),
              head + std::string("[3] FUNC 'f' type_id=2 linkage=static\n"
                                 "[4] FUNC 'f' type_id=2 linkage=static\n"
                                 "[5] DECL_TAG 'c++:linkage:A' type_id=4 component_idx=-1\n"
                                 "[6] DECL_TAG 'own' type_id=4 component_idx=0\n"));
}

TEST_F(LinkageNames, WithoutTheirSymbolNoFunctions)
{
    EXPECT_FALSE(has(all_ways({object("a", "_Z1fi", "f")}), "FUNC '"));
    EXPECT_FALSE(has(all_ways({object("a", "_Z1fi", "_Z1fiE")}), "FUNC '"));
}

/// Rust's older mangling contains dots, and compilers append suffixes that begin with a dot.
TEST_F(LinkageNames, DotsOfRust)
{
    const std::string name = "_ZN31_$LT$u32$u20$as$u20$r..Grow$GT$4grow17h23446a5facbbdf33E";
    for (const char *suffix : {"", ".llvm.7"})
        EXPECT_TRUE(has(all_ways({object("a", name, name + suffix), object("b", "other", "other"),
                                  object("c", "", "_ZN31_$LT$u32$u20$as$u20$r..part17hE")}),
                        "'c++:linkage:" + name + "'"))
            << suffix;
    EXPECT_FALSE(has(all_ways({object("a", name, name + ".cold")}), "FUNC '"));
    const std::string part = "_ZN9a..partial17h23446a5facbbdf33E";
    EXPECT_TRUE(has(all_ways({object("a", part, part)}), "FUNC 'f'"));
    // These names do not end in a valid hash of Rust, so their first dot begins a suffix. The
    // symbol without this suffix is not the one in the tag.
    for (const char *odd : {"_ZN1a..b17h23446a5facbbdf3E", "_ZN1a..b17h23446a5facbbdfXXE",
                            "_ZN1a..b17h23446a5facbbdf33F", "_ZN1a..b17h23446a5facbbdf33E7"})
        EXPECT_FALSE(has(all_ways({object("a", odd, odd)}), "FUNC '")) << odd;
}

TEST_F(LinkageNames, ClonesHaveTheSuffixOfTheirSymbol)
{
    features_ = *parse_features("+linkage_names,true_signature");
    true_func_ = 3;
    EXPECT_EQ(all_ways({object("a", "_Z1fi", "_Z1fi.isra.0")}),
              head +
                  std::string("[3] FUNC 'f.isra.0' type_id=2 linkage=static\n"
                              "[4] DECL_TAG 'c++:linkage:_Z1fi.isra.0' type_id=3 component_idx=-1\n"
                              "[5] DECL_TAG 'own' type_id=3 component_idx=0\n"));
}

TEST_F(LinkageNames, OnlyIfAskedFor)
{
    const std::string tagged = object("a", "_Z1fi", "f");
    // The lists default and all do not contain linkage_names, which has no effect without decl_tag.
    for (const char *list : {"default", "all", "linkage_names"}) {
        features_ = *parse_features(list);
        const std::string text = all_ways({tagged});
        EXPECT_TRUE(has(text, "FUNC 'f'") && has(text, "'own'")) << text;
        EXPECT_FALSE(has(text, "linkage:")) << text;
    }
    // The merge asks for the feature, but the object was emitted without it.
    features_ = default_features();
    Options lacking = options({object("b", "", "f")});
    lacking.features = *parse_features("+linkage_names");
    lacking.output = dir_ / "out.btf";
    Report report;
    ASSERT_TRUE(merge(lacking, report));
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_TRUE(has(report.warnings[0], "symbols are mangled are left out")) << report.warnings[0];
}

TEST_F(LinkageNames, TheBaseHasOthers)
{
    const std::string base = dir_ / "base.btf";
    const std::string made =
        text_of(merged(dir_, options({object("a", "_ZN1a1fEi", "_ZN1a1fEi")})));
    ASSERT_TRUE(has(made, "_ZN1a1fEi")) << made;
    run("cp " + (dir_ / "out.btf") + " " + base);
    Options split = options({object("b", "_ZN1b1fEi", "_ZN1b1fEi")});
    split.base = base;
    const std::string text = text_of(merged(dir_, split));
    EXPECT_TRUE(has(text, "FUNC 'f'") && has(text, "_ZN1b1fEi")) << text;
    EXPECT_FALSE(has(text, "_ZN1a1fEi")) << text;
    // btf__dedup takes the base's FUNC for an equal one (docs/limits.md).
    split.engine = Engine::libbpf;
    const std::string by_libbpf = text_of(merged(dir_, split));
    EXPECT_TRUE(!has(by_libbpf, "FUNC 'f'") && has(by_libbpf, "_ZN1b1fEi")) << by_libbpf;
}

} // namespace

} // namespace btflink::merge::test
