// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Which types an object has: those that gcc -g would describe. gcc's writer of DWARF
// begins at the variables and functions of the unit, and drops types that nothing refers to from
// there.
//
// Method. The same roots are walked here, by the same rules:
// - variables outside functions that are defined, or declared and used; each with the type that it
//   had when it was declared, and with that of its definition;
// - functions that are defined or called: results, parameters, and at any depth local variables and
//   local declarations;
// - types that a function or a defined variable names in a cast, in sizeof or by an enumerator;
// - base types of all types that are declared outside functions, used or not: gcc never drops them.
#include "emit/gcc/gcc_headers.h"

#include "emit/gcc/tree_queries.h"
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

} // namespace

/// `type` is declared outside functions, so the base types in it stay.
void TreeReader::note_base(tree type)
{
    while (type && (POINTER_TYPE_P(type) || TREE_CODE(type) == ARRAY_TYPE ||
                    TREE_CODE(type) == VECTOR_TYPE))
        type = TREE_TYPE(type);
    if (!type || !is_base(type))
        return;
    type = TYPE_MAIN_VARIANT(type);
    if (TYPE_NAME(type) && std::find(bases_.begin(), bases_.end(), type) == bases_.end())
        bases_.push_back(type);
}

void TreeReader::note_fields(tree type)
{
    if (TREE_CODE(type) == ENUMERAL_TYPE && TYPE_SIZE(type))
        note_base(lang_hooks.types.enum_underlying_base_type(type));
    if (TREE_CODE(type) == RECORD_TYPE || TREE_CODE(type) == UNION_TYPE)
        for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field))
            if (TREE_CODE(field) == FIELD_DECL && (DECL_NAME(field) || !DECL_BIT_FIELD_TYPE(field)))
                note_base(DECL_BIT_FIELD_TYPE(field) ? DECL_BIT_FIELD_TYPE(field)
                                                     : TREE_TYPE(field));
}

void TreeReader::declared_type(tree decl)
{
    if (TREE_CODE(decl) != TYPE_DECL || TREE_TYPE(decl) == error_mark_node)
        return;
    tree original = DECL_ORIGINAL_TYPE(decl);
    if (!original)
        return note_fields(TREE_TYPE(decl));
    note_base(original);
    if (TREE_CODE(original) != ARRAY_TYPE &&
        (originals_.empty() || originals_.back().uid < DECL_UID(decl)))
        originals_.push_back({DECL_UID(decl), original});
}

/// Only the first declaration and the first definition count. What later ones add to the type, such
/// as the size of an array, gcc does not describe.
void TreeReader::declared_variable(tree decl)
{
    const bool defines = !DECL_EXTERNAL(decl);
    auto [found, is_new] = defined_.try_emplace(DECL_UID(decl), defines);
    if (!is_new && (found->second || !defines))
        return;
    found->second = defines;
    tree type = TREE_TYPE(decl);
    variables_.push_back({decl, type, quals_of_decl(decl) | TYPE_QUALS(type), defines});
}

void TreeReader::prototype_types(tree type)
{
    type_of(TREE_TYPE(type));
    for (tree link = TYPE_ARG_TYPES(type); link && !VOID_TYPE_P(TREE_VALUE(link));
         link = TREE_CHAIN(link))
        type_of(TREE_VALUE(link));
}

void TreeReader::parameters(tree decl)
{
    for (tree p = DECL_ARGUMENTS(decl); p; p = DECL_CHAIN(p)) {
        if (DECL_IGNORED_P(p))
            continue;
        entries_.parameter(DECL_UID(p), name_of(p), type_of_decl(p));
        declaration_tags(DECL_ATTRIBUTES(p));
    }
}

void TreeReader::function(tree decl)
{
    if (DECL_IGNORED_P(decl))
        return;
    tree body = DECL_INITIAL(decl);
    tree type = TREE_TYPE(decl);
    if (!body || DECL_EXTERNAL(decl) || TREE_CODE(body) != BLOCK)
        prototype_types(type);
    if (!body || TREE_CODE(body) != BLOCK || entries_.has_function(DECL_UID(decl)))
        return;
    entries_.begin_function(DECL_UID(decl), name_of(decl), TREE_PUBLIC(decl),
                            type_of(TREE_TYPE(type)));
    declaration_tags(DECL_ATTRIBUTES(decl));
    parameters(decl);
    if (prototype_p(type) && stdarg_p(type))
        entries_.function_is_variadic();
    block(body);
    std::vector<tree> used;
    if (struct function *own = DECL_STRUCT_FUNCTION(decl); own && own->used_types_hash)
        for (auto at = own->used_types_hash->begin(); at != own->used_types_hash->end(); ++at)
            used.push_back(*at);
    used_types(std::move(used));
}

void TreeReader::local(tree decl)
{
    if (DECL_IGNORED_P(decl))
        return;
    switch (TREE_CODE(decl)) {
    case VAR_DECL:
    case RESULT_DECL:
        type_of_decl(decl);
        break;
    case FUNCTION_DECL:
        prototype_types(TREE_TYPE(decl));
        break;
    default:
        break;
    }
}

void TreeReader::block(tree block)
{
    for (tree decl = BLOCK_VARS(block); decl; decl = DECL_CHAIN(decl))
        local(decl);
    for (tree inner = BLOCK_SUBBLOCKS(block); inner; inner = BLOCK_CHAIN(inner))
        this->block(inner);
}

/// gcc marks more than these, but only these are described by then. A typedef with qualifiers, and
/// a struct that is only declared, are not, unless something else has that type. gcc's tables are
/// in the order of addresses, which differ from run to run.
void TreeReader::used_types(std::vector<tree> types)
{
    std::erase_if(types, [](tree t) { return !t || !TYPE_P(t); });
    std::sort(types.begin(), types.end(), [](tree a, tree b) { return TYPE_UID(a) < TYPE_UID(b); });
    for (tree type : types) {
        const bool is_tagged = RECORD_OR_UNION_TYPE_P(type) || TREE_CODE(type) == ENUMERAL_TYPE;
        tree name = typedef_of(type);
        if (name ? TREE_TYPE(name) == type : is_tagged && (TYPE_SIZE(type) || is_in_function(type)))
            type_of(type);
    }
}

void TreeReader::finish()
{
    for (const Declared &v : variables_) {
        if (DECL_IGNORED_P(v.decl) || (TREE_PUBLIC(v.decl) && !varpool_node::get(v.decl)))
            continue;
        const TypeNumber type = type_of(v.type, v.quals);
        if (!v.defines || DECL_EXTERNAL(v.decl) || !TREE_STATIC(v.decl) ||
            DECL_HARD_REGISTER(v.decl) || DECL_THREAD_LOCAL_P(v.decl))
            continue;
        const bool is_new = !entries_.has_variable(DECL_UID(v.decl));
        entries_.variable(DECL_UID(v.decl), name_of(v.decl), type, TREE_PUBLIC(v.decl));
        if (is_new)
            declaration_tags(DECL_ATTRIBUTES(v.decl));
    }
    std::vector<tree> used;
    if (types_used_by_vars_hash)
        for (auto at = types_used_by_vars_hash->begin(); at != types_used_by_vars_hash->end(); ++at)
            if (varpool_node *node = varpool_node::get((*at)->var_decl); node && node->definition)
                used.push_back((*at)->type);
    used_types(std::move(used));
    for (tree type : bases_)
        type_of(type, 0);
    for (size_t i = 0; i < waiting_.size(); ++i) // describing one may add others
        describe(waiting_[i]);
    waiting_.clear();
    variables_.clear();
    originals_.clear();
    bases_.clear();
}

void TreeReader::mark() const
{
    auto keep = [](tree t) {
        if (t && ggc_marked_p(t) == 0)
            gt_ggc_mx_tree_node(t);
    };
    for (const Declared &v : variables_) {
        keep(v.decl);
        keep(v.type);
    }
    for (const Original &o : originals_)
        keep(o.type);
    for (tree type : bases_)
        keep(type);
    for (tree type : waiting_)
        keep(type);
}

} // namespace btflink::emit::gcc
