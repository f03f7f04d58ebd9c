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
#include "emit/gcc/entries_state.h"

namespace btflink::emit::gcc
{

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
        set_address(entry, whole->symbol, 0, false, false);
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
        set_address(entry, instance.symbol, 0, false, false);
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

} // namespace btflink::emit::gcc
