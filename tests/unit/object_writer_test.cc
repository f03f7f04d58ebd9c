// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests how plan_object_btf() adds object BTF to ELF files of four targets; libelf reads the
// results.
#include "tests/unit/elf_maker.h"

#include <array>
#include <cstdlib>

namespace btflink::emit
{

namespace
{

class ObjectWriter : public testing::TestWithParam<std::tuple<int, bool>>
{
protected:
    const Target &target = targets[std::get<0>(GetParam())];
    bool llvm = std::get<1>(GetParam());
    std::vector<std::byte> object = build(target, llvm);
    ObjectBtf btf = make_btf(target);
    std::string rel = target.arch.rela ? ".rela" : ".rel";
};

TEST_P(ObjectWriter, Appends)
{
    std::vector<std::byte> out = emit(target, object, btf);
    size_t header = target.is64 ? 64 : 52;
    ASSERT_GT(out.size(), object.size());
    EXPECT_TRUE(std::equal(object.begin() + static_cast<ptrdiff_t>(header), object.end(),
                           out.begin() + static_cast<ptrdiff_t>(header)));
    Reader before(object), after(out);
    std::vector<std::string> expected = before.order;
    for (const std::string &name :
         {std::string(".BTF"), rel + ".BTF", std::string(".debug"), rel + ".debug"})
        expected.push_back(name);
    if (llvm)
        expected.push_back(".shstrtab");
    EXPECT_EQ(after.order, expected);

    size_t symtab = after.find(".symtab");
    for (const char *name : {".BTF", ".debug"}) {
        GElf_Shdr section = after.head(after.find(name));
        GElf_Shdr relocs = after.head(after.find(rel + name));
        EXPECT_EQ(section.sh_addralign, 8u);
        EXPECT_EQ(section.sh_offset % 8, 0u);
        EXPECT_EQ(relocs.sh_link, symtab);
        EXPECT_EQ(relocs.sh_info, after.find(name));
        EXPECT_EQ(relocs.sh_flags, uint64_t{SHF_INFO_LINK});
        EXPECT_EQ(relocs.sh_addralign, target.is64 ? 8u : 4u);
    }
    EXPECT_EQ(after.head(after.find(".BTF")).sh_type, 0x80425446u);
    EXPECT_EQ(after.head(after.find(".BTF")).sh_flags, uint64_t{SHF_EXCLUDE});

    bool rela = target.arch.rela;
    int abs = static_cast<int>(target.arch.reloc_abs32);
    int offset = static_cast<int>(btf.btf_relocs[0].offset);
    EXPECT_EQ(after.relocs(after.find(rel + ".BTF")),
              std::vector{strf("%d %d var %d", offset, abs, rela ? 5 : 0)});
    int size = target.arch.address_size;
    int pointer = static_cast<int>(target.arch.reloc_pointer);
    EXPECT_EQ(after.relocs(after.find(rel + ".debug")),
              (std::vector{strf("16 %d main 0", pointer), strf("%d %d local 0", 16 + size, pointer),
                           strf("%d %d .text %d", 16 + 2 * size, pointer, rela ? 7 : 0)}));
    Bytes contents = after.raw(after.find(".BTF"));
    EXPECT_EQ(load<uint32_t>(contents.data() + offset, target.order), rela ? 0u : 5u);
    Bytes pool = after.raw(after.find(".debug"));
    EXPECT_EQ(find_pools(pool, target.order).at(0).address(3), rela ? 0u : 7u);
}

TEST_P(ObjectWriter, OldBtfIsReplaced)
{
    std::vector<std::byte> once = emit(target, object, btf);
    EXPECT_EQ(emit(target, once, btf), once);
    std::vector<std::byte> other = emit(target, once, make_btf(target, "a longer name"));
    EXPECT_EQ(other, emit(target, object, make_btf(target, "a longer name")));
    EXPECT_EQ(emit(target, other, btf), once);
    ObjectBtf without = btf;
    without.pool.clear();
    without.pool_relocs.clear();
    EXPECT_EQ(emit(target, emit(target, once, without), btf), once);
}

TEST_P(ObjectWriter, StripsDwarf)
{
    btf.strip_dwarf = true;
    std::vector<std::byte> out = emit(target, object, btf);
    EXPECT_LT(out.size(), emit(target, object, make_btf(target)).size());
    Reader after(out);
    std::vector<std::string> expected = {".group",      ".text",   ".text.inline", ".data",
                                         ".debug_data", ".symtab", ".strtab"};
    for (const std::string &name :
         {rel + ".text", std::string(".BTF"), rel + ".BTF", std::string(".debug"), rel + ".debug",
          std::string(".shstrtab")})
        expected.push_back(name);
    EXPECT_EQ(after.order, expected);

    size_t symtab = after.find(".symtab");
    std::vector<std::string> symbols;
    GElf_Shdr head = after.head(symtab);
    for (size_t i = 0; i < head.sh_size / head.sh_entsize; ++i)
        symbols.push_back(after.symbol(i));
    EXPECT_EQ(symbols, (std::vector<std::string>{"", ".text", "local", "main", "var"}));
    EXPECT_EQ(head.sh_info, 3u);
    EXPECT_EQ(after.name(head.sh_link), ".strtab");

    size_t group = after.find(".group");
    EXPECT_EQ(after.symbol(after.head(group).sh_info), "main");
    Bytes members = after.raw(group);
    ASSERT_EQ(members.size(), 8u);
    EXPECT_EQ(after.name(load<uint32_t>(members.data() + 4, target.order)), ".text.inline");

    size_t relocs = after.find(rel + ".text");
    EXPECT_EQ(after.name(after.head(relocs).sh_info), ".text");
    EXPECT_EQ(after.relocs(relocs),
              (std::vector<std::string>{"0 1 .text 0", "4 1 local 0", "8 1 var 0"}));
    EXPECT_EQ(after.relocs(after.find(rel + ".debug")).at(0).substr(0, 3), "16 ");
    for (size_t i = 1; i <= after.order.size(); ++i) {
        GElf_Shdr s = after.head(i);
        EXPECT_EQ(s.sh_offset % s.sh_addralign, 0u) << after.name(i);
    }

    ObjectBtf again = make_btf(target, "int", stripped_symbols);
    EXPECT_EQ(emit(target, out, again), out);
    again.strip_dwarf = true;
    EXPECT_EQ(emit(target, out, again), out);
    std::vector<std::byte> in_two_steps = emit(target, emit(target, object, make_btf(target)), btf);
    EXPECT_EQ(in_two_steps, out);
}

TEST_P(ObjectWriter, OldBtfInTheMiddleIsReplaced)
{
    // As in the output of `ld -r`, the sections of object BTF are not the last ones.
    TestObject o = make_object(target);
    ObjectBtf old = make_btf(target, "old");
    uint32_t section = o.add({".BTF", 0x80425446, SHF_EXCLUDE, old.btf, 0, 0, 8});
    o.add_relocs(".BTF", section, sec_symtab, {{4, sym_var}});
    uint32_t pool = o.add({".debug", SHT_PROGBITS, 0, old.pool, 0, 0, 8});
    o.add_relocs(".debug", pool, sec_symtab, {{16, sym_var}});
    o.add({".comment", SHT_PROGBITS, 0, TestObject::bytes("behind")});
    std::vector<std::byte> linked = o.build(llvm ? sec_strtab : 0);
    std::vector<std::byte> out = emit(target, linked, btf);
    Reader after(out);
    EXPECT_EQ(std::count(after.order.begin(), after.order.end(), ".BTF"), 1);
    EXPECT_EQ(std::count(after.order.begin(), after.order.end(), ".debug"), 1);
    EXPECT_EQ(std::count(after.order.begin(), after.order.end(), ".debug_addr"), 1); // DWARF's
    EXPECT_EQ(after.head(after.find(".BTF")).sh_size, btf.btf.size());
    EXPECT_EQ(after.relocs(after.find(rel + ".debug_info")).size(), 2u);
    EXPECT_EQ(emit(target, out, btf), out);
}

TEST_P(ObjectWriter, SurvivesDamage)
{
    // Damage leads to an error or a result, never to an access out of bounds, which sanitizers and
    // valgrind would report. Runs with these are at least ten times slower, so they set
    // BTFLINK_PLACES, and each byte gets only one of the four values.
    const size_t values = std::getenv("BTFLINK_PLACES") ? 1 : 4;
    size_t errors = 0, results = 0;
    auto attempt = [&](Bytes bytes) {
        for (bool strip : {false, true}) {
            btf.strip_dwarf = strip;
            auto result = with_object_btf(bytes, target.arch, btf, Where{"t.o"});
            result ? ++results : ++errors;
        }
    };
    for (const std::vector<std::byte> &whole : {object, emit(target, object, btf)}) {
        for (size_t size = 0; size < whole.size(); size += 7)
            attempt(Bytes(whole).first(size));
        for (size_t i = 0; i < whole.size(); ++i)
            for (size_t next = i; next < i + values; ++next) {
                std::vector<std::byte> bad = whole;
                bad[i] = std::array{std::byte{0x00}, std::byte{0x01}, std::byte{0x7f},
                                    std::byte{0xff}}[next % 4];
                attempt(bad);
            }
    }
    EXPECT_GT(errors, 1000u);
    EXPECT_GT(results, 1000u);
}

std::string case_name(const testing::TestParamInfo<std::tuple<int, bool>> &test)
{
    return std::string(targets[std::get<0>(test.param)].name) +
           (std::get<1>(test.param) ? "_llvm" : "_gnu");
}

INSTANTIATE_TEST_SUITE_P(Targets, ObjectWriter,
                         testing::Combine(testing::Range(0, 4), testing::Bool()), case_name);

TEST(ObjectWriterErrors, NameTheirPlace)
{
    const Target &t = targets[0];
    auto error = [&](const std::function<void(TestObject &)> &spoil, bool strip = true) {
        TestObject o = make_object(t);
        spoil(o);
        ObjectBtf btf = make_btf(t);
        btf.strip_dwarf = strip;
        auto result = with_object_btf(o.build(), t.arch, btf, Where{"t.o"});
        return result ? std::string("none") : result.error().str();
    };
    EXPECT_EQ(error([](TestObject &) {}), "none");
    auto names_dropped = [](TestObject &o) {
        o.add_relocs(".data", sec_data, sec_symtab, {{0, sym_text}, {8, sym_info}});
    };
    EXPECT_EQ(error(names_dropped),
              "t.o: .rela.data+0x18: relocation names symbol 2 of a section that is to be dropped");
    EXPECT_EQ(error([](TestObject &o) {
                  o.add_relocs(".data", sec_data, sec_symtab, {{0, sym_text}});
                  o.sections.back().link = 0;
              }),
              "t.o: .rela.data: the relocations are not linked to the symbol table");
    EXPECT_EQ(error([](TestObject &o) { o.sections[sec_text].link = 99; }),
              "t.o: .text: sh_link is 99, but there are 17 sections");
    EXPECT_EQ(error([](TestObject &o) { o.sections[sec_text].link = sec_info; }),
              "t.o: .text: is linked to .debug_info, which is to be dropped");
    EXPECT_EQ(error([](TestObject &o) { o.sections[sec_group].info = sym_sig; }),
              "t.o: .group: section group is named by symbol 4 of a section that is to be dropped");
    EXPECT_EQ(error([](TestObject &o) { o.sections[sec_symtab].type = SHT_PROGBITS; }, false),
              "t.o: .rela.BTF: relocations, but the file has no symbols");
    EXPECT_EQ(error([](TestObject &o) { o.sections[sec_symtab].data.resize(24 * 6); }, false),
              "t.o: .rela.BTF+0x48: relocation names symbol 6, but there are 6");
    EXPECT_EQ(error([](TestObject &o) {
                  for (const char *name : {".dynsym", ".third"})
                      o.add({name, SHT_DYNSYM, 0, {}, sec_strtab, 0, 8, 24});
              }),
              "t.o: .third: is a third symbol table");
    // The old .BTF is dropped in both cases, symbols only with the DWARF.
    auto compact = [](TestObject &o) {
        o.add({".BTF", SHT_PROGBITS, 0, TestObject::bytes("old")});
        o.add({".crel.text", sht_crel, 0, TestObject::bytes("crel"), sec_symtab, sec_text, 1, 1});
    };
    EXPECT_EQ(error(compact, false), "none");
    EXPECT_EQ(error(compact), "t.o: .crel.text: its indexes of symbols would have to change, which "
                              "is not supported");
}

TEST(ObjectWriterErrors, NotElf)
{
    const Target &t = targets[0];
    auto result = with_object_btf(as_bytes("!<arch>\n and so on"), t.arch, {}, Where{"t.a"});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().str(), "t.a: not an ELF file");
}

TEST(ObjectWriterMany, SectionsBeyondSixteenBits)
{
    // e_shnum, e_shstrndx and st_shndx cannot hold numbers from 0xff00 (65,280) on, which are
    // reserved. The file stays below this limit, crosses it, or is above it from the start.
    const Target &t = targets[0];
    for (uint32_t fill : {65250u, 65270u, 65300u}) {
        TestObject o(t);
        o.add({".debug_info", SHT_PROGBITS, 0, TestObject::bytes("debug")});
        for (uint32_t i = 0; i < fill; ++i)
            o.add({".text", SHT_PROGBITS, SHF_ALLOC});
        uint32_t last = o.add({".last", SHT_PROGBITS, SHF_ALLOC, TestObject::bytes("last")});
        ByteWriter symbols(t.order), wide(t.order);
        for (uint32_t i = 0; i < 7; ++i) {
            bool is_wide = i == 6 && last >= SHN_LORESERVE;
            o.put_symbol(symbols, 0, 0, i < 6 ? 0 : is_wide ? uint32_t{SHN_XINDEX} : last);
            wide.put<uint32_t>(is_wide ? last : 0);
        }
        uint32_t symtab = o.add({".symtab", SHT_SYMTAB, 0, symbols.take(), last + 2, 7, 8, 24});
        o.add({".strtab", SHT_STRTAB, 0, TestObject::bytes(std::string_view("", 1))});
        o.add({".symtab_shndx", SHT_SYMTAB_SHNDX, 0, wide.take(), symtab, 0, 4, 4});
        std::vector<std::byte> object = o.build();
        for (bool strip : {false, true}) {
            ObjectBtf btf = make_btf(t);
            btf.strip_dwarf = strip;
            std::vector<std::byte> out = emit(t, object, btf);
            EXPECT_EQ(emit(t, out, btf), out);
            Reader after(out);
            EXPECT_EQ(after.order.size(), o.sections.size() - 1 + (strip ? 3 : 4));
            EXPECT_EQ(after.name(last - strip), ".last");
            EXPECT_NE(after.find(".BTF"), 0u);
            GElf_Sym symbol;
            Elf32_Word index = 0;
            Elf_Data *shndx = after.data(after.find(".symtab_shndx"));
            ASSERT_TRUE(
                gelf_getsymshndx(after.data(after.find(".symtab")), shndx, 6, &symbol, &index));
            EXPECT_EQ(symbol.st_shndx == SHN_XINDEX ? index : symbol.st_shndx, last - strip);
        }
    }
}

TEST(ObjectWriterLinked, LoadedSectionsKeepTheirOffsets)
{
    const Target &t = targets[1];
    TestObject o(t);
    o.add({".debug_line", SHT_PROGBITS, 0, TestObject::bytes("debug first")});
    o.add({".text", SHT_PROGBITS, SHF_ALLOC, TestObject::bytes("code"), 0, 0, 16});
    o.add({".debug_info", SHT_PROGBITS, 0, TestObject::bytes("debug")});
    o.add({".comment", SHT_PROGBITS, 0, TestObject::bytes("comment")});
    std::vector<std::byte> object = o.build(0, ET_DYN);
    ObjectBtf btf = make_btf(t);
    auto refused = with_object_btf(object, t.arch, btf, Where{"t.so"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().str(), "t.so: .rela.BTF: relocations in a linked file");
    btf.btf_relocs.clear();
    btf.pool_relocs.clear();
    btf.pool.clear();
    btf.strip_dwarf = true;
    std::vector<std::byte> out = emit(t, object, btf);
    EXPECT_EQ(emit(t, out, btf), out);
    Reader before(object), after(out);
    EXPECT_EQ(after.order, (std::vector<std::string>{".text", ".comment", ".BTF", ".shstrtab"}));
    EXPECT_EQ(after.head(1).sh_offset, before.head(2).sh_offset);
    EXPECT_EQ(after.raw(1).size(), 4u);
    EXPECT_LT(after.head(2).sh_offset, before.head(4).sh_offset);
}

TEST(ObjectWriterSmall, NoSections)
{
    const Target &t = targets[0];
    TestObject o(t);
    std::vector<std::byte> object = o.build();
    object.resize(64);
    std::fill(object.begin() + 40, object.begin() + 48, std::byte{0}); // e_shoff
    std::fill(object.begin() + 58, object.begin() + 64, std::byte{0}); // e_shentsize, e_shnum, ...
    ObjectBtf btf;
    btf.btf = make_btf(t).btf;
    std::vector<std::byte> out = emit(t, object, btf);
    EXPECT_EQ(Reader(out).order, (std::vector<std::string>{".BTF", ".shstrtab"}));
    EXPECT_EQ(emit(t, out, btf), out);
}

} // namespace

} // namespace btflink::emit
