// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads object files of BPF programs. Documentation/bpf/btf.rst of the kernel describes .BTF.ext.
#include "btf-kernel/bpf/bpf_program.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace btflink::kernel::bpf
{

namespace
{

constexpr uint32_t core_fields = 24; // byte offset of the CO-RE fields in the header of .BTF.ext
constexpr uint32_t core_kinds = 13;  // number of values of Core

/// Appends the CO-RE relocations of a .BTF.ext, whose contents are `bytes`, to `out`. `btf`: the
/// program's .BTF.
Result<void> read_relocations(Bytes bytes, ByteOrder order, const Where &where, const Btf &btf,
                              std::vector<CoreRelocation> &out)
{
    auto word = [&](uint64_t at) { return load<uint32_t>(bytes.data() + at, order); };
    if (bytes.size() < 8 || order_of_btf(bytes) != order)
        return fail(where.at(0), "is not .BTF.ext data");
    const uint32_t header = word(4);
    if (header > bytes.size())
        return fail(where.at(4),
                    strf("header claims %u bytes, the section has %zu", header, bytes.size()));
    if (header == core_fields)
        return {}; // the header is older than CO-RE relocations
    if (header < core_fields + 8)
        return fail(where.at(4), strf("header of %u bytes is cut off", header));
    const uint64_t begin = uint64_t{header} + word(core_fields);
    const uint64_t end = begin + word(core_fields + 4);
    if (end > bytes.size() || begin % 4)
        return fail(where.at(core_fields), "CO-RE relocations do not fit");
    if (begin == end)
        return {};
    if (end - begin < 4 || word(begin) < 16 || word(begin) % 4)
        return fail(where.at(begin), "CO-RE relocations have an unknown size");
    // First comes the size of a relocation; then, for each section that has relocations, the offset
    // of the section's name, the number of its relocations, and the relocations. A relocation is a
    // struct bpf_core_relo: insn_off, type_id, access_str_off, kind.
    const uint32_t size = word(begin);
    for (uint64_t at = begin + 4; at < end;) {
        if (end - at < 8 || word(at) >= btf.str_size() ||
            uint64_t{word(at + 4)} * size > end - at - 8)
            return fail(where.at(at), "CO-RE relocations of a section are cut off");
        const std::string_view section = btf.str(word(at));
        const uint32_t count = word(at + 4);
        at += 8;
        for (uint32_t i = 0; i < count; ++i, at += size) {
            if (word(at + 4) >= raw(btf.end_id()) || word(at + 8) >= btf.str_size())
                return fail(where.at(at), "CO-RE relocation has a type or string out of range");
            out.push_back({section, std::string(section), word(at), word(at + 4),
                           btf.str(word(at + 8)), static_cast<Core>(word(at + 12))});
        }
    }
    return {};
}

std::unordered_set<std::string_view> weak_names(const merge::ElfFile &elf)
{
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < elf.symbols.size(); ++i)
        if (const Symbol symbol = elf.symbols[i]; symbol.binding == STB_WEAK)
            names.insert(symbol.name());
    return names;
}

/// Do the variables of a DATASEC with this name define struct_ops? If the name begins with '?',
/// libbpf loads these struct_ops only on request.
bool is_struct_ops(std::string_view section)
{
    section.remove_prefix(section.starts_with('?'));
    return section == ".struct_ops" || section == ".struct_ops.link";
}

/// Finds the externs in the DATASEC .ksyms, and the struct_ops.
void read_datasecs(BpfObject &object)
{
    const Btf &btf = *object.btf;
    const std::unordered_set<std::string_view> weak = weak_names(*object.input.elf);
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        if (btf::kind_of(t) != btf::Kind::DATASEC)
            continue;
        const std::string_view name = btf.name(id);
        btf::for_each_type_id(t, [&](uint32_t item) {
            const btf::Kind kind = btf.kind(TypeId{item});
            if (name == ".ksyms" && (kind == btf::Kind::VAR || kind == btf::Kind::FUNC))
                object.externs.push_back({item, weak.contains(btf.name(TypeId{item}))});
            else if (is_struct_ops(name) && kind == btf::Kind::VAR)
                object.struct_ops.push_back({btf.name(TypeId{item}), btf.type(TypeId{item}).type});
        });
    }
}

/// Pointers into `relocations`, by CoreRelocation::section.
std::unordered_map<std::string_view, std::vector<CoreRelocation *>>
by_section(std::vector<CoreRelocation> &relocations)
{
    std::unordered_map<std::string_view, std::vector<CoreRelocation *>> out;
    for (CoreRelocation &relocation : relocations)
        out[relocation.section].push_back(&relocation);
    return out;
}

/// How many bytes an instruction loads or stores; 0 if it does neither. `code`: its first byte.
uint8_t access_width(uint8_t code)
{
    constexpr uint8_t widths[] = {4, 2, 1, 8}; // BPF_W, BPF_H, BPF_B, BPF_DW
    const uint8_t operation = code & 7;        // BPF_LDX, BPF_ST and BPF_STX are 1 to 3
    return operation >= 1 && operation <= 3 ? widths[code >> 3 & 3] : 0;
}

/// The functions of a section, by their offsets in it.
std::map<uint64_t, std::string_view> functions_in(const merge::ElfFile &elf, uint32_t section)
{
    std::map<uint64_t, std::string_view> functions;
    for (size_t i = 0; i < elf.symbols.size(); ++i)
        if (const Symbol symbol = elf.symbols[i];
            symbol.type == STT_FUNC && symbol.section == section)
            functions.try_emplace(symbol.value, symbol.name());
    return functions;
}

/// CoreRelocation::program of an instruction. `functions`: those of the section.
std::string program_at(std::string_view section, uint32_t instruction,
                       const std::map<uint64_t, std::string_view> &functions)
{
    std::string program(section);
    const auto next = functions.upper_bound(instruction);
    if (functions.size() > 1 && next != functions.begin())
        program += " (" + std::string(std::prev(next)->second) + ")";
    return program;
}

/// Lists the sections with code, and sets CoreRelocation::program and CoreRelocation::width. If
/// several sections with code have the same name, all relocations with that section name belong to
/// the first.
Result<void> read_code(BpfObject &object)
{
    auto relocations = by_section(object.relocations);
    const auto &sections = object.input.elf->sections;
    for (uint32_t i = 0; i < sections.size(); ++i) {
        if (!(sections[i].head.sh_flags & SHF_EXECINSTR) || !sections[i].head.sh_size)
            continue;
        object.programs.push_back(sections[i].name);
        auto code = TRY(object.input.elf->contents(i));
        const auto of_section = relocations.extract(sections[i].name);
        if (of_section.empty())
            continue;
        const auto functions = functions_in(*object.input.elf, i);
        for (CoreRelocation *relocation : of_section.mapped()) {
            relocation->program = program_at(sections[i].name, relocation->instruction, functions);
            if (relocation->instruction >= code.bytes.size())
                continue;
            relocation->width =
                access_width(static_cast<uint8_t>(code.bytes[relocation->instruction]));
        }
    }
    return {};
}

} // namespace

std::string_view core_name(Core kind)
{
    constexpr std::string_view names[core_kinds] = {
        "offset",  "size",   "exists", "sign",   "left shift", "right shift", "local type",
        "type id", "exists", "size",   "exists", "value",      "matches"};
    const auto number = static_cast<uint32_t>(kind);
    return number < core_kinds ? names[number] : "unknown";
}

Result<BpfObject> open_bpf_object(const std::string &path)
{
    auto input = TRY(merge::open_input(path));
    if (!input.elf || input.elf->head.e_machine != EM_BPF)
        return fail(Where{path}, "is not an object file of a BPF program");
    BpfObject object{std::move(input), {}, {}, nullptr, {}, {}, {}, {}};
    auto blob = TRY(merge::find_final_btf(object.input, ".BTF"));
    if (!blob)
        return fail(Where{path}, "has no .BTF: compile it with -g");
    object.btf_bytes = blob->contents;
    auto btf = TRY(Btf::parse(blob->blob, blob->where));
    object.btf = std::make_shared<const Btf>(std::move(btf));
    const auto &sections = object.input.elf->sections;
    for (uint32_t i = 0; i < sections.size(); ++i)
        if (sections[i].name == ".BTF.ext") {
            object.ext_bytes = TRY(object.input.elf->contents(i));
            TRY(read_relocations(object.ext_bytes.bytes, object.input.elf->order,
                                 Where{path, ".BTF.ext"}, *object.btf, object.relocations));
        }
    read_datasecs(object);
    TRY(read_code(object));
    return object;
}

} // namespace btflink::kernel::bpf
