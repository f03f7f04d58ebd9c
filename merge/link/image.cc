// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the image, or combines the inputs if there is none.
//
// Problem. Only the link shows whether a function exists, where a variable is and which functions
// are kfuncs. Modules and plain `ld -r` have no final link; then merging objects must give the same
// result as merging the output of their `ld -r`.
//
// Method. If there is an image, everything is read from it. Otherwise the inputs are laid out as by
// `ld -r`: sections of one name follow each other in input order, each at its alignment; a global
// symbol is its strong definition, otherwise a common one, otherwise the first weak one. DATASECs
// of raw BTF count as sections; several of one name in one blob stay separate, as with btf__dedup.
//
// Cost. A few walks over each symbol table.
#include "merge/link/image.h"

#include "common/btf/id_symbols.h"

#include <algorithm>
#include <map>

namespace btflink::merge
{

namespace
{

/// Names in Rust's older mangling may contain dots. They end with a hash and an E:
/// _ZN4core3fmt5write17h0123456789abcdefE. Returns the position after such a name, where a suffix
/// may follow; 0 for other names.
size_t end_of_rust_name(std::string_view name)
{
    constexpr std::string_view head = "17h", digits = "0123456789abcdef";
    constexpr size_t length = head.size() + 16;
    for (size_t at = name.find(head); at != name.npos; at = name.find(head, at + 1)) {
        const size_t end = at + length; // of the hash
        const std::string_view hash = name.substr(at, length),
                               rest = name.substr(std::min(end, name.size()));
        if (rest.starts_with('E') && (rest.size() == 1 || rest[1] == '.') &&
            hash.find_first_not_of(digits, head.size()) == hash.npos)
            return end + 1;
    }
    return 0;
}

/// The name without the suffix that compilers append, which begins with a dot.
std::string_view base_of(std::string_view name)
{
    const size_t end = name.starts_with("_ZN") ? end_of_rust_name(name) : 0;
    return name.substr(0, name.find('.', end));
}

void add_function(std::vector<FunctionSymbol> &out, const Symbol &symbol, Address address)
{
    // Undefined functions are elsewhere, such as in a shared library.
    if (symbol.type != STT_FUNC || symbol.home == Home::undefined || !*symbol.text)
        return;
    const std::string_view name = symbol.name(), base = base_of(name);
    if (is_split_part(name.substr(base.size())))
        return;
    out.push_back({base, name, address});
}

/// Reads the kfunc sets of one file (common/btf/id_symbols.h).
Result<void> read_kfuncs(const ElfFile &elf, Image &out)
{
    const auto &sections = elf.sections;
    for (uint32_t index = 0; index < sections.size(); ++index) {
        if (sections[index].name != ".BTF_ids" || !sections[index].in_file())
            continue;
        auto contents = TRY(elf.contents(index));
        uint64_t base = elf.is_relocatable() ? 0 : sections[index].head.sh_addr;
        // The flags of a set8 or of one of its functions: the second word at the symbol.
        auto flags_at = [&](const Symbol &symbol) -> std::optional<uint32_t> {
            uint64_t at = symbol.value - base + 4;
            if (symbol.value < base || at + 4 < at || at + 4 > contents.bytes.size())
                return std::nullopt;
            return load<uint32_t>(contents.bytes.data() + at, elf.order);
        };
        std::vector<std::pair<uint64_t, uint64_t>> sets; // begin, end
        std::vector<std::pair<std::string_view, Symbol>> functions;
        for (size_t i = 0; i < elf.symbols.size(); ++i) {
            const Symbol symbol = elf.symbols[i];
            if (symbol.home != Home::section || symbol.section != index)
                continue;
            const IdSymbol id = parse_id_symbol(symbol.name());
            if (id.kind == "set8" && (flags_at(symbol).value_or(0) & set_of_kfuncs))
                sets.emplace_back(symbol.value, symbol.value + symbol.size);
            else if (id.kind == "func")
                functions.emplace_back(id.name, symbol);
        }
        std::ranges::sort(sets);
        for (const auto &[name, symbol] : functions) {
            auto set = std::ranges::upper_bound(sets, std::pair(symbol.value, UINT64_MAX));
            if (set == sets.begin() || symbol.value >= std::prev(set)->second)
                continue;
            if (auto flags = flags_at(symbol))
                out.kfuncs[name] |= *flags;
        }
    }
    return {};
}

Result<void> read_linked(const ElfFile &elf, Image &out)
{
    auto sections = TRY(pool_sections(elf));
    for (PoolSection &section : sections) {
        for (const PoolPart &part : section.parts)
            out.pools[part.object_id].push_back(part);
        out.kept.push_back(std::move(section.contents));
    }
    out.functions.reserve(elf.symbols.size()); // unused pages cost nothing
    for (size_t i = 0; i < elf.symbols.size(); ++i) {
        const Symbol symbol = elf.symbols[i];
        add_function(out.functions, symbol, {0, symbol.value});
        if (symbol.type == STT_OBJECT && symbol.value == 0 && symbol.home == Home::section)
            out.objects_at_zero.emplace_back(symbol.name(), symbol.section);
    }
    std::ranges::sort(out.objects_at_zero);
    return {};
}

Result<void> read_relocatable(const ElfFile &elf, Image &out)
{
    auto pools = TRY(relocatable_pools(elf));
    for (RelocatablePool &pool : pools)
        out.relocatable_pools[pool.object_id].push_back(std::move(pool));
    for (size_t i = 0; i < elf.symbols.size(); ++i) {
        const Symbol symbol = elf.symbols[i];
        const bool in_section = symbol.home == Home::section;
        add_function(out.functions, symbol,
                     {in_section ? symbol.section : absolute_section, symbol.value});
    }
    return {};
}

/// How strongly a symbol defines its name; in a tie the first wins.
int strength(const Symbol &symbol)
{
    if (symbol.home == Home::undefined)
        return 0;
    if (symbol.binding == STB_WEAK)
        return 1;
    return symbol.home == Home::common ? 2 : 3;
}

/// Lays out the inputs as `ld -r` would combine them.
class Combiner
{
public:
    Combiner(const std::vector<Input> &inputs, const std::vector<Object> &objects, Image &out)
        : inputs_(inputs), objects_(objects), out_(out)
    {
    }

    Result<void> run()
    {
        lay_out_sections();
        lay_out_raw();
        find_globals();
        for (uint32_t i = 0; i < inputs_.size(); ++i) {
            if (!inputs_[i].elf)
                continue;
            const ElfFile &elf = *inputs_[i].elf;
            for (uint32_t s = 0; s < elf.symbols.size(); ++s)
                add_symbol(elf.symbols[s], i, s);
            TRY(read_kfuncs(elf, out_));
        }
        return {};
    }

private:
    /// The number of the combined section with this name, which is added if it is new. `which`: the
    /// number of the DATASEC among those of this name in one raw blob.
    uint32_t section_named(std::string_view name, uint32_t which = 0)
    {
        auto [found, is_new] = numbers_.try_emplace(std::pair(name, which),
                                                    static_cast<uint32_t>(out_.sections.size()));
        if (is_new) {
            ElfSection &section = out_.sections.emplace_back();
            section.name = name;
            section.head.sh_type = SHT_PROGBITS;
            section.head.sh_flags = SHF_ALLOC;
        }
        return found->second;
    }

    Address append(uint32_t index, uint64_t size, uint64_t alignment)
    {
        Elf64_Shdr &section = out_.sections[index].head;
        uint64_t begin = align_up(section.sh_size, alignment);
        section.sh_size = begin + size;
        return {index, begin};
    }

    void lay_out_sections()
    {
        out_.bases.resize(inputs_.size());
        for (uint32_t i = 0; i < inputs_.size(); ++i) {
            if (!inputs_[i].elf)
                continue;
            for (const ElfSection &section : inputs_[i].elf->sections) {
                out_.bases[i].emplace_back();
                if (!(section.head.sh_flags & SHF_ALLOC))
                    continue;
                // Damaged files may claim any alignment.
                out_.bases[i].back() =
                    append(section_named(section.name), section.head.sh_size,
                           std::min<uint64_t>(section.head.sh_addralign, uint64_t{1} << 32));
                Elf64_Shdr &all = out_.sections[out_.bases[i].back()->section].head;
                all.sh_flags |= section.head.sh_flags;
                all.sh_type = section.head.sh_type;
            }
        }
    }

    /// Raw blobs have no sections except their DATASECs.
    void lay_out_raw()
    {
        out_.datasecs.resize(objects_.size());
        out_.first_datasec = out_.sections.size();
        for (size_t i = 0; i < objects_.size(); ++i) {
            const Btf &btf = objects_[i].btf;
            if (inputs_[objects_[i].input].elf)
                continue;
            auto &places = out_.datasecs[i].emplace();
            std::unordered_map<std::string_view, uint32_t> seen;
            for (TypeId id : objects_[i].around_link_part()) {
                if (btf.kind(id) != btf::Kind::DATASEC)
                    continue;
                uint32_t section = section_named(btf.name(id), seen[btf.name(id)]++);
                places.emplace(id, append(section, btf.type(id).size, 8));
            }
        }
    }

    void find_globals()
    {
        for (uint32_t i = 0; i < inputs_.size(); ++i) {
            if (!inputs_[i].elf)
                continue;
            const SymbolTable &symbols = inputs_[i].elf->symbols;
            for (uint32_t s = 0; s < symbols.size(); ++s) {
                const Symbol symbol = symbols[s];
                if (symbol.binding == STB_LOCAL || strength(symbol) == 0)
                    continue;
                auto [it, added] = out_.globals.emplace(symbol.name(), std::pair(i, s));
                if (added)
                    continue;
                auto [old_input, old_symbol] = it->second;
                if (strength(symbol) > strength(inputs_[old_input].elf->symbols[old_symbol]))
                    it->second = {i, s};
            }
        }
    }

    void add_symbol(const Symbol &symbol, uint32_t input, uint32_t index)
    {
        if (symbol.type != STT_FUNC)
            return;
        if (symbol.binding != STB_LOCAL && symbol.home != Home::undefined &&
            out_.globals.at(symbol.name()) != std::pair(input, index))
            return; // another definition of this name won
        Address address{absolute_section, symbol.value};
        if (symbol.home == Home::section) {
            const auto &base = out_.bases[input][symbol.section];
            if (base)
                address = {base->section, base->value + symbol.value};
        }
        add_function(out_.functions, symbol, address);
    }

    const std::vector<Input> &inputs_;
    const std::vector<Object> &objects_;
    Image &out_;
    std::map<std::pair<std::string_view, uint32_t>, uint32_t> numbers_; // see section_named()
};

} // namespace

Symbol Image::definition(const std::vector<Input> &inputs, uint32_t &input, uint32_t symbol) const
{
    const Symbol named = inputs[input].elf->symbols[symbol];
    if (named.binding == STB_LOCAL)
        return named;
    auto found = globals.find(named.name());
    if (found == globals.end())
        return named;
    input = found->second.first;
    return inputs[input].elf->symbols[found->second.second];
}

Result<Image> read_image(const Input *image, const std::vector<Input> &inputs,
                         const std::vector<Object> &objects)
{
    Image out;
    if (!image) {
        TRY(Combiner(inputs, objects, out).run());
        return out;
    }
    CHECK(image->elf);
    const ElfFile &elf = *image->elf;
    out.kind = elf.is_relocatable() ? ImageKind::relocatable : ImageKind::linked;
    out.name = image->where.file;
    out.elf = &elf;
    out.has_symbols = !elf.symbols.empty();
    out.sections = elf.sections;
    TRY(elf.is_relocatable() ? read_relocatable(elf, out) : read_linked(elf, out));
    TRY(read_kfuncs(elf, out));
    return out;
}

} // namespace btflink::merge
