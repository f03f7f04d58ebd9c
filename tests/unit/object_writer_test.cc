// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Objects are made here, in each class and byte order, and read back by libelf, which shares no
// code with the writer.
#include "emit/object_writer.h"

#include "common/address_pool.h"
#include "common/btf_builder.h"
#include "common/file_io.h"
#include "common/link_trailer.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <gelf.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace btflink::emit
{

namespace
{

struct Target {
    const char *name;
    bool is64;
    ByteOrder order;
    Arch arch;
};

const Target targets[] = {
    {"x86_64",
     true,
     ByteOrder::little,
     {"x86_64", EM_X86_64, 8, true, 0, R_X86_64_32S, R_X86_64_64, {}, {}, 0, false}},
    {"s390",
     true,
     ByteOrder::big,
     {"s390", EM_S390, 8, true, 0, R_390_32, R_390_64, {}, {}, 0, false}},
    {"i386",
     false,
     ByteOrder::little,
     {"i386", EM_386, 4, false, 0, R_386_32, R_386_32, {}, {}, 0, false}},
    {"ppc",
     false,
     ByteOrder::big,
     {"ppc", EM_PPC, 4, true, 0, R_PPC_ADDR32, R_PPC_ADDR32, {}, {}, 0, false}},
};

struct TestSection {
    std::string name;
    uint32_t type = SHT_PROGBITS;
    uint64_t flags = 0;
    std::vector<std::byte> data = {};
    uint32_t link = 0, info = 0;
    uint64_t align = 1, entsize = 0;
};

/// Writes sections in the order given, then headers. Section names go into section `names`.
class TestObject
{
public:
    explicit TestObject(const Target &t) : target(t), sections(1) {}

    uint32_t add(TestSection section)
    {
        sections.push_back(std::move(section));
        return static_cast<uint32_t>(sections.size() - 1);
    }

    static std::vector<std::byte> bytes(std::string_view text)
    {
        return {as_bytes(text).begin(), as_bytes(text).end()};
    }

    void put_word(ByteWriter &out, uint64_t value) const
    {
        if (target.is64)
            out.put<uint64_t>(value);
        else
            out.put<uint32_t>(static_cast<uint32_t>(value));
    }

    void put_symbol(ByteWriter &out, uint32_t name, uint8_t info, uint32_t section) const
    {
        auto shndx = static_cast<uint16_t>(section);
        out.put<uint32_t>(name);
        if (!target.is64) {
            out.put<uint32_t>(0);
            out.put<uint32_t>(4);
        }
        out.put<uint8_t>(info);
        out.put<uint8_t>(0);
        out.put<uint16_t>(shndx);
        if (target.is64) {
            out.put<uint64_t>(0);
            out.put<uint64_t>(4);
        }
    }

    /// A relocation section for `section` with {offset, symbol} entries of type 1.
    uint32_t add_relocs(const std::string &name, uint32_t section, uint32_t symtab,
                        std::vector<std::pair<uint64_t, uint32_t>> entries)
    {
        ByteWriter out(target.order);
        for (auto [offset, symbol] : entries) {
            put_word(out, offset);
            put_word(out, target.is64 ? ELF64_R_INFO(symbol, 1) : ELF32_R_INFO(symbol, 1));
            if (target.arch.rela)
                put_word(out, 0);
        }
        uint64_t word = target.is64 ? 8 : 4;
        return add({(target.arch.rela ? ".rela" : ".rel") + name,
                    static_cast<uint32_t>(target.arch.rela ? SHT_RELA : SHT_REL), SHF_INFO_LINK,
                    out.take(), symtab, section, word, word * (target.arch.rela ? 3 : 2)});
    }

    /// `names`: index of the string table that is for section names too; 0: add one.
    std::vector<std::byte> build(uint32_t names = 0, uint16_t type = ET_REL)
    {
        if (!names)
            names = add({".shstrtab", SHT_STRTAB});
        std::vector<uint32_t> name_offsets;
        std::string text(reinterpret_cast<const char *>(sections[names].data.data()),
                         sections[names].data.size());
        if (text.empty())
            text.push_back('\0');
        for (const TestSection &s : sections) {
            name_offsets.push_back(s.name.empty() ? 0 : static_cast<uint32_t>(text.size()));
            if (!s.name.empty())
                text += s.name + '\0';
        }
        sections[names].data = bytes(text);

        ByteWriter out(target.order);
        out.put_zeros(target.is64 ? 64 : 52);
        std::vector<uint64_t> offsets;
        for (const TestSection &s : sections) {
            out.align(s.align);
            offsets.push_back(out.size());
            out.put_bytes(s.data);
        }
        out.align(8);
        uint64_t headers = out.size();
        bool many = sections.size() >= SHN_LORESERVE;
        for (size_t i = 0; i < sections.size(); ++i) {
            const TestSection &s = sections[i];
            out.put<uint32_t>(name_offsets[i]);
            out.put<uint32_t>(i ? s.type : uint32_t{SHT_NULL});
            put_word(out, s.flags);
            put_word(out, 0);
            put_word(out, i ? offsets[i] : 0);
            put_word(out, i ? s.data.size() : many ? sections.size() : 0);
            out.put<uint32_t>(i || !many ? s.link : names);
            out.put<uint32_t>(s.info);
            put_word(out, s.align);
            put_word(out, s.entsize);
        }
        std::vector<std::byte> file = out.take();
        ByteWriter head(target.order);
        head.put_bytes(as_bytes(ELFMAG));
        head.put<uint8_t>(target.is64 ? ELFCLASS64 : ELFCLASS32);
        head.put<uint8_t>(target.order == ByteOrder::little ? ELFDATA2LSB : ELFDATA2MSB);
        head.put<uint8_t>(EV_CURRENT);
        head.put_zeros(EI_NIDENT - 7);
        head.put<uint16_t>(type);
        head.put<uint16_t>(target.arch.machine);
        head.put<uint32_t>(EV_CURRENT);
        put_word(head, 0);
        put_word(head, 0);
        put_word(head, headers);
        head.put<uint32_t>(0);
        head.put<uint16_t>(target.is64 ? 64 : 52);
        head.put<uint16_t>(0);
        head.put<uint16_t>(0);
        head.put<uint16_t>(target.is64 ? 64 : 40);
        head.put<uint16_t>(many ? uint16_t{0} : static_cast<uint16_t>(sections.size()));
        head.put<uint16_t>(many ? uint16_t{SHN_XINDEX} : static_cast<uint16_t>(names));
        std::vector<std::byte> bytes = head.take();
        std::copy(bytes.begin(), bytes.end(), file.begin());
        return file;
    }

    const Target &target;
    std::vector<TestSection> sections;
};

/// What libelf sees.
class Reader
{
public:
    explicit Reader(std::vector<std::byte> bytes) : bytes_(std::move(bytes))
    {
        elf_version(EV_CURRENT);
        elf_ = elf_memory(reinterpret_cast<char *>(bytes_.data()), bytes_.size());
        if (!elf_ || elf_getshdrstrndx(elf_, &names_) != 0)
            ADD_FAILURE() << elf_errmsg(-1);
        Elf_Scn *scn = nullptr;
        while ((scn = elf_nextscn(elf_, scn)))
            order.push_back(name(elf_ndxscn(scn)));
    }
    ~Reader() { elf_end(elf_); }
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;

    GElf_Shdr head(size_t i) const
    {
        GElf_Shdr h{};
        EXPECT_TRUE(gelf_getshdr(elf_getscn(elf_, i), &h));
        return h;
    }
    std::string name(size_t i) const
    {
        const char *text = elf_strptr(elf_, names_, head(i).sh_name);
        return text ? text : "?";
    }
    /// Index of the last section of that name.
    size_t find(const std::string &wanted) const
    {
        for (size_t i = order.size(); i > 0; --i)
            if (order[i - 1] == wanted)
                return i;
        return 0;
    }
    Elf_Data *data(size_t i) const { return elf_getdata(elf_getscn(elf_, i), nullptr); }
    Bytes raw(size_t i) const { return Bytes(bytes_).subspan(head(i).sh_offset, head(i).sh_size); }
    std::string symbol(size_t i) const
    {
        size_t symtab = find(".symtab");
        GElf_Sym s;
        if (!gelf_getsym(data(symtab), static_cast<int>(i), &s))
            return "?";
        if (GELF_ST_TYPE(s.st_info) == STT_SECTION)
            return name(s.st_shndx);
        return elf_strptr(elf_, head(symtab).sh_link, s.st_name);
    }
    /// "offset type symbol addend" of each relocation.
    std::vector<std::string> relocs(size_t i) const
    {
        std::vector<std::string> out;
        GElf_Shdr h = head(i);
        for (int k = 0; h.sh_entsize && k < static_cast<int>(h.sh_size / h.sh_entsize); ++k) {
            GElf_Rela r{};
            GElf_Rel rel;
            if (h.sh_type == SHT_RELA)
                gelf_getrela(data(i), k, &r);
            else if (gelf_getrel(data(i), k, &rel))
                r = {rel.r_offset, rel.r_info, 0};
            out.push_back(strf("%d %d %s %d", static_cast<int>(r.r_offset),
                               static_cast<int>(GELF_R_TYPE(r.r_info)),
                               symbol(GELF_R_SYM(r.r_info)).c_str(), static_cast<int>(r.r_addend)));
        }
        return out;
    }

    std::vector<std::string> order; // names of sections from 1 on
    Elf *elf() const { return elf_; }

private:
    std::vector<std::byte> bytes_;
    Elf *elf_ = nullptr;
    size_t names_ = 0;
};

constexpr uint32_t sym_text = 1, sym_info = 2, sym_local = 3, sym_sig = 4, sym_main = 5,
                   sym_var = 6;

/// An object with code, a variable, DWARF, a group of DWARF and code, one of DWARF only, and an
/// own .debug_addr.
TestObject make_object(const Target &target)
{
    TestObject o(target);
    uint32_t word = target.is64 ? 8 : 4;
    constexpr uint32_t dwarf_group = 2, text = 3, info = 4, comdat = 5, comdat_info = 6, types = 7,
                       data = 8, symtab = 11;
    auto words = [&](std::initializer_list<uint32_t> values) {
        ByteWriter out(target.order);
        for (uint32_t v : values)
            out.put(v);
        return out.take();
    };
    o.add(
        {".group", SHT_GROUP, 0, words({GRP_COMDAT, comdat, comdat_info}), symtab, sym_main, 4, 4});
    o.add({".group", SHT_GROUP, 0, words({GRP_COMDAT, types}), symtab, sym_sig, 4, 4});
    o.add({".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TestObject::bytes("code code code"), 0,
           0, 16});
    o.add({".debug_info", SHT_PROGBITS, 0, TestObject::bytes("0123456789abcdef0")});
    o.add({".text.inline", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR | SHF_GROUP,
           TestObject::bytes("more code"), 0, 0, 16});
    o.add({".debug_macro", SHT_PROGBITS, SHF_GROUP, TestObject::bytes("m")});
    o.add({".debug_types", SHT_PROGBITS, SHF_GROUP, TestObject::bytes("t")});
    o.add({".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, TestObject::bytes("abcdefghijklmnop"), 0,
           0, 8});
    o.add({".debug_addr", SHT_PROGBITS, 0,
           encode_pool(0, 2, static_cast<uint8_t>(word), target.order), 0, 0, 1});
    o.add({".debug_data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, TestObject::bytes("the program's"),
           0, 0, 4});
    ByteWriter symbols(target.order);
    o.put_symbol(symbols, 0, 0, 0);
    o.put_symbol(symbols, 0, STT_SECTION, text);
    o.put_symbol(symbols, 0, STT_SECTION, info);
    o.put_symbol(symbols, 1, STT_OBJECT, data);
    o.put_symbol(symbols, 7, STT_NOTYPE, dwarf_group);
    o.put_symbol(symbols, 11, STB_GLOBAL << 4 | STT_FUNC, comdat);
    o.put_symbol(symbols, 16, STB_GLOBAL << 4 | STT_OBJECT, data);
    o.add({".symtab", SHT_SYMTAB, 0, symbols.take(), symtab + 1, sym_main, word,
           target.is64 ? 24u : 16u});
    using namespace std::string_literals;
    o.add({".strtab", SHT_STRTAB, 0, TestObject::bytes("\0local\0sig\0main\0var\0"s)});
    EXPECT_EQ(o.sections.size(), symtab + 2);
    o.add_relocs(".text", text, symtab, {{0, sym_text}, {4, sym_local}, {8, sym_var}});
    o.add_relocs(".debug_info", info, symtab, {{0, sym_info}, {8, sym_main}});
    o.add_relocs(".debug_addr", 9, symtab, {{8, sym_main}});
    return o;
}

/// `llvm`: one string table for the names of sections and symbols.
std::vector<std::byte> build(const Target &target, bool llvm)
{
    return make_object(target).build(llvm ? 12 : 0);
}

struct SymbolIndexes {
    uint32_t text = sym_text, local = sym_local, main = sym_main, var = sym_var;
};
constexpr SymbolIndexes stripped_symbols = {1, 2, 3, 4};

ObjectBtf make_btf(const Target &target, const char *type_name = "int",
                   const SymbolIndexes &symbols = {})
{
    BtfBuilder builder;
    TypeId type = builder.add_int(type_name, 4, 1);
    TypeId var = builder.add_var("var", type, 1);
    builder.add_datasec(".data", 16);
    builder.add_secinfo(var, 0, 4);
    ObjectBtf o;
    o.btf = builder.serialize(target.order);
    auto entry = static_cast<uint32_t>(24 + builder.words() * 4 - 12);
    o.btf_relocs = {{entry + 4, symbols.var, 5}};
    LinkTrailer trailer;
    trailer.plain_end = var;
    trailer.pool_entries = 3;
    trailer.hashes.resize(3);
    std::vector<std::byte> bytes = encode_trailer(trailer, o.btf, target.order);
    o.btf.resize(align_up(o.btf.size(), 8));
    o.btf.insert(o.btf.end(), bytes.begin(), bytes.end());
    uint8_t size = target.arch.address_size;
    o.pool = encode_pool(trailer.object_id, 3, size, target.order);
    o.pool_relocs = {{pool_entry_offset(1, size), symbols.main, 0},
                     {pool_entry_offset(2, size), symbols.local, 0},
                     {pool_entry_offset(3, size), symbols.text, 7}};
    return o;
}

std::vector<std::byte> emit(const Target &target, Bytes object, const ObjectBtf &btf)
{
    auto result = with_object_btf(object, target.arch, btf, Where{"t.o"});
    if (!result) {
        ADD_FAILURE() << result.error().str();
        return {};
    }
    return std::move(*result);
}

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
         {std::string(".BTF"), rel + ".BTF", std::string(".debug_addr"), rel + ".debug_addr"})
        expected.push_back(name);
    if (llvm)
        expected.push_back(".shstrtab");
    EXPECT_EQ(after.order, expected);

    size_t symtab = after.find(".symtab");
    for (const char *name : {".BTF", ".debug_addr"}) {
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
    EXPECT_EQ(after.relocs(after.find(rel + ".debug_addr")),
              (std::vector{strf("16 %d main 0", pointer), strf("%d %d local 0", 16 + size, pointer),
                           strf("%d %d .text %d", 16 + 2 * size, pointer, rela ? 7 : 0)}));
    Bytes contents = after.raw(after.find(".BTF"));
    EXPECT_EQ(load<uint32_t>(contents.data() + offset, target.order), rela ? 0u : 5u);
    Bytes pool = after.raw(after.find(".debug_addr"));
    EXPECT_EQ(find_pools(pool, target.order).at(0).address(3), rela ? 0u : 7u);
}

TEST_P(ObjectWriter, TwiceIsOnce)
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
         {rel + ".text", std::string(".BTF"), rel + ".BTF", std::string(".debug_addr"),
          rel + ".debug_addr", std::string(".shstrtab")})
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
    EXPECT_EQ(after.relocs(after.find(rel + ".debug_addr")).at(0).substr(0, 3), "16 ");
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

TEST_P(ObjectWriter, ReplacesElsewhere)
{
    // As a linker may leave it: our sections in the middle, named by symbols.
    TestObject o = make_object(target);
    ObjectBtf old = make_btf(target, "old");
    uint32_t section = o.add({".BTF", 0x80425446, SHF_EXCLUDE, old.btf, 0, 0, 8});
    o.add_relocs(".BTF", section, 11, {{4, sym_var}});
    uint32_t pool = o.add({".debug_addr", SHT_PROGBITS, 0, old.pool, 0, 0, 8});
    o.add_relocs(".debug_addr", pool, 11, {{16, sym_var}});
    o.add({".comment", SHT_PROGBITS, 0, TestObject::bytes("behind")});
    std::vector<std::byte> linked = o.build(llvm ? 12 : 0);
    std::vector<std::byte> out = emit(target, linked, btf);
    Reader after(out);
    EXPECT_EQ(std::count(after.order.begin(), after.order.end(), ".BTF"), 1);
    EXPECT_EQ(std::count(after.order.begin(), after.order.end(), ".debug_addr"), 2); // one DWARF's
    EXPECT_EQ(after.head(after.find(".BTF")).sh_size, btf.btf.size());
    EXPECT_EQ(after.relocs(after.find(rel + ".debug_info")).size(), 2u);
    EXPECT_EQ(emit(target, out, btf), out);
}

TEST_P(ObjectWriter, SurvivesDamage)
{
    // Whatever the damage: an error or a result, and no access out of bounds (see sanitizers).
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
            for (unsigned value : {0x00u, 0x01u, 0x7fu, 0xffu}) {
                std::vector<std::byte> bad = whole;
                bad[i] = static_cast<std::byte>(value);
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
    EXPECT_EQ(error([](TestObject &o) {
                  o.add_relocs(".data", 8, 11, {{0, 1}, {8, sym_info}});
              }),
              "t.o: .rela.data+0x18: relocation names symbol 2 of a section that is to be dropped");
    EXPECT_EQ(error([](TestObject &o) { o.sections[3].link = 99; }),
              "t.o: .text: sh_link is section 99 of 17");
    EXPECT_EQ(error([](TestObject &o) { o.sections[3].link = 4; }),
              "t.o: .text: is linked to .debug_info, which is to be dropped");
    EXPECT_EQ(error([](TestObject &o) { o.sections[1].info = sym_sig; }),
              "t.o: .group: section group is named by symbol 4 of a section that is to be dropped");
    EXPECT_EQ(error([](TestObject &o) { o.sections[11].type = SHT_PROGBITS; }, false),
              "t.o: .rela.BTF: relocations, but the file has no symbols");
    EXPECT_EQ(error([](TestObject &o) { o.sections[11].data.resize(24 * 6); }, false),
              "t.o: .rela.BTF+0x48: relocation by symbol 6 of 6");
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
    // Section 0xff00 and above do not fit into e_shnum, e_shstrndx and st_shndx.
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

TEST(ObjectWriterLinked, KeepsLoadedPlaces)
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
    std::fill(object.begin() + 58, object.begin() + 64, std::byte{0}); // sizes and counts
    ObjectBtf btf;
    btf.btf = make_btf(t).btf;
    std::vector<std::byte> out = emit(t, object, btf);
    EXPECT_EQ(Reader(out).order, (std::vector<std::string>{".BTF", ".shstrtab"}));
    EXPECT_EQ(emit(t, out, btf), out);
}

class UpdateObject : public testing::Test
{
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "update-XXXXXX";
        ASSERT_TRUE(mkdtemp(name.data()));
        folder = name;
        path = folder + "/t.o";
        ASSERT_TRUE(write_file(path, object));
    }
    void TearDown() override
    {
        for (const char *name : {"/t.o", "/link"})
            ::unlink((folder + name).c_str());
        EXPECT_EQ(::rmdir(folder.c_str()), 0); // nothing else was left
    }
    struct stat stat_of(const std::string &file)
    {
        struct stat st {
        };
        EXPECT_EQ(::stat(file.c_str(), &st), 0);
        return st;
    }

    const Target &target = targets[0];
    std::string folder, path;
    std::vector<std::byte> object = build(target, false);
    std::vector<std::byte> after = emit(target, object, make_btf(target));
};

TEST_F(UpdateObject, AppendsInPlace)
{
    ASSERT_EQ(::symlink("t.o", (folder + "/link").c_str()), 0);
    struct stat st = stat_of(path);
    ASSERT_TRUE(update_object(folder + "/link", object, after));
    EXPECT_EQ(*read_file(path), after);
    EXPECT_EQ(stat_of(path).st_ino, st.st_ino);
    struct timespec changed = stat_of(path).st_mtim;
    ASSERT_TRUE(update_object(path, after, after)); // nothing to do: not even touched
    EXPECT_EQ(stat_of(path).st_mtim.tv_nsec, changed.tv_nsec);
}

TEST_F(UpdateObject, ReplacesOtherwise)
{
    ObjectBtf btf = make_btf(target);
    btf.strip_dwarf = true;
    std::vector<std::byte> stripped = emit(target, object, btf);
    ASSERT_EQ(::symlink("t.o", (folder + "/link").c_str()), 0);
    ASSERT_TRUE(update_object(folder + "/link", object, stripped));
    EXPECT_EQ(*read_file(path), stripped);
}

TEST_F(UpdateObject, RefusesChangedFile)
{
    std::vector<std::byte> longer = object;
    longer.push_back(std::byte{0});
    ASSERT_TRUE(write_file(path, longer));
    EXPECT_FALSE(update_object(path, object, after));
    EXPECT_EQ(*read_file(path), longer);
    EXPECT_FALSE(update_object(folder + "/missing", object, after));
}

TEST_F(UpdateObject, UndoesFailedAppend)
{
    // A limit on file size stands for a full disk.
    auto *handler = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit limit = {object.size() + 100, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    auto result = update_object(path, object, after);
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_FALSE(result);
    EXPECT_EQ(*read_file(path), object);
}

} // namespace

} // namespace btflink::emit
