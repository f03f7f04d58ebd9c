// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. The plugin describes types recursively and out of order, and functions twice: before gcc
// optimises (all functions of the source, with names) and after (the functions in the object, with
// the remaining parameters). A DieTree needs entries in order, parents before children.
//
// Method. new_type() gives a type its number at the first mention. Its entry is added when it is
// described, and refers to other types by number. Functions and variables are collected and added
// at the end: an entry for each function, and one for each clone, whose parameters refer to the
// function's parameters as those of an out-of-line copy do in DWARF. Then offsets of entries
// replace the numbers.
//
// Cost. Linear in the number of entries.
#include "emit/gcc/entries_state.h"

namespace btflink::emit::gcc
{

namespace
{

const Instance *whole_function(const Function &function)
{
    const Instance *whole = nullptr;
    for (const Instance &instance : function.instances)
        if (!instance.is_clone)
            whole = &instance;
    return whole;
}

AddressRef address_of(const Instance &instance)
{
    AddressRef address;
    address.symbol = instance.symbol;
    return address;
}

AddressRef address_of(const Variable &variable)
{
    AddressRef address;
    address.symbol = variable.symbol;
    address.section = variable.section;
    address.common = variable.common;
    address.weak = variable.weak;
    return address;
}

/// For each parameter of a clone, its index among `parameters` of the function; nullopt if it is a
/// new one, or a duplicate.
std::vector<std::optional<size_t>> origins_of(const Instance &clone,
                                              std::span<const Parameter> parameters)
{
    std::vector<bool> taken(parameters.size());
    std::vector<std::optional<size_t>> origins;
    for (uint32_t uid : clone.parameters) {
        std::optional<size_t> origin;
        for (size_t i = 0; i < parameters.size() && !origin; ++i)
            if (parameters[i].uid == uid && !taken[i])
                origin = i;
        if (origin)
            taken[*origin] = true;
        origins.push_back(origin);
    }
    return origins;
}

} // namespace

/// Tags are children of the entry that they annotate, as in clang's DWARF.
void Entries::State::add_tag(const char *kind, const char *text, DieIndex parent)
{
    Die &d = add(tag_gnu_annotation, parent);
    d.name = kind;
    d.text = text;
    tree.complete(last());
    tree.annotations = true;
}

void Entries::State::set_address(DieIndex entry, const AddressRef &address)
{
    tree.addresses.push_back(address);
    tree.dies[entry].address = static_cast<uint32_t>(tree.addresses.size());
}

void Entries::State::finish_entry(DieIndex entry, bool variadic)
{
    if (variadic) {
        add(DW_TAG_unspecified_parameters, entry);
        tree.complete(last());
    }
    tree.complete(entry);
}

void Entries::State::add_function(Function &function)
{
    const Instance *whole = whole_function(function);
    Die &d = add(DW_TAG_subprogram);
    function.entry = last();
    d.name = function.name;
    d.has |= Die::file_level;
    refer(d, function.result);
    auto set = [&](bool condition, uint32_t bit) { d.has |= condition ? bit : 0; };
    set(function.external, Die::external);
    set(!whole && function.inlined, Die::inlined);
    set(whole && !whole->split, Die::low_pc);
    set(whole && whole->split, Die::ranges);
    set(whole && whole->displaced, Die::shifted);
    add_parameters(function, whole != nullptr);
    for (const Tag &tag : function.tags)
        if (tag.parameter < 0)
            add_tag(decl_tag, tag.text, function.entry);
    finish_entry(function.entry, function.variadic);
    if (whole && !whole->split)
        set_address(function.entry, address_of(*whole));
}

void Entries::State::add_parameters(const Function &function, bool located)
{
    for (uint32_t i = 0; i < function.parameter_count; ++i) {
        const Parameter &parameter = parameters[function.first_parameter + i];
        Die &p = add(DW_TAG_formal_parameter, function.entry);
        const DieIndex entry = last();
        p.name = parameter.name;
        refer(p, parameter.type);
        p.has |= located ? uint32_t{Die::location} : 0;
        for (const Tag &tag : function.tags)
            if (tag.parameter == static_cast<int32_t>(i))
                add_tag(decl_tag, tag.text, entry);
        tree.complete(entry);
    }
}

/// First come the parameters that the clone takes, as in gcc's DWARF, then those that it does not
/// take. A parameter is where its prototype puts it (has a location) only before the first new one,
/// for example a part of a struct.
void Entries::State::add_clone(const Function &function, const Instance &clone)
{
    Die &d = add(DW_TAG_subprogram);
    const DieIndex entry = last();
    d.origin = tree.at(function.entry).offset;
    d.has |= Die::file_level | (clone.split ? Die::ranges : Die::low_pc) |
             (function.external ? Die::external : 0u);
    std::vector<DieIndex> left;
    for (DieIndex c = function.entry + 1; c < tree.at(function.entry).end; c = tree.at(c).end)
        if (tree.at(c).tag == DW_TAG_formal_parameter)
            left.push_back(c);
    bool located = !clone.displaced;
    const std::span all(parameters.data() + function.first_parameter, function.parameter_count);
    for (std::optional<size_t> origin : origins_of(clone, all)) {
        located &= origin.has_value();
        if (origin)
            add_clone_parameter(entry, std::exchange(left[*origin], 0), located);
    }
    for (DieIndex origin : left)
        if (origin)
            add_clone_parameter(entry, origin, false);
    finish_entry(entry, function.variadic);
    if (!clone.split)
        set_address(entry, address_of(clone));
}

void Entries::State::add_clone_parameter(DieIndex clone, DieIndex origin, bool located)
{
    Die &p = add(DW_TAG_formal_parameter, clone);
    p.origin = tree.at(origin).offset;
    p.has |= located ? uint32_t{Die::location} : 0;
    tree.complete(last());
}

void Entries::State::add_variable(const Variable &variable)
{
    Die &d = add(DW_TAG_variable);
    const DieIndex entry = last();
    d.name = variable.name;
    d.has |= Die::file_level | Die::location | (variable.external ? Die::external : 0u);
    refer(d, variable.type);
    for (const char *tag : variable.tags)
        add_tag(decl_tag, tag, entry);
    tree.complete(entry);
    set_address(entry, address_of(variable));
}

void Entries::State::resolve_references()
{
    for (DieIndex i = 1; i < tree.dies.size(); ++i) {
        Die &d = tree.dies[i];
        d.type = offset_of[d.type];
        if (!d.type)
            d.has &= ~uint32_t{Die::typed};
    }
}

void Entries::State::finish_tree()
{
    for (Function &function : functions) {
        add_function(function);
        for (const Instance &instance : function.instances)
            if (instance.is_clone)
                add_clone(function, instance);
    }
    for (const Variable &variable : variables)
        if (variable.is_emitted)
            add_variable(variable);
    resolve_references();
    tree.source = source.c_str();
    tree.address_size = arch.address_size;
    tree.signatures_known = true;
    tree.index();
}

} // namespace btflink::emit::gcc
