// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests which variables get a VAR, and their offsets in output sections. Without an image, the
// offsets follow from the objects' relocations; with an image, from its address pools. If the image
// has no pools, the offsets follow from its symbols or, in a linked file that keeps `.BTF`, from
// the addresses that the linker wrote into DATASECs.
#include "tests/merge/object_maker.h"

#include "common/io/file_io.h"

namespace btflink::merge::test
{

namespace
{

class Variables : public ObjectTest
{
protected:
    /// An object with `skip` bytes in .data, followed by `static int counter` and `int NAME`.
    std::string statics(const std::string &name, int skip)
    {
        std::string s = std::to_string(skip);
        return make_object(
            dir_, name,
            {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] VAR 'counter' type_id=1 linkage=static
                [3] VAR ')" +
                    name + R"(' type_id=1 linkage=global
                [4] DATASEC '.data' size=8
                    type_id=2 offset=0 size=4
                    type_id=3 offset=0 size=4)",
             .plain_end = 2,
             .assembly = ".data\n.balign 16\n" + (skip ? ".zero " + s : "") + R"(
                counter: .long 1
                .type counter, @object
                .globl )" +
                         name + "\n" + name + ": .long 2\n.type " + name + ", @object\n",
             .variables = {{2, ".data+" + s}, {.var = 3, .symbol = name, .flags = var_external}}});
    }

    /// An object with a variable NAME, and with a typedef whose kind is overwritten with DATASEC.
    /// The type's length stays the same, so the object's position samples are still correct.
    std::string malformed(const std::string &name)
    {
        std::string path =
            make_object(dir_, name,
                        {.btf = "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                                "[2] TYPEDEF 't' type_id=1\n[3] TYPEDEF 'u' type_id=2\n"
                                "[4] VAR '" +
                                name +
                                "' type_id=1 linkage=global\n"
                                "[5] DATASEC '.data' size=4\n\ttype_id=4 offset=0 size=4",
                         .plain_end = 4,
                         .assembly = ".data\n.globl " + name + "\n" + name + ": .long 1\n.type " +
                                     name + ", @object\n",
                         .variables = {{4, name, var_external}}});
        std::vector<std::byte> bytes = *read_file(path);
        const std::array magic{std::byte{0x9f}, std::byte{0xeb}};
        auto blob = std::search(bytes.begin(), bytes.end(), magic.begin(), magic.end());
        EXPECT_NE(blob, bytes.end());
        const size_t header = 24, int_type = 16, kind = 7;
        blob[header + int_type + kind] = std::byte{static_cast<uint32_t>(btf::Kind::DATASEC)};
        EXPECT_TRUE(write_file(path, bytes));
        return path;
    }

    /// An object that defines per-CPU variables: weak or strong `shared`, and static `own`.
    std::string percpu(const std::string &name, bool weak)
    {
        return make_object(
            dir_, name,
            {.btf = std::string("[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                                "[2] TYPEDEF '") +
                    name + R"(_t' type_id=1
                [3] VAR 'shared' type_id=2 linkage=global
                [4] DECL_TAG 'tag' type_id=3 component_idx=-1
                [5] VAR 'own' type_id=1 linkage=static
                [6] DATASEC '.data..percpu' size=8
                    type_id=3 offset=0 size=4
                    type_id=5 offset=0 size=4)",
             .plain_end = 3,
             .assembly = std::string(".section .data..percpu,\"aw\",@progbits\n.balign 4\n") +
                         (weak ? ".weak" : ".globl") + R"( shared
                .type shared, @object
                shared: .long 1
                own: .long 2
                .type own, @object
                .size own, 4
                )",
             .variables = {{3, "shared", var_external | (weak ? uint32_t{var_weak} : 0u)},
                           {5, ".data..percpu+4"}}});
    }

    std::string link(const std::vector<std::string> &objects, const std::string &script)
    {
        auto written = write_file(dir_ / "link.lds", as_bytes(script));
        EXPECT_TRUE(written);
        return link_file(dir_, "image", "--no-warn-mismatch -e 0 -T " + (dir_ / "link.lds"),
                         objects);
    }

    std::string join(const std::vector<std::string> &objects)
    {
        return link_file(dir_, "joined.o", "-r", objects);
    }
};

constexpr const char *kernel_like = R"(
    SECTIONS {
        . = 0xffffffff81000000;
        .text : { *(.text) }
        .data : { *(.data) }
        .debug 0 : { *(.debug) }
        .data..percpu 0 : { *(.data..percpu) }
    })";

TEST_F(Variables, StaticsOfOneNameStayApart)
{
    std::string a = statics("a", 0), b = statics("b", 8);
    std::string expected = R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] VAR 'counter' type_id=1 linkage=static
[3] VAR 'a' type_id=1 linkage=global
[4] VAR 'counter' type_id=1 linkage=static
[5] VAR 'b' type_id=1 linkage=global
[6] DATASEC '.data' size=32 vlen=4
	type_id=2 offset=0 size=4
	type_id=3 offset=4 size=4
	type_id=4 offset=24 size=4
	type_id=5 offset=28 size=4
)";
    EXPECT_EQ(merged(dir_, {a, b}), expected);
    EXPECT_EQ(merged(dir_, {join({a, b})}), expected);
    EXPECT_EQ(merged(dir_, {a, b}, link({a, b}, kernel_like)), expected);
    // Offsets depend on the order in the link, not on that of the merge's inputs.
    std::string swapped = text_of(merged(dir_, {a, b}, link({b, a}, kernel_like)));
    EXPECT_TRUE(has(swapped, "type_id=4 offset=8 size=4\n\ttype_id=5 offset=12 size=4\n"
                             "\ttype_id=2 offset=16 size=4\n\ttype_id=3 offset=20"))
        << swapped;
}

TEST_F(Variables, PerCpuAtAddressZero)
{
    std::string a = percpu("a", false);
    std::string image = link({a}, kernel_like);
    Options options;
    options.inputs = {a};
    options.image = image;
    std::string text = text_of(merged(dir_, options));
    EXPECT_TRUE(has(text, "DATASEC '.data..percpu' size=8 vlen=2\n\ttype_id=3 offset=0 size=4\n"
                          "\ttype_id=5 offset=4 size=4\n"))
        << text;
}

TEST_F(Variables, DiscardedOnesAreLeftOut)
{
    std::string a = statics("a", 0), b = percpu("b", false);
    std::string text = text_of(merged(dir_, {a, b}, link({a, b}, R"(
        SECTIONS {
            .data 0x1000 : { *(.data) }
            .debug 0 : { *(.debug) }
            .data..percpu 0 : { LONG(0) }
            /DISCARD/ : { *(.data..percpu*) }
        })")));
    EXPECT_TRUE(has(text, "DATASEC '.data' size=8 vlen=2")) << text;
    EXPECT_FALSE(has(text, "percpu")) << text;
    EXPECT_FALSE(has(text, "shared")) << text;
}

/// Two DATASECs of 2 GB are joined to one of 4 GB, but a size has 32 bits.
TEST_F(Variables, SizeThatDoesNotFit)
{
    const std::string half = "[1] DATASEC '.data' size=2147483648", a = make_raw(dir_, "a", half),
                      b = make_raw(dir_, "b", half);
    EXPECT_EQ(merged(dir_, {a, b}), "[1] DATASEC '.data' size=4294967295 vlen=0\n");
}

/// A relocation may put a variable before its section.
TEST_F(Variables, NegativeOffsetIsLeftOut)
{
    const std::string a = make_object(dir_, "a",
                                      {.btf = R"(
            [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
            [2] VAR 'before' type_id=1 linkage=static
            [3] VAR 'inside' type_id=1 linkage=static
            [4] DATASEC '.data' size=8
                type_id=2 offset=0 size=4
                type_id=3 offset=0 size=4)",
                                       .plain_end = 2,
                                       .assembly = ".data\n.long 1, 2\n",
                                       .variables = {{2, ".data-2"}, {3, ".data+4"}}});
    const std::string text = text_of(merged(dir_, {a}));
    EXPECT_TRUE(has(text, "VAR 'inside'")) << text;
    EXPECT_FALSE(has(text, "VAR 'before'")) << text;
}

TEST_F(Variables, StrongBeatsWeak)
{
    std::string a = percpu("a", true), b = percpu("b", false);
    for (bool weak_first : {true, false}) {
        std::vector<std::string> inputs = weak_first ? std::vector{a, b} : std::vector{b, a};
        std::string offset = weak_first ? "8" : "0";
        for (int form = 0; form < 3; ++form) {
            std::string text =
                text_of(form == 0   ? merged(dir_, inputs)
                        : form == 1 ? merged(dir_, {join(inputs)})
                                    : merged(dir_, inputs, link(inputs, kernel_like)));
            // `shared` has the type of the strong definition, in b, and one tag.
            size_t at = text.find("TYPEDEF 'b_t'");
            ASSERT_NE(at, text.npos) << text;
            std::string id = text.substr(text.rfind('[', at) + 1, 1);
            EXPECT_TRUE(has(text, "VAR 'shared' type_id=" + id)) << text;
            EXPECT_EQ(text.find("VAR 'shared'"), text.rfind("VAR 'shared'")) << text;
            EXPECT_EQ(text.find("DECL_TAG"), text.rfind("DECL_TAG")) << text;
            EXPECT_TRUE(has(text, "vlen=3")) << text;
            EXPECT_TRUE(has(text, "offset=" + offset + " size=4")) << text;
        }
    }
}

TEST_F(Variables, OnlyPerCpuByDefault)
{
    std::string a = statics("a", 0), b = percpu("b", false);
    Options options;
    options.inputs = {a, b};
    std::string text = text_of(merged(dir_, options));
    EXPECT_FALSE(has(text, "'.data'")) << text;
    EXPECT_TRUE(has(text, "'.data..percpu'")) << text;
    options.features = FeatureSet();
    EXPECT_FALSE(has(text_of(merged(dir_, options)), "DATASEC"));
}

TEST_F(Variables, ObjectsThatWereNotLinkedAreLeftOut)
{
    std::string a = statics("a", 0), b = percpu("b", false);
    std::string image = link({a}, kernel_like);
    std::string expected = text_of(merged(dir_, {a}, image));
    EXPECT_EQ(merged(dir_, {a, b}, image), expected);

    // A malformed type in an object that was not linked must not be an error, with any number of
    // threads.
    const std::string c = malformed("c");
    Options options;
    options.inputs = {a, c};
    options.image = image;
    options.features.add(Feature::global_var);
    for (unsigned threads : {1u, 3u}) {
        options.threads = threads;
        EXPECT_EQ(merged(dir_, options), expected) << threads;
    }
    EXPECT_TRUE(fails(merged(dir_, {a, c}), "c.o: .BTF+"));
    // Nor must an error in a linked object be reported for an object that was not linked.
    options.inputs = {c, malformed("d")};
    options.image = link({options.inputs[1]}, kernel_like);
    EXPECT_TRUE(fails(merged(dir_, options), "d.o: .BTF+"));
}

TEST_F(Variables, ImageOfOtherObjects)
{
    const std::string image = link({statics("a", 0)}, kernel_like);
    // The object is made again, with other contents.
    EXPECT_TRUE(fails(merged(dir_, {percpu("a", false)}, image),
                      "a.o: is not in " + image + ": nothing is written"));
    EXPECT_TRUE(fails(merged(dir_, {percpu("b", false), percpu("c", false)}, image),
                      "no input is in " + image + ": nothing is written"));
}

/// Objects that were not linked must not change which types of linked objects are read.
TEST_F(Variables, ObjectsThatWereNotLinkedDoNotAffectOthers)
{
    auto object = [&](const std::string &name, const std::string &member) {
        return make_object(dir_, name,
                           {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] STRUCT 's' size=4
                    ')" + member + R"(' type_id=1 bits_offset=0
                [3] PTR '' type_id=2
                [4] STRUCT 'u' size=8
                    'p' type_id=3 bits_offset=0
                [5] STRUCT 'twice' size=4
                    'a' type_id=1 bits_offset=0
                [6] STRUCT 'twice' size=4
                    'b' type_id=1 bits_offset=0
                [7] VAR ')" + name +
                                   R"(' type_id=3 linkage=global
                [8] DATASEC '.data' size=8
                    type_id=7 offset=0 size=8)",
                            .plain_end = 7,
                            .assembly = ".data\n.globl " + name + "\n" + name +
                                        ": .quad 1\n.type " + name + ", @object\n",
                            .variables = {{7, name, var_external}}});
    };
    const std::string a = object("a", "m"), b = object("b", "m"), c = object("c", "other");
    Options options;
    options.image = link({a, b}, kernel_like);
    options.features.add(Feature::global_var);
    options.inputs = {a, b};
    const std::string expected = text_of(merged(dir_, options));
    ASSERT_NE(expected.find("VAR 'b'"), expected.npos) << expected;

    // The PTR of b becomes invalid, so that the merge fails if it reads this type. Usually, the
    // merge reads only the PTR of a, which has the same hash. If struct s has two definitions, the
    // merge also reads the PTR of b, because b defines a name, `twice`, twice. The second
    // definition of s is in c, which is not linked.
    std::vector<std::byte> bytes = *read_file(b);
    const std::array magic{std::byte{0x9f}, std::byte{0xeb}};
    auto blob = std::search(bytes.begin(), bytes.end(), magic.begin(), magic.end());
    ASSERT_NE(blob, bytes.end());
    const size_t header = 24, pointer = 16 + 24, kind = 7;
    ASSERT_EQ(blob[header + pointer + kind], std::byte{static_cast<uint32_t>(btf::Kind::PTR)});
    blob[header + pointer + kind] = std::byte{static_cast<uint32_t>(btf::Kind::DATASEC)};
    ASSERT_TRUE(write_file(b, bytes));
    options.inputs = {a, b, c};
    for (unsigned threads : {1u, 2u, 3u}) {
        options.threads = threads;
        EXPECT_EQ(merged(dir_, options), expected) << threads;
    }
    options.image = "";
    for (unsigned threads : {1u, 2u, 3u}) {
        options.threads = threads;
        EXPECT_TRUE(fails(merged(dir_, options), "b.o: .BTF+")) << threads;
    }
}

TEST_F(Variables, WithoutPoolSymbolsGiveTheAddresses)
{
    std::string a = statics("a", 0), b = statics("b", 8);
    std::string image = link({a, b}, kernel_like);
    run("objcopy --strip-debug " + image);
    std::string text = text_of(merged(dir_, {a, b}, image));
    // Two static variables have one name, and cannot be told apart.
    EXPECT_FALSE(has(text, "counter")) << text;
    EXPECT_TRUE(has(text, "DATASEC '.data' size=32 vlen=2\n\ttype_id=2 offset=4 size=4\n"
                          "\ttype_id=3 offset=28 size=4"))
        << text;
}

/// Raw object BTF has no relocations, and the offsets in it are not those in the image. (In these
/// objects they are 0, as in objects by the gcc plugin.)
TEST_F(Variables, WithoutPoolSymbolsGiveTheAddressesOfRawObjects)
{
    const std::string a = statics("a", 0), b = statics("b", 8), image = link({a, b}, kernel_like);
    run("objcopy --strip-debug " + image);
    std::vector<std::string> raw;
    for (const std::string &object : {a, b}) {
        raw.push_back(object + ".btf");
        run("objcopy --dump-section .BTF=" + raw.back() + " " + object);
    }
    EXPECT_EQ(text_of(merged(dir_, raw, image)), text_of(merged(dir_, {a, b}, image)));
}

/// Two objects define a static `counter`. The linker drops one of these variables, so the name is
/// unique in the image.
TEST_F(Variables, WithoutPoolADroppedStaticGetsNoPlaceOfAnother)
{
    std::string a = statics("a", 0), b = statics("b", 8);
    std::string image = link({a, b}, R"(
        SECTIONS {
            .data 0x1000 : { *b.o(.data) }
            /DISCARD/ : { *(.data .debug) }
        })");
    std::string text = text_of(merged(dir_, {a, b}, image));
    EXPECT_FALSE(has(text, "counter")) << text;
    EXPECT_FALSE(has(text, "VAR 'a'")) << text;
    EXPECT_TRUE(has(text, "VAR 'b'")) << text;
}

/// A symbol of another binding or size is that of another variable.
TEST_F(Variables, WithoutPoolOnlyAnEqualSymbolGivesAPlace)
{
    auto object = [&](const std::string &name, const char *linkage, int size) {
        const std::string bytes = std::to_string(size);
        return make_object(
            dir_, name,
            {.btf = "[1] INT 'int" + bytes + "' size=" + bytes +
                    " bits_offset=0 nr_bits=" + std::to_string(size * 8) +
                    " encoding=SIGNED\n[2] VAR 'counter' type_id=1 " + "linkage=" + linkage +
                    "\n[3] DATASEC '.data' size=" + bytes + "\n\ttype_id=2 offset=0 size=" + bytes,
             .plain_end = 2,
             .assembly = std::string(".data\n.") + (*linkage == 'g' ? "globl" : "local") +
                         " counter\n.type counter, @object\n.size counter, " + bytes +
                         "\ncounter: .zero " + bytes + "\n",
             .variables = {{2, *linkage == 'g' ? "counter" : ".data+0"}}});
    };
    const std::string own = object("a", "static", 4), same = object("b", "static", 4),
                      larger = object("c", "static", 8), global = object("d", "global", 4),
                      larger_global = object("e", "global", 8);
    auto with_image_of = [&](const std::string &kept, std::vector<std::string> inputs) {
        const std::string image = link({kept}, kernel_like);
        run("objcopy --strip-debug " + image);
        return text_of(merged(dir_, std::move(inputs), image));
    };
    EXPECT_TRUE(has(with_image_of(same, {own}), "VAR 'counter' type_id=1 linkage=static"));
    for (const std::string &kept : {larger, global, larger_global})
        EXPECT_FALSE(has(with_image_of(kept, {own}), "VAR")) << kept;
    EXPECT_FALSE(has(with_image_of(larger, {global}), "VAR"));
    EXPECT_FALSE(has(with_image_of(own, {global, own}), "linkage=global"));
    const std::string text = with_image_of(global, {own, global});
    EXPECT_TRUE(has(text, "linkage=global") && !has(text, "linkage=static")) << text;

    // Exception: linkers make the symbols of hidden variables local.
    const std::string image = link({global}, kernel_like);
    run("objcopy --strip-debug --localize-symbol=counter " + image);
    EXPECT_TRUE(has(text_of(merged(dir_, {global}, image)), "linkage=global"));
}

TEST_F(Variables, WithoutPoolEqualOffsetsInTwoSectionsAreTwoPlaces)
{
    std::string a = statics("a", 0), b = make_object(dir_, "b",
                                                     {.btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'counter' type_id=1 linkage=static
        [3] DATASEC '.bss' size=4
            type_id=2 offset=0 size=4)",
                                                      .plain_end = 2,
                                                      .assembly = R"(
        .bss
        counter: .zero 4
        .type counter, @object
)",
                                                      .variables = {{2, ".bss+0"}}});
    std::string module = join({a, b});
    EXPECT_TRUE(has(text_of(merged(dir_, {a, b}, module)), "counter"));
    run("objcopy --strip-debug " + module);
    std::string text = text_of(merged(dir_, {a, b}, module));
    EXPECT_FALSE(has(text, "counter")) << text;
    EXPECT_TRUE(has(text, "VAR 'a'")) << text;
}

TEST_F(Variables, CompressedImage)
{
    // objcopy compresses a section only if it becomes smaller, so there must be several pools.
    std::vector<std::string> objects;
    for (const char *name : {"a", "b", "c", "d", "e", "f", "g", "h"})
        objects.push_back(statics(name, 8));
    std::string image = link(objects, kernel_like);
    std::string plain = text_of(merged(dir_, objects, image));
    run("objcopy --compress-debug-sections=zlib " + image + " && readelf -SW " + image +
        " | grep -q ' \\.debug .* C '");
    EXPECT_EQ(merged(dir_, objects, image), plain);
    EXPECT_TRUE(has(plain, "offset=28"));
}

TEST_F(Variables, ModuleIsItsOwnImage)
{
    std::string a = statics("a", 0), b = percpu("b", false);
    std::string module = join({a, b});
    std::string expected = text_of(merged(dir_, {module}));
    EXPECT_EQ(merged(dir_, {module}, module), expected);
    EXPECT_EQ(merged(dir_, {a, b}, module), expected);
    EXPECT_EQ(merged(dir_, {a, b}), expected);
}

/// `large` is a large common symbol of x86-64 (-mcmodel=medium).
TEST_F(Variables, CommonAndUndefined)
{
    std::string a = make_object(dir_, "a",
                                {.btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'com' type_id=1 linkage=global
        [3] VAR 'away' type_id=1 linkage=global
        [4] VAR 'large' type_id=1 linkage=global
        [5] DATASEC '.data' size=12
            type_id=2 offset=0 size=4
            type_id=3 offset=0 size=4
            type_id=4 offset=0 size=4)",
                                 .plain_end = 2,
                                 .assembly = ".comm com,4,4\n.largecomm large,4,4\n",
                                 .variables = {{2, "com"}, {3, "away"}, {4, "large"}}});
    EXPECT_EQ(merged(dir_, {a}), "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n");
    std::string text = text_of(merged(dir_, {a}, link({a}, R"(
        SECTIONS {
            .text 0x1000 : { *(.text) }
            .bss 0x2000 : { *(COMMON) }
            .lbss 0x3000 : { *(LARGE_COMMON) }
            .debug 0 : { *(.debug) }
            away = 0;
        })")));
    EXPECT_TRUE(has(text, "DATASEC '.bss' size=4 vlen=1\n\ttype_id=2 offset=0")) << text;
    EXPECT_TRUE(has(text, "DATASEC '.lbss' size=4 vlen=1\n\ttype_id=3 offset=0")) << text;
}

/// Most linkers give a common variable the largest size that an object states.
TEST_F(Variables, LargestCommonOneIsKept)
{
    auto common = [&](const std::string &name, uint32_t count) {
        const uint32_t size = count * 4;
        return make_object(dir_, name,
                           {.btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] ARRAY '' type_id=1 index_type_id=1 nr_elems=)" +
                                   std::to_string(count) + R"(
        [3] VAR 'table' type_id=2 linkage=global)",
                            .plain_end = 3,
                            .assembly = ".comm table," + std::to_string(size) + ",4\n",
                            .variables = {{.var = 3, .symbol = "table", .size = size}}});
    };
    std::vector<std::string> inputs = {common("a", 2), common("b", 9), common("c", 4)};
    for (int order = 0; order < 3; ++order) {
        std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
        std::string text = text_of(merged(dir_, inputs, link(inputs, R"(
        SECTIONS {
            .text 0x1000 : { *(.text) }
            .bss 0x2000 : { *(COMMON) }
            .debug 0 : { *(.debug) }
        })")));
        // The VAR is that of b: it comes directly after b's array, which has nine elements.
        const size_t at = text.find("nr_elems=9\n");
        ASSERT_NE(at, text.npos) << text;
        EXPECT_EQ(text.find("] VAR 'table'"), text.find(']', at)) << text;
        EXPECT_TRUE(has(text, "DATASEC '.bss' size=36 vlen=1\n")) << text;
        EXPECT_TRUE(has(text, " offset=0 size=36\n")) << text;
    }
}

TEST_F(Variables, AddendsInTheSection)
{
    auto object = [&](const std::string &name) {
        return make_object(dir_, name,
                           {.btf = R"(
            [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
            [2] VAR ')" + name + R"(' type_id=1 linkage=static
            [3] DATASEC '.data' size=4
                type_id=2 offset=0 size=4)",
                            .plain_end = 2,
                            .assembly = ".data\n.long 7\n" + name + ": .long 8\n",
                            .variables = {{2, ".data+4"}},
                            .address_size = 4});
    };
    std::string a = object("a"), b = object("b");
    std::string text = text_of(merged(dir_, {a, b}));
    EXPECT_TRUE(has(text, "vlen=2\n\ttype_id=2 offset=4 size=4\n\ttype_id=3 offset=12 size=4"))
        << text;
    run("ld -m elf_i386 -r -o " + (dir_ / "joined.o") + " " + a + " " + b);
    EXPECT_EQ(merged(dir_, {dir_ / "joined.o"}), text);
    Options verified;
    verified.inputs = {dir_ / "joined.o"};
    verified.verify = true;
    verified.features.add(Feature::global_var);
    EXPECT_EQ(merged(dir_, verified), text);
    run("ld -m elf_i386 -e 0 -Tdata=0x5000 -o " + (dir_ / "image") + " " + a + " " + b);
    EXPECT_EQ(merged(dir_, {a, b}, dir_ / "image"), text);
    std::string other = statics("c", 0);
    EXPECT_TRUE(fails(merged(dir_, {a, other}), "c.o: is for another machine"));
}

TEST_F(Variables, PlainSectionInTheImageItself)
{
    // btf-emit --section-type=progbits --no-exclude makes sections that stay in the linked file.
    auto object = [&](const char *name, bool pool) {
        return make_object(dir_, name,
                           {.btf = std::string(R"(
            [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
            [2] VAR ')") + name + R"(' type_id=1 linkage=static
            [3] DATASEC '.data' size=4
                type_id=2 offset=0 size=4)",
                            .plain_end = 2,
                            .assembly = std::string(".data\n.long 7\n") + name + ": .long 8\n",
                            .variables = {{2, ".data+4"}},
                            .pool = pool,
                            .section_flags = "\"\",@progbits"});
    };
    for (bool pool : {true, false}) {
        std::string image = link({object("a", pool), object("b", pool)}, R"(
            SECTIONS {
                .data 0x401000 : { *(.data) }
                .debug 0 : { *(.debug) }
                .BTF 0 : { *(.BTF) }
            })");
        std::string text = text_of(merged(dir_, {image}));
        EXPECT_TRUE(has(text, "vlen=2\n\ttype_id=2 offset=4 size=4\n\ttype_id=3 offset=12 size=4"))
            << text;
        Options verified;
        verified.inputs = {image};
        verified.verify = true;
        verified.features.add(Feature::global_var);
        EXPECT_EQ(text_of(merged(dir_, verified)), text);
    }
}

} // namespace

} // namespace btflink::merge::test
