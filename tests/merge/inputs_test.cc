// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests valid inputs of btf-merge, and its errors about invalid ones.
#include "tests/merge/object_maker.h"

#include "common/btf/btf_builder.h"
#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "tests/tools/btf_text.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <tuple>

namespace btflink::merge::test
{

namespace
{

class Inputs : public ObjectTest
{
protected:
    std::string object(const std::string &name)
    {
        return make_object(dir_, name,
                           {.btf = R"(
                [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                [2] STRUCT ')" + name +
                                   R"(' size=4
                    'm' type_id=1 bits_offset=0
                [3] VAR ')" + name +
                                   R"(_v' type_id=2 linkage=global
                [4] FUNC_PROTO '' ret_type_id=0
                    'x' type_id=1
                [5] FUNC ')" + name +
                                   R"(_f' type_id=4 linkage=static
                [6] DATASEC '.data' size=4
                    type_id=3 offset=0 size=4)",
                            .plain_end = 3,
                            .assembly = ".data\n" + name + "_v: .long 0\n.text\n.globl " + name +
                                        "_f\n.type " + name + "_f,@function\n" + name + "_f: ret\n",
                            .functions = {{name + "_f", ".text", 5}},
                            .variables = {{3, ".data"}}});
    }
    void write_text(const std::string &path, const std::string &text)
    {
        ASSERT_TRUE(write_file(path, as_bytes(text)));
    }
};

TEST_F(Inputs, ArchivesAndResponseFiles)
{
    std::string a = object("a"), b = object("b");
    std::string expected = text_of(merged(dir_, {a, b}));
    EXPECT_NE(expected.find("b_f"), expected.npos);
    write_text(dir_ / "note.txt", "no object");
    run("ar rc " + (dir_ / "fat.a") + " " + a + " " + (dir_ / "note.txt") + " " + b);
    run("ar rcT " + (dir_ / "thin.a") + " " + a + " " + b);
    run("ar rc " + (dir_ / "outer.a") + " " + (dir_ / "fat.a"));
    for (const char *archive : {"fat.a", "thin.a", "outer.a"})
        EXPECT_EQ(merged(dir_, {dir_ / archive}), expected) << archive;
    run("cp " + b + " '" + (dir_ / "b c.o") + "'");
    write_text(dir_ / "inner.rsp", "'" + (dir_ / "b c.o") + "'");
    write_text(dir_ / "outer.rsp", "\t" + a + "\r\n\"@" + (dir_ / "inner.rsp") + "\"\n\n");
    EXPECT_EQ(merged(dir_, {"@" + (dir_ / "outer.rsp")}), expected);
    write_text(dir_ / "self.rsp", "@" + (dir_ / "self.rsp"));
    EXPECT_TRUE(fails(merged(dir_, {"@" + (dir_ / "self.rsp")}), "nested too deeply"));
    write_text(dir_ / "open.rsp", "'abc");
    EXPECT_TRUE(
        fails(merged(dir_, {"@" + (dir_ / "open.rsp")}), "open.rsp+0x4: missing closing '"));
    write_text(dir_ / "nul.rsp", a + '\0' + b); // the name after the NUL would be lost
    EXPECT_TRUE(fails(merged(dir_, {"@" + (dir_ / "nul.rsp")}), "has a NUL byte"));
}

TEST_F(Inputs, ThreadsDoNotMatter)
{
    Options options;
    for (int i = 0; i < 20; ++i)
        options.inputs.push_back(object("o" + std::to_string(i)));
    options.features.add(Feature::global_var);
    auto one = merged_bytes(dir_, options);
    ASSERT_FALSE(one.empty());
    for (unsigned threads : {2u, 3u, 16u}) {
        options.threads = threads;
        EXPECT_EQ(merged_bytes(dir_, options), one);
    }
}

TEST_F(Inputs, RawBlobsOfOtherTools)
{
    // In the BTF of other tools, functions and variables need not be last.
    std::string a = make_raw(dir_, "a", R"(
        [1] FUNC_PROTO '' ret_type_id=0
            'p' type_id=4
        [2] FUNC 'f' type_id=1 linkage=global
        [3] VAR 'v' type_id=4 linkage=global
        [4] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [5] PTR '' type_id=6
        [6] FUNC_PROTO '' ret_type_id=4
        [7] FUNC 'g' type_id=6 linkage=static
        [8] DECL_TAG 'ft' type_id=2 component_idx=0
        [9] DECL_TAG 'vt' type_id=3 component_idx=-1
        [10] DATASEC '.data..percpu' size=8
            type_id=3 offset=4 size=4)");
    std::string b = make_raw(dir_, "b", R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] VAR 'w' type_id=1 linkage=global
        [3] DATASEC '.data..percpu' size=4
            type_id=2 offset=0 size=4)");
    EXPECT_EQ(merged(dir_, {a, b}), R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] PTR '(anon)' type_id=3
[3] FUNC_PROTO '(anon)' ret_type_id=1 vlen=0
[4] VAR 'v' type_id=1 linkage=global
[5] DECL_TAG 'vt' type_id=4 component_idx=-1
[6] VAR 'w' type_id=1 linkage=global
[7] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
	'p' type_id=1
[8] FUNC 'f' type_id=7 linkage=static
[9] DECL_TAG 'ft' type_id=8 component_idx=0
[10] FUNC 'g' type_id=3 linkage=static
[11] DATASEC '.data..percpu' size=12 vlen=2
	type_id=4 offset=4 size=4
	type_id=6 offset=8 size=4
)");
}

TEST_F(Inputs, SplitOverABase)
{
    std::string base = make_raw(dir_, "base", R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] STRUCT 'a' size=4
            'm' type_id=1 bits_offset=0
        [3] FUNC_PROTO '' ret_type_id=0
            'x' type_id=1
        [4] FUNC 'a_f' type_id=3 linkage=static)");
    Options options;
    options.inputs = {object("a"), object("b")};
    options.base = base;
    std::string expected = R"([5] STRUCT 'b' size=4 vlen=1
	'm' type_id=1 bits_offset=0
[6] FUNC 'b_f' type_id=3 linkage=static
)";
    EXPECT_EQ(merged(dir_, options), expected);
    // The same base in an ELF file, and as raw BTF with a header of 32 bytes, the newest form.
    Options elf;
    elf.inputs = {base};
    elf.update = dir_ / "vmlinux";
    run("cp " + options.inputs[0] + " " + elf.update);
    Report report;
    ASSERT_TRUE(merge(elf, report));
    auto bytes = read_file(base);
    std::vector<std::byte> longer(bytes->begin(), bytes->begin() + 24);
    longer.resize(32);
    longer[4] = std::byte{32};
    longer.insert(longer.end(), bytes->begin() + 24, bytes->end());
    ASSERT_TRUE(write_file(base, longer));
    EXPECT_EQ(merged(dir_, options), expected);
    Options over_elf = options;
    over_elf.base = elf.update;
    over_elf.output = dir_ / "over.btf";
    ASSERT_TRUE(merge(over_elf, report));
    options.output = dir_ / "over2.btf";
    ASSERT_TRUE(merge(options, report));
    EXPECT_EQ(*read_file(over_elf.output), *read_file(options.output));
    options.inputs = {options.output};
    EXPECT_TRUE(fails(merged(dir_, options), "over2.btf+0x0: is split BTF, perhaps from an earlier "
                                             "--update; an input needs"));
}

TEST_F(Inputs, RawBlobsOf32BitTargets)
{
    std::string small = make_raw(dir_, "small", R"(
        [1] INT 'long int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] PTR '' type_id=1
        [3] STRUCT 's' size=4
            'p' type_id=2 bits_offset=0)");
    EXPECT_TRUE(has(text_of(merged(dir_, {small})), "STRUCT 's'"));
    // A pointer of 8 bytes does not fit into a struct of 4, so the member is left out.
    std::string wrong = make_raw(dir_, "wrong", R"(
        [1] INT 'long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
        [2] PTR '' type_id=1
        [3] STRUCT 's' size=4
            'p' type_id=2 bits_offset=0)");
    EXPECT_TRUE(has(text_of(merged(dir_, {wrong})), "STRUCT 's' size=4 vlen=0"));
}

TEST_F(Inputs, BigEndianBlobs)
{
    auto blob = text_to_btf("[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                            "[2] PTR '' type_id=1\n[3] PTR '' type_id=1",
                            Where{"be"}, ByteOrder::big);
    ASSERT_TRUE(blob);
    ASSERT_TRUE(write_file(dir_ / "be.btf", *blob));
    Options options;
    options.inputs = {dir_ / "be.btf", dir_ / "be.btf"};
    auto bytes = merged_bytes(dir_, options);
    auto btf = Btf::parse(bytes, Where{"out"});
    ASSERT_TRUE(btf);
    EXPECT_EQ(btf->order(), ByteOrder::big);
    EXPECT_EQ(btf->size(), 2u);
    EXPECT_TRUE(fails(merged(dir_, {dir_ / "be.btf", object("a")}),
                      "be.btf+0x0: has another byte order than"));
}

TEST_F(Inputs, NothingToMerge)
{
    write_text(dir_ / "empty.s", "");
    run("as -o " + (dir_ / "empty.o") + " " + (dir_ / "empty.s"));
    run("ar rc " + (dir_ / "empty.a"));
    EXPECT_TRUE(fails(merged(dir_, {dir_ / "empty.o"}), "empty.o: has no BTF: nothing is written"));
    EXPECT_TRUE(fails(merged(dir_, {dir_ / "empty.a"}), "empty.a: has no BTF: nothing is written"));
    write_text(dir_ / "empty.rsp", "\n");
    EXPECT_TRUE(fails(merged(dir_, {"@" + (dir_ / "empty.rsp")}),
                      "empty.rsp: names no file: nothing is written"));
    EXPECT_TRUE(fails(merged(dir_, {dir_ / "empty.o", dir_ / "empty.a"}),
                      "no input has BTF: nothing is written"));
    write_text(dir_ / "dwarf.s", ".section .debug_info\n.byte 0\n");
    run("as -o " + (dir_ / "dwarf.o") + " " + (dir_ / "dwarf.s"));
    EXPECT_TRUE(fails(merged(dir_, {dir_ / "dwarf.o"}),
                      "dwarf.o: has no BTF; btf-emit makes BTF from DWARF"));
    // BTF without types. merged() checks that the output of an earlier run is removed.
    write_text(dir_ / "out.btf", "old");
    const std::vector<std::byte> none = BtfBuilder().serialize(host_order);
    ASSERT_TRUE(write_file(dir_ / "none.btf", none));
    EXPECT_TRUE(
        fails(merged(dir_, {dir_ / "none.btf"}), "none.btf: has no types: nothing is written"));
    EXPECT_EQ(merged(dir_, {dir_ / "empty.o", object("a")}), text_of(merged(dir_, {object("a")})));
}

/// remove_output() removes only a regular file. A symbolic link to the file stays. Other kinds of
/// files stay, too, and so does /dev/stdout, which may lead to a regular file.
TEST_F(Inputs, OutputOfAnEarlierRun)
{
    auto removed = [](const std::string &path) { return static_cast<bool>(remove_output(path)); };
    write_text(dir_ / "old", "old");
    run("ln -s old " + (dir_ / "link") + " && ln -s none " + (dir_ / "dangling"));
    EXPECT_TRUE(removed(dir_ / "link"));
    EXPECT_FALSE(read_file(dir_ / "old"));
    for (const char *name : {"link", "dangling"}) {
        EXPECT_TRUE(removed(dir_ / name));
        run("test -L " + (dir_ / name));
    }
    EXPECT_TRUE(removed("/dev/null"));
    run("test -c /dev/null");
    // A regular file to which standard output is redirected is not removed.
    FILE *log = std::fopen((dir_ / "log").c_str(), "w");
    const int saved = dup(STDOUT_FILENO);
    dup2(fileno(log), STDOUT_FILENO);
    const bool done = removed(standard_output);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    std::fclose(log);
    EXPECT_TRUE(done && read_file(dir_ / "log"));
    // A file without a name cannot be removed. It becomes empty.
    FILE *unnamed = std::tmpfile();
    std::fputs("old", unnamed);
    std::fflush(unnamed);
    EXPECT_TRUE(removed("/proc/self/fd/" + std::to_string(fileno(unnamed))));
    EXPECT_EQ(std::fseek(unnamed, 0, SEEK_END), 0);
    EXPECT_EQ(std::ftell(unnamed), 0);
    std::fclose(unnamed);
}

/// A result must not replace an input, under any name of the file.
TEST_F(Inputs, AreNotOverwritten)
{
    std::string a = object("a"), raw = make_raw(dir_, "raw", "[1] FWD 'x' fwd_kind=struct");
    run("ar rcT " + (dir_ / "thin.a") + " " + a);
    write_text(dir_ / "list", a + "\n");
    run("ln -s " + a + " " + (dir_ / "link"));
    auto before = read_file(a);
    ASSERT_TRUE(before);
    auto refused = [&](const std::string &input, const std::string &output,
                       const std::string &base = "") {
        Options options;
        options.inputs = {input};
        options.base = base;
        options.output = output;
        Report report;
        auto done = merge(options, report);
        ASSERT_FALSE(done) << input;
        EXPECT_NE(done.error().str().find("is an input, too; it would be overwritten"),
                  std::string::npos)
            << done.error().str();
        EXPECT_EQ(*read_file(a), *before);
    };
    refused(a, a);
    refused(a, dir_ / "link");
    refused(dir_ / "link", a);
    refused(dir_ / "thin.a", a);
    refused(dir_ / "thin.a", dir_ / "thin.a");
    refused("@" + (dir_ / "list"), a);
    refused("@" + (dir_ / "list"), dir_ / "list");
    write_text(dir_ / "outer", "@" + (dir_ / "list"));
    refused("@" + (dir_ / "outer"), dir_ / "list");
    refused(a, raw, raw);
    run("ar rc " + (dir_ / "whole.a") + " " + a);
    write_text(dir_ / "list", dir_ / "whole.a");
    refused("@" + (dir_ / "list"), dir_ / "whole.a");
}

/// Results must not replace each other or the base.
TEST_F(Inputs, ResultsAreApart)
{
    const std::string a = object("a"), updated = object("updated"), base = dir_ / "x.base";
    ASSERT_TRUE(write_file(base, *read_file(make_raw(dir_, "raw", R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] STRUCT 'a' size=4
            'm' type_id=1 bits_offset=0)"))));
    auto object_before = *read_file(updated), base_before = *read_file(base);
    run("ln " + updated + " " + (dir_ / "hard_link"));
    auto refused = [&](std::string_view why, auto set) {
        Options options;
        options.inputs = {a};
        options.output = dir_ / "x";
        set(options);
        Report report;
        auto done = merge(options, report);
        ASSERT_FALSE(done) << why;
        EXPECT_NE(done.error().str().find(why), std::string::npos) << done.error().str();
        EXPECT_EQ(*read_file(updated), object_before);
        EXPECT_EQ(*read_file(base), base_before);
    };
    refused("is an input, too", [&](Options &o) {
        o.base = base;
        o.features.add(Feature::distilled_base);
    });
    for (const std::string &name : {updated, dir_ / "hard_link"}) {
        refused("is to be updated, too", [&](Options &o) { o.output = name, o.update = updated; });
        refused("is to be updated, too",
                [&](Options &o) { o.time_trace = name, o.update = updated; });
    }
    Options update;
    update.inputs = {a};
    update.update = updated;
    Report report;
    ASSERT_TRUE(merge(update, report)); // now the file has final BTF
    object_before = *read_file(updated);
    refused("is the base, too", [&](Options &o) { o.base = o.update = updated; });
}

TEST_F(Inputs, TraceAndResultAreTwoFiles)
{
    Options options;
    options.inputs = {object("a")};
    options.output = dir_ / "x";
    for (const std::string &trace : {dir_ / "x", dir_ / "./x"}) {
        options.time_trace = trace;
        Report report;
        auto done = merge(options, report);
        ASSERT_FALSE(done);
        EXPECT_NE(done.error().str().find("is written by --output, too"), std::string::npos);
    }
    options.time_trace = "";
    // "./x" is the same file as x only once x exists. So the second run failed after it wrote x.
    const auto result = *read_file(options.output);
    EXPECT_EQ(merged_bytes(dir_, options), result);
}

TEST_F(Inputs, BasesOfOtherMachines)
{
    const std::string a = object("a"), elf = object("elf");
    auto error = [&](const std::string &base) {
        Options options;
        options.inputs = {a};
        options.base = base;
        options.output = dir_ / "out";
        Report report;
        auto done = merge(options, report);
        return done ? "" : done.error().str();
    };
    auto raw = [&](const std::string &name, int bytes) {
        return make_raw(dir_, name,
                        strf("[1] INT 'long int' size=%d bits_offset=0 nr_bits=%d encoding=SIGNED",
                             bytes, bytes * 8));
    };
    EXPECT_NE(error(raw("small", 4)).find("small.btf: pointer size is 4, but that of "),
              std::string::npos);
    EXPECT_EQ(error(raw("same", 8)), "");
    EXPECT_EQ(error(make_raw(dir_, "none", "[1] FWD 'x' fwd_kind=struct")), "");
    // The base is an ELF file, first for the same machine, then for another one with the same
    // pointer size.
    Options options;
    options.inputs = {a};
    options.update = elf;
    Report report;
    ASSERT_TRUE(merge(options, report));
    EXPECT_EQ(error(elf), "");
    auto bytes = *read_file(elf);
    const size_t e_machine = 18;
    bytes[e_machine] = std::byte{183}; // EM_AARCH64
    ASSERT_TRUE(write_file(elf, bytes));
    EXPECT_NE(error(elf).find("elf.o: is for another machine"), std::string::npos);
}

TEST_F(Inputs, RelocationsOfUnknownMachines)
{
    const std::string a = object("a");
    auto bytes = *read_file(a);
    const size_t e_machine = 18;
    bytes[e_machine] = std::byte{0x34};
    bytes[e_machine + 1] = std::byte{0x12};
    ASSERT_TRUE(write_file(a, bytes));
    EXPECT_TRUE(fails(merged(dir_, {a}), "unsupported architecture (ELF machine 4660, 64-bit)"));
}

TEST_F(Inputs, CompactRelocations)
{
    const std::string a = object("a");
    auto bytes = *read_file(a);
    const ElfImage image = *read_elf(bytes, Where{a});
    for (size_t i = 0; i < image.sections.size(); ++i)
        if (image.sections[i].relocates())
            store<uint32_t>(bytes.data() + image.head.e_shoff + i * sizeof(Elf64_Shdr) +
                                offsetof(Elf64_Shdr, sh_type),
                            sht_crel, image.order);
    ASSERT_TRUE(write_file(a, bytes));
    EXPECT_TRUE(fails(merged(dir_, {a}), "compact relocations are not supported"));
}

TEST_F(Inputs, OtherFiles)
{
    EXPECT_TRUE(fails(merged(dir_, {dir_ / "missing.o"}), "missing.o: cannot open"));
    write_text(dir_ / "text", "hello");
    EXPECT_TRUE(
        fails(merged(dir_, {dir_ / "text"}), "text+0x0: neither ELF nor an archive nor BTF"));
    EXPECT_TRUE(fails(merged(dir_, {object("a")}, dir_ / "text"), "text+0x0: neither"));
    std::string raw = make_raw(dir_, "raw", "[1] FWD 'x' fwd_kind=struct");
    EXPECT_TRUE(fails(merged(dir_, {raw}, raw), "is not an ELF file"));
}

/// A type that only one object has is read and checked. A type with the same hash in two objects is
/// read from only one of them.
TEST_F(Inputs, TypesOfOneObjectAreChecked)
{
    constexpr std::string_view common = R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] PTR '' type_id=1
        [3] CONST '' type_id=1
        [4] PTR '' type_id=3)";
    auto plain = [&](const std::string &name) {
        return make_object(dir_, name,
                           {.btf = std::string(common) + "\n[5] STRUCT '" + name +
                                   "' size=8\n 'm' type_id=4 bits_offset=0",
                            .plain_end = 6});
    };
    const std::string a = plain("a"), b = plain("b");
    const auto good = read_file(b);
    ASSERT_TRUE(good);
    auto place_of = [&](std::string_view bytes) {
        auto *begin = reinterpret_cast<const char *>(good->data());
        size_t at = std::string_view(begin, good->size()).find(bytes);
        EXPECT_NE(at, std::string_view::npos);
        return at;
    };
    const size_t types = place_of({"\x9f\xeb\x01\x00\x18\x00\x00\x00", 8}) + 24;
    const size_t trailer = place_of({"BTFL\x01\x00", 6});
    auto with = [&](size_t at, uint16_t value) {
        auto bytes = *good;
        store<uint16_t>(bytes.data() + at, value, ByteOrder::little);
        EXPECT_TRUE(write_file(b, bytes));
        return merged(dir_, {a, b});
    };
    const std::string whole = text_of(merged(dir_, {a, b}));
    EXPECT_NE(whole.find("STRUCT 'b'"), whole.npos);
    // The INT is in a and b; the STRUCT is only in b.
    const size_t size_of_int = types + 8, size_of_struct = types + 16 + 3 * 12 + 8;
    EXPECT_EQ(with(size_of_int, 77), whole);
    EXPECT_TRUE(has(text_of(with(size_of_struct, 77)), "STRUCT 'b' size=77"));
    EXPECT_TRUE(fails(with(size_of_struct + 8, 77),
                      "b.o: .BTF+0x4c: type 5 (STRUCT) refers to type 77, but the last is 5"));
    // With a trailer header of 96 bytes, the object has no position samples: the result is the
    // same. Wrong position samples are an error.
    EXPECT_EQ(with(trailer + 6, 96), whole);
    const uint32_t samples = load<uint32_t>(good->data() + trailer + 96, ByteOrder::little);
    EXPECT_TRUE(
        fails(with(trailer + samples + 4, 1000),
              "b.o: .BTF+0x0: the position samples in its link trailer do not point at its types"));
}

/// Any contents of a file lead to a result or an error, not to a crash.
TEST_F(Inputs, DamagedObjects)
{
    std::string good = object("a");
    run("ar rc " + (dir_ / "a.a") + " " + good);
    for (const std::string &path : {good, dir_ / "a.a"}) {
        auto bytes = read_file(path);
        ASSERT_TRUE(bytes);
        std::string bad = dir_ / "bad";
        int errors = 0;
        for (size_t size = 0; size < bytes->size(); size += 7) {
            ASSERT_TRUE(write_file(bad, Bytes(*bytes).first(size)));
            errors += !merged(dir_, {bad});
        }
        EXPECT_GT(errors, 100);
        for (size_t at = 0; at < bytes->size(); at += 3)
            for (int value : {0x00, 0xff, 0x80}) {
                std::vector<std::byte> damaged = *bytes;
                if (damaged[at] == static_cast<std::byte>(value))
                    continue;
                damaged[at] = static_cast<std::byte>(value);
                ASSERT_TRUE(write_file(bad, damaged));
                std::ignore = merged(dir_, {bad});
            }
    }
}

} // namespace

} // namespace btflink::merge::test
