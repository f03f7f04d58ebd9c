// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes ELF objects for tests, in each class and byte order, adds object BTF, and reads the results
// with libelf, which shares no code with our writer.
#pragma once

#include "common/btf/btf_builder.h"
#include "common/io/file_io.h"
#include "common/object_btf/address_pool.h"
#include "common/object_btf/link_trailer.h"
#include "emit/object/object_btf.h"
#include <cstdlib>
#include <functional>
#include <gelf.h>
#include <gtest/gtest.h>

namespace btflink::emit
{

struct Target {
    const char *name;
    bool is64;
    ByteOrder order;
    Arch arch;
};

// The Archs have no debug relocations and no parameter registers: writing object BTF needs neither.
inline const Target targets[] = {
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

/// Makes an ELF file: ELF header, contents of `sections` in order, section headers. sections[0] is
/// the null section.
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

    /// Adds a relocation section for section `section`, with a relocation of type 1 for each
    /// {offset, symbol}. `name`: that of `section`. Returns the index of the new section.
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

    /// The bytes of the file. `names`: index of the string table to which section names are added;
    /// 0: a new section .shstrtab.
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

/// An ELF file as libelf reads it.
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
    /// Index of the last section with this name; 0: there is none.
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
    /// "offset type symbol addend" of each relocation in section `i`. The addend is 0 if
    /// relocations have none (SHT_REL).
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

// Indexes of the sections and symbols of make_object().
constexpr uint32_t sec_group = 1, sec_dwarf_group = 2, sec_text = 3, sec_info = 4, sec_comdat = 5,
                   sec_comdat_info = 6, sec_types = 7, sec_data = 8, sec_addr = 9, sec_symtab = 11,
                   sec_strtab = 12;
constexpr uint32_t sym_text = 1, sym_info = 2, sym_local = 3, sym_sig = 4, sym_main = 5,
                   sym_var = 6;

/// An object with code, a variable, DWARF, a group with DWARF and code, a group with DWARF only, a
/// .debug_addr that is not a pool, and .debug_data, which is part of the program despite its name.
inline TestObject make_object(const Target &target)
{
    TestObject o(target);
    uint32_t word = target.is64 ? 8 : 4;
    auto words = [&](std::initializer_list<uint32_t> values) {
        ByteWriter out(target.order);
        for (uint32_t v : values)
            out.put(v);
        return out.take();
    };
    o.add({".group", SHT_GROUP, 0, words({GRP_COMDAT, sec_comdat, sec_comdat_info}), sec_symtab,
           sym_main, 4, 4});
    o.add({".group", SHT_GROUP, 0, words({GRP_COMDAT, sec_types}), sec_symtab, sym_sig, 4, 4});
    o.add({".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TestObject::bytes("code code code"), 0,
           0, 16});
    o.add({".debug_info", SHT_PROGBITS, 0, TestObject::bytes("0123456789abcdef0")});
    o.add({".text.inline", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR | SHF_GROUP,
           TestObject::bytes("more code"), 0, 0, 16});
    o.add({".debug_macro", SHT_PROGBITS, SHF_GROUP, TestObject::bytes("m")});
    o.add({".debug_types", SHT_PROGBITS, SHF_GROUP, TestObject::bytes("t")});
    o.add({".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, TestObject::bytes("abcdefghijklmnop"), 0,
           0, 8});
    // Has the form of a pool, but pools are only in .debug.
    o.add({".debug_addr", SHT_PROGBITS, 0,
           encode_pool(0, 2, static_cast<uint8_t>(word), target.order), 0, 0, 1});
    o.add({".debug_data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, TestObject::bytes("the program's"),
           0, 0, 4});
    ByteWriter symbols(target.order);
    o.put_symbol(symbols, 0, 0, 0);
    o.put_symbol(symbols, 0, STT_SECTION, sec_text);
    o.put_symbol(symbols, 0, STT_SECTION, sec_info);
    o.put_symbol(symbols, 1, STT_OBJECT, sec_data);
    o.put_symbol(symbols, 7, STT_NOTYPE, sec_dwarf_group);
    o.put_symbol(symbols, 11, STB_GLOBAL << 4 | STT_FUNC, sec_comdat);
    o.put_symbol(symbols, 16, STB_GLOBAL << 4 | STT_OBJECT, sec_data);
    o.add({".symtab", SHT_SYMTAB, 0, symbols.take(), sec_strtab, sym_main, word,
           target.is64 ? 24u : 16u});
    using namespace std::string_literals;
    o.add({".strtab", SHT_STRTAB, 0, TestObject::bytes("\0local\0sig\0main\0var\0"s)});
    EXPECT_EQ(o.sections.size(), sec_strtab + 1);
    o.add_relocs(".text", sec_text, sec_symtab, {{0, sym_text}, {4, sym_local}, {8, sym_var}});
    o.add_relocs(".debug_info", sec_info, sec_symtab, {{0, sym_info}, {8, sym_main}});
    o.add_relocs(".debug_addr", sec_addr, sec_symtab, {{8, sym_main}});
    return o;
}

/// The bytes of make_object(). With `llvm`, the names of sections and symbols share one string
/// table.
inline std::vector<std::byte> build(const Target &target, bool llvm)
{
    return make_object(target).build(llvm ? sec_strtab : 0);
}

struct SymbolIndexes {
    uint32_t text = sym_text, local = sym_local, main = sym_main, var = sym_var;
};
/// The indexes after DWARF was dropped, and with it the symbols of its sections, sym_info and
/// sym_sig.
constexpr SymbolIndexes stripped_symbols = {1, 2, 3, 4};

inline ObjectBtf make_btf(const Target &target, const char *type_name = "int",
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

/// `object` with `btf` added by plan_object_btf().
inline Result<std::vector<std::byte>> with_object_btf(Bytes object, const Arch &arch,
                                                      const ObjectBtf &btf, const Where &where)
{
    auto change = TRY(plan_object_btf(object, arch, btf, where));
    return change.whole(object);
}

inline std::vector<std::byte> emit(const Target &target, Bytes object, const ObjectBtf &btf)
{
    auto result = with_object_btf(object, target.arch, btf, Where{"t.o"});
    if (!result) {
        ADD_FAILURE() << result.error().str();
        return {};
    }
    return std::move(*result);
}

} // namespace btflink::emit
