// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests the report of --why-dup, for BTF given as text.
#include "tests/merge/object_maker.h"

#include <unistd.h>

namespace btflink::merge::test
{

namespace
{

const std::string ints = "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                         "[2] VOLATILE '(anon)' type_id=1\n";

class WhyDup : public testing::Test
{
protected:
    void object(const std::string &text)
    {
        std::string name = "o" + std::to_string(options_.inputs.size());
        options_.inputs.push_back(make_raw(dir_, name, ints + text));
    }

    /// The report for `name` ("": for all names), without folders in file names. It must be the
    /// same with one and four threads.
    std::string why(const std::string &name = "")
    {
        std::string all;
        for (unsigned threads : {1u, 4u}) {
            options_.why_dup = name;
            options_.threads = threads;
            Report report;
            auto done = merge(options_, report);
            EXPECT_TRUE(done) << done.error().str();
            if (threads > 1) {
                EXPECT_EQ(report.why_dup, all);
            }
            all = report.why_dup;
        }
        std::string text = all, folder = dir_ / "";
        for (size_t at; (at = text.find(folder)) != std::string::npos;)
            text.erase(at, folder.size());
        return text;
    }

    TempDir dir_;
    Options options_;
};

TEST_F(WhyDup, NothingToSay)
{
    object("[3] STRUCT 's' size=4\n\t'a' type_id=1 bits_offset=0\n");
    object("[3] STRUCT 's' size=4\n\t'a' type_id=1 bits_offset=0\n");
    EXPECT_EQ(why(), "No name has several definitions.\n");
    EXPECT_EQ(why("s"), "s does not have several definitions.\n");
    EXPECT_EQ(why("struct s"), "struct s does not have several definitions.\n");
    EXPECT_EQ(why("none"), "none is not a struct, union, enum or typedef of the result\n");
}

TEST_F(WhyDup, OneMember)
{
    for (int type : {1, 2, 1})
        object("[3] STRUCT 's' size=8\n\t'a' type_id=1 bits_offset=0\n\t'b' type_id=" +
               std::to_string(type) + " bits_offset=32\n");
    const std::string said =
        "struct s: 2 versions that differ by themselves\n"
        "  first difference, struct s.b: version 1 has \"int b;\", version 2 \"volatile int b;\"\n"
        "  version 1, in 2 objects: o0.btf+0x0, o2.btf+0x0\n"
        "\tstruct s {\n\t\tint a;\n\t\tint b;\n\t};\n"
        "  version 2, in 1 object: o1.btf+0x0\n"
        "\tstruct s {\n\t\tint a;\n\t\tvolatile int b;\n\t};\n\n";
    EXPECT_EQ(why(), said);
    EXPECT_EQ(why("s"), said);
}

/// Struct a contains b, b points to c, and c points back to a. `type` is the type id of member c.x,
/// in which the versions differ.
std::string three_deep(int type)
{
    return "[3] STRUCT 'a' size=8\n\t'in' type_id=4 bits_offset=0\n"
           "[4] STRUCT 'b' size=8\n\t'to' type_id=5 bits_offset=0\n"
           "[5] PTR '(anon)' type_id=6\n"
           "[6] STRUCT 'c' size=16\n\t'x' type_id=" +
           std::to_string(type) +
           " bits_offset=0\n\t'back' type_id=7 bits_offset=64\n"
           "[7] PTR '(anon)' type_id=3\n"
           "[8] STRUCT 'plain' size=4\n\t'x' type_id=1 bits_offset=0\n";
}

TEST_F(WhyDup, TheRootIsDeep)
{
    object(three_deep(1));
    object(three_deep(2));
    std::string said = why();
    EXPECT_NE(said.find("struct c: 2 versions that differ by themselves\n"
                        "  first difference, struct c.x: version 1 has \"int x;\", version 2 "
                        "\"volatile int x;\"\n"),
              std::string::npos)
        << said;
    // The four types are a, b, and the pointers to c and a.
    EXPECT_NE(said.find("because of it 4 further types were split, 2 of them named structs"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("struct a: 2 definitions, because of struct c: struct a .in -> struct b "
                        ".to -> struct c\n"
                        "struct b: 2 definitions, because of struct c: struct b .to -> struct c\n"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("plain"), std::string::npos) << said;
    // The report for a has the differing struct c and the line of a, but not that of b.
    said = why("struct a");
    EXPECT_EQ(said.find("struct c: 2 versions"), 0u) << said;
    EXPECT_NE(said.find("struct a: 2 definitions"), std::string::npos) << said;
    EXPECT_EQ(said.find("struct b: 2 definitions"), std::string::npos) << said;
}

/// A declaration that fits two definitions does not count as a version.
TEST_F(WhyDup, UndecidedDeclarations)
{
    object(three_deep(1));
    object(three_deep(2));
    const std::string user = "[3] PTR '(anon)' type_id=5\n"
                             "[4] STRUCT 'user' size=8\n\t'b' type_id=3 bits_offset=0\n";
    object(user + "[5] FWD 'b' fwd_kind=struct\n");
    std::string said = why();
    EXPECT_EQ(said.find("only declared"), std::string::npos) << said;
    EXPECT_EQ(said.find("struct c: 2 versions"), 0u) << said;
    EXPECT_EQ(said.find("versions", said.find("versions") + 1), std::string::npos) << said;
}

TEST_F(WhyDup, InUnnamedMembers)
{
    for (int type : {1, 2})
        object("[3] UNION '(anon)' size=4\n\t'p' type_id=1 bits_offset=0\n\t'q' type_id=" +
               std::to_string(type) +
               " bits_offset=0\n"
               "[4] STRUCT 's' size=8\n\t'a' type_id=1 bits_offset=0\n"
               "\t'u' type_id=3 bits_offset=32\n");
    std::string said = why();
    EXPECT_NE(said.find("first difference, struct s.u.q: version 1 has \"int q;\", version 2 "
                        "\"volatile int q;\"\n"),
              std::string::npos)
        << said;
}

/// Type 3, an unnamed struct of which reports show only a part. `type` is the type id of its last
/// member.
std::string long_struct(int type)
{
    std::string text = "[3] STRUCT '(anon)' size=48\n";
    for (int i = 0; i < 11; ++i)
        text += strf("\t'm%d' type_id=1 bits_offset=%d\n", i, i * 32);
    return text + strf("\t'last' type_id=%d bits_offset=352\n", type);
}

TEST_F(WhyDup, BehindPointersAndArrays)
{
    for (int type : {1, 2})
        object(long_struct(type) + "[4] PTR '(anon)' type_id=3\n"
                                   "[5] ARRAY '(anon)' type_id=4 index_type_id=1 nr_elems=2\n"
                                   "[6] STRUCT 's' size=16\n\t'p' type_id=5 bits_offset=0\n");
    const std::string said = why();
    EXPECT_NE(said.find("first difference, struct s.p.last: version 1 has \"int last;\", version 2 "
                        "\"volatile int last;\"\n"),
              std::string::npos)
        << said;
    // Of the long struct, the definition shows the part around the difference.
    EXPECT_NE(said.find("volatile int last;\n\t\t} *p[2];"), std::string::npos) << said;
}

TEST_F(WhyDup, TypedefsOfUnnamedStructs)
{
    for (const char *name : {"foo_t", "bar_t"})
        object(strf("[3] STRUCT '(anon)' size=4\n\t'a' type_id=1 bits_offset=0\n"
                    "[4] TYPEDEF '%s' type_id=3\n"
                    "[5] STRUCT 's' size=4\n\t'x' type_id=4 bits_offset=0\n",
                    name));
    const std::string text = why("s");
    EXPECT_NE(
        text.find("first difference, struct s.x: version 1 has \"foo_t x;\", version 2 \"bar_t "
                  "x;\"\n"),
        std::string::npos)
        << text;
}

TEST_F(WhyDup, EnumeratorsOfUnnamedEnums)
{
    std::string values;
    for (int i = 0; i < 11; ++i)
        values += strf("\t'V%d' val=%d\n", i, i);
    for (int last : {11, 12})
        object("[3] ENUM '(anon)' size=4 encoding=UNSIGNED\n" + values +
               strf("\t'LAST' val=%d\n", last) +
               "[4] STRUCT 's' size=4\n\t'e' type_id=3 bits_offset=0\n");
    const std::string said = why();
    EXPECT_NE(said.find("struct s.e: version 1 has \"LAST = 11,\", version 2 \"LAST = 12,\"\n"),
              std::string::npos)
        << said;
}

TEST_F(WhyDup, InUnnamedStructsOfPrototypes)
{
    for (int type : {1, 2})
        object(long_struct(type) + "[4] FUNC_PROTO '(anon)' ret_type_id=3 vlen=0\n"
                                   "[5] PTR '(anon)' type_id=4\n"
                                   "[6] STRUCT 's' size=8\n\t'call' type_id=5 bits_offset=0\n");
    const std::string said = why();
    EXPECT_NE(said.find("(*call)(void); with other types inside\""), std::string::npos) << said;
}

TEST_F(WhyDup, OffsetsAndMissingMembers)
{
    object(
        "[3] STRUCT 's' size=8\n\t'a' type_id=1 bits_offset=0\n\t'b' type_id=1 bits_offset=32\n");
    object("[3] STRUCT 's' size=12\n\t'a' type_id=1 bits_offset=0\n"
           "\t'b' type_id=1 bits_offset=64\n");
    object("[3] STRUCT 's' size=4\n\t'a' type_id=1 bits_offset=0\n");
    object("[3] STRUCT 's' size=16\n\t'a' type_id=1 bits_offset=0\n"
           "\t'b' type_id=1 bits_offset=32\n");
    std::string said = why();
    EXPECT_NE(said.find("struct s: 4 versions"), std::string::npos) << said;
    for (const char *line : {"struct s.b: version 1 has \"int b; at bit 32\", version 2 "
                             "\"int b; at bit 64\"\n",
                             "version 1 has \"int b;\", version 3 \"nothing\"\n",
                             "version 1 has \"STRUCT of 8 bytes\", version 4 \"STRUCT of 16 "
                             "bytes\"\n"})
        EXPECT_NE(said.find(line), std::string::npos) << line << said;
}

TEST_F(WhyDup, BitfieldsEnumsTypedefs)
{
    object("[3] STRUCT 's' size=4 kflag=1\n\t'f' type_id=1 bits_offset=0 bitfield_size=3\n"
           "[4] ENUM 'e' size=4 encoding=UNSIGNED\n\t'A' val=1\n"
           "[5] TYPEDEF 'n_t' type_id=1\n"
           "[6] STRUCT 'user' size=4\n\t'n' type_id=5 bits_offset=0\n"
           "[7] ENUM64 'w' size=8 encoding=UNSIGNED\n\t'B' val=4294967297\n"
           "[8] ENUM64 'v' size=8 encoding=SIGNED\n\t'C' val=-4294967297\n"
           "[9] TYPE_TAG 'user' type_id=1\n"
           "[10] TYPEDEF 'tagged_t' type_id=9\n"
           "[11] TYPE_TAG 'a' type_id=1 kflag=1\n"
           "[12] TYPEDEF 'attribute_t' type_id=11\n");
    object("[3] STRUCT 's' size=4 kflag=1\n\t'f' type_id=1 bits_offset=0 bitfield_size=4\n"
           "[4] ENUM 'e' size=4 encoding=UNSIGNED\n\t'A' val=2\n"
           "[5] TYPEDEF 'n_t' type_id=2\n"
           "[6] STRUCT 'user' size=4\n\t'n' type_id=5 bits_offset=0\n"
           "[7] ENUM64 'w' size=8 encoding=UNSIGNED\n\t'B' val=4294967298\n"
           "[8] ENUM64 'v' size=8 encoding=SIGNED\n\t'C' val=-4294967298\n"
           "[9] TYPEDEF 'tagged_t' type_id=1\n"
           "[10] TYPE_TAG 'a' type_id=1\n"
           "[11] TYPEDEF 'attribute_t' type_id=10\n");
    std::string said = why();
    for (const char *line :
         {"enum w: version 1 has \"B = 4294967297,\", version 2 \"B = 4294967298,\"\n",
          "enum v: version 1 has \"C = -4294967297,\", version 2 \"C = -4294967298,\"\n",
          "typedef tagged_t: version 1 has \"typedef btf_type_tag(\"user\") int tagged_t;\"",
          "typedef attribute_t: version 1 has \"typedef __attribute__((a)) int attribute_t;\", "
          "version 2 \"typedef btf_type_tag(\"a\") int attribute_t;\"\n",
          "struct s.f: version 1 has \"int f : 3;\", version 2 \"int f : 4;\"\n",
          "enum e: version 1 has \"A = 1,\", version 2 \"A = 2,\"\n",
          "typedef n_t: version 1 has \"typedef int n_t;\", version 2 \"typedef volatile int "
          "n_t;\"\n",
          "struct user: 2 definitions, because of typedef n_t: struct user .n -> typedef n_t\n"})
        EXPECT_NE(said.find(line), std::string::npos) << line << said;
}

TEST_F(WhyDup, WithABase)
{
    options_.base = make_raw(dir_, "base",
                             ints + "[3] STRUCT 's' size=4\n"
                                    "\t'a' type_id=1 bits_offset=0\n");
    object("[3] STRUCT 's' size=4\n\t'a' type_id=2 bits_offset=0\n");
    std::string said = why();
    EXPECT_NE(said.find("version 1, in the base base.btf\n"), std::string::npos) << said;
    EXPECT_NE(said.find("version 2, in 1 object: o0.btf+0x0\n"), std::string::npos) << said;
}

// A module defines a struct that the base declares. That definition is not a duplicate, but
// typedefs of the struct are.
TEST_F(WhyDup, DeclaredInTheBase)
{
    const std::string declared = "[3] FWD 's' fwd_kind=struct\n",
                      defined = "[3] STRUCT 's' size=4 vlen=1\n\t'a' type_id=2 bits_offset=0\n",
                      user = "[4] PTR '(anon)' type_id=3\n"
                             "[5] STRUCT 'user' size=8 vlen=1\n\t'p' type_id=4 bits_offset=0\n",
                      alias = "[6] TYPEDEF 's_t' type_id=3\n";
    options_.base = make_raw(dir_, "base", ints + declared + user + alias);
    object(defined + user);
    EXPECT_EQ(why(), "No name has several definitions.\n");
    object(defined + user + alias);
    EXPECT_NE(why().find("typedef s_t: 2 definitions, because of struct s"), std::string::npos);
}

// The declaration of an enum is an enum without values, but no value is what differs.
TEST_F(WhyDup, EnumDeclaredInTheBase)
{
    const std::string declared = "[3] ENUM 'e' size=4 encoding=UNSIGNED\n",
                      alias = "[4] TYPEDEF 'e_t' type_id=3\n";
    options_.base = make_raw(dir_, "base", ints + declared + alias);
    object(declared + "\t'A' val=0\n" + alias);
    const std::string said = why();
    EXPECT_TRUE(has(said, "enum e: version 1 has \"defined\", version 2 \"only declared\"\n"))
        << said;
}

// The report on all names is about the merge, which did not make these definitions.
// Only structs, unions and enums have elements, whatever the vlen of another type is.
TEST_F(WhyDup, UnnamedIntWithElements)
{
    for (int type : {1, 2})
        object(strf("[3] INT '' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED vlen=9\n"
                    "[4] STRUCT 's' size=8\n\t'x' type_id=3 bits_offset=0\n"
                    "\t'y' type_id=%d bits_offset=32\n",
                    type));
    EXPECT_TRUE(has(why(), "first difference, struct s.y: "));
}

TEST_F(WhyDup, TwiceInTheBase)
{
    const std::string plain = "STRUCT 's' size=4\n\t'a' type_id=1 bits_offset=0\n",
                      other = "STRUCT 's' size=4\n\t'a' type_id=2 bits_offset=0\n";
    options_.base = make_raw(dir_, "base", ints + "[3] " + plain + "[4] " + other);
    object("[3] " + plain);
    EXPECT_EQ(why(), "No name has several definitions.\n");
    const std::string said = why("s");
    EXPECT_EQ(said.find("struct s: 2 versions"), 0u) << said;
    EXPECT_TRUE(has(said, "version 2, in the base base.btf\n")) << said;
}

TEST_F(WhyDup, MergesAsWell)
{
    object("[3] STRUCT 's' size=4\n\t'a' type_id=1 bits_offset=0\n");
    options_.output = dir_ / "out.btf";
    options_.why_dup = "";
    Report report;
    ASSERT_TRUE(merge(options_, report));
    EXPECT_FALSE(report.why_dup.empty());
    EXPECT_EQ(::access(options_.output.c_str(), R_OK), 0);
}

TEST_F(WhyDup, LongDefinitionsAreCut)
{
    std::string head = "[3] STRUCT 's' size=120\n";
    for (int version : {0, 1}) {
        std::string text = head;
        for (int i = 0; i < 30; ++i)
            text += "\t'm" + std::to_string(i) + "' type_id=" + (version && i == 20 ? "2" : "1") +
                    " bits_offset=" + std::to_string(i * 32) + "\n";
        object(text);
    }
    std::string said = why();
    EXPECT_NE(said.find("\tstruct s {\n\t\t/* 18 more */\n\t\tint m18;\n\t\tint m19;\n\t\tvolatile "
                        "int m20;\n\t\tint m21;\n\t\tint m22;\n\t\t/* 7 more */\n\t};\n"),
              std::string::npos)
        << said;
}

TEST_F(WhyDup, DeepTypesWithoutNames)
{
    // The depth of recursion must not depend on the input.
    for (int type : {1, 2}) {
        std::string text = "[3] STRUCT 's' size=8\n\t'p' type_id=50003 bits_offset=0\n";
        for (int i = 4; i <= 50003; ++i)
            text += "[" + std::to_string(i) +
                    "] PTR '(anon)' type_id=" + std::to_string(i == 4 ? type : i - 1) + "\n";
        object(text);
    }
    std::string said = why();
    EXPECT_NE(said.find("struct s: 2 versions"), std::string::npos) << said.substr(0, 1000);
}

// An unnamed struct with three members that point to it. Written out in full, its text would triple
// with each level.
TEST_F(WhyDup, UnnamedStructsThatReachThemselves)
{
    for (const char *last : {"1", "2"})
        object("[3] PTR '(anon)' type_id=4\n"
               "[4] STRUCT '(anon)' size=24 vlen=3\n"
               "\t'a' type_id=3 bits_offset=0\n"
               "\t'b' type_id=3 bits_offset=64\n"
               "\t'c' type_id=3 bits_offset=128\n"
               "[5] STRUCT 's' size=24 vlen=2\n"
               "\t'u' type_id=3 bits_offset=0\n"
               "\t'v' type_id=" +
               std::string(last) + " bits_offset=64\n");
    EXPECT_LT(why().size(), 1u << 20);
}

TEST_F(WhyDup, CDeclarations)
{
    const std::string types =
        "[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=3\n"
        "[5] FUNC_PROTO '(anon)' ret_type_id=6 vlen=2\n\t'n' type_id=1\n\t'(anon)' type_id=0\n"
        "[6] PTR '(anon)' type_id=7\n"
        "[7] CONST '(anon)' type_id=1\n"
        "[8] PTR '(anon)' type_id=5\n"
        "[9] PTR '(anon)' type_id=4\n"
        "[10] CONST '(anon)' type_id=6\n"
        "[11] ARRAY '(anon)' type_id=8 index_type_id=1 nr_elems=2\n"
        "[12] ENUM '(anon)' size=4 encoding=SIGNED\n\t'N' val=-1\n";
    const std::string members = "\t'array' type_id=4 bits_offset=0\n"
                                "\t'calls' type_id=11 bits_offset=128\n"
                                "\t'to' type_id=9 bits_offset=256\n"
                                "\t'fixed' type_id=10 bits_offset=320\n"
                                "\t'e' type_id=12 bits_offset=384\n";
    object("[3] STRUCT 's' size=56\n" + members + types);
    object("[3] STRUCT 's' size=60\n" + members + types);
    std::string said = why();
    EXPECT_NE(said.find("\tstruct s {\n"
                        "\t\tint array[3];\n"
                        "\t\tconst int *(*calls[2])(int n, ...);\n"
                        "\t\tint (*to)[3];\n"
                        "\t\tconst int *const fixed;\n"
                        "\t\tenum {\n\t\t\tN = -1,\n\t\t} e;\n"
                        "\t};\n"),
              std::string::npos)
        << said;
}

} // namespace

} // namespace btflink::merge::test
