// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. The compiler describes types by reference, recursively and out of order, and functions
// twice: before it optimises (all functions of the source, with names) and after (what is in the
// object, with the parameters that are left). A DieTree wants entries in order, parents before
// their children.
//
// Method. A type has a number from its first mention on. Its entry is made when it is described,
// and refers to others by number; tree() replaces numbers by the places of entries. Functions and
// variables are noted, and get entries when all is known: one for each function, one more for each
// clone, whose parameters refer to those of the function as an out-of-line copy's do in DWARF.
//
// Cost. Linear in what is described.
#include "emit/gcc/entries.h"

#include "common/object_btf/address_pool.h"
#include "emit/gcc/assembly_text.h"
#include "emit/gcc/target_arch.h"
#include "emit/unit/unit_object.h"

#include <algorithm>
#include <dwarf.h>
#include <elf.h>
#include <memory_resource>
#include <unordered_map>
#include <vector>

namespace btflink::emit::gcc
{

namespace
{

/// Places of entries are multiples of this, so that DieTree::find() meets one entry in each bucket.
constexpr uint32_t place_step = 16;

constexpr const char *decl_tag = "btf_decl_tag", *type_tag = "btf_type_tag";

struct Parameter {
    const char *name;
    TypeNumber type;
    uint32_t uid;
};

/// A function or a clone of it, as it is in the object.
struct Instance {
    uint32_t symbol; // in State::symbols
    bool split, displaced, weak;
    bool is_clone;
    std::vector<uint32_t> parameters; // of a clone
};

struct Tag {
    const char *text;
    int32_t parameter; // -1: the function
};

struct Function {
    const char *name;
    TypeNumber result;
    uint32_t first_parameter, parameter_count = 0; // in State::parameters
    bool external, variadic = false, inlined = false;
    std::vector<Instance> instances;
    std::vector<Tag> tags;
    DieIndex entry = 0;
};

struct Variable {
    const char *name;
    TypeNumber type;
    bool external;
    std::vector<const char *> tags;
    // Of what is in the object:
    bool is_emitted = false, common = false, weak = false;
    uint32_t symbol = 0, section = 0;
};

/// What declaration_tag() is about.
enum class Subject : uint8_t { entry, function, variable };

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
        tree.dies.reserve(4096);
        tree.dies.emplace_back(); // stands for "none"
    }

    std::pmr::monotonic_buffer_resource text_memory{64 * 1024};
    std::unordered_map<const char *, const char *> kept_names; // gcc's identifiers are unique
    DieTree tree;
    std::vector<uint32_t> place_of = {0}; // of each type number's entry
    DieIndex open = 0;                    // between begin_...() and end()
    DieIndex last_type = 0, last_member = 0;
    Subject subject = Subject::entry;
    std::vector<Function> functions;
    std::vector<Parameter> parameters;
    std::vector<Variable> variables;
    std::unordered_map<uint32_t, uint32_t> function_of, variable_of; // by DECL_UID
    std::vector<std::string> symbols;
    std::vector<ElfSection> sections = {{}};
    std::unordered_map<std::string, uint32_t> section_of;

    /// gcc's collector may free the original.
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

    Die &add(unsigned tag, DieIndex parent = 0)
    {
        const auto index = static_cast<DieIndex>(tree.dies.size());
        Die &d = tree.dies.emplace_back();
        d.tag = static_cast<uint16_t>(tag);
        d.offset = index * place_step;
        d.parent = parent;
        return d;
    }
    DieIndex last() const { return static_cast<DieIndex>(tree.dies.size() - 1); }
    /// References are numbers until refer() has been called for all of them.
    static void refer(Die &d, TypeNumber target)
    {
        d.type = static_cast<uint32_t>(target);
        if (target != void_type)
            d.has |= Die::typed;
    }
    Die &add_type(TypeNumber type, unsigned tag, const char *name = nullptr)
    {
        Die &d = add(tag);
        d.name = keep(name);
        place_of[static_cast<uint32_t>(type)] = d.offset;
        subject = Subject::entry;
        last_type = last();
        last_member = 0;
        return d;
    }
    Die &add_simple(TypeNumber type, unsigned tag, const char *name = nullptr)
    {
        Die &d = add_type(type, tag, name);
        tree.complete(last());
        return d;
    }
    Die &begin(TypeNumber type, unsigned tag, const char *name)
    {
        Die &d = add_type(type, tag, name);
        open = last();
        return d;
    }
    Die &child(unsigned tag, const char *name)
    {
        Die &d = add(tag, open);
        d.name = keep(name);
        tree.complete(last());
        return d;
    }

    uint32_t add_symbol(const char *text)
    {
        symbols.emplace_back(text);
        return static_cast<uint32_t>(symbols.size()); // 0 is none
    }
    uint32_t add_section(const char *name, bool zero)
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

    void add_tag(const char *kind, const char *text, DieIndex parent);
    void set_address(DieIndex entry, uint32_t symbol, uint32_t section, bool common, bool weak);
    void add_functions();
    void add_function(Function &function);
    void add_instance(const Function &function, const Instance &instance);
    void add_variables();
    void finish_tree();
};

// A member's or function's tag is an entry below it, as in clang's DWARF.
void Entries::State::add_tag(const char *kind, const char *text, DieIndex parent)
{
    Die &d = add(tag_gnu_annotation, parent);
    d.name = kind;
    d.text = text;
    tree.complete(last());
    tree.annotations = true;
}

void Entries::State::set_address(DieIndex entry, uint32_t symbol, uint32_t section, bool common,
                                 bool weak)
{
    AddressRef address;
    address.symbol = symbol;
    address.section = section;
    address.common = common;
    address.weak = weak;
    tree.addresses.push_back(address);
    tree.dies[entry].address = static_cast<uint32_t>(tree.addresses.size());
}

void Entries::State::add_functions()
{
    for (Function &function : functions) {
        add_function(function);
        for (const Instance &instance : function.instances)
            if (instance.is_clone)
                add_instance(function, instance);
    }
}

void Entries::State::add_function(Function &function)
{
    const Instance *whole = nullptr;
    for (const Instance &instance : function.instances)
        if (!instance.is_clone)
            whole = &instance;
    Die &d = add(DW_TAG_subprogram);
    const DieIndex entry = last();
    function.entry = entry;
    d.name = function.name;
    d.has |= Die::file_level;
    refer(d, function.result);
    auto set = [&](bool condition, uint32_t bit) { d.has |= condition ? bit : 0; };
    set(function.external, Die::external);
    set(!whole && function.inlined, Die::inlined);
    set(whole && !whole->split, Die::low_pc);
    set(whole && whole->split, Die::ranges);
    set(whole && whole->displaced, Die::shifted);
    for (uint32_t i = 0; i < function.parameter_count; ++i) {
        const Parameter &parameter = parameters[function.first_parameter + i];
        Die &p = add(DW_TAG_formal_parameter, entry);
        const DieIndex place = last();
        p.name = parameter.name;
        refer(p, parameter.type);
        p.has |= whole ? uint32_t{Die::location} : 0;
        for (const Tag &tag : function.tags)
            if (tag.parameter == static_cast<int32_t>(i))
                add_tag(decl_tag, tag.text, place);
        tree.complete(place);
    }
    if (function.variadic) {
        add(DW_TAG_unspecified_parameters, entry);
        tree.complete(last());
    }
    for (const Tag &tag : function.tags)
        if (tag.parameter < 0)
            add_tag(decl_tag, tag.text, entry);
    tree.complete(entry);
    if (whole && !whole->split)
        set_address(entry, whole->symbol, 0, false, whole->weak);
}

/// gcc's DWARF lists the parameters that a clone does not take behind those that it takes.
void Entries::State::add_instance(const Function &function, const Instance &instance)
{
    Die &d = add(DW_TAG_subprogram);
    const DieIndex entry = last();
    d.origin = tree.at(function.entry).offset;
    d.has |= Die::file_level | (instance.split ? Die::ranges : Die::low_pc) |
             (function.external ? Die::external : 0u);
    std::vector<DieIndex> origins;
    for (DieIndex c = function.entry + 1; c < tree.at(function.entry).end; c = tree.at(c).end)
        if (tree.at(c).tag == DW_TAG_formal_parameter)
            origins.push_back(c);
    bool displaced = instance.displaced;
    std::vector<bool> taken(origins.size());
    auto add_parameter = [&](size_t i, bool is_passed) {
        Die &p = add(DW_TAG_formal_parameter, entry);
        p.origin = tree.at(origins[i]).offset;
        p.has |= is_passed ? uint32_t{Die::location} : 0;
        tree.complete(last());
    };
    for (uint32_t uid : instance.parameters) {
        size_t i = 0;
        while (i < origins.size() &&
               (parameters[function.first_parameter + i].uid != uid || taken[i]))
            ++i;
        if (i == origins.size()) {
            displaced = true; // a part of one, or a new one: what follows is elsewhere
            continue;
        }
        taken[i] = true;
        add_parameter(i, !displaced);
    }
    for (size_t i = 0; i < origins.size(); ++i)
        if (!taken[i])
            add_parameter(i, false);
    if (function.variadic) {
        add(DW_TAG_unspecified_parameters, entry);
        tree.complete(last());
    }
    tree.complete(entry);
    if (!instance.split)
        set_address(entry, instance.symbol, 0, false, instance.weak);
}

void Entries::State::add_variables()
{
    for (const Variable &variable : variables) {
        if (!variable.is_emitted)
            continue;
        Die &d = add(DW_TAG_variable);
        const DieIndex entry = last();
        d.name = variable.name;
        d.has |= Die::file_level | Die::location | (variable.external ? Die::external : 0u);
        refer(d, variable.type);
        for (const char *tag : variable.tags)
            add_tag(decl_tag, tag, entry);
        tree.complete(entry);
        set_address(entry, variable.symbol, variable.section, variable.common, variable.weak);
    }
}

void Entries::State::finish_tree()
{
    add_functions();
    add_variables();
    for (DieIndex i = 1; i < tree.dies.size(); ++i) {
        Die &d = tree.dies[i];
        d.type = place_of[d.type];
        if (!d.type)
            d.has &= ~uint32_t{Die::typed};
    }
    tree.source = source.c_str();
    tree.address_size = arch.address_size;
    tree.signatures_known = true;
    tree.index();
}

Entries::Entries(std::unique_ptr<State> state) : state_(std::move(state)) {}
Entries::~Entries() = default;

std::unique_ptr<Entries> Entries::create(const Setup &setup)
{
    const Arch *arch = target_arch(setup.target, setup.pointer_bytes);
    if (!arch)
        return nullptr;
    auto state = std::make_unique<State>(*arch, setup);
    return std::unique_ptr<Entries>(new Entries(std::move(state)));
}

TypeNumber Entries::new_type()
{
    state_->place_of.push_back(0);
    return TypeNumber{static_cast<uint32_t>(state_->place_of.size() - 1)};
}

void Entries::base_type(TypeNumber type, const char *name, BaseKind kind, uint64_t bytes)
{
    constexpr uint8_t encodings[] = {DW_ATE_signed, DW_ATE_unsigned, DW_ATE_boolean, DW_ATE_float,
                                     DW_ATE_complex_float};
    Die &d = state_->add_simple(type, DW_TAG_base_type, name);
    d.encoding = encodings[static_cast<size_t>(kind)];
    d.byte_size = bytes;
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
        s.tree.dies[parent].end = s.last() + 1; // end() sets that of an open entry once more
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

void Entries::emitted(uint32_t uid, const Emitted &how)
{
    State &s = *state_;
    s.functions[s.function_of.at(uid)].instances.push_back(
        {s.add_symbol(how.symbol), how.split, how.displaced, how.weak, false, {}});
}

void Entries::emitted_clone(uint32_t uid, const Emitted &how, const uint32_t *parameters,
                            unsigned count)
{
    State &s = *state_;
    s.functions[s.function_of.at(uid)].instances.push_back({s.add_symbol(how.symbol),
                                                            how.split,
                                                            how.displaced,
                                                            how.weak,
                                                            true,
                                                            {parameters, parameters + count}});
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

std::string Entries::assembly(std::string &warning)
{
    State &s = *state_;
    s.finish_tree();
    const UnitFile file{s.arch, s.order, true, Where{s.source}, s.sections};
    UnitOptions options;
    options.features = s.features;
    options.address_pool = true;
    options.by_compiler = true;
    auto object = encode_tree(file, std::move(s.tree), options, {}, {});
    if (!object) {
        warning = "no object BTF: " + object.error().str();
        return "";
    }
    if (!object->left_out.empty())
        warning = object->left_out.front().str();
    if (object->contribution.empty())
        return "";
    return assembly_text(*object, s.arch, s.order, s.symbols);
}

} // namespace btflink::emit::gcc
