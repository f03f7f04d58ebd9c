// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Picks the sections and symbols that concern BTF from an ELF file.

#include "btf-kernel/package/image.h"
#include "btf-kernel/package/magic.h"
#include "common/btf/id_symbols.h"
#include "common/elf/elf_image.h"

#include <algorithm>
#include <set>

namespace btflink::kernel
{

namespace
{

std::vector<std::byte> copy(Bytes bytes)
{
    return {bytes.begin(), bytes.end()};
}

uint64_t offset_in(Bytes whole, Bytes part)
{
    return static_cast<uint64_t>(part.data() - whole.data());
}

class Picker
{
public:
    explicit Picker(const ElfImage &elf) : elf_(elf) {}

    Result<Binary> run()
    {
        out_.path = elf_.where.file;
        out_.bytes = elf_.file.size();
        out_.address_size = elf_.is64 ? 8 : 4;
        out_.order = elf_.order;
        for (uint32_t i = 1; i < elf_.sections.size(); ++i)
            TRY(pick_section(i));
        TRY(pick_symbols());
        auto by_offset = [](const PlacedSymbol &a, const PlacedSymbol &b) {
            return std::tie(a.offset, a.name) < std::tie(b.offset, b.name);
        };
        std::sort(out_.id_symbols.begin(), out_.id_symbols.end(), by_offset);
        std::sort(out_.percpu.begin(), out_.percpu.end(), by_offset);
        std::sort(out_.id_functions.begin(), out_.id_functions.end());
        return std::move(out_);
    }

private:
    Result<void> pick_section(uint32_t index)
    {
        const ElfSection &section = elf_.sections[index];
        Where where = elf_.where.in(section.name).at(0);
        if (section.head.sh_flags & SHF_COMPRESSED && section.name.starts_with(".BTF"))
            return fail(where, "is compressed, which no kernel reads");
        if (section.name == ".BTF") {
            // Files with debug information alone have only the section header.
            out_.has_btf = section.in_file();
            out_.btf = copy(section.data);
            out_.btf_where = where;
        } else if (section.name == ".BTF.base") {
            out_.base = copy(section.data);
            out_.base_where = where;
        } else if (section.name == ".BTF_ids") {
            out_.btf_ids = copy(section.data);
            ids_ = index;
        } else if (section.name == ".data..percpu") {
            out_.has_percpu = true;
            percpu_ = index;
        } else if (section.name == ".modinfo") {
            read_modinfo(section.data);
        }
        return {};
    }

    void read_modinfo(Bytes bytes)
    {
        constexpr std::string_view key = "vermagic=";
        const std::string_view text = as_text(bytes);
        for (size_t at = 0; at < text.size();) {
            const std::string_view entry = text.substr(at, text.find('\0', at) - at);
            if (entry.starts_with(key))
                out_.release = entry.substr(key.size(), entry.find(' ') - key.size());
            at += entry.size() + 1;
        }
    }

    Result<void> pick_symbols()
    {
        auto symtab = TRY(elf_.find_symtab());
        if (!symtab)
            return {};
        auto count = TRY(elf_.symbol_count(symtab));
        const ElfSection &table = elf_.sections[symtab];
        if (table.head.sh_link >= elf_.sections.size())
            return fail(elf_.place(symtab), "has no table of names");
        const std::string_view text = as_text(elf_.sections[table.head.sh_link].data);
        out_.has_symbols = count > 1;
        for (uint32_t i = 1; i < count; ++i)
            TRY(pick_symbol(elf_.symbol(table.data, i), text, symtab));
        const std::set<std::string_view> wanted = wanted_functions();
        for (uint32_t i = 1; i < count && !wanted.empty(); ++i)
            pick_function(elf_.symbol(table.data, i), text, wanted);
        return {};
    }

    std::set<std::string_view> wanted_functions() const
    {
        std::set<std::string_view> out;
        for (const PlacedSymbol &symbol : out_.id_symbols)
            if (const IdSymbol parsed = parse_id_symbol(symbol.name); parsed.kind == "func")
                out.insert(parsed.name);
        return out;
    }

    void pick_function(const Elf64_Sym &symbol, std::string_view names,
                       const std::set<std::string_view> &wanted)
    {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_shndx)
            return;
        const std::string_view rest = names.substr(symbol.st_name),
                               name = rest.substr(0, rest.find('\0'));
        if (wanted.contains(name.substr(0, name.find('.'))))
            out_.id_functions.emplace_back(name);
    }

    Result<void> pick_symbol(const Elf64_Sym &symbol, std::string_view names, uint32_t symtab)
    {
        if (symbol.st_name >= names.size())
            return fail(elf_.place(symtab), "a symbol's name is behind the table of names");
        const bool of_ids = ids_ && symbol.st_shndx == ids_;
        const bool of_percpu = percpu_ && symbol.st_shndx == percpu_;
        if (!of_ids && !of_percpu)
            return {};
        const size_t end = names.find('\0', symbol.st_name);
        if (end == names.npos)
            return fail(elf_.place(symtab), "a symbol's name does not end");
        if (of_percpu && ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
            return {};
        const uint64_t start = elf_.sections[symbol.st_shndx].head.sh_addr; // 0 in modules
        (of_ids ? out_.id_symbols : out_.percpu)
            .push_back({std::string(names.substr(symbol.st_name, end - symbol.st_name)),
                        symbol.st_value - start, symbol.st_size});
        return {};
    }

    const ElfImage &elf_;
    Binary out_;
    uint32_t ids_ = 0, percpu_ = 0; // indexes of sections; 0: none
};

/// An image without section headers.
Binary flat_binary(Bytes memory, const Where &where)
{
    Binary binary;
    binary.form = Binary::Form::flat;
    binary.bytes = memory.size();
    const Bytes btf = find_btf(memory);
    binary.order = order_of_btf(btf);
    binary.has_btf = !btf.empty();
    binary.btf = copy(btf);
    binary.btf_where = btf.empty() ? where : where.at(offset_in(memory, btf));
    binary.btf_ids = copy(find_btf_ids(memory, btf));
    return binary;
}

/// Sections that may hold the banner and the configuration.
std::vector<Bytes> loaded_data(const ElfImage &elf)
{
    std::vector<Bytes> out;
    for (const ElfSection &section : elf.sections)
        if (section.head.sh_flags & SHF_ALLOC && !(section.head.sh_flags & SHF_EXECINSTR) &&
            section.name != ".BTF")
            out.push_back(section.data);
    return out;
}

} // namespace

Result<Binary> read_binary(Bytes file, const Where &where)
{
    auto elf = TRY(read_elf(file, where));
    return Picker(elf).run();
}

std::string release_of(Bytes file)
{
    auto elf = read_elf(file, {});
    if (elf)
        for (Bytes bytes : loaded_data(*elf))
            if (std::string banner = find_banner(bytes); !banner.empty())
                return banner.substr(0, banner.find(' '));
    return {};
}

Binary raw_binary(Bytes file, const Where &where)
{
    Binary binary;
    binary.path = where.file;
    binary.form = Binary::Form::raw_btf;
    binary.bytes = file.size();
    binary.order = order_of_btf(file);
    binary.has_btf = true;
    binary.btf = copy(file);
    binary.btf_where = where.at(0);
    return binary;
}

Result<ImageFacts> read_image(Bytes file, std::shared_ptr<const void> owner, const Where &where)
{
    auto image = TRY(bare_image(file, std::move(owner), where));
    ImageFacts facts;
    std::vector<Bytes> memory;
    if (image.form == BareImage::Form::elf) {
        auto elf = TRY(read_elf(image.bytes, where));
        if (elf.sections.size() < 2) { // section headers were stripped: search the whole file
            facts.binary = flat_binary(image.bytes, where);
            memory = {image.bytes};
        } else {
            facts.binary = TRY(Picker(elf).run());
            memory = loaded_data(elf);
        }
    } else {
        const bool raw = image.form == BareImage::Form::btf;
        facts.binary = raw ? raw_binary(image.bytes, where) : flat_binary(image.bytes, where);
        if (!raw)
            memory = {image.bytes};
    }
    facts.binary.path = where.file;
    facts.binary.name = "vmlinux";
    facts.release = std::move(image.release);
    for (Bytes bytes : memory) {
        if (facts.banner.empty())
            facts.banner = find_banner(bytes);
        if (facts.config.empty())
            facts.config = find_config(bytes, where);
    }
    if (facts.release.empty())
        facts.release = facts.banner.substr(0, facts.banner.find(' '));
    return facts;
}

} // namespace btflink::kernel
