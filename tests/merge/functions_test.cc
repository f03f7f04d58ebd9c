// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests which functions get a FUNC, and from which instance.
#include "tests/merge/object_maker.h"

#include "common/io/file_io.h"

#include <algorithm>
#include <map>

namespace btflink::merge::test
{

namespace
{

class Functions : public ObjectTest
{
protected:
    /// An object with the function void NAME(int PARAM), which has the tag tag_PARAM. `address` is
    /// the expression for its address; "": none. `assembly` defines the symbols.
    std::string object(const std::string &file, const std::string &name, const std::string &param,
                       const std::string &assembly, const std::string &address, uint32_t flags = 0)
    {
        return make_object(dir_, file,
                           {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    ')" + param + R"(' type_id=1
                [3] FUNC ')" + name +
                                   R"(' type_id=2 linkage=static
                [4] DECL_TAG 'tag_)" +
                                   param + R"(' type_id=3 component_idx=-1)",
                            .plain_end = 2,
                            .assembly = assembly,
                            .functions = {{name, address, 3, flags}}});
    }
    static std::string define(const std::string &symbol, const std::string &how = ".globl")
    {
        return ".text\n.balign 16\n" + how + " " + symbol + "\n.type " + symbol + ", @function\n" +
               symbol + ": ret\n";
    }

    std::string link(const std::vector<std::string> &objects, const std::string &how)
    {
        return link_file(dir_, "image", how + " -e 0 -Ttext=0x1000", objects);
    }

    /// Merges `objects` without an image, with a relocatable image (ld -r), and with a linked
    /// image. Then merges the relocatable file without an image and with a linked image. All five
    /// results must be the same text, which is returned.
    std::string all_ways(const std::vector<std::string> &objects)
    {
        std::string text = text_of(merged(dir_, objects));
        run("mkdir -p " + (dir_ / "j"));
        std::string joined = link(objects, "-r");
        run("cp " + joined + " " + (dir_ / "j/joined.o"));
        EXPECT_EQ(merged(dir_, {dir_ / "j/joined.o"}), text);
        EXPECT_EQ(merged(dir_, objects, dir_ / "j/joined.o"), text);
        EXPECT_EQ(merged(dir_, objects, link(objects, "")), text);
        EXPECT_EQ(merged(dir_, {dir_ / "j/joined.o"}, link({dir_ / "j/joined.o"}, "")), text);
        return text;
    }
};

TEST_F(Functions, StrongProvidesNamesAndTags)
{
    std::string weak = object("a", "f", "weak_name", define("f", ".weak"), ".text");
    std::string strong = object("b", "f", "strong_name", define("f"), ".text");
    for (auto objects : {std::vector{weak, strong}, std::vector{strong, weak}}) {
        std::string text = all_ways(objects);
        EXPECT_TRUE(has(text, "'strong_name'") && has(text, "tag_strong_name")) << text;
        EXPECT_FALSE(has(text, "weak_name")) << text;
    }
}

/// If the image has no address pools, its symbols show where functions are. The image's symbol f
/// belongs to the strong definition, not to the weak one.
TEST_F(Functions, StrongProvidesNamesWithoutPools)
{
    const std::string weak = object("a", "f", "weak_name", define("f", ".weak"), ".text"),
                      strong = object("b", "f", "strong_name", define("f"), ".text");
    for (auto objects : {std::vector{weak, strong}, std::vector{strong, weak}}) {
        const std::string image = link(objects, "");
        run("objcopy -R .debug " + image);
        const std::string text = text_of(merged(dir_, objects, image));
        EXPECT_TRUE(has(text, "'strong_name'")) << text;
        EXPECT_FALSE(has(text, "weak_name")) << text;
    }
}

/// The prototype of an overridden weak function counts only if the strong function is `void
/// f(void)`, which may come from assembler code. Then both prototypes must agree.
TEST_F(Functions, PrototypeOfTheStrongOne)
{
    auto with = [&](const std::string &file, const std::string &how, const std::string &params) {
        return make_object(dir_, file,
                           {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    )" + params + R"(
                [3] FUNC 'f' type_id=2 linkage=static)",
                            .plain_end = 2,
                            .assembly = define("f", how),
                            .functions = {{"f", ".text", 3}}});
    };
    const std::string one = "'strong' type_id=1", two = one + "\n'second' type_id=1";
    for (const std::string &weak_params : {two, std::string()}) {
        const std::string weak = with("a", ".weak", weak_params), strong = with("b", ".globl", one);
        for (auto objects : {std::vector{weak, strong}, std::vector{strong, weak}}) {
            const std::string text = all_ways(objects);
            EXPECT_TRUE(has(text, "FUNC 'f'") && has(text, "'strong'")) << text;
            EXPECT_FALSE(has(text, "'second'")) << text;
        }
    }
    const std::string assembly = with("c", ".globl", ""), weak = with("d", ".weak", two);
    for (auto objects : {std::vector{weak, assembly}, std::vector{assembly, weak}})
        EXPECT_FALSE(has(all_ways(objects), "FUNC 'f'"));
    // The prototype of an inlined instance counts.
    const std::string inlined = make_object(dir_, "e",
                                            {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=1
                [3] FUNC 'f' type_id=2 linkage=static)",
                                             .plain_end = 2,
                                             .functions = {{"f", "", 3, fn_inline}}});
    EXPECT_FALSE(has(all_ways({with("b", ".globl", one), inlined}), "FUNC 'f'"));
}

/// Tags of abstract instances count, because clang writes tags there. Tags of an overridden weak
/// definition do not count.
TEST_F(Functions, TagsOfAllInstances)
{
    auto tagged =
        [&](const std::string &file, const std::string &how) {
            return make_object(dir_, file,
                               {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    'x' type_id=1
                [3] FUNC 'f' type_id=2 linkage=static
                [4] FUNC 'f' type_id=2 linkage=static
                [5] DECL_TAG 'of_)" + file +
                                       R"(' type_id=3 component_idx=-1
                [6] DECL_TAG 'inline_of_)" +
                                       file + R"(' type_id=4 component_idx=0)",
                                .plain_end = 2,
                                .assembly = define("f", how),
                                .functions = {{"f", ".text", 3}, {"f", "", 4}}});
        };
    std::string text = all_ways({tagged("weak", ".weak"), tagged("strong", ".globl")});
    for (const char *tag : {"'of_strong'", "'inline_of_strong'", "'inline_of_weak'"})
        EXPECT_TRUE(has(text, tag)) << tag << text;
    EXPECT_FALSE(has(text, "'of_weak'")) << text;
}

TEST_F(Functions, WithoutSymbolNoFunction)
{
    std::string a = object("a", "f", "x", "", "");
    std::string b = object("b", "g", "x", define("g"), "g");
    std::string text = all_ways({a, b});
    EXPECT_FALSE(has(text, "FUNC 'f'")) << text;
    EXPECT_TRUE(has(text, "FUNC 'g'")) << text;
}

TEST_F(Functions, WithoutSymbolTableNoFunctionsAndAWarning)
{
    std::string a = object("a", "f", "x", define("f"), ".text");
    for (bool kept : {false, true}) {
        std::string image = link({a}, "");
        run((kept ? "strip -s -K f " : "strip -s ") + image);
        Options options;
        options.inputs = {a};
        options.image = image;
        options.output = dir_ / "out";
        Report report;
        ASSERT_TRUE(merge(options, report));
        auto warns = [](const std::string &w) { return has(w, "has no symbol table"); };
        EXPECT_EQ(std::ranges::any_of(report.warnings, warns), !kept);
        EXPECT_EQ(stat(report, "functions_kept"), kept ? 1 : 0);
    }
}

TEST_F(Functions, AreSortedByNameAfterAllTypes)
{
    std::string z = object("z", "zeta", "x", define("zeta"), "zeta");
    std::string a = object("a", "alpha", "x", define("alpha"), "alpha");
    EXPECT_EQ(all_ways({z, a}), R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
	'x' type_id=1
[3] FUNC 'alpha' type_id=2 linkage=static
[4] DECL_TAG 'tag_x' type_id=3 component_idx=-1
[5] FUNC 'zeta' type_id=2 linkage=static
[6] DECL_TAG 'tag_x' type_id=5 component_idx=-1
)");
}

TEST_F(Functions, TwoStaticsOfOneNameAreAmbiguous)
{
    std::string a = object("a", "zz", "x", define("zz", ".local"), ".text");
    std::string b = object("b", "zz", "x", define("zz", ".local"), ".text");
    // pahole keeps such a function if its name is the last one in the alphabet.
    EXPECT_FALSE(has(all_ways({a, b}), "FUNC 'zz'"));
    EXPECT_TRUE(has(all_ways({a}), "FUNC 'zz'"));
}

/// As with target_clones: when the program starts, a resolver chooses the version to run.
TEST_F(Functions, VersionsBehindAnIfuncAreAmbiguous)
{
    const std::string code = define("zz.default", ".local") + define("zz.avx2", ".local") +
                             define("zz.resolver") +
                             ".globl zz\n.type zz, @gnu_indirect_function\n.set zz, zz.resolver\n";
    std::string both = make_object(dir_, "a",
                                   {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    'x' type_id=1
                [3] FUNC 'zz' type_id=2 linkage=static)",
                                    .plain_end = 2,
                                    .assembly = code,
                                    .functions = {{"zz", ".text", 3}, {"zz", ".text + 16", 3}}});
    EXPECT_FALSE(has(all_ways({both}), "FUNC 'zz'"));
    std::string one = make_object(
        dir_, "b",
        {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] FUNC_PROTO '' ret_type_id=0
                    'x' type_id=1
                [3] FUNC 'one' type_id=2 linkage=static
                [4] FUNC 'zz' type_id=2 linkage=static)",
         .plain_end = 2,
         .assembly = define("one") + ".globl zz\n.type zz, @gnu_indirect_function\n.set zz, one\n",
         .functions = {{"one", ".text", 3}, {"zz", ".text", 4}}});
    const std::string text = all_ways({one});
    EXPECT_TRUE(has(text, "FUNC 'one'")) << text;
    EXPECT_FALSE(has(text, "FUNC 'zz'")) << text;
}

TEST_F(Functions, EqualOffsetsInTwoSectionsAreTwoAddresses)
{
    auto in = [&](const std::string &section) {
        return ".section " + section + ",\"ax\",@progbits\n.type f, @function\nf: ret\n";
    };
    std::string a = object("a", "f", "x", in(".init.text"), ".init.text");
    std::string b = object("b", "f", "x", in(".exit.text"), ".exit.text");
    EXPECT_FALSE(has(all_ways({a, b}), "FUNC 'f'"));
}

TEST_F(Functions, ClonesThatLostParameters)
{
    std::string clone =
        object("a", "f", "x", define("f.isra.0", ".local"), ".text", fn_optimized_param);
    EXPECT_FALSE(has(all_ways({clone}), "FUNC 'f'"));
    std::string whole = object("b", "f", "x", define("f.isra.0", ".local"), ".text");
    EXPECT_TRUE(has(all_ways({whole}), "FUNC 'f'"));
    std::string same_name = object("c", "f", "x", define("f"), ".text", fn_optimized_param);
    EXPECT_TRUE(has(all_ways({same_name}), "FUNC 'f'"));
    std::string changed =
        object("d", "f", "x", define("f"), ".text", fn_optimized_param | fn_signature_changed);
    EXPECT_FALSE(has(all_ways({changed}), "FUNC 'f'"));
}

TEST_F(Functions, ColdPartsDoNotCount)
{
    std::string a = object("a", "f", "x",
                           define("f") + define("f.cold", ".local") + define("f.part.0", ".local") +
                               define("f.isra.0.cold", ".local"),
                           ".text");
    EXPECT_TRUE(has(all_ways({a}), "FUNC 'f'"));
    std::string b = object("b", "g", "x", define("g.cold", ".local"), "");
    EXPECT_FALSE(has(all_ways({b}), "FUNC 'g'"));
}

TEST_F(Functions, PrefixesAreOtherNames)
{
    std::string a = object("a", "foo", "x", define("foo_bar"), "");
    EXPECT_FALSE(has(all_ways({a}), "FUNC"));
}

TEST_F(Functions, FlagsOfAllInstancesCount)
{
    std::map<uint32_t, const char *> reasons = {{fn_unexpected_reg, "functions_unexpected_reg"},
                                                {fn_uncertain_loc, "functions_uncertain"},
                                                {fn_reordered, "functions_reordered"}};
    for (auto [flag, stat_name] : reasons) {
        std::string a = object("a", "f", "x", define("f"), ".text");
        std::string b = object("b", "f", "x", "", "", fn_inline | flag);
        EXPECT_FALSE(has(all_ways({a, b}), "FUNC 'f'")) << stat_name;
        Options options;
        options.inputs = {a, b};
        options.output = dir_ / "out.btf";
        options.features = FeatureSet(); // these reasons do not depend on consistent_func
        Report report;
        ASSERT_TRUE(merge(options, report));
        EXPECT_EQ(stat(report, stat_name), 1);
        EXPECT_EQ(report.functions_left_out.size(), 1u);
    }
}

TEST_F(Functions, InlineInstancesMustAgree)
{
    // b has no FUNC, so its prototype is void (void). The FWD only puts the string f into the blob.
    std::string a = object("a", "f", "x", define("f"), ".text");
    std::string b = make_object(dir_, "b",
                                {.btf = "[1] FWD 'f' fwd_kind=struct",
                                 .plain_end = 2,
                                 .functions = {{.name = "f", .flags = fn_inline}}});
    EXPECT_FALSE(has(all_ways({a, b}), "FUNC 'f'"));
    Options options;
    options.inputs = {a, b};
    options.features = FeatureSet();
    EXPECT_TRUE(has(text_of(merged(dir_, options)), "FUNC 'f'"));
}

/// BTF made from a 32-bit image has the address 0xffffffff for a definition that the linker
/// discarded. The prototype of such a definition must agree, that of a replaced one need not.
TEST_F(Functions, DiscardedDefinitionsOf32BitImages)
{
    const std::string image = dir_ / "image";
    run("ld -m elf_i386 -e 0 -Ttext=0x1000 -o " + image + " " +
        make_object(dir_, "a", {.btf = "", .assembly = define("f"), .address_size = 4}));
    const std::string raw_file = make_raw(dir_, "raw", R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] FUNC_PROTO '' ret_type_id=0
            'x' type_id=1
        [3] FUNC 'f' type_id=2 linkage=static)");
    const std::vector<std::byte> blob = *read_file(raw_file);
    const Btf btf = *Btf::parse(blob, Where{raw_file});
    LinkTrailer trailer;
    trailer.flags = trailer_final_addresses;
    trailer.features = default_features();
    trailer.plain_end = TypeId{2};
    trailer.hashes = stub_hashes(btf);
    trailer.pool_entries = 2;
    trailer.proto_words = {0, 0}; // void (void)
    LinkFunction f{.name = StrOff{btf.type(TypeId{3}).name_off},
                   .flags = fn_has_address,
                   .loose_hash = 1,
                   .pool_index = 1,
                   .func = TypeId{3}};
    trailer.functions.push_back(f);
    f.loose_hash = 2;
    f.pool_index = 2;
    f.func = void_id;
    trailer.functions.push_back(f);
    for (const uint32_t second : {0x2000u, UINT32_MAX}) {
        trailer.addresses = {0x1000, second};
        std::vector<std::byte> bytes = blob;
        bytes.resize(align_up(bytes.size(), 8));
        const std::vector<std::byte> end = encode_trailer(trailer, blob, host_order);
        bytes.insert(bytes.end(), end.begin(), end.end());
        ASSERT_TRUE(write_file(raw_file, bytes));
        const std::string text = text_of(merged(dir_, {raw_file}, image));
        EXPECT_EQ(has(text, "FUNC 'f'"), second == 0x2000) << text;
    }
}

TEST_F(Functions, PrototypeWordsMakeAFunction)
{
    std::string a = make_object(dir_, "a",
                                {.btf = "[1] FWD 'f' fwd_kind=struct",
                                 .plain_end = 2,
                                 .assembly = define("f"),
                                 .functions = {{"f", ".text"}}});
    EXPECT_EQ(all_ways({a}), R"([1] FWD 'f' fwd_kind=struct
[2] FUNC_PROTO '(anon)' ret_type_id=0 vlen=0
[3] FUNC 'f' type_id=2 linkage=static
)");
}

TEST_F(Functions, KfuncSets)
{
    // Two sets of functions; the flags of the first (1) say that it is a set of kfuncs. At a set's
    // symbol are two words: the number of functions, and flags. At a function's: an id, and flags.
    std::string sets = define("f") + define("g") + R"(
        .section .BTF_ids,"a",@progbits
        .local __BTF_ID__set8__kfuncs
        __BTF_ID__set8__kfuncs: .long 1
        .long 1
        .local __BTF_ID__func__f__7
        __BTF_ID__func__f__7: .long 0
        .long 0x1004
        .size __BTF_ID__set8__kfuncs, . - __BTF_ID__set8__kfuncs
        .local __BTF_ID__set8__others
        __BTF_ID__set8__others: .long 1
        .long 0
        .local __BTF_ID__func__g__8
        __BTF_ID__func__g__8: .long 0
        .long 0
        .size __BTF_ID__set8__others, . - __BTF_ID__set8__others
        )";
    std::string a = object("a", "f", "x", sets, "f");
    std::string b = object("b", "g", "x", "", "g");
    std::string text = all_ways({a, b});
    EXPECT_TRUE(has(text, "[3] FUNC 'f' type_id=2 linkage=static\n"
                          "[4] DECL_TAG 'tag_x' type_id=3 component_idx=-1\n"
                          "[5] DECL_TAG 'bpf_kfunc' type_id=3 component_idx=-1\n"
                          "[6] DECL_TAG 'bpf_fastcall' type_id=3 component_idx=-1\n"
                          "[7] FUNC 'g'"))
        << text;
    EXPECT_EQ(text.find("bpf_kfunc"), text.rfind("bpf_kfunc")) << text;
    Options options;
    options.inputs = {a, b};
    options.features = *parse_features("decl_tag");
    EXPECT_FALSE(has(text_of(merged(dir_, options)), "bpf_kfunc"));
}

/// The flags 0x2000, 0x4000 and 0x8000 of a kfunc say that its result, its first or its second
/// parameter is a pointer into an arena. `none` and `wrong` have no second parameter.
TEST_F(Functions, ArenaPointersOfKfuncs)
{
    auto member = [](const std::string &name, uint32_t flags) {
        return strf(".local __BTF_ID__func__%s__7\n__BTF_ID__func__%s__7: .long 0\n.long %#x\n",
                    name.c_str(), name.c_str(), flags);
    };
    std::string kfunc_set = ".section .BTF_ids,\"a\",@progbits\n.local __BTF_ID__set8__k\n"
                            "__BTF_ID__set8__k: .long 4\n.long 1\n" +
                            member("both", 0xa000) + member("first", 0x4000) +
                            member("none", 0x8000) + member("wrong", 0xc000) +
                            ".size __BTF_ID__set8__k, . - __BTF_ID__set8__k\n";
    std::string a =
        make_object(dir_, "a",
                    {.btf = R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
            [2] PTR '' type_id=1
            [3] PTR '' type_id=0
            [4] FUNC_PROTO '' ret_type_id=3 vlen=2
                'p' type_id=2
                'q' type_id=3
            [5] FUNC 'both' type_id=4 linkage=static
            [6] FUNC 'first' type_id=4 linkage=static
            [7] FUNC_PROTO '' ret_type_id=0 vlen=1
                'q' type_id=2
            [8] FUNC 'none' type_id=7 linkage=static
            [9] FUNC 'wrong' type_id=7 linkage=static)",
                     .plain_end = 4,
                     .assembly = define("both") + define("first") + define("none") +
                                 define("wrong") + kfunc_set,
                     .functions = {{"both", "both", 5},
                                   {"first", "first", 6},
                                   {"none", "none", 8},
                                   {"wrong", "wrong", 9}}});
    const char *expected = R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] PTR '(anon)' type_id=1
[3] PTR '(anon)' type_id=0
[4] TYPE_TAG 'address_space(1)' type_id=0 kflag=1
[5] PTR '(anon)' type_id=4
[6] FUNC_PROTO '(anon)' ret_type_id=5 vlen=2
	'p' type_id=2
	'q' type_id=5
[7] FUNC 'both' type_id=6 linkage=static
[8] DECL_TAG 'bpf_kfunc' type_id=7 component_idx=-1
[9] TYPE_TAG 'address_space(1)' type_id=1 kflag=1
[10] PTR '(anon)' type_id=9
[11] FUNC_PROTO '(anon)' ret_type_id=3 vlen=2
	'p' type_id=10
	'q' type_id=3
[12] FUNC 'first' type_id=11 linkage=static
[13] DECL_TAG 'bpf_kfunc' type_id=12 component_idx=-1
[14] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
	'q' type_id=2
[15] FUNC 'none' type_id=14 linkage=static
[16] DECL_TAG 'bpf_kfunc' type_id=15 component_idx=-1
[17] FUNC 'wrong' type_id=14 linkage=static
[18] DECL_TAG 'bpf_kfunc' type_id=17 component_idx=-1
)";
    for (Engine engine : {Engine::libbpf, Engine::hash}) {
        Options options;
        options.inputs = {a};
        options.engine = engine;
        options.features = *parse_features("+attributes");
        EXPECT_EQ(merged(dir_, options), expected);
        // Over this result as the base, the merge adds no types.
        run("mv " + (dir_ / "out.btf") + " " + (dir_ / "base.btf"));
        options.base = dir_ / "base.btf";
        EXPECT_EQ(merged(dir_, options), "");
        // The kfuncs `none` and `wrong` cause one warning each. Without the feature `attributes`,
        // no pointer of a kfunc gets a TYPE_TAG.
        options.base.clear();
        options.output = dir_ / "out.btf";
        Report report;
        ASSERT_TRUE(merge(options, report));
        ASSERT_EQ(report.warnings.size(), 2u);
        EXPECT_TRUE(report.warnings[0].starts_with("kfunc none: "));
        EXPECT_TRUE(report.warnings[1].starts_with("kfunc wrong: "));
        options.features = default_features();
        EXPECT_FALSE(has(text_of(merged(dir_, options)), "TYPE_TAG"));
    }
}

TEST_F(Functions, ManyLocalSymbolsOfOneName)
{
    // If the image has no pools, only names connect functions with its symbols. Three functions and
    // three symbols have the same name, so no function is kept.
    std::vector<std::string> objects;
    for (const char *name : {"a", "b", "c"})
        objects.push_back(object(name, "f", "x", ".text\n.zero 4\n" + define("f", ".local"), "f"));
    std::string image = link(objects, "");
    run("objcopy -R .debug " + image);
    EXPECT_FALSE(has(text_of(merged(dir_, objects, image)), "FUNC 'f'"));
}

} // namespace

} // namespace btflink::merge::test
