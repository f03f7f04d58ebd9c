// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds how two results for one module (the split BTF that two tools made) differ: in functions,
// prototypes, variables, the form of arrays, or other types.
//
// Method. Each type is matched with a type of the other result that has the same signature.
// Unmatched FUNCs, their prototypes and their tags count as functions, unmatched VARs and DATASECs
// as variables, all other unmatched types as additional or missing types.
//
// If any type is unmatched, all types are matched again, with each array of arrays as one array
// (Arrays::flat). The results differ in the form of arrays if this leaves fewer types other than
// ARRAYs unmatched. In this case the second matching replaces the first one, and unmatched ARRAYs
// are ignored, because an array of arrays in one result still has more ARRAYs than the one array in
// the other.
#include "tests/tools/module_difference.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace btflink::tools
{

namespace
{

struct HashSignature {
    size_t operator()(const Signature &s) const { return s[0]; }
};

template <typename Visit>
void for_each_own(const Btf &btf, Visit visit)
{
    for (TypeId id : btf.ids())
        visit(id);
}

/// The name that a struct, union, enum, typedef, INT or FLOAT defines, such as "struct
/// task_struct", "typedef u8" or "int". "" for other types, types without a name, and ENUMs without
/// values, which are declarations.
std::string definition_title(const Btf &btf, TypeId id)
{
    std::string name(btf.name(id));
    if (name.empty())
        return "";
    switch (btf.kind(id)) {
    case btf::Kind::STRUCT:
        return "struct " + name;
    case btf::Kind::UNION:
        return "union " + name;
    case btf::Kind::ENUM:
        return btf::vlen_of(btf.type(id)) ? "enum " + name : "";
    case btf::Kind::ENUM64:
        return "enum " + name;
    case btf::Kind::TYPEDEF:
        return "typedef " + name;
    case btf::Kind::INT:
    case btf::Kind::FLOAT:
        return name;
    default:
        return "";
    }
}

/// The types of each result without a match in the other.
struct Leftover {
    std::vector<TypeId> a, b;

    size_t size() const { return a.size() + b.size(); }
};

void drop_arrays(const Btf &btf, std::vector<TypeId> &ids)
{
    std::erase_if(ids, [&](TypeId id) { return btf.kind(id) == btf::Kind::ARRAY; });
}

Leftover match(const ModuleBase &base_a, const Btf &a, const ModuleBase &base_b, const Btf &b,
               Arrays arrays)
{
    SignatureTable of_a(a, Depth::names, arrays, &base_a.signatures(arrays));
    SignatureTable of_b(b, Depth::names, arrays, &base_b.signatures(arrays));
    std::unordered_map<Signature, size_t, HashSignature> waiting;
    for_each_own(b, [&](TypeId id) { ++waiting[of_b.of(id)]; });
    Leftover left;
    for_each_own(a, [&](TypeId id) {
        auto found = waiting.find(of_a.of(id));
        if (found == waiting.end() || found->second == 0)
            left.a.push_back(id);
        else
            --found->second;
    });
    for_each_own(b, [&](TypeId id) {
        size_t &count = waiting[of_b.of(id)];
        if (count == 0)
            return;
        left.b.push_back(id);
        --count;
    });
    return left;
}

std::set<std::string> function_names(const Btf &btf)
{
    std::set<std::string> names;
    for_each_own(btf, [&](TypeId id) {
        if (btf.kind(id) == btf::Kind::FUNC)
            names.emplace(btf.name(id));
    });
    return names;
}

/// The unmatched types of one result: names of FUNCs, number of VARs and DATASECs, and number of
/// other types that do not belong to these FUNCs.
struct Parts {
    std::set<std::string> functions;
    size_t variables = 0, types = 0;
};

Parts take_apart(const Btf &btf, const std::vector<TypeId> &left)
{
    Parts parts;
    std::unordered_set<uint32_t> of_functions; // ids of unmatched FUNCs and of their prototypes
    for (TypeId id : left)
        if (btf.kind(id) == btf::Kind::FUNC) {
            parts.functions.emplace(btf.name(id));
            of_functions.insert({raw(id), btf.type(id).type});
        }
    for (TypeId id : left) {
        btf::Kind kind = btf.kind(id);
        bool tags_function = kind == btf::Kind::DECL_TAG && of_functions.count(btf.type(id).type);
        if (kind == btf::Kind::VAR || kind == btf::Kind::DATASEC)
            ++parts.variables;
        else if (!of_functions.count(raw(id)) && !tags_function)
            ++parts.types;
    }
    return parts;
}

void tell_functions(const Btf &a, const Parts &left_a, const Btf &b, const Parts &left_b,
                    ModuleDifference &difference)
{
    auto all_a = function_names(a), all_b = function_names(b);
    for (const std::string &name : left_a.functions)
        (all_b.count(name) ? difference.prototype : difference.only_a).push_back(name);
    for (const std::string &name : left_b.functions)
        if (!all_a.count(name))
            difference.only_b.push_back(name);
        else if (!left_a.functions.count(name))
            difference.prototype.push_back(name);
}

/// Titles of the types that both `btf` and its base define, each once.
std::vector<std::string> defined_again(const ModuleBase &base, const Btf &btf)
{
    std::set<std::string> again;
    for_each_own(btf, [&](TypeId id) {
        std::string title = definition_title(btf, id);
        if (base.defines(title))
            again.insert(std::move(title));
    });
    return {again.begin(), again.end()};
}

} // namespace

ModuleBase::ModuleBase(std::shared_ptr<const Btf> btf)
    : btf_(std::move(btf)), as_written_(*btf_, Depth::names),
      flat_(*btf_, Depth::names, Arrays::flat)
{
    for_each_own(*btf_, [&](TypeId id) {
        if (std::string title = definition_title(*btf_, id); !title.empty())
            defined_.insert(std::move(title));
    });
}

ModuleDifference compare_modules(const ModuleBase &base_a, const Btf &a, const ModuleBase &base_b,
                                 const Btf &b)
{
    ModuleDifference difference;
    Leftover left = match(base_a, a, base_b, b, Arrays::as_written);
    difference.equal = left.size() == 0;
    if (!difference.equal) {
        Leftover as_written = left, flat = match(base_a, a, base_b, b, Arrays::flat);
        for (Leftover *some : {&as_written, &flat}) {
            drop_arrays(a, some->a);
            drop_arrays(b, some->b);
        }
        difference.array_form = flat.size() < as_written.size();
        if (difference.array_form)
            left = std::move(flat);
    }
    Parts left_a = take_apart(a, left.a), left_b = take_apart(b, left.b);
    tell_functions(a, left_a, b, left_b, difference);
    difference.more = left_a.types;
    difference.fewer = left_b.types;
    difference.variables = left_a.variables + left_b.variables;
    difference.again_a = defined_again(base_a, a);
    difference.again_b = defined_again(base_b, b);
    return difference;
}

} // namespace btflink::tools
