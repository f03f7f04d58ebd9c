// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Final BTF inside ELF files: made with our writer, read with ours and with binutils.
#include "merge/elf_input.h"
#include "merge/output.h"
#include "tests/merge/object_maker.h"

#include "common/file_io.h"

#include <algorithm>
#include <elf.h>

namespace btflink::merge::test
{

namespace
{

constexpr std::string_view first_btf = "the first BTF";
constexpr std::string_view second_btf = "another one that is longer than the first";

/// Contents of the only .BTF.
std::string btf_of(Bytes file)
{
    auto elf = ElfFile::parse(file, Where{"file"});
    if (!elf)
        return "ERROR: " + elf.error().str();
    std::string found = "none";
    for (uint32_t i = 0; i < elf->sections().size(); ++i) {
        if (elf->sections()[i].name != ".BTF")
            continue;
        EXPECT_EQ(found, "none");
        auto contents = elf->contents(i);
        EXPECT_TRUE(contents);
        found.assign(reinterpret_cast<const char *>(contents->bytes.data()),
                     contents->bytes.size());
    }
    return found;
}

TEST(Output, ObjectOfAnyClassAndOrder)
{
    for (uint8_t size : {uint8_t{4}, uint8_t{8}})
        for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
            auto bytes = btf_object(as_bytes(first_btf), {EM_PPC64, 2, size, order});
            EXPECT_EQ(btf_of(bytes), first_btf);
            auto elf = ElfFile::parse(bytes, Where{"object"});
            ASSERT_TRUE(elf) << elf.error().str();
            EXPECT_TRUE(elf->is_relocatable());
            EXPECT_EQ(elf->machine(), EM_PPC64);
            EXPECT_EQ(elf->machine_flags(), 2u);
            EXPECT_EQ(elf->address_size(), size);
            EXPECT_EQ(elf->order(), order);
            EXPECT_EQ(elf->sections()[1].flags, uint64_t{SHF_ALLOC});
            EXPECT_EQ(elf->symbols().size(), 1u);
        }
}

class Update : public testing::Test
{
protected:
    void SetUp() override
    {
        if (!can_assemble())
            GTEST_SKIP() << "the fixtures are x86-64 assembly";
    }
    std::vector<std::byte> file(const std::string &path)
    {
        auto bytes = read_file(path);
        EXPECT_TRUE(bytes);
        return *bytes;
    }
    std::vector<std::byte> updated(Bytes bytes, std::string_view btf)
    {
        auto made = with_final_btf(bytes, as_bytes(btf), Where{"file"});
        EXPECT_TRUE(made) << made.error().str();
        return made ? *made : std::vector<std::byte>();
    }
    /// What binutils think of it: sections but .BTF, their contents, symbols, segments.
    std::string dump(const std::vector<std::byte> &bytes)
    {
        EXPECT_TRUE(write_file(dir_ / "dumped", bytes));
        run("(cd " + (dir_ / "") +
            " && objdump -s -r -j .text -j .data dumped && nm dumped && "
            "readelf -lW dumped) > " +
            (dir_ / "dump") + " 2> " + (dir_ / "messages"));
        std::vector<std::byte> messages = file(dir_ / "messages");
        EXPECT_TRUE(messages.empty());
        std::vector<std::byte> text = file(dir_ / "dump");
        return {reinterpret_cast<const char *>(text.data()), text.size()};
    }

    std::string object()
    {
        return make_object(dir_, "o",
                           {.btf = R"(
            [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
            [2] VAR 'v' type_id=1 linkage=global
            [3] DATASEC '.data' size=4
                type_id=2 offset=0 size=4)",
                            .plain_end = 2,
                            .assembly = ".data\n.balign 64\n.globl v\nv: .long 1\n.quad f\n"
                                        ".text\n.globl f\nf: lea v(%rip), %rax\nret\n"
                                        ".bss\n.zero 100\n",
                            .variables = {{2, "v"}}});
    }

    TempDir dir_;
};

TEST_F(Update, Objects)
{
    auto before = file(object());
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(dump(after), dump(before));
    EXPECT_LT(after.size(), before.size()); // object BTF is gone
    auto elf = ElfFile::parse(after, Where{"after"});
    ASSERT_TRUE(elf);
    for (const Section &s : elf->sections()) {
        EXPECT_NE(s.name, ".rela.BTF");
        if (s.name == ".BTF") {
            EXPECT_EQ(s.type, uint32_t{SHT_PROGBITS});
            EXPECT_EQ(s.flags, 0u);
        }
    }
    // Twice the same, and replaced by another.
    EXPECT_EQ(updated(after, first_btf), after);
    EXPECT_EQ(updated(updated(after, second_btf), first_btf), after);
    // binutils and a linker take it.
    ASSERT_TRUE(write_file(dir_ / "after.o", after));
    run("strip --strip-debug -o " + (dir_ / "stripped.o") + " " + (dir_ / "after.o"));
    EXPECT_EQ(btf_of(file(dir_ / "stripped.o")), first_btf);
    run("ld -r -o " + (dir_ / "linked.o") + " " + (dir_ / "after.o"));
    EXPECT_EQ(btf_of(file(dir_ / "linked.o")), first_btf);
}

TEST_F(Update, LinkedFiles)
{
    run("ld -e f -o " + (dir_ / "image") + " " + object());
    auto before = file(dir_ / "image");
    EXPECT_EQ(btf_of(before), "none");
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(dump(after), dump(before));
    EXPECT_EQ(updated(after, first_btf), after);
    EXPECT_EQ(updated(updated(after, second_btf), first_btf), after);
    // All that a segment or a section had is where it was.
    auto elf = ElfFile::parse(before, Where{"before"});
    ASSERT_TRUE(elf);
    EXPECT_TRUE(std::equal(before.begin() + 64, before.begin() + 0x1000, after.begin() + 64));
    ASSERT_TRUE(write_file(dir_ / "after", after));
    run("objcopy --dump-section .BTF=" + (dir_ / "dumped.btf") + " " + (dir_ / "after") + " " +
        (dir_ / "copy"));
    auto dumped = file(dir_ / "dumped.btf");
    EXPECT_TRUE(std::ranges::equal(dumped, as_bytes(first_btf)));
}

TEST_F(Update, ManySections)
{
    std::string assembly;
    for (int i = 0; i < 66000; ++i)
        assembly += ".section .t" + std::to_string(i) + ",\"a\",@progbits\n.byte 1\n";
    ASSERT_TRUE(write_file(dir_ / "many.s", as_bytes(assembly)));
    run("as -o " + (dir_ / "many.o") + " " + (dir_ / "many.s"));
    auto before = file(dir_ / "many.o");
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(updated(after, first_btf), after);
    ASSERT_TRUE(write_file(dir_ / "after.o", after));
    run("readelf -SW " + (dir_ / "after.o") + " > " + (dir_ / "list") + " && grep -q '.BTF' " +
        (dir_ / "list"));
}

TEST_F(Update, AllocatedBtfIsRefused)
{
    ASSERT_TRUE(write_file(dir_ / "alloc.s", as_bytes(".section .BTF,\"a\",@progbits\n.long 1\n")));
    run("as -o " + (dir_ / "alloc.o") + " " + (dir_ / "alloc.s"));
    auto made = with_final_btf(file(dir_ / "alloc.o"), as_bytes(first_btf), Where{"alloc.o"});
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().str().find("alloc.o: .BTF: is part of"), std::string::npos);
}

TEST_F(Update, DamagedFiles)
{
    run("ld -e f -o " + (dir_ / "image") + " " + object());
    for (const std::string &path : {dir_ / "image", dir_ / "o.o"}) {
        auto good = file(path);
        for (size_t size = 0; size < good.size(); size += 5)
            EXPECT_FALSE(with_final_btf(Bytes(good).first(size), as_bytes(first_btf), Where{"x"}));
        for (size_t at = 0; at < good.size(); ++at) {
            if (at > 64 && at + 4096 < good.size())
                continue; // headers are at both ends
            auto damaged = good;
            for (int value : {0x00, 0x7f, 0xff}) {
                damaged[at] = static_cast<std::byte>(value);
                (void)with_final_btf(damaged, as_bytes(first_btf), Where{"x"});
            }
        }
    }
}

} // namespace

} // namespace btflink::merge::test
