// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests how btf-pahole reads its command line.
#include "kbuild-integration/pahole_options.h"

#include <gtest/gtest.h>

namespace btflink::kbuild
{

namespace
{

using Words = std::vector<std::string>;
using Action = PaholeOptions::Action;

PaholeOptions read(const Words &words, const std::string &languages = "")
{
    auto options = read_pahole_options(words, languages);
    EXPECT_TRUE(options) << (options ? "" : options.error().str());
    return options ? *options : PaholeOptions();
}

std::string error(const Words &words)
{
    auto options = read_pahole_options(words, "");
    return options ? "" : options.error().str();
}

std::string features(Words words)
{
    words.insert(words.begin(), "-J");
    return feature_names(read(words).features);
}

const std::string by_default =
    "encode_force,var,float,decl_tag,type_tag,enum64,optimized_func,consistent_func,"
    "decl_tag_kfuncs";
const std::string legacy = "var,decl_tag,type_tag,enum64";

TEST(PaholeOptions, Actions)
{
    EXPECT_EQ(read({}).action, Action::other);
    EXPECT_EQ(read({"vmlinux"}).action, Action::other);
    EXPECT_EQ(read({"-J", "vmlinux"}).action, Action::encode);
    EXPECT_EQ(read({"--btf_encode", "vmlinux"}).action, Action::encode);
    EXPECT_EQ(read({"--btf_encode_detached=x", "vmlinux"}).action, Action::encode);
    EXPECT_EQ(read({"--version"}).action, Action::version);
    EXPECT_EQ(read({"--numeric_version", "-J"}).action, Action::numeric_version);
    EXPECT_EQ(read({"--supported_btf_features"}).action, Action::supported_features);
    EXPECT_EQ(read({"--devel_version"}).action, Action::devel_version);
    EXPECT_EQ(read({"--help", "-J"}).action, Action::help);
    EXPECT_EQ(read({"-?"}).action, Action::help);
    // Left to pahole: --contains_enumerator and --usage, even with -J; and --btf_features alone.
    EXPECT_EQ(read({"-J", "--contains_enumerator=A", "vmlinux"}).action, Action::other);
    EXPECT_EQ(read({"--usage", "-J"}).action, Action::other);
    EXPECT_EQ(read({"--btf_features=default", "vmlinux"}).action, Action::other);
}

TEST(PaholeOptions, FilesAndOptionsInAnyOrder)
{
    PaholeOptions options = read({"a", "-J", "b", "--btf_base", "c", "d", "--", "-V"});
    EXPECT_EQ(options.files, (Words{"a", "b", "d", "-V"}));
    EXPECT_EQ(options.base, "c");
    EXPECT_FALSE(options.verbose);
}

TEST(PaholeOptions, Values)
{
    EXPECT_EQ(read({"-J", "--btf_base=vmlinux"}).base, "vmlinux");
    EXPECT_EQ(read({"-J", "--btf_encode_detached", "x"}).detached, "x");
    EXPECT_EQ(read({"-JF", "dwarf", "x"}).files, Words{"x"});
    EXPECT_EQ(read({"-J", "-Fdwarf", "x"}).files, Words{"x"});
    EXPECT_EQ(read({"-J", "--format_path=dwarf", "x"}).files, Words{"x"});
    EXPECT_EQ(read({"-J", "--kabi_prefix=__kabi", "x"}).files, Words{"x"});
    EXPECT_TRUE(read({"-JV"}).verbose);
    EXPECT_TRUE(read({"-J", "--verbose"}).verbose);
}

TEST(PaholeOptions, Jobs)
{
    EXPECT_EQ(read({"-J"}).jobs, 1u);
    EXPECT_EQ(read({"-J", "-j4"}).jobs, 4u);
    EXPECT_EQ(read({"-J", "--jobs=4"}).jobs, 4u);
    EXPECT_GE(read({"-J", "-j"}).jobs, 1u);
    EXPECT_GE(read({"-J", "--jobs"}).jobs, 1u);
    EXPECT_EQ(read({"-J", "-j", "4"}).files, Words{"4"}); // the value of -j must be attached
    EXPECT_EQ(read({"-J", "-j0"}).jobs, 1u);
    EXPECT_EQ(read({"-J", "-j100000"}).jobs, 1024u);
    for (const char *word : {"-jmany", "-j4x", "--jobs=-1", "-j99999999999999999999"})
        EXPECT_NE(error({"-J", word}), "") << word;
}

TEST(PaholeOptions, LegacyFeatures)
{
    EXPECT_EQ(features({}), legacy);
    EXPECT_EQ(features({"--btf_gen_floats"}), "var,float,decl_tag,type_tag,enum64");
    EXPECT_EQ(features({"--btf_encode_force"}), "encode_force," + legacy);
    EXPECT_EQ(features({"--btf_gen_optimized", "--skip_encoding_btf_inconsistent_proto"}),
              legacy + ",optimized_func,consistent_func");
    EXPECT_EQ(features({"--skip_encoding_btf_vars", "--skip_encoding_btf_decl_tag",
                        "--skip_encoding_btf_type_tag", "--skip_encoding_btf_enum64"}),
              "none");
    EXPECT_EQ(features({"--reproducible_build"}), legacy + ",reproducible_build");
    EXPECT_EQ(features({"--btf_gen_all"}), feature_names(all_features()));
    EXPECT_EQ(features({"--btf_features=var", "--btf_gen_all"}), feature_names(all_features()));
}

TEST(PaholeOptions, FeatureLists)
{
    EXPECT_EQ(features({"--btf_features=default"}), by_default);
    EXPECT_EQ(features({"--btf_features=var,float"}), "var,float");
    EXPECT_EQ(features({"--btf_features", "var"}), "var");
    EXPECT_EQ(features({"--features=var,float"}), "var,float");
    EXPECT_EQ(features({"--btf_features=all"}), feature_names(all_features()));
    EXPECT_EQ(features({"--btf_features_strict=var,all"}), feature_names(all_features()));
    EXPECT_EQ(features({"--btf_features=+global_var"}), by_default + ",global_var");
    EXPECT_EQ(features({"--btf_features=var", "--btf_features=float"}), "var,float");
    EXPECT_EQ(features({"--btf_features=var", "--btf_features=+reproducible_build"}),
              by_default + ",reproducible_build");
    EXPECT_EQ(features({"--btf_features="}), "none");
    EXPECT_EQ(features({"--btf_features=,var,,float,"}), "var,float");
    // The first list discards what earlier options turned on. Later options change the list.
    EXPECT_EQ(features({"--btf_gen_floats", "--btf_features=var"}), "var");
    EXPECT_EQ(features({"--btf_features=var", "--btf_gen_floats"}), "var,float");
    EXPECT_EQ(features({"--btf_features=var,enum64", "--skip_encoding_btf_enum64"}), "var");
}

TEST(PaholeOptions, UnknownFeatures)
{
    PaholeOptions options = read({"-J", "--btf_features=var,nonsense,float,more"});
    EXPECT_EQ(feature_names(options.features), "var,float");
    EXPECT_EQ(options.unknown_features, (Words{"nonsense", "more"}));
    EXPECT_EQ(error({"-J", "--btf_features_strict=var,nonsense"}),
              "feature 'nonsense' is not known");
    EXPECT_EQ(features({"--btf_features_strict=var,float"}), "var,float");
    // '+' has a meaning only at the beginning of a list, "default" everywhere. "ALL" is unknown.
    EXPECT_EQ(features({"--btf_features=var,+float"}), "var");
    EXPECT_EQ(features({"--btf_features=ALL"}), "none");
    EXPECT_EQ(features({"--btf_features=var,default"}), by_default);
}

TEST(PaholeOptions, Languages)
{
    EXPECT_EQ(read({"-J", "--lang_exclude=rust"}).filter.excluded_languages,
              (std::vector<uint16_t>{0x1c}));
    EXPECT_EQ(read({"-J", "--lang_exclude", "rust,c11"}, "c99").filter.excluded_languages,
              (std::vector<uint16_t>{0x1c, 0x1d}));
    EXPECT_EQ(read({"-J", "--lang_exclude=rust", "--lang_exclude=c11"}).filter.excluded_languages,
              (std::vector<uint16_t>{0x1c, 0x1d}));
    EXPECT_EQ(read({"-J"}, "c99").filter.excluded_languages, (std::vector<uint16_t>{0x0c}));
    EXPECT_NE(error({"-J", "--lang_exclude=klingon"}), "");
    EXPECT_EQ(read({"-J", "--lang=c11"}).filter.languages, (std::vector<uint16_t>{0x1d}));
    EXPECT_NE(error({"-J", "--lang=klingon"}), "");
}

TEST(PaholeOptions, UnitsByName)
{
    for (const Words &words : {Words{"-J", "-Xa/b"}, Words{"-J", "--cu_exclude", "a/b"}}) {
        emit::UnitFilter filter = read(words).filter;
        EXPECT_FALSE(filter.takes_name("a/b.c"));
        EXPECT_TRUE(filter.takes_name("./a/b.c"));
    }
    EXPECT_TRUE(emit::UnitFilter().takes_name(""));
}

/// Options that do not change what is encoded. --quiet suppresses warnings, the others are ignored.
TEST(PaholeOptions, DisplayOptionsAreIgnored)
{
    for (const Words &words :
         {Words{"--skip_emitting_atomic_typedefs"}, Words{"--hashbits=12"}, Words{"--quiet"},
          Words{"-q"}, Words{"--suppress_force_paddings"}, Words{"--with_flexible_array"},
          Words{"--fixup_silly_bitfields"}, Words{"-Cx"}, Words{"-sE"}, Words{"-y", "-V"},
          Words{"--class_name", "-V"}, Words{"--first_obj_only", "--sort"}}) {
        Words all = {"-J", "--btf_features=var"};
        all.insert(all.end(), words.begin(), words.end());
        all.push_back("x");
        PaholeOptions options = read(all);
        EXPECT_EQ(options.action, Action::encode) << words[0];
        EXPECT_EQ(options.files, Words{"x"}) << words[0];
        EXPECT_EQ(feature_names(options.features), "var") << words[0];
        EXPECT_FALSE(options.verbose) << words[0];
    }
    EXPECT_TRUE(read({"-Jq"}).quiet);
    EXPECT_FALSE(read({"-J"}).quiet);
}

TEST(PaholeOptions, UnknownOptions)
{
    EXPECT_EQ(error({"-J", "--nonsense", "x"}), "option --nonsense is not known");
    EXPECT_EQ(error({"--nonsense=y", "-J", "x"}), "option --nonsense=y is not known");
    EXPECT_EQ(error({"-J", "-o", "x"}), "option -o is not known");
    EXPECT_EQ(error({"-Jo", "x"}), "option -o is not known");
    EXPECT_EQ(error({"-oJ", "x"}), "option -o is not known");
    EXPECT_EQ(error({"-J", "--btf_base"}), "option --btf_base needs a value");
    EXPECT_EQ(error({"-JF"}), "option -F needs a value");
    EXPECT_EQ(error({"-J", "--btf_encode_detached=", "x"}),
              "option --btf_encode_detached needs a value");
    EXPECT_EQ(error({"-J", "--btf_base=", "x"}), "option --btf_base needs a value");
    EXPECT_EQ(error({"-J", "--verbose=1"}), "option --verbose=1 takes no value");
    // An unknown option is an error only in a command line that encodes. Others, such as this one,
    // are passed to pahole.
    EXPECT_EQ(read({"--nonsense", "-C", "task_struct", "vmlinux"}).action, Action::other);
}

/// Values of options that only pahole has must not be taken for options.
TEST(PaholeOptions, ValuesOfForeignOptions)
{
    for (const Words &words :
         {Words{"-CJob", "vmlinux"}, Words{"-C", "-J", "vmlinux"}, Words{"-yJ", "vmlinux"},
          Words{"-sCjob", "vmlinux"}, Words{"-C", "x", "-f", "-J", "--", "-J"},
          Words{"--class_name", "-J", "vmlinux"}, Words{"--class_name=J", "vmlinux"},
          Words{"-E", "-x", "-J", "vmlinux"}, Words{"--prettify", "--version", "vmlinux"}})
        EXPECT_EQ(read(words).action, Action::other) << words[0];
    EXPECT_EQ(read({"-sJ", "vmlinux"}).action, Action::encode);
    EXPECT_EQ(error({"-J", "-C"}), "option -C needs a value");
}

} // namespace

} // namespace btflink::kbuild
