// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects what the plugin reports, and encodes it; entries_state.cc completes the tree.
#include "emit/gcc/entries_state.h"

#include <algorithm>

namespace btflink::emit::gcc
{

namespace
{

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
    {"arm", 4, EM_ARM},       {"riscv", 0, EM_RISCV},
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

/// A message with the source file. The offset of the entry is omitted, because offsets are made up
/// here.
std::string loss(const Error &error, const std::string &source)
{
    const Where where = error.what.starts_with(source + ": ") ? Where{} : Where{source};
    return Error{where, error.what}.str();
}

} // namespace

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

void Entries::base_type(TypeNumber type, const char *name, BaseKind kind, uint64_t bytes)
{
    constexpr uint8_t encodings[] = {DW_ATE_signed, DW_ATE_unsigned, DW_ATE_boolean, DW_ATE_float,
                                     DW_ATE_complex_float};
    Die &d = state_->add_simple(type, DW_TAG_base_type, name);
    d.encoding = encodings[static_cast<size_t>(kind)];
    d.byte_size = bytes;
}

void Entries::bit_precise_type(TypeNumber type, unsigned bits, bool is_unsigned, uint64_t bytes)
{
    // The name in gcc's DWARF.
    const std::string name =
        (is_unsigned ? "unsigned _BitInt(" : "_BitInt(") + std::to_string(bits) + ")";
    base_type(type, state_->copy(name.c_str()),
              is_unsigned ? BaseKind::unsigned_integer : BaseKind::signed_integer, bytes);
}

void Entries::modifier(TypeNumber type, Modifier modifier, TypeNumber target)
{
    constexpr uint16_t tags[] = {DW_TAG_pointer_type,  DW_TAG_reference_type, DW_TAG_const_type,
                                 DW_TAG_volatile_type, DW_TAG_restrict_type,  DW_TAG_atomic_type};
    State::refer(state_->add_simple(type, tags[static_cast<size_t>(modifier)]), target);
    state_->tree.atomics |= modifier == Modifier::atomic;
}

void Entries::type_definition(TypeNumber type, const char *name, TypeNumber target)
{
    State::refer(state_->add_simple(type, DW_TAG_typedef, name), target);
}

void Entries::array(TypeNumber type, TypeNumber element, const uint64_t *counts,
                    unsigned dimensions)
{
    State::refer(state_->begin(type, DW_TAG_array_type, nullptr), element);
    for (unsigned i = 0; i < dimensions; ++i)
        state_->child(DW_TAG_subrange_type, nullptr).value = counts[i];
    end();
}

void Entries::null_pointer(TypeNumber type, const char *name)
{
    state_->add_simple(type, DW_TAG_unspecified_type, name);
}

void Entries::forward(TypeNumber type, bool is_union, const char *name)
{
    state_->add_simple(type, is_union ? DW_TAG_union_type : DW_TAG_structure_type, name).has |=
        Die::declaration;
}

void Entries::forward_enum(TypeNumber type, const char *name)
{
    state_->add_simple(type, DW_TAG_enumeration_type, name).has |= Die::declaration;
}

void Entries::begin_composite(TypeNumber type, bool is_union, const char *name, uint64_t bytes)
{
    state_->begin(type, is_union ? DW_TAG_union_type : DW_TAG_structure_type, name).byte_size =
        bytes;
}

void Entries::member(const char *name, TypeNumber type, MemberPlace place)
{
    Die &m = state_->child(DW_TAG_member, name);
    state_->last_member = state_->last();
    State::refer(m, type);
    m.bit_size = static_cast<uint16_t>(std::min<uint32_t>(place.bit_size, UINT16_MAX));
    if (place.bit_size) {
        m.value = place.bit_offset;
        m.has |= Die::data_bit_offset;
    } else {
        m.value = place.bit_offset / 8;
        m.has |= Die::located;
    }
}

void Entries::begin_enum(TypeNumber type, const char *name, uint64_t bytes, TypeNumber underlying)
{
    Die &d = state_->begin(type, DW_TAG_enumeration_type, name);
    d.byte_size = bytes;
    State::refer(d, underlying);
}

void Entries::enumerator(const char *name, uint64_t value, bool negative)
{
    Die &e = state_->child(DW_TAG_enumerator, name);
    e.value = value;
    e.has |= Die::const_value | (negative ? Die::const_negative : 0u);
}

void Entries::begin_prototype(TypeNumber type, TypeNumber result)
{
    State::refer(state_->begin(type, DW_TAG_subroutine_type, nullptr), result);
}

void Entries::prototype_parameter(TypeNumber type)
{
    State::refer(state_->child(DW_TAG_formal_parameter, nullptr), type);
}

void Entries::prototype_is_variadic()
{
    state_->child(DW_TAG_unspecified_parameters, nullptr);
}

void Entries::end()
{
    state_->tree.complete(state_->open);
    state_->open = 0;
    state_->last_member = 0;
}

void Entries::pointer_tag(const char *text)
{
    State &s = *state_;
    s.add_tag(type_tag, s.copy(text), s.last_type);
    s.tree.dies[s.last_type].end = s.last() + 1;
}

void Entries::declaration_tag(const char *text)
{
    State &s = *state_;
    const char *kept = s.copy(text);
    switch (s.subject) {
    case Subject::entry: {
        const DieIndex parent = s.last_member ? s.last_member : s.last_type;
        s.add_tag(decl_tag, kept, parent);
        s.tree.dies[parent].end = s.last() + 1; // for an open entry, end() moves this further
        break;
    }
    case Subject::function: {
        Function &f = s.functions.back();
        f.tags.push_back({kept, static_cast<int32_t>(f.parameter_count) - 1});
        break;
    }
    case Subject::variable:
        s.variables.back().tags.push_back(kept);
        break;
    }
}

void Entries::begin_function(uint32_t uid, const char *name, bool external, TypeNumber result)
{
    State &s = *state_;
    s.function_of[uid] = static_cast<uint32_t>(s.functions.size());
    s.functions.push_back({.name = s.keep(name),
                           .result = result,
                           .first_parameter = static_cast<uint32_t>(s.parameters.size()),
                           .external = external,
                           .instances = {},
                           .tags = {}});
    s.subject = Subject::function;
}

void Entries::parameter(uint32_t uid, const char *name, TypeNumber type)
{
    state_->parameters.push_back({state_->keep(name), type, uid});
    ++state_->functions.back().parameter_count;
}

void Entries::function_is_variadic()
{
    state_->functions.back().variadic = true;
}

bool Entries::has_function(uint32_t uid) const
{
    return state_->function_of.contains(uid);
}

void Entries::was_inlined(uint32_t uid)
{
    if (auto found = state_->function_of.find(uid); found != state_->function_of.end())
        state_->functions[found->second].inlined = true;
}

void Entries::emitted(uint32_t uid, const Emitted &how, const std::vector<uint32_t> *clone)
{
    State &s = *state_;
    s.functions[s.function_of.at(uid)].instances.push_back(
        {s.add_function_symbol(how), how.split, how.displaced, clone != nullptr,
         clone ? *clone : std::vector<uint32_t>()});
}

void Entries::variable(uint32_t uid, const char *name, TypeNumber type, bool external)
{
    State &s = *state_;
    auto [found, is_new] =
        s.variable_of.try_emplace(uid, static_cast<uint32_t>(s.variables.size()));
    if (is_new)
        s.variables.push_back(
            {.name = s.keep(name), .type = type, .external = external, .tags = {}});
    else
        s.variables[found->second].type = type;
    s.subject = Subject::variable;
}

bool Entries::has_variable(uint32_t uid) const
{
    return state_->variable_of.contains(uid);
}

void Entries::emitted_variable(uint32_t uid, const char *symbol, const char *section, bool zero,
                               bool weak)
{
    State &s = *state_;
    Variable &v = s.variables[s.variable_of.at(uid)];
    v.is_emitted = true;
    v.symbol = s.add_symbol(symbol);
    v.section = section ? s.add_section(section, zero) : 0;
    v.common = !section;
    v.weak = weak;
}

std::string Entries::assembly(Losses &losses)
{
    State &s = *state_;
    s.finish_tree();
    const UnitFile file{s.arch, s.order, true, Where{s.source}, s.sections};
    UnitOptions options;
    options.features = s.features;
    options.address_pool = true;
    options.by_compiler = true;
    auto object = encode_tree(file, std::move(s.tree), options, {});
    if (!object) {
        losses.all = loss(object.error(), s.source);
        return "";
    }
    const bool is_empty = object->contribution.empty();
    if (const size_t count = object->left_out.size(); count > 0) {
        std::string &text = is_empty ? losses.all : losses.part;
        text = loss(object->left_out.front(), s.source);
        if (count > 1)
            text += strf(" (and %zu more)", count - 1);
    }
    if (is_empty)
        return "";
    return s.labels + assembly_text(*object, s.arch, s.order, s.symbols);
}

} // namespace btflink::emit::gcc
