// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests the code that writes final BTF into ELF files and removes object BTF from them. Our reader
// and binutils read the changed files.
#include "merge/input/inputs.h"
#include "merge/input/load_objects.h"
#include "merge/output/write_elf.h"
#include "tests/merge/object_maker.h"

#include "common/io/file_io.h"

#include <algorithm>
#include <elf.h>
#include <sys/stat.h>

namespace btflink::merge::test
{

namespace
{

constexpr std::string_view first_btf = "the first BTF";
constexpr std::string_view second_btf = "another one that is longer than the first";

/// The contents of the only section .BTF; "none" without one; "ERROR: ..." if `file` is not ELF.
std::string btf_of(Bytes file)
{
    auto elf = ElfFile::parse(file, Where{"file"});
    if (!elf)
        return "ERROR: " + elf.error().str();
    std::string found = "none";
    for (uint32_t i = 0; i < elf->sections.size(); ++i) {
        if (elf->sections[i].name != ".BTF")
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
            EXPECT_EQ(elf->head.e_machine, EM_PPC64);
            EXPECT_EQ(elf->head.e_flags, 2u);
            EXPECT_EQ(elf->address_size(), size);
            EXPECT_EQ(elf->order, order);
            EXPECT_EQ(elf->sections[1].head.sh_flags, uint64_t{SHF_ALLOC});
            EXPECT_EQ(elf->symbols.size(), 1u);
        }
}

class Update : public ObjectTest
{
protected:
    std::vector<std::byte> file(const std::string &path)
    {
        auto bytes = read_file(path);
        EXPECT_TRUE(bytes);
        return *bytes;
    }
    std::vector<std::byte> updated(Bytes bytes, std::string_view btf)
    {
        auto made = with_final_btf(bytes, {as_bytes(btf), {}, {}}, Where{"file"});
        EXPECT_TRUE(made) << made.error().str();
        return made ? made->whole(bytes) : std::vector<std::byte>();
    }
    /// The file as binutils read it: contents and relocations of .text and .data, symbols,
    /// segments.
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

    /// Symbols with their sections, and relocations. `sections`: objdump's options that choose the
    /// sections whose relocations are listed.
    std::string symbols(const std::vector<std::byte> &bytes,
                        const std::string &sections = "-j .text -j .data")
    {
        EXPECT_TRUE(write_file(dir_ / "listed", bytes));
        run("(cd " + (dir_ / "") + " && nm -f sysv listed && objdump -r " + sections +
            " listed) > " + (dir_ / "list"));
        std::vector<std::byte> text = file(dir_ / "list");
        return {reinterpret_cast<const char *>(text.data()), text.size()};
    }
    static int count(Bytes bytes, std::string_view section)
    {
        auto elf = ElfFile::parse(bytes, Where{"file"});
        EXPECT_TRUE(elf);
        return static_cast<int>(std::ranges::count_if(
            elf->sections, [&](const ElfSection &s) { return s.name == section; }));
    }
    /// Two objects with pools and the same COMDAT group, linked by `ld -r`; returns the path.
    /// `more`: assembler text that is added to each object.
    std::string module(const std::string &more = "")
    {
        std::string files;
        for (std::string name : {"a", "b"})
            files += make_object(dir_, name,
                                 {.btf = "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 "
                                         "encoding=SIGNED\n[2] VAR '" +
                                         name + "_v' type_id=1 linkage=global\n" +
                                         "[3] FUNC_PROTO '' ret_type_id=0\n[4] FUNC '" + name +
                                         "_f' type_id=3 linkage=static\n[5] DATASEC '.data' " +
                                         "size=4\n\ttype_id=2 offset=0 size=4",
                                  .plain_end = 2,
                                  .assembly = ".data\n.globl " + name + "_v\n" + name +
                                              "_v: .long 1\n" + more +
                                              ".section .text.g,\"axG\",@progbits,g,comdat\n"
                                              ".weak g\ng: ret\n.text\n.globl " +
                                              name + "_f\n" + name + "_f: call g\nlea " + name +
                                              "_v(%rip), %rax\nret\n",
                                  .functions = {{name + "_f", name + "_f", 4}},
                                  .variables = {{2, name + "_v"}}}) +
                     " ";
        run("ld -r -o " + (dir_ / "m.ko") + " " + files);
        return dir_ / "m.ko";
    }
};

TEST_F(Update, ModulesKeepNothingOfObjectBtf)
{
    auto before = file(module());
    EXPECT_EQ(count(before, ".BTF"), 1);
    EXPECT_EQ(count(before, ".debug"), 1);
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    for (const char *name : {".rela.BTF", ".debug", ".rela.debug"})
        EXPECT_EQ(count(after, name), 0) << name;
    EXPECT_EQ(count(after, ".group"), 1);
    EXPECT_EQ(dump(after), dump(before));
    EXPECT_EQ(symbols(after), symbols(before));
    EXPECT_EQ(updated(after, first_btf), after);
    ASSERT_TRUE(write_file(dir_ / "after.ko", after));
    run("cd " + (dir_ / "") + " && ld -r -o linked.ko after.ko && objcopy after.ko copied.ko && " +
        "objcopy --only-section=.BTF --set-section-flags .BTF=alloc,readonly --strip-all after.ko "
        "only.o && ld -e a_f -o program copied.ko && readelf -gW after.ko | grep -q 'COMDAT.*g'");
    for (const char *name : {"linked.ko", "copied.ko", "only.o"})
        EXPECT_EQ(btf_of(file(dir_ / name)), first_btf) << name;
}

TEST_F(Update, AddressesOfDwarfStay)
{
    // This .debug_addr is as clang writes it with -gdwarf-5.
    auto before = file(module(".section .debug_addr,\"\",@progbits\n.long 12\n.short 5\n"
                              ".byte 8, 0\n.quad g\n.data\n"));
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(count(after, ".debug_addr"), 1);
    EXPECT_EQ(count(after, ".rela.debug_addr"), 1);
    EXPECT_EQ(count(after, ".rela.BTF"), 0);
    const std::string all = "-j .text -j .data -j .debug_addr";
    EXPECT_EQ(symbols(after, all), symbols(before, all));
}

TEST_F(Update, PoolsWithoutTheirBtfAreKnownByIds)
{
    std::string path = module();
    std::set<uint64_t> ids;
    auto bytes = file(path);
    auto elf = ElfFile::parse(bytes, Where{path});
    ASSERT_TRUE(elf);
    auto pools = relocatable_pools(*elf);
    ASSERT_TRUE(pools);
    for (const RelocatablePool &pool : *pools)
        ids.insert(pool.object_id);
    EXPECT_EQ(ids.size(), 2u);
    run("objcopy -R .BTF " + path);
    for (bool known : {false, true}) {
        auto before = file(path);
        auto made = with_final_btf(
            before, {as_bytes(first_btf), {}, known ? ids : std::set<uint64_t>()}, Where{path});
        ASSERT_TRUE(made) << made.error().str();
        EXPECT_EQ(count(made->whole(before), ".debug"), known ? 0 : 1);
    }
}

TEST_F(Update, DistilledBaseIsAddedAndRemoved)
{
    auto before = file(module());
    auto made = with_final_btf(before, {as_bytes(first_btf), as_bytes(second_btf), {}}, Where{"m"});
    ASSERT_TRUE(made) << made.error().str();
    auto after = made->whole(before);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(count(after, ".BTF.base"), 1);
    EXPECT_EQ(updated(after, first_btf), updated(before, first_btf)); // .BTF.base is removed
}

TEST_F(Update, RemovesObjectBtf)
{
    std::string path = module();
    auto before = file(path);
    auto done = remove_object_btf(path);
    ASSERT_TRUE(done) << done.error().str();
    auto after = file(path);
    for (const char *name : {".BTF", ".rela.BTF", ".debug", ".rela.debug"})
        EXPECT_EQ(count(after, name), 0) << name;
    EXPECT_EQ(dump(after), dump(before));
    ASSERT_TRUE(remove_object_btf(path));
    EXPECT_EQ(file(path), after);
    // remove_object_btf() does not change final BTF, and refuses a linked file.
    std::vector<std::byte> blob = *read_file(make_raw(dir_, "raw", "[1] FWD 's' fwd_kind=struct"));
    auto with_blob = with_final_btf(after, {blob, {}, {}}, Where{path})->whole(after);
    ASSERT_TRUE(write_file(path, with_blob));
    ASSERT_TRUE(remove_object_btf(path));
    EXPECT_EQ(file(path), with_blob);
    run("ld -e a_f -o " + (dir_ / "image") + " " + path);
    EXPECT_FALSE(remove_object_btf(dir_ / "image"));
}

TEST_F(Update, ImagesInPlace)
{
    run("ld -e f -o " + (dir_ / "image") + " " + object());
    auto before = file(dir_ / "image");
    struct stat old, now;
    ASSERT_EQ(::stat((dir_ / "image").c_str(), &old), 0);
    ASSERT_TRUE(put_final_btf(dir_ / "image", {as_bytes(first_btf), {}, {}}));
    ASSERT_EQ(::stat((dir_ / "image").c_str(), &now), 0);
    EXPECT_EQ(now.st_ino, old.st_ino);
    auto after = file(dir_ / "image");
    EXPECT_EQ(after, updated(before, first_btf));
    EXPECT_TRUE(std::equal(before.begin() + 64, before.end(), after.begin() + 64));
    // BTF that another tool put in the middle of the file is replaced. Nothing else changes.
    ASSERT_TRUE(write_file(dir_ / "btf", as_bytes(second_btf)));
    run("objcopy -R .BTF " + (dir_ / "image") + " " + (dir_ / "plain") +
        " && objcopy --add-section .BTF=" + (dir_ / "btf") + " " + (dir_ / "plain") + " " +
        (dir_ / "other"));
    auto other = file(dir_ / "other");
    EXPECT_EQ(btf_of(other), second_btf);
    ASSERT_TRUE(put_final_btf(dir_ / "other", {as_bytes(first_btf), {}, {}}));
    auto replaced = file(dir_ / "other");
    EXPECT_EQ(btf_of(replaced), first_btf);
    EXPECT_EQ(dump(replaced), dump(other));
    EXPECT_EQ(symbols(replaced), symbols(other));
    EXPECT_EQ(updated(replaced, first_btf), replaced);
}

TEST_F(Update, ObjectsGetFinalBtf)
{
    auto before = file(object());
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(dump(after), dump(before));
    EXPECT_LT(after.size(), before.size()); // object BTF was removed
    auto elf = ElfFile::parse(after, Where{"after"});
    ASSERT_TRUE(elf);
    for (const ElfSection &s : elf->sections) {
        EXPECT_NE(s.name, ".rela.BTF");
        if (s.name == ".BTF") {
            EXPECT_EQ(s.head.sh_type, uint32_t{SHT_PROGBITS});
            EXPECT_EQ(s.head.sh_flags, 0u);
        }
    }
    // The same BTF again changes nothing; other BTF leaves no traces.
    EXPECT_EQ(updated(after, first_btf), after);
    EXPECT_EQ(updated(updated(after, second_btf), first_btf), after);
    // strip and ld accept the file and keep its BTF.
    ASSERT_TRUE(write_file(dir_ / "after.o", after));
    run("strip --strip-debug -o " + (dir_ / "stripped.o") + " " + (dir_ / "after.o"));
    EXPECT_EQ(btf_of(file(dir_ / "stripped.o")), first_btf);
    run("ld -r -o " + (dir_ / "linked.o") + " " + (dir_ / "after.o"));
    EXPECT_EQ(btf_of(file(dir_ / "linked.o")), first_btf);
}

TEST_F(Update, LinkedFilesGetFinalBtf)
{
    run("ld -e f -o " + (dir_ / "image") + " " + object());
    auto before = file(dir_ / "image");
    EXPECT_EQ(btf_of(before), "none");
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(dump(after), dump(before));
    EXPECT_EQ(updated(after, first_btf), after);
    EXPECT_EQ(updated(updated(after, second_btf), first_btf), after);
    // From the end of the ELF header to 0x1000, no byte changes.
    EXPECT_TRUE(std::equal(before.begin() + 64, before.begin() + 0x1000, after.begin() + 64));
    ASSERT_TRUE(write_file(dir_ / "after", after));
    run("objcopy --dump-section .BTF=" + (dir_ / "dumped.btf") + " " + (dir_ / "after") + " " +
        (dir_ / "copy"));
    auto dumped = file(dir_ / "dumped.btf");
    EXPECT_TRUE(std::ranges::equal(dumped, as_bytes(first_btf)));
}

TEST_F(Update, ManySections)
{
    // Old BTF precedes the sections .t*, so its removal changes their indexes. Some symbols no
    // longer need an index in .symtab_shndx.
    std::string assembly = ".section .BTF,\"\",@progbits\n.long 1\n";
    for (int i = 0; i < 66000; ++i)
        assembly += strf(".section .t%d,\"a\",@progbits\n.globl s%d\ns%d: .byte 1\n", i, i, i);
    ASSERT_TRUE(write_file(dir_ / "many.s", as_bytes(assembly)));
    run("as -o " + (dir_ / "many.o") + " " + (dir_ / "many.s"));
    auto before = file(dir_ / "many.o");
    auto after = updated(before, first_btf);
    EXPECT_EQ(btf_of(after), first_btf);
    EXPECT_EQ(symbols(after, "-j .t0"), symbols(before, "-j .t0"));
    EXPECT_EQ(updated(after, first_btf), after);
    ASSERT_TRUE(write_file(dir_ / "after.o", after));
    run("readelf -SW " + (dir_ / "after.o") + " > " + (dir_ / "list") + " && grep -q '.BTF' " +
        (dir_ / "list"));
}

TEST_F(Update, AllocatedBtfIsRefused)
{
    ASSERT_TRUE(write_file(dir_ / "alloc.s", as_bytes(".section .BTF,\"a\",@progbits\n.long 1\n")));
    run("as -o " + (dir_ / "alloc.o") + " " + (dir_ / "alloc.s"));
    auto made =
        with_final_btf(file(dir_ / "alloc.o"), {as_bytes(first_btf), {}, {}}, Where{"alloc.o"});
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().str().find("alloc.o: .BTF: is part of"), std::string::npos);
}

TEST_F(Update, DamagedFilesDoNoHarm)
{
    run("ld -e f -o " + (dir_ / "image") + " " + object());
    const FinalBtf added{as_bytes(first_btf), {}, {}};
    for (const std::string &path : {dir_ / "image", dir_ / "o.o"}) {
        auto good = file(path);
        for (size_t size = 0; size < good.size(); size += 5)
            EXPECT_FALSE(with_final_btf(Bytes(good).first(size), added, Where{"x"}));
        // Damages the ELF header, and the last 4 KB, which have the section headers.
        for (size_t at = 0; at < good.size(); ++at) {
            if (at > 64 && at + 4096 < good.size())
                continue;
            auto damaged = good;
            for (int value : {0x00, 0x7f, 0xff}) {
                damaged[at] = static_cast<std::byte>(value);
                (void)with_final_btf(damaged, added, Where{"x"});
            }
        }
    }
}

} // namespace

} // namespace btflink::merge::test
