// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the variables, functions and types that are described.
//
// Problem. An object must have exactly the types that gcc -g would describe. gcc's dwarf2out starts
// at the variables and functions of the unit, and drops types that these do not reach.
//
// Method. The same roots, by the same rules:
// - variables outside functions, if they are defined or used (gcc 9: all); each with the type of
//   its first declaration and with the type of its definition;
// - functions that are defined, unless gcc drops them as unused; with the types of the variables
//   and functions that their blocks declare;
// - the types of result and parameters of used functions that have no body here; those of functions
//   that are defined only for inlining (`extern inline`) are added, too;
// - types that a defined function or variable uses in a cast or in sizeof, and enums of which it
//   uses an enumerator;
// - base types that occur in a type declared outside functions: gcc keeps the base types even if it
//   drops the type.
//
// Invariant. Trees are only read, but see trees.cc for the order of a type's variants.
//
// Cost. Linear in the number of declarations, and of types that they refer to; for each function
// also a sort of the types that it uses in casts and sizeof.
#include "emit/gcc/trees.h"

namespace btflink::emit::gcc
{

namespace
{

bool is_in_function(tree type)
{
    tree context = TYPE_CONTEXT(type);
    return context && (TREE_CODE(context) == FUNCTION_DECL || TREE_CODE(context) == BLOCK);
}

/// Is `variable` an unused declaration that gcc does not describe? gcc drops such declarations from
/// its symbol table. gcc 9 describes them nevertheless.
bool is_left_out(tree variable)
{
    return GCCPLUGIN_VERSION_MAJOR > 9 && TREE_PUBLIC(variable) && !varpool_node::get(variable);
}

/// Is `variable` defined in this unit, in memory at a fixed address?
bool is_static_storage(tree variable)
{
    return TREE_STATIC(variable) && !DECL_EXTERNAL(variable) && !DECL_HARD_REGISTER(variable) &&
           !DECL_THREAD_LOCAL_P(variable);
}

/// The body of `function`; null if the function has no body in this unit.
tree body_of(tree function)
{
    tree body = DECL_INITIAL(function);
    return body && TREE_CODE(body) == BLOCK ? body : NULL_TREE;
}

std::vector<tree> types_used_in(tree function)
{
    std::vector<tree> types;
    if (struct function *own = DECL_STRUCT_FUNCTION(function); own && own->used_types_hash)
        for (auto at = own->used_types_hash->begin(); at != own->used_types_hash->end(); ++at)
            types.push_back(*at);
    return types;
}

} // namespace

void TreeReader::note_base_type(tree type)
{
    while (type && (POINTER_TYPE_P(type) || TREE_CODE(type) == ARRAY_TYPE ||
                    TREE_CODE(type) == VECTOR_TYPE))
        type = TREE_TYPE(type);
    if (!type || !is_base_type(type))
        return;
    type = TYPE_MAIN_VARIANT(type);
    if (TYPE_NAME(type) &&
        std::find(base_types_.begin(), base_types_.end(), type) == base_types_.end())
        base_types_.push_back(type);
}

void TreeReader::note_base_types_in(tree type)
{
    if (TREE_CODE(type) == ENUMERAL_TYPE && TYPE_SIZE(type))
        note_base_type(lang_hooks.types.enum_underlying_base_type(type));
    if (TREE_CODE(type) != RECORD_TYPE && TREE_CODE(type) != UNION_TYPE)
        return;
    for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field))
        if (TREE_CODE(field) == FIELD_DECL && (DECL_NAME(field) || !DECL_BIT_FIELD_TYPE(field)))
            note_base_type(field_type(field));
}

void TreeReader::declared_type(tree decl)
{
    if (TREE_CODE(decl) != TYPE_DECL || TREE_TYPE(decl) == error_mark_node)
        return;
    tree original = DECL_ORIGINAL_TYPE(decl);
    if (!original)
        return note_base_types_in(TREE_TYPE(decl));
    note_base_type(original);
    if (TREE_CODE(original) != ARRAY_TYPE &&
        (originals_.empty() || originals_.back().uid < DECL_UID(decl)))
        originals_.push_back({DECL_UID(decl), original});
}

/// Only the first declaration of a variable and its first definition count. gcc does not describe
/// what other declarations add to the type, such as the size of an array.
void TreeReader::declared_variable(tree decl)
{
    const bool defines = !DECL_EXTERNAL(decl);
    auto [found, is_new] = defined_.try_emplace(DECL_UID(decl), defines);
    if (!is_new && (found->second || !defines))
        return;
    found->second = defines;
    tree type = TREE_TYPE(decl);
    variables_.push_back({decl, type, decl_quals(decl) | TYPE_QUALS(type), defines});
}

void TreeReader::function(tree decl)
{
    if (DECL_IGNORED_P(decl))
        return;
    tree body = body_of(decl);
    tree type = TREE_TYPE(decl);
    if (!body || DECL_EXTERNAL(decl))
        add_signature_types(type);
    if (!body || entries_.has(DECL_UID(decl)))
        return;
    add_function(decl);
    add_types_of_block(body);
    add_used_types(types_used_in(decl));
}

void TreeReader::add_signature_types(tree type)
{
    result_of(type);
    for (tree link = TYPE_ARG_TYPES(type); link && !VOID_TYPE_P(TREE_VALUE(link));
         link = TREE_CHAIN(link))
        type_of(TREE_VALUE(link));
}

/// Types are added before begin_function(), because entries of types and functions do not nest.
void TreeReader::add_function(tree decl)
{
    tree type = TREE_TYPE(decl);
    Entry function{.kind = Kind::function, .uid = DECL_UID(decl), .name = decl_name(decl)};
    function.type = result_of(type);
    function.is_external = TREE_PUBLIC(decl);
    std::vector<std::pair<tree, TypeNumber>> parameters;
    for (tree p = DECL_ARGUMENTS(decl); p; p = DECL_CHAIN(p))
        if (!DECL_IGNORED_P(p))
            parameters.emplace_back(p, type_of_decl(p));
    entries_.begin_function(function);
    add_decl_tags(DECL_ATTRIBUTES(decl));
    for (const auto &[p, type_of_p] : parameters) {
        entries_.part(
            {.kind = Kind::parameter, .uid = DECL_UID(p), .name = decl_name(p), .type = type_of_p});
        add_decl_tags(DECL_ATTRIBUTES(p));
    }
    if (prototype_p(type) && stdarg_p(type))
        entries_.part({.kind = Kind::variadic});
    entries_.end();
}

void TreeReader::add_types_of_block(tree block)
{
    for (tree decl = BLOCK_VARS(block); decl; decl = DECL_CHAIN(decl))
        add_type_of_local(decl);
    for (tree inner = BLOCK_SUBBLOCKS(block); inner; inner = BLOCK_CHAIN(inner))
        add_types_of_block(inner);
}

void TreeReader::add_type_of_local(tree decl)
{
    if (DECL_IGNORED_P(decl))
        return;
    switch (TREE_CODE(decl)) {
    case VAR_DECL:
    case RESULT_DECL:
        type_of_decl(decl);
        break;
    case FUNCTION_DECL:
        add_signature_types(TREE_TYPE(decl));
        break;
    default:
        break;
    }
}

/// Of the types that gcc marks as used, adds those that gcc's DWARF describes for this reason
/// alone: typedefs without further qualifiers, and structs, unions and enums that are complete or
/// declared inside a function. Other types are described only if something else refers to them.
void TreeReader::add_used_types(std::vector<tree> types)
{
    std::erase_if(types, [](tree t) { return !t || !TYPE_P(t); });
    // The order of gcc's hash tables differs from run to run.
    std::sort(types.begin(), types.end(), [](tree a, tree b) { return TYPE_UID(a) < TYPE_UID(b); });
    for (tree type : types) {
        const bool is_tagged = RECORD_OR_UNION_TYPE_P(type) || TREE_CODE(type) == ENUMERAL_TYPE;
        tree name = typedef_of(type);
        if (name ? TREE_TYPE(name) == type : is_tagged && (TYPE_SIZE(type) || is_in_function(type)))
            type_of(type);
    }
}

void TreeReader::add_types_used_by_variables()
{
    std::vector<tree> types;
    if (types_used_by_vars_hash)
        for (auto at = types_used_by_vars_hash->begin(); at != types_used_by_vars_hash->end(); ++at)
            if (varpool_node *node = varpool_node::get((*at)->var_decl); node && node->definition)
                types.push_back((*at)->type);
    add_used_types(std::move(types));
}

void TreeReader::add_variable(const DeclaredVariable &variable)
{
    tree decl = variable.decl;
    if (DECL_IGNORED_P(decl) || is_left_out(decl))
        return;
    const TypeNumber type = type_of(variable.type, variable.quals);
    if (!variable.defines || !is_static_storage(decl))
        return;
    Entry entry{.kind = Kind::variable, .uid = DECL_UID(decl), .name = decl_name(decl)};
    entry.type = type;
    entry.is_external = TREE_PUBLIC(decl);
    entries_.variable(entry);
    add_decl_tags(DECL_ATTRIBUTES(decl));
}

void TreeReader::finish()
{
    for (const DeclaredVariable &variable : variables_)
        add_variable(variable);
    add_types_used_by_variables();
    for (tree type : base_types_)
        type_of(type, 0);
    for (size_t i = 0; i < waiting_.size(); ++i) // describe() may add more
        describe(waiting_[i]);
    waiting_.clear();
    variables_.clear();
    originals_.clear();
    base_types_.clear();
}

void TreeReader::mark() const
{
    auto keep = [](tree t) {
        if (t && ggc_marked_p(t) == 0)
            gt_ggc_mx_tree_node(t);
    };
    for (const DeclaredVariable &v : variables_) {
        keep(v.decl);
        keep(v.type);
    }
    for (const Original &o : originals_)
        keep(o.type);
    for (tree type : base_types_)
        keep(type);
    for (tree type : waiting_)
        keep(type);
}

} // namespace btflink::emit::gcc
