// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests the variables of BTF that other tools made: pahole, or gcc -gbtf. This BTF has no link
// trailer and no relocations. Symbols show whether the offsets in its DATASECs are right.
#include "tests/merge/object_maker.h"

#include "common/io/file_io.h"

namespace btflink::merge::test
{

namespace
{

class OtherTools : public ObjectTest
{
protected:
    /// Links with a linker script: `sections` is the text in SECTIONS.
    std::string link(const std::vector<std::string> &objects,
                     const std::string &sections = ".data 0x1000 : { *(.data) }")
    {
        auto written = write_file(dir_ / "link.lds", as_bytes("SECTIONS {" + sections + "}"));
        EXPECT_TRUE(written);
        return link_file(dir_, "image", "-e 0 -T " + (dir_ / "link.lds"), objects);
    }

    /// The warnings of a merge, one per line.
    std::string warnings(Options options)
    {
        Report report;
        options.output = dir_ / "out.btf";
        EXPECT_TRUE(merge(options, report));
        std::string out;
        for (const std::string &warning : report.warnings)
            out += warning + '\n';
        return out;
    }
};

/// Raw BTF made from an object has the offsets of this object, not those of the image. gcc -gbtf
/// writes 0 for all offsets. The merge takes the offsets from symbols instead.
TEST_F(OtherTools, OffsetsThatSymbolsContradict)
{
    constexpr const char *zeros = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'one' type_id=1 linkage=global
        [3] VAR 'two' type_id=1 linkage=global
        [4] VAR 'without_symbol' type_id=1 linkage=static
        [5] DATASEC '.data' size=12
            type_id=2 offset=0 size=4
            type_id=3 offset=0 size=4
            type_id=4 offset=0 size=4)";
    const std::string a = make_object(dir_, "a", {.btf = zeros, .assembly = R"(
        .data
        .long 1
        .globl one, two
        one: .long 2
        .type one, @object
        two: .long 3
        .type two, @object
)"});
    Options options;
    options.inputs = {a};
    options.features.add(Feature::global_var);
    for (bool with_image : {false, true}) {
        if (with_image) {
            options.image = link({a});
            options.inputs.push_back(make_raw(dir_, "raw", zeros));
        }
        const std::string text = text_of(merged(dir_, options));
        EXPECT_TRUE(has(text, "type_id=2 offset=4 size=4\n\ttype_id=3 offset=8 size=4\n")) << text;
        EXPECT_FALSE(has(text, "without_symbol")) << text;
        const std::string said = warnings(options);
        EXPECT_TRUE(has(said, "a.o: .BTF+0x0: offsets of variables contradict the symbols"))
            << said;
        EXPECT_EQ(has(said, "used instead (and 1 more)\n"), with_image) << said;
    }
}

/// If an image has no address pools, the offsets of raw object BTF are checked in the same way. The
/// symbol of `own` confirms the offsets in its section, but not those in .data, where two variables
/// have one name.
TEST_F(OtherTools, RawObjectsAndASymbolThatConfirmsOneSection)
{
    constexpr const char *btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'counter' type_id=1 linkage=static
        [3] VAR 'own' type_id=1 linkage=static
        [4] DATASEC '.data' size=4
            type_id=2 offset=0 size=4
        [5] DATASEC '.mine' size=4
            type_id=3 offset=0 size=4)";
    const std::string counter = "\n.data\ncounter: .long 1\n.type counter, @object\n",
                      own = ".section .mine, \"aw\"\nown: .long 2\n.type own, @object\n";
    const std::string a = make_object(dir_, "a", {.btf = "", .assembly = counter});
    const std::string b = make_object(dir_, "b",
                                      {.btf = btf,
                                       .plain_end = 2,
                                       .assembly = counter + own,
                                       .variables = {{2, ".data"}, {3, ".mine"}}});
    Options options;
    options.inputs = {dir_ / "b.btf"};
    options.image = link({a, b}, ".data 0x1000 : { *(.data) } .mine 0x2000 : { *(.mine) }");
    options.features.add(Feature::global_var);
    run("objcopy --strip-debug " + options.image);
    run("objcopy --dump-section .BTF=" + options.inputs[0] + " " + b);
    const std::string text = text_of(merged(dir_, options));
    EXPECT_TRUE(has(text, "VAR 'own'")) << text;
    EXPECT_FALSE(has(text, "counter")) << text;
}

/// If several static variables have one name, symbols do not show which of them is where.
TEST_F(OtherTools, OffsetsThatNoSymbolConfirms)
{
    const std::string btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'twice' type_id=1 linkage=static
        [3] DATASEC '.data' size=4
            type_id=2 offset=0 size=4)";
    const ObjectSpec spec = {.btf = btf, .assembly = R"(
        .data
        twice: .long 1
        .type twice, @object
        .size twice, 4
)"};
    const std::string a = make_object(dir_, "a", spec), b = make_object(dir_, "b", spec),
                      image = link({a, b});
    EXPECT_TRUE(
        has(text_of(merged(dir_, {a, b})), "type_id=2 offset=0 size=4\n\ttype_id=3 offset=4"));
    EXPECT_FALSE(has(text_of(merged(dir_, {a, b}, image)), "VAR"));
    EXPECT_FALSE(has(text_of(merged(dir_, {link_file(dir_, "joined.o", "-r", {a, b})})), "VAR"));
    const std::string raw = make_raw(dir_, "raw", btf);
    EXPECT_FALSE(has(text_of(merged(dir_, {raw}, image)), "VAR"));
    EXPECT_TRUE(has(text_of(merged(dir_, {raw}, link({a}))), "VAR"));
    // If the image has no symbols, the offsets in the BTF are taken as right.
    run("strip " + image);
    EXPECT_TRUE(has(text_of(merged(dir_, {raw}, image)), "VAR"));
}

TEST_F(OtherTools, WarningSaysWhyVariablesAreLeftOut)
{
    Options options;
    options.inputs = {make_object(dir_, "a",
                                  {.btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'listed' type_id=1 linkage=global
        [3] VAR 'listed_too' type_id=1 linkage=global
        [4] VAR 'not_listed' type_id=1 linkage=global
        [5] DATASEC '.data' size=8
            type_id=2 offset=0 size=4
            type_id=3 offset=4 size=4)",
                                   .assembly = ".data\n.globl any\nany: .quad 1\n"})};
    options.features.add(Feature::global_var);
    const std::string said = warnings(options);
    EXPECT_TRUE(has(said, "2 variables are left out, because no symbol shows where they are; "
                          "the first is variable listed of "))
        << said;
    EXPECT_TRUE(has(said, "1 variable is left out, because no DATASEC lists it; "
                          "the first is variable not_listed of "))
        << said;
}

/// gcc -gbtf -fdata-sections writes one DATASEC for variables in several sections.
TEST_F(OtherTools, SymbolInAnotherSectionThanTheDatasec)
{
    const std::string a = make_object(dir_, "a",
                                      {.btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'one' type_id=1 linkage=global
        [3] VAR 'two' type_id=1 linkage=static
        [4] DATASEC '.data' size=8
            type_id=2 offset=0 size=4
            type_id=3 offset=0 size=4)",
                                       .assembly = R"(
        .section .data.one,"aw",@progbits
        .globl one
        one: .long 1
        .type one, @object
        .section .data.two,"aw",@progbits
        .long 2
        two: .long 3
        .type two, @object
)"});
    const std::string text = text_of(merged(dir_, {a}));
    EXPECT_TRUE(has(text, "DATASEC '.data.one' size=4 vlen=1\n\ttype_id=2 offset=0")) << text;
    EXPECT_TRUE(has(text, "DATASEC '.data.two' size=8 vlen=1\n\ttype_id=3 offset=4")) << text;
    const std::string linked =
        text_of(merged(dir_, {a}, link({a}, ".other 0x2000 : { LONG(0) *(.data*) }")));
    EXPECT_TRUE(has(linked, "DATASEC '.other' size=8 vlen=1\n\ttype_id=2 offset=4")) << linked;
}

/// Of the VARs of a weak and a strong definition, or of two common symbols, the one with the size
/// of the image's symbol is kept.
TEST_F(OtherTools, SizeOfTheSymbolDecides)
{
    auto object = [&](const std::string &name, const std::string &size, const char *head) {
        return make_object(dir_, name,
                           {.btf = "[1] INT 'int" + size + "' size=" + size +
                                   " bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                                   "[2] VAR 'x' type_id=1 linkage=global\n"
                                   "[3] DATASEC '.data' size=" +
                                   size + "\n\ttype_id=2 offset=0 size=" + size,
                            .assembly = head + (".type x, @object\n.size x, " + size + "\n")});
    };
    const std::string weak = object("a", "4", ".data\n.weak x\nx: .long 1\n"),
                      strong = object("b", "8", ".data\n.long 0\n.globl x\nx: .quad 1\n"),
                      small = object("c", "4", ".comm x,4,4\n"),
                      large = object("d", "8", ".comm x,8,4\n"),
                      large_weak = object("e", "8", ".data\n.weak x\nx: .quad 1\n"),
                      small_strong = object("f", "4", ".data\n.long 0\n.globl x\nx: .long 1\n");
    for (const auto &[a, b, size] : {std::tuple(weak, strong, 8), std::tuple(small, large, 8),
                                     std::tuple(large_weak, small_strong, 4)}) {
        const std::string image = link({a, b}, ".data 0x1000 : { *(.data) *(COMMON) }");
        for (const auto &inputs : {std::vector{a, b}, std::vector{b, a}}) {
            const std::string text = text_of(merged(dir_, inputs, image));
            EXPECT_TRUE(has(text, "vlen=1\n") && text.ends_with(strf(" size=%d\n", size))) << text;
        }
    }
}

/// In the output of `ld -r`, the section .BTF has the relocations of one object, but the other
/// object, which another tool made, has none.
TEST_F(OtherTools, JoinedWithAnObjectOfBtfEmit)
{
    auto object = [&](const std::string &name, bool is_ours) {
        ObjectSpec spec = {.btf = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR ')" + name + R"(' type_id=1 linkage=global
        [3] DATASEC '.data' size=4
            type_id=2 offset=0 size=4)",
                           .assembly = ".data\n.globl " + name + "\n" + name + ": .long 1\n.type " +
                                       name + ", @object\n",
                           .section_flags = "\"\",@progbits"};
        if (is_ours) {
            spec.plain_end = 2;
            spec.variables = {{2, name, var_external}};
        }
        return make_object(dir_, name, spec);
    };
    const std::string theirs = object("theirs", false), ours = object("ours", true),
                      joined = link_file(dir_, "joined.o", "-r", {theirs, ours}),
                      text = text_of(merged(dir_, {joined}));
    EXPECT_TRUE(has(text, "[2] VAR 'theirs'")) << text;
    EXPECT_TRUE(has(text, "DATASEC '.data' size=8 vlen=2\n\ttype_id=2 offset=0 size=4\n"
                          "\ttype_id=3 offset=4 size=4\n"))
        << text;
}

/// Two DATASECs of one name stay separate, with and without a base.
TEST_F(OtherTools, EmptyDatasecsOfOneName)
{
    Options options;
    options.inputs = {
        make_raw(dir_, "raw", "[1] DATASEC '.data' size=4\n[2] DATASEC '.data' size=4")};
    options.features.add(Feature::global_var);
    const std::string base =
        make_raw(dir_, "base", "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED");
    for (const std::string &over : {std::string(), base}) {
        options.base = over;
        const std::string text = text_of(merged(dir_, options)), datasec = "DATASEC '.data' size=4";
        EXPECT_NE(text.find(datasec), text.rfind(datasec)) << text;
    }
}

/// A global symbol does not belong to a static VAR of its name.
TEST_F(OtherTools, SymbolOfAnotherLinkageThanTheVar)
{
    const std::string raw = make_raw(dir_, "raw", R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'one' type_id=1 linkage=global
        [3] VAR 'two' type_id=1 linkage=static
        [4] DATASEC '.data' size=8
            type_id=2 offset=0 size=4
            type_id=3 offset=0 size=4)");
    const std::string image = link({make_object(dir_, "a", {.btf = "", .assembly = R"(
        .data
        .globl one, two
        two: .long 1
        .type two, @object
        one: .long 2
        .type one, @object
)"})});
    const std::string text = text_of(merged(dir_, {raw}, image));
    EXPECT_TRUE(has(text, "size=8 vlen=1\n\ttype_id=2 offset=4 size=4")) << text;
    EXPECT_FALSE(has(text, "two")) << text;
}

} // namespace

} // namespace btflink::merge::test
