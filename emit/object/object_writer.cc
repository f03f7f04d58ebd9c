// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Adds object BTF to an ELF file: drops old sections, and appends new ones with relocations.
#include "emit/object/object_btf.h"

#include "common/elf/elf_image.h"
#include "common/object_btf/address_pool.h"
#include "common/object_btf/elf_append.h"

#include <algorithm>

namespace btflink::emit
{

namespace
{

/// Is the section dropped with the DWARF? `lto`: the object has code that is compiled at the link.
/// That code refers to .gnu.debuglto_* sections, so these stay.
bool is_dwarf(const ElfSection &s, bool lto)
{
    if (s.head.sh_flags & SHF_ALLOC) // part of the program, whatever its name
        return false;
    return s.name.starts_with(".debug_") || s.name.starts_with(".zdebug_") ||
           is_pool_section(s.name) || (s.name.starts_with(".gnu.debuglto_") && !lto) ||
           s.name == ".gdb_index";
}

/// The sections to drop: old object BTF and, with `strip_dwarf`, DWARF.
Result<std::vector<bool>> find_unwanted(const ElfImage &image, bool strip_dwarf)
{
    auto drop = find_object_btf(image);
    if (!drop || !strip_dwarf)
        return drop;
    bool lto = std::ranges::any_of(
        image.sections, [](const ElfSection &s) { return s.name.starts_with(".gnu.lto_"); });
    for (uint32_t i = 1; i < drop->size(); ++i)
        if (is_dwarf(image.sections[i], lto))
            (*drop)[i] = true;
    return drop;
}

/// Appends `.BTF` and the address pool, each with its relocations.
class ObjectAppender
{
public:
    ObjectAppender(ElfImage &image, const Arch &arch, ElfBody body)
        : image_(image), arch_(arch), out_(image, std::move(body))
    {
    }

    Result<FileChange> run(const ObjectBtf &added)
    {
        bool rela = arch_.rela;
        uint64_t relocs = added.btf_relocs.size() + added.pool_relocs.size();
        uint64_t headers = image_.sections.size() + 5;
        // An estimate: names are usually short.
        out_.reserve(added.btf.size() + added.pool.size() + relocs * sizeof(Elf64_Rela) +
                     headers * (sizeof(Elf64_Shdr) + 64));
        if (!added.btf.empty())
            TRY(add(".BTF", rela ? ".rela.BTF" : ".rel.BTF", added.section_type,
                    added.exclude ? uint64_t{SHF_EXCLUDE} : 0, added.btf, added.btf_relocs,
                    arch_.reloc_abs32, 4));
        if (!added.pool.empty())
            TRY(add(pool_section, rela ? ".rela.debug" : ".rel.debug", SHT_PROGBITS, 0, added.pool,
                    added.pool_relocs, arch_.reloc_pointer, arch_.address_size));
        else
            CHECK(added.pool_relocs.empty());
        return out_.finish();
    }

private:
    Result<void> add(std::string_view name, std::string_view reloc_name, uint32_t type,
                     uint64_t flags, Bytes data, const std::vector<Reloc> &relocs,
                     uint32_t reloc_type, uint8_t reloc_size)
    {
        auto target = static_cast<uint32_t>(image_.sections.size());
        out_.add_section(name, type, new_section_alignment, data).head.sh_flags = flags;
        if (relocs.empty())
            return {};
        if (image_.head.e_type != ET_REL)
            return fail(image_.where.in(reloc_name), "relocations in a linked file");

        auto symtab = TRY(image_.find_symtab());
        if (!symtab)
            return fail(image_.where.in(reloc_name), "relocations, but the file has no symbols");
        auto symbols = TRY(image_.symbol_count(symtab));
        const bool rela = arch_.rela;
        ByteWriter entries(image_.order);
        entries.reserve(relocs.size() * sizeof(Elf64_Rela));
        auto put_word = [&](uint64_t value) {
            if (image_.is64)
                entries.put<uint64_t>(value);
            else
                entries.put<uint32_t>(static_cast<uint32_t>(value));
        };
        for (const Reloc &reloc : relocs) {
            CHECK(reloc.offset <= data.size() && reloc_size <= data.size() - reloc.offset);
            auto symbol = TRY(new_symbol(reloc, symbols, reloc_name));
            put_word(reloc.offset);
            put_word(image_.reloc_info(symbol, reloc_type));
            auto addend = static_cast<uint64_t>(reloc.addend);
            if (rela)
                put_word(addend);
            else if (reloc_size == 8)
                out_.patch<uint64_t>(reloc.offset, addend);
            else
                out_.patch<uint32_t>(reloc.offset, static_cast<uint32_t>(addend));
        }
        const uint64_t word = image_.is64 ? 8 : 4;
        std::vector<std::byte> bytes = entries.take();
        Elf64_Shdr &head =
            out_.add_section(reloc_name, rela ? SHT_RELA : SHT_REL, word, bytes).head;
        head.sh_flags = SHF_INFO_LINK;
        head.sh_link = symtab;
        head.sh_info = target;
        head.sh_entsize = word * (rela ? 3 : 2);
        return {};
    }

    /// The new number of the symbol that `reloc` names. `count`: how many symbols the new file has.
    /// `section`: the name of the relocation section, for messages.
    Result<uint32_t> new_symbol(const Reloc &reloc, uint32_t count, std::string_view section)
    {
        uint32_t symbol = reloc.symbol;
        Where place = image_.where.in(section).at(reloc.offset);
        if (!out_.symbol_map().empty()) {
            if (symbol >= out_.symbol_map().size())
                return fail(place, strf("relocation names symbol %u, but there are %zu", symbol,
                                        out_.symbol_map().size()));
            if (out_.symbol_map()[symbol] == dropped_symbol)
                return fail(place,
                            strf("relocation names symbol %u, whose section is dropped", symbol));
            symbol = out_.symbol_map()[symbol];
        }
        if (symbol >= count)
            return fail(place, strf("relocation names symbol %u, but there are %u", symbol, count));
        if (!image_.is64 && symbol >= 1u << 24)
            return fail(place, strf("symbol %u does not fit into a 32-bit relocation", symbol));
        return symbol;
    }

    ElfImage &image_;
    const Arch &arch_;
    ElfAppender out_;
};

} // namespace

Result<FileChange> plan_object_btf(Bytes object, const Arch &arch, const ObjectBtf &added,
                                   const Where &where)
{
    auto image = TRY(read_elf(object, where));
    auto drop = TRY(find_unwanted(image, added.strip_dwarf));
    auto body = TRY(without_sections(image, std::move(drop)));
    if (added.btf.empty() && body.rebuilt.size() == 0 && body.kept == object.size()) {
        FileChange none;
        none.kept = object.size();
        return none;
    }
    return ObjectAppender(image, arch, std::move(body)).run(added);
}

} // namespace btflink::emit
