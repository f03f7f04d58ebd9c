// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests the messages of btf-merge --check. tests/unit/btf_check_test.cc tests the kernel's rules.
#include "common/io/file_io.h"
#include "merge/explain/explain.h"
#include "tests/merge/object_maker.h"
#include "tests/unit/text_blob.h"

#include <gtest/gtest.h>

namespace btflink::merge::test
{

namespace
{

using btflink::test::from_text;
using btflink::test::TextBlob;

constexpr std::string_view kernel = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] STRUCT 'task' size=8
        'pid' type_id=1 bits_offset=0
        'tgid' type_id=1 bits_offset=32
    [3] FUNC_PROTO '' ret_type_id=1
        'task' type_id=4
    [4] PTR '' type_id=2
    [5] ENUM 'state' size=4 encoding=UNSIGNED
        'RUN' val=0
    [6] UNION 'data' size=4
        'x' type_id=1 bits_offset=0)";
constexpr std::string_view module_text = R"(
    [7] STRUCT 'mine' size=16
        'task' type_id=4 bits_offset=0
        'x' type_id=1 bits_offset=64
    [8] FUNC_PROTO '' ret_type_id=1
        'm' type_id=9
    [9] PTR '' type_id=7
    [10] FUNC 'probe' type_id=8 linkage=static
    [11] FUNC 'wake' type_id=3 linkage=static
    [12] VAR 'pid' type_id=1 linkage=static
    [13] DATASEC '.data..percpu' size=4
        type_id=12 offset=0 size=4)";

class CheckFile : public testing::Test
{
protected:
    std::string write(const std::string &name, const TextBlob &blob)
    {
        EXPECT_TRUE(write_file(dir_ / name, *blob.bytes));
        return dir_ / name;
    }
    /// The messages, without the folder's name.
    std::vector<std::string> lines(const std::string &path, const std::string &base = "",
                                   std::optional<KernelVersion> version = std::nullopt)
    {
        auto found = check_file(path, base, version);
        if (!found)
            return {"NOT CHECKED: " + plain(found.error().str())};
        std::vector<std::string> out;
        for (const Error &error : *found)
            out.push_back(plain(error.str()));
        return out;
    }
    std::string plain(std::string text)
    {
        const std::string folder = dir_ / "";
        for (size_t at; (at = text.find(folder)) != text.npos;)
            text.erase(at, folder.size());
        return text;
    }

    TempDir dir_;
    TextBlob kernel_ = from_text(kernel);
    TextBlob module_ = from_text(module_text, kernel_.btf);
};

using Lines = std::vector<std::string>;

TEST_F(CheckFile, ValidFilesHaveNoMessages)
{
    std::string base = write("vmlinux", kernel_);
    EXPECT_EQ(lines(base), Lines());
    EXPECT_EQ(lines(write("module", module_), base), Lines());
}

TEST_F(CheckFile, NothingToCheck)
{
    EXPECT_EQ(lines(dir_ / "none"),
              Lines{"NOT CHECKED: none: cannot open: No such file or directory"});
    ASSERT_TRUE(write_file(dir_ / "text", as_bytes("hello")));
    EXPECT_EQ(lines(dir_ / "text"), Lines{"NOT CHECKED: text+0x0: neither ELF nor BTF"});
    if (!can_assemble())
        GTEST_SKIP() << "the fixtures are x86-64 assembly";
    std::string object = make_object(dir_, "object", {.btf = std::string(kernel), .plain_end = 7});
    EXPECT_EQ(lines(object),
              Lines{"NOT CHECKED: object.o: .BTF+0x0: is object BTF, not final BTF"});
    // --only-keep-debug drops the contents of allocated sections.
    run("objcopy --set-section-flags .BTF=alloc " + object);
    run("objcopy --only-keep-debug " + object + " " + (dir_ / "foo.debug"));
    EXPECT_EQ(lines(dir_ / "foo.debug"), Lines{"NOT CHECKED: foo.debug: has no .BTF"});
    ASSERT_TRUE(write_file(dir_ / "empty", Bytes()));
    run("objcopy --update-section .BTF=" + (dir_ / "empty") + " " + object);
    EXPECT_EQ(lines(object), Lines{"NOT CHECKED: object.o: .BTF+0x0: is empty"});
    run("objcopy -R .BTF " + object);
    EXPECT_EQ(lines(object), Lines{"NOT CHECKED: object.o: has no .BTF"});
}

TEST_F(CheckFile, EachTypeThatBreaksARule)
{
    EXPECT_EQ(lines(write("bad", from_text(R"(
                  [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
                  [2] TYPEDEF 'a b' type_id=1
                  [3] FLOAT 'f' size=3
                  [4] TYPEDEF 'fine' type_id=1)"))),
              (Lines{"bad+0x28: type 2 (TYPEDEF 'a b'): name is not an identifier",
                     "bad+0x34: type 3 (FLOAT 'f'): size is 3, must be 2, 4, 8, 12 or 16"}));
    std::string many = "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n";
    for (int id = 2; id < 102; ++id)
        many += "[" + std::to_string(id) + "] TYPEDEF 'a b' type_id=1\n";
    Lines found = lines(write("many", from_text(many)));
    ASSERT_EQ(found.size(), 21u);
    EXPECT_EQ(found.back(), "many+0x0: more than 20 violations; the rest is left out");
}

TEST_F(CheckFile, ByVersion)
{
    std::string path = write("new", from_text(R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [2] CONST '' type_id=3
        [3] TYPE_TAG 'user' type_id=1)"));
    EXPECT_EQ(lines(path), Lines());
    EXPECT_EQ(lines(path, "", KernelVersion{7, 3}), Lines());
    EXPECT_EQ(lines(path, "", KernelVersion{6, 12}),
              Lines{"new+0x28: type 2 (CONST ''): a TYPE_TAG follows it, which kernels before 7.2 "
                    "refuse"});
}

/// Kernels refuse zeros before or after the BTF in a section.
TEST_F(CheckFile, Padding)
{
    const std::string good = write("good", kernel_);
    const std::string padded = "head -c 2 /dev/zero | cat " + good + " - > " + (dir_ / "after");
    run(padded + " && head -c 8 /dev/zero | cat - " + good + " > " + (dir_ / "before"));
    EXPECT_EQ(lines(dir_ / "after"),
              Lines{"after+0x10: BTF header: strings do not end where the blob ends"});
    if (!can_assemble())
        GTEST_SKIP() << "the fixtures are x86-64 assembly";
    std::string object = make_object(dir_, "object", {.btf = std::string(kernel), .plain_end = 7});
    auto with = [&](const std::string &section) {
        run("objcopy -R .BTF --add-section .BTF=" + (dir_ / section) + " " + object + " " +
            (dir_ / "file"));
        return lines(dir_ / "file");
    };
    EXPECT_EQ(with("good"), Lines());
    EXPECT_EQ(with("after"), Lines{"file: .BTF+0x10: BTF header: strings do not end where the blob "
                                   "ends"});
    EXPECT_EQ(with("before"), Lines{"file: .BTF+0x0: does not begin with a BTF header"});
}

/// A module is checked over a kernel with one more type, whose name moves all strings, and over a
/// kernel with fewer types.
TEST_F(CheckFile, AnotherBase)
{
    const std::string module = write("module", module_);
    const std::string other = write("other", from_text(R"(
        [1] TYPEDEF 'new_in_front' type_id=2
        [2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [3] STRUCT 'task' size=8
            'pid' type_id=2 bits_offset=0
            'tgid' type_id=2 bits_offset=32
        [4] FUNC_PROTO '' ret_type_id=2
            'task' type_id=5
        [5] PTR '' type_id=3
        [6] ENUM 'state' size=4 encoding=UNSIGNED
            'RUN' val=0
        [7] UNION 'data' size=4
            'x' type_id=2 bits_offset=0)"));
    Lines found = lines(module, other);
    ASSERT_GE(found.size(), 4u);
    EXPECT_EQ(found[0], "module+0x0: was made over another base, whose strings seem to have 36 "
                        "bytes; those of other have 49");
    EXPECT_EQ(found[1],
              "module+0x0: was made over another base, which seems to have 6 types; other has 7");
    EXPECT_TRUE(has(found[2], "names with offsets in the strings of other, "));
    EXPECT_TRUE(has(found[3], ": type "));

    found = lines(module, write("less", from_text(R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED)")));
    ASSERT_GE(found.size(), 3u);
    EXPECT_EQ(found[0], "module+0x0: was made over another base, whose strings seem to have 36 "
                        "bytes; those of less have 5");
    EXPECT_EQ(found[1],
              "module+0x0: was made over another base, which seems to have 6 types; less has 1");

    found = lines(module);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(has(found[0], "split BTF needs its base"));
}

/// Kernels refuse BTF of the other byte order. Over vmlinux, the module breaks no other rule; over
/// `less`, it also refers to a type that does not exist.
TEST_F(CheckFile, OtherByteOrder)
{
    constexpr ByteOrder other =
        host_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    const std::string base = write("vmlinux", kernel_);
    const TextBlob its_kernel = from_text(kernel, nullptr, other);
    EXPECT_EQ(lines(write("module", from_text(module_text, its_kernel.btf, other)), base),
              Lines{"module+0x0: has another byte order than vmlinux"});
    const std::string less = write("less", from_text(R"(
        [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED)"));
    const Lines found = lines(dir_ / "module", less);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], "module+0x0: has another byte order than less");
    EXPECT_TRUE(has(found[1], "refers to type ")) << found[1];
}

/// A last string that no type uses is not a sign of another base: libbpf may keep such strings.
TEST_F(CheckFile, LastStringWithoutType)
{
    const std::string base = write("vmlinux", kernel_);
    TextBlob module = from_text("[7] TYPEDEF 'number' type_id=1", kernel_.btf);
    constexpr std::string_view unused("theta\0", 6);
    constexpr size_t str_len = 20;
    std::vector<std::byte> &bytes = *module.bytes;
    const auto size = load<uint32_t>(bytes.data() + str_len, host_order);
    store(bytes.data() + str_len, static_cast<uint32_t>(size + unused.size()), host_order);
    for (char c : unused)
        bytes.push_back(static_cast<std::byte>(c));
    EXPECT_EQ(lines(write("module", module), base), Lines());
}

class DistilledBases : public CheckFile
{
protected:
    void SetUp() override
    {
        if (!can_assemble())
            GTEST_SKIP() << "the fixtures are x86-64 assembly";
    }
    /// The messages about a module over a kernel that also has `more`. The module's distilled base
    /// has the types `second`, to which the module has a pointer, and `third`, which is inside one
    /// of its structs.
    Lines module(const std::string &second, const std::string &third, const std::string &more = "",
                 std::optional<KernelVersion> version = std::nullopt, ByteOrder order = host_order)
    {
        TextBlob base =
            from_text("[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n[2] " +
                          second + "\n[3] " + third,
                      nullptr, order);
        write("base", base);
        write("split", from_text(R"(
            [4] PTR '' type_id=2
            [5] STRUCT 'mine' size=12
                'task' type_id=4 bits_offset=0
                's' type_id=3 bits_offset=64)",
                                 base.btf, order));
        std::string path = dir_ / "module.ko";
        run(": | as -o " + path + " - && objcopy --add-section .BTF=" + (dir_ / "split") +
            " --add-section .BTF.base=" + (dir_ / "base") + " " + path);
        return lines(path, write("vmlinux", from_text(std::string(kernel) + more)), version);
    }
};

/// Kernels look up the types of a distilled base by name. Depending on the kind, they also compare
/// kind, size or encoding.
TEST_F(DistilledBases, AreLookedUp)
{
    const std::string task = "STRUCT 'task' size=8",
                      state = "ENUM 'state' size=4 encoding=UNSIGNED";
    EXPECT_EQ(module(task, state), Lines());
    EXPECT_EQ(module("FWD 'task' fwd_kind=struct", state), Lines());
    // A struct behind a pointer may have another size, a struct inside a struct may not.
    EXPECT_EQ(module("STRUCT 'task' size=16", state), Lines());
    EXPECT_EQ(module(task, "UNION 'data' size=4"), Lines());
    EXPECT_EQ(module(task, "UNION 'data' size=2"),
              Lines{"module.ko: .BTF.base+0x34: type 3 (UNION 'data'): no type of this name in "
                    "vmlinux has the right kind, size and encoding"});
    EXPECT_EQ(module("STRUCT 'gone' size=8", state),
              Lines{"module.ko: .BTF.base+0x28: type 2 (STRUCT 'gone'): no type has this name "
                    "in vmlinux"});
    EXPECT_EQ(
        module("ENUM 'task' size=8 encoding=UNSIGNED", state),
        Lines{"module.ko: .BTF.base+0x28: type 2 (ENUM 'task'): no type of this name in vmlinux "
              "has the right kind, size and encoding"});
    EXPECT_EQ(
        module("TYPEDEF 'task' type_id=1", state),
        Lines{"module.ko: .BTF.base+0x28: type 2 (TYPEDEF 'task'): no kernel looks for such a "
              "type"});
}

/// A kernel whose BTF has a struct btf_relocate reads distilled bases, whatever its version. If no
/// version is given, BTF with btf_verifier_env but without btf_relocate is that of an old kernel.
TEST_F(DistilledBases, NeedANewKernel)
{
    const std::string task = "STRUCT 'task' size=8", data = "UNION 'data' size=4",
                      relocate = "\n[7] STRUCT 'btf_relocate' size=4";
    const Lines refused = {"module.ko: .BTF.base+0x0: is a distilled base, which kernels before "
                           "6.11 do not read"};
    EXPECT_EQ(module(task, data, "", KernelVersion{6, 10}), refused);
    EXPECT_EQ(lines(dir_ / "module.ko", "", KernelVersion{6, 10}), refused);
    EXPECT_EQ(module(task, data, "", KernelVersion{6, 11}), Lines());
    EXPECT_EQ(module(task, data, relocate, KernelVersion{6, 10}), Lines());
    EXPECT_EQ(module(task, data, "\n[7] STRUCT 'btf_verifier_env' size=4"), refused);
}

TEST_F(DistilledBases, OtherByteOrder)
{
    constexpr ByteOrder other =
        host_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    EXPECT_EQ(module("STRUCT 'task' size=8", "UNION 'data' size=4", "", std::nullopt, other),
              Lines{"module.ko: .BTF.base+0x0: has another byte order than vmlinux"});
}

/// If a kernel has several structs or unions of one name, only those of the right size are
/// candidates (kernel/bpf/btf_relocate.c). A forward declaration is a candidate, too.
TEST_F(DistilledBases, AmbiguousNames)
{
    const std::string task = "STRUCT 'task' size=8",
                      state = "ENUM 'state' size=4 encoding=UNSIGNED";
    const Lines both = {
        "module.ko: .BTF.base+0x28: type 2 (STRUCT 'task'): types 2 and 7 of vmlinux "
        "both match, so the kernel refuses the module's BTF"};
    EXPECT_EQ(module(task, state, "\n[7] STRUCT 'task' size=8"), both);
    EXPECT_EQ(module(task, state, "\n[7] STRUCT 'task' size=4"), Lines());
    EXPECT_EQ(module(task, state, "\n[7] TYPEDEF 'task' type_id=1"), Lines());
    EXPECT_EQ(module(task, state, "\n[7] FWD 'task' fwd_kind=struct"), both);
    EXPECT_EQ(
        module(task, state, "\n[7] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED"),
        Lines{"module.ko: .BTF.base+0x18: type 1 (INT 'int'): types 1 and 7 of vmlinux both "
              "match, so the kernel refuses the module's BTF"});
    EXPECT_EQ(
        module(task, state, "\n[7] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=(none)"),
        Lines());
}

/// Because of a bug, kernels take the kflag of a struct with bitfields for the mark of a union.
TEST_F(DistilledBases, ForwardsOfBitfields)
{
    const std::string state = "ENUM 'state' size=4 encoding=UNSIGNED";
    const std::string bits = "\n[7] STRUCT 'bits' size=4 kflag=1\n"
                             "'b' type_id=1 bits_offset=0 bitfield_size=3";
    EXPECT_EQ(
        module("FWD 'bits' fwd_kind=struct", state, bits),
        Lines{"module.ko: .BTF.base+0x28: type 2 (FWD 'bits'): no type of this name in vmlinux "
              "has the right kind, size and encoding"});
}

} // namespace

} // namespace btflink::merge::test
