// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes a DieTree from what the plugin describes, and object BTF from the DieTree.
//
// Problem. The plugin describes types recursively and out of order, and functions twice: before gcc
// optimises (the functions that the source defines, with names) and after (the functions in the
// object, with the remaining parameters). A DieTree needs entries in order, parents before
// children.
//
// Method. new_type() gives a type its number at the first mention. The entry of a type is added
// when the type is described, and refers to other types by number; at the end offsets of entries
// replace the numbers. When gcc has written a function into the object, the function's entry is
// completed. A clone gets an entry of its own. Its parameters refer to the function's parameters by
// Die::origin, as in the DWARF of an out-of-line copy.
//
// Invariant. Entries are only appended, so their offsets ascend, and parents come before children.
//
// Cost. Linear in the number of entries. If there are clones, also a sort of the functions, and for
// each clone the square of its number of parameters.
#include "emit/gcc/entries.h"

#include "common/object_btf/address_pool.h"
#include "common/object_btf/link_trailer.h"
#include "emit/unit/unit_object.h"

#include <algorithm>
#include <charconv>
#include <dwarf.h>
#include <elf.h>
#include <memory_resource>
#include <span>
#include <unordered_map>

namespace btflink::emit::gcc
{

namespace
{

/// Distance between the made-up offsets of entries. With 16, each bucket of DieTree::find() has one
/// entry.
constexpr uint32_t offset_step = 16;

// Tags of entries, by Kind.
constexpr uint16_t tags[] = {
    DW_TAG_base_type,
    DW_TAG_pointer_type,
    DW_TAG_reference_type,
    DW_TAG_const_type,
    DW_TAG_volatile_type,
    DW_TAG_restrict_type,
    DW_TAG_atomic_type,
    DW_TAG_typedef,
    DW_TAG_array_type,
    DW_TAG_structure_type,
    DW_TAG_union_type,
    DW_TAG_enumeration_type,
    DW_TAG_subroutine_type,
    DW_TAG_unspecified_type,
    DW_TAG_subrange_type,
    DW_TAG_member,
    DW_TAG_enumerator,
    DW_TAG_formal_parameter,
    DW_TAG_unspecified_parameters,
    DW_TAG_subprogram,
    DW_TAG_variable,
};
// DWARF's encodings of base types, by BaseKind. `other` gets one that BTF lacks.
constexpr uint8_t encodings[] = {DW_ATE_signed, DW_ATE_unsigned, DW_ATE_boolean, DW_ATE_float,
                                 DW_ATE_complex_float};

struct Parameter {
    DieIndex entry;
    uint32_t uid;
};

struct Target {
    std::string_view prefix; // of the triplet
    unsigned pointer_bytes;  // 0: any size
    uint16_t machine;        // EM_*
};

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

// x86_64 with -m32 is i386, and i686 with -m64 is x86_64.
constexpr Target targets[] = {
    {"x86_64", 8, EM_X86_64}, {"x86_64", 4, EM_386},
    {"i386", 4, EM_386},      {"i486", 4, EM_386},
    {"i586", 4, EM_386},      {"i686", 4, EM_386},
    {"i686", 8, EM_X86_64},   {"aarch64", 8, EM_AARCH64},
    {"arm", 4, EM_ARM},       {"riscv", 8, EM_RISCV},
    {"s390", 0, EM_S390},     {"powerpc64", 8, EM_PPC64},
    {"mips", 0, EM_MIPS},     {"loongarch", 0, EM_LOONGARCH},
};

/// Finds the architecture. The size of pointers distinguishes -m32 from -m64. Returns null if the
/// target is not supported.
const Arch *target_arch(const Setup &setup)
{
    if (setup.pointer_bytes < setup.register_bytes) // x32, MIPS n32
        return nullptr;
    for (const Target &t : targets)
        if (std::string_view(setup.target).starts_with(t.prefix) &&
            (t.pointer_bytes == 0 || t.pointer_bytes == setup.pointer_bytes))
            return find_arch(t.machine, static_cast<uint8_t>(setup.pointer_bytes));
    return nullptr;
}

/// The message of `error`, after the name of the source file unless the message begins with that
/// name. The offset of the entry is omitted, because offsets are made up here.
std::string loss(const Error &error, const std::string &source)
{
    const Where where = error.what.starts_with(source + ": ") ? Where{} : Where{source};
    return Error{where, error.what}.str();
}

/// Sets the type of `d`. Die::type holds a TypeNumber until finish_tree() replaces it by an offset.
void refer(Die &d, TypeNumber target)
{
    d.type = static_cast<uint32_t>(target);
    if (target != void_type)
        d.has |= Die::typed;
}

/// The name that gcc's DWARF has for a _BitInt.
std::string bit_precise_name(const Entry &entry)
{
    return (entry.base == BaseKind::unsigned_integer ? "unsigned _BitInt(" : "_BitInt(") +
           std::to_string(entry.bit_size) + ")";
}

void put_hex(std::string &out, uint64_t value)
{
    char digits[16];
    out += "0x";
    out.append(digits, std::to_chars(digits, std::end(digits), value, 16).ptr);
}

/// Appends `bytes` as words; see assembly_text(). `relocs`: in ascending order of offsets. Each
/// replaces `reloc_size` bytes, which are aligned to this size.
void put_words(std::string &out, Bytes bytes, std::span<const Reloc> relocs, size_t reloc_size,
               ByteOrder order, const std::vector<std::string> &symbols)
{
    constexpr int words_per_line = 16;
    size_t last_size = 0;
    int count = 0; // of words in the line
    // Begins a word, and a directive whenever the size changes or a line is full.
    auto word = [&](size_t size) -> std::string & {
        const bool continues = size == last_size && count < words_per_line;
        out += continues ? "," : size == 8 ? "\n\t.8byte\t" : "\n\t.4byte\t";
        count = continues ? count + 1 : 1;
        last_size = size;
        return out;
    };
    size_t next = 0;
    for (size_t at = 0; at < bytes.size();) {
        const uint64_t reloc = next < relocs.size() ? relocs[next].offset : UINT64_MAX;
        if (at == reloc) {
            word(reloc_size) += symbols[relocs[next++].symbol - 1];
            at += reloc_size;
        } else if (at % 8 == 0 && bytes.size() - at >= 8 && reloc - at >= 8) {
            put_hex(word(8), load<uint64_t>(bytes.data() + at, order));
            at += 8;
        } else {
            put_hex(word(4), load<uint32_t>(bytes.data() + at, order));
            at += 4;
        }
    }
    out += '\n';
}

/// `.BTF` and the address pool (common/FORMAT.md, 1) as directives for the assembler: lists of
/// words in hexadecimal, of 8 bytes where no relocation prevents this. The assembler reads such
/// lists faster than shorter items, strings, or a line per word. For a relocation, the symbol's
/// name replaces a word. `symbols`: the names of the symbols to which relocations refer by number,
/// from 1 on. These relocations have no addends.
std::string assembly_text(const UnitObject &object, const Arch &arch, ByteOrder order,
                          const std::vector<std::string> &symbols)
{
    std::string out;
    out.reserve(object.contribution.size() * 3);
    // '%' instead of '@', which begins a comment in the assemblers of some targets.
    out += "\t.section\t.BTF,\"e\",%0x80425446\n\t.balign\t8";
    put_words(out, object.contribution, object.btf_relocs, 4, order, symbols);
    if (!object.has_pool)
        return out;
    out += "\t.section\t.debug,\"\",%progbits\n\t.balign\t8";
    put_words(out, encode_pool(object.object_id, object.pool_entries, arch.address_size, order),
              object.pool_relocs, arch.address_size, order, symbols);
    return out;
}

} // namespace

struct Entries::State {
    const Arch &arch;
    ByteOrder order;
    FeatureSet features;
    std::string source;

    State(const Arch &target, const Setup &setup)
        : arch(target), order(setup.big_endian ? ByteOrder::big : ByteOrder::little),
          features(setup.features), source(setup.source)
    {
        tree.dies.reserve(64 * 1024); // untouched pages cost nothing
        tree.dies.emplace_back();     // placeholder for "none"
    }

    std::pmr::monotonic_buffer_resource text_memory{64 * 1024};
    std::unordered_map<const char *, const char *> kept_names; // copies; see keep()
    DieTree tree;
    std::vector<uint32_t> offset_of = {0}; // of each type's entry, by TypeNumber
    DieIndex open = 0;                     // the type or function that was begun last
    bool has_clones = false;
    DieIndex subject = 0;                            // the entry that gets annotations
    std::unordered_map<uint32_t, DieIndex> entry_of; // of functions and variables, by DECL_UID
    std::vector<Parameter> parameters;               // of functions, in order of entries
    std::vector<std::string> symbols;                // AddressRef::symbol is an index + 1
    std::string labels;                              // assembler text that defines our own symbols
    std::vector<ElfSection> sections = {{}};
    std::unordered_map<std::string, uint32_t> section_of;

    /// Copies a name, because gcc's garbage collector may free the original. Copies are found by
    /// the original's address. Names are copied only after parsing, so a freed name's address
    /// cannot be reused for another name of the source.
    const char *keep(const char *text)
    {
        if (!text)
            return nullptr;
        auto [found, is_new] = kept_names.try_emplace(text, nullptr);
        if (is_new)
            found->second = copy(text);
        return found->second;
    }
    const char *copy(const char *text)
    {
        const size_t size = __builtin_strlen(text) + 1;
        void *room = text_memory.allocate(size, 1);
        return static_cast<const char *>(__builtin_memcpy(room, text, size));
    }

    DieIndex last() const { return static_cast<DieIndex>(tree.dies.size() - 1); }
    Die &add(unsigned tag, DieIndex parent = 0)
    {
        const auto index = static_cast<DieIndex>(tree.dies.size());
        Die &d = tree.dies.emplace_back();
        d.tag = static_cast<uint16_t>(tag);
        d.offset = index * offset_step;
        d.parent = parent;
        return d;
    }
    Die &add(const Entry &entry, DieIndex parent = 0);
    uint32_t add_symbol(const char *text);
    uint32_t add_function_symbol(const EmittedFunction &function);
    uint32_t add_section(const char *name, bool zero);
    DieIndex add_clone(DieIndex function, const EmittedFunction &written,
                       const std::vector<uint32_t> &uids);
    void set_address(DieIndex entry, const AddressRef &address);
    void finish_tree();
};

Die &Entries::State::add(const Entry &entry, DieIndex parent)
{
    Die &d = add(tags[static_cast<size_t>(entry.kind)], parent);
    subject = last();
    d.name = keep(entry.name);
    refer(d, entry.type);
    d.byte_size = entry.bytes;
    d.value = entry.value;
    auto set = [&](bool condition, uint32_t bit) { d.has |= condition ? bit : 0; };
    set(entry.is_declared, Die::declaration);
    set(entry.is_external, Die::external);
    switch (entry.kind) {
    case Kind::base_type:
        d.encoding = encodings[static_cast<size_t>(entry.base)];
        if (entry.bit_size)
            d.name = copy(bit_precise_name(entry).c_str());
        break;
    case Kind::atomic_type:
        tree.atomics = true;
        break;
    case Kind::member:
        d.bit_size = static_cast<uint16_t>(std::min<uint32_t>(entry.bit_size, UINT16_MAX));
        set(entry.bit_size, Die::data_bit_offset);
        set(!entry.bit_size, Die::located);
        if (!entry.bit_size)
            d.value /= 8;
        break;
    case Kind::enumerator:
        d.has |= Die::const_value;
        set(entry.is_negative, Die::const_negative);
        break;
    case Kind::function:
    case Kind::variable:
        d.has |= Die::file_level;
        break;
    default:
        break;
    }
    return d;
}

uint32_t Entries::State::add_symbol(const char *text)
{
    symbols.emplace_back(text);
    return static_cast<uint32_t>(symbols.size()); // 0 stands for "no symbol"
}

/// A symbol for the address of a function. The linker would resolve the name of a weak function to
/// the strong function that replaces it, so a weak function gets a local label, which stays with
/// the code, like the labels in gcc's DWARF.
uint32_t Entries::State::add_function_symbol(const EmittedFunction &function)
{
    if (!function.weak)
        return add_symbol(function.symbol);
    const std::string label = ".Lbtflink" + std::to_string(symbols.size());
    labels += "\t.set\t" + label + "," + function.symbol + "\n";
    return add_symbol(label.c_str());
}

uint32_t Entries::State::add_section(const char *name, bool zero)
{
    auto [found, is_new] = section_of.try_emplace(name, static_cast<uint32_t>(sections.size()));
    if (is_new) {
        ElfSection section;
        section.name = copy(name);
        section.head.sh_type = zero ? SHT_NOBITS : SHT_PROGBITS;
        section.head.sh_flags = SHF_ALLOC;
        sections.push_back(std::move(section));
    }
    return found->second;
}

/// Adds an entry for a clone. `uids`: as `clone` of Entries::emitted(). As in gcc's DWARF, the
/// function's parameters that the clone takes come first, then those that it does not take. A taken
/// parameter has a location unless `written` is displaced, or the clone has a parameter before it
/// that the function does not have, such as a part of a struct. With true signatures, a clone that
/// takes a parameter without a location has the flag Die::displaced, because programs could not
/// read it. A part (".part.0") never has the flag: it gets no FUNC itself, but its flag would
/// exclude the function from which gcc split it off.
DieIndex Entries::State::add_clone(DieIndex function, const EmittedFunction &written,
                                   const std::vector<uint32_t> &uids)
{
    Die &d = add(DW_TAG_subprogram);
    has_clones = true;
    const DieIndex clone = last();
    const Die origin = tree.at(function);
    d.origin = origin.offset;
    d.has |= Die::file_level | (origin.has & Die::external);
    auto add_parameter = [&](const Parameter &parameter, bool located) {
        Die &p = add(DW_TAG_formal_parameter, clone);
        p.origin = tree.at(parameter.entry).offset;
        p.has |= located ? uint32_t{Die::location} : 0;
        tree.end_die(last());
    };
    auto place = [&](DieIndex entry) {
        return std::ranges::lower_bound(parameters, entry, {}, &Parameter::entry);
    };
    std::vector<Parameter> not_taken(place(function), place(origin.end));
    bool located = !written.displaced, all_located = true;
    for (uint32_t uid : uids) {
        auto found = std::ranges::find(not_taken, uid, &Parameter::uid);
        located &= found != not_taken.end();
        if (found == not_taken.end())
            continue; // new, such as a part of a struct, or of another type
        all_located &= located;
        add_parameter(*found, located);
        not_taken.erase(found);
    }
    if (!all_located && !is_split_part(written.symbol) && features.has(Feature::true_signature))
        tree.dies[clone].has |= Die::displaced;
    for (const Parameter &parameter : not_taken)
        add_parameter(parameter, false);
    if (tree.at(origin.end - 1).tag == DW_TAG_unspecified_parameters) {
        add(DW_TAG_unspecified_parameters, clone);
        tree.end_die(last());
    }
    tree.end_die(clone);
    return clone;
}

void Entries::State::set_address(DieIndex entry, const AddressRef &address)
{
    tree.addresses.push_back(address);
    tree.dies[entry].address = static_cast<uint32_t>(tree.addresses.size());
}

void Entries::State::finish_tree()
{
    for (Die &d : tree.dies) {
        d.type = offset_of[d.type];
        if (!d.type)
            d.has &= ~uint32_t{Die::typed};
    }
    // Puts the clones, which were added last, after their functions.
    if (has_clones)
        std::ranges::stable_sort(tree.functions, {}, [&](DieIndex i) {
            const Die &d = tree.at(i);
            return d.origin ? d.origin : d.offset;
        });
    tree.source = source.c_str();
    tree.address_size = arch.address_size;
    tree.signatures_known = true;
    tree.index();
}

Entries::Entries(std::unique_ptr<State> state) : state_(std::move(state)) {}
Entries::~Entries() = default;

std::unique_ptr<Entries> Entries::create(const Setup &setup)
{
    const Arch *arch = target_arch(setup);
    if (!arch)
        return nullptr;
    auto state = std::make_unique<State>(*arch, setup);
    return std::unique_ptr<Entries>(new Entries(std::move(state)));
}

TypeNumber Entries::new_type()
{
    state_->offset_of.push_back(0);
    return TypeNumber{static_cast<uint32_t>(state_->offset_of.size() - 1)};
}

void Entries::begin(TypeNumber type, const Entry &entry)
{
    state_->offset_of[static_cast<uint32_t>(type)] = state_->add(entry).offset;
    state_->open = state_->last();
}

void Entries::begin_function(const Entry &entry)
{
    state_->add(entry);
    state_->open = state_->entry_of[entry.uid] = state_->last();
}

void Entries::part(const Entry &entry)
{
    State &s = *state_;
    s.add(entry, s.open);
    s.tree.end_die(s.last());
    if (entry.uid)
        s.parameters.push_back({s.last(), entry.uid});
}

void Entries::end()
{
    state_->subject = state_->open;
    state_->tree.end_die(state_->open);
}

void Entries::add(TypeNumber type, const Entry &entry)
{
    begin(type, entry);
    end();
}

void Entries::variable(const Entry &entry)
{
    State &s = *state_;
    s.add(entry);
    s.entry_of[entry.uid] = s.last();
    s.tree.end_die(s.last());
}

/// Annotations are children of the entry that they annotate, as in clang's DWARF.
void Entries::tag(const char *kind, const char *text)
{
    State &s = *state_;
    Die &d = s.add(tag_gnu_annotation, s.subject);
    d.name = kind;
    d.text = s.copy(text);
    s.tree.end_die(s.last());
    s.tree.annotations = true;
    s.tree.dies[s.subject].end = s.last() + 1; // end() sets it again if the subject is open
}

bool Entries::has(uint32_t uid) const
{
    return state_->entry_of.contains(uid);
}

void Entries::was_inlined(uint32_t uid)
{
    auto found = state_->entry_of.find(uid);
    if (found == state_->entry_of.end())
        return;
    Die &d = state_->tree.dies[found->second];
    d.has |= d.is(Die::low_pc | Die::ranges) ? 0u : uint32_t{Die::inlined};
}

void Entries::emitted(uint32_t uid, const EmittedFunction &written,
                      const std::vector<uint32_t> *clone)
{
    State &s = *state_;
    const DieIndex function = s.entry_of.at(uid),
                   entry = clone ? s.add_clone(function, written, *clone) : function;
    Die &d = s.tree.dies[entry];
    d.has |= written.split ? Die::ranges : Die::low_pc;
    if (!written.split) {
        AddressRef address;
        address.symbol = s.add_function_symbol(written);
        s.set_address(entry, address);
    }
    if (clone)
        return;
    d.has &= ~uint32_t{Die::inlined};
    d.has |= written.displaced ? uint32_t{Die::displaced} : 0;
    for (DieIndex p = function + 1; p < d.end; ++p)
        if (s.tree.at(p).tag == DW_TAG_formal_parameter)
            s.tree.dies[p].has |= Die::location;
}

void Entries::emitted_variable(uint32_t uid, const char *symbol, const char *section, bool zero,
                               bool weak)
{
    State &s = *state_;
    const DieIndex entry = s.entry_of.at(uid);
    s.tree.dies[entry].has |= Die::location;
    AddressRef address;
    address.symbol = s.add_symbol(symbol);
    address.section = section ? s.add_section(section, zero) : 0;
    address.common = !section;
    address.weak = weak;
    s.set_address(entry, address);
}

std::string Entries::assembly(Losses &losses)
{
    State &s = *state_;
    s.finish_tree();
    const UnitFile file{s.arch, s.order, true, Where{s.source}, s.sections};
    UnitOptions options;
    options.features = s.features;
    options.address_pool = true;
    options.by_compiler = options.no_dwarf = true;
    auto object = encode_tree(file, std::move(s.tree), options, {});
    if (!object) {
        losses.no_btf = loss(object.error(), s.source);
        return "";
    }
    const bool is_empty = object->contribution.empty();
    if (const size_t count = object->left_out.size(); count > 0) {
        std::string &text = is_empty ? losses.no_btf : losses.left_out;
        text = loss(object->left_out.front(), s.source);
        if (count > 1)
            text += strf(" (and %zu more)", count - 1);
    }
    if (is_empty)
        return "";
    return s.labels + assembly_text(*object, s.arch, s.order, s.symbols);
}

} // namespace btflink::emit::gcc
