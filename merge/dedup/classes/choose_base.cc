// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the types of a base that take part in the deduplication.
//
// Problem. A kernel's BTF has a hundred thousand types, a module a few thousand more. Types of the
// base that can neither equal a type of the module nor resolve a declaration must cost nothing.
//
// Method. The module's types are grouped by stub hash already.
//  1. Collect the names of the structs, unions and enums that the module defines or declares.
//  2. Choose each type of the base
//      - that has the stub hash of a type of the module, or
//      - that defines or declares a struct, union or enum with one of the names of step 1.
//     The index of the base finds both.
//  3. Add classes of the chosen types, in front of the module's. Types of the base with one stub
//     hash are one class, whether or not the module has a type with this hash.
//
// Why it is right. Equal types have equal stub hashes, and conflicts are found by names. References
// of chosen structs to types that are not chosen are lost, but this is harmless:
//  - If a struct of the base has the stub hash of the module's struct, the module also has the
//    types to which the struct refers, so these are chosen.
//  - If the struct of the base has another hash, it differs from the module's struct anyway.
//  - If the module only declares the struct, its declaration agrees with every definition. The
//    conflict graph needs to know whether the base has two definitions, but not how they differ.
// Enums are an exception: a type that refers to the declaration of an enum has another hash than a
// type that refers to the definition. If the base declares an enum that the module defines, or the
// reverse, or if their declarations of the enum differ, all types of the base whose names occur in
// the module take part (choose_all()).
// --why-dup asks for these types, too (`all`).
//
// Cost. A few look-ups per class of the module. choose_all() also reads all types of the base, and
// up to six times those whose names occur in the module.
#include "merge/base_index/base_index.h"
#include "merge/dedup/classes/classes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

struct TextHash {
    size_t operator()(std::string_view s) const { return XXH3_64bits(s.data(), s.size()); }
};
/// Do the objects define or declare an enum of a given name?
struct EnumUse {
    bool defined = false, declared = false;
    bool differ = false;         // the objects' declarations are not all equal
    uint32_t info = 0, size = 0; // words of a declaration
};
using Names = std::unordered_map<std::string_view, EnumUse, TextHash>;

/// A chosen type of the base.
struct ChosenType {
    TypeId type;
    TypeId lowest;  // the lowest id of a type of the base with the same hash
    ClassId equals; // the objects' class with the same hash; or none
};

/// Step 1.
Names collect_names(const Sources &sources, const Classes &classes)
{
    Names names;
    for (ClassId c : classes.first.ids()) {
        const btf_type &t = sources.type(classes.first[c]);
        if (!btf::has_tag_name(t))
            continue;
        EnumUse &use = names[sources.name(classes.first[c])];
        if (!btf::is_enum(btf::kind_of(t)))
            continue;
        if (!btf::is_declaration(t)) {
            use.defined = true;
            continue;
        }
        use.differ |= use.declared && (use.info != t.info || use.size != t.size);
        use.declared = true;
        use.info = t.info;
        use.size = t.size;
    }
    return names;
}

/// Is a type of the base an enum that the base declares and the objects define, or the reverse? Or
/// do both declare the enum, but with other words?
bool is_half_declared(const btf_type &t, const EnumUse &use)
{
    if (!btf::is_enum(btf::kind_of(t)))
        return false;
    if (!btf::is_declaration(t))
        return use.declared;
    const bool other = use.differ || use.info != t.info || use.size != t.size;
    return use.defined || (use.declared && other);
}

/// The strings of all objects.
std::unordered_set<std::string_view, TextHash> collect_strings(const Sources &sources)
{
    std::unordered_set<std::string_view, TextHash> out;
    for (const Source &source : std::span(sources.list).subspan(1))
        for (std::string_view rest = source.btf->strings(); !rest.empty();) {
            const std::string_view text = rest.substr(0, rest.find('\0'));
            out.insert(text);
            rest.remove_prefix(text.size() + 1);
        }
    return out;
}

/// Do all names of the type occur in the objects? Of a named struct, union or enum only its own
/// name counts, because the objects may have just a declaration of the type.
bool has_known_names(const Btf &btf, TypeId id,
                     const std::unordered_set<std::string_view, TextHash> &strings)
{
    if (btf::has_tag_name(btf.type(id)))
        return strings.contains(btf.name(id));
    bool known = true;
    btf::for_each_str_off(btf.type(id),
                          [&](uint32_t off) { known = known && strings.contains(btf.str(off)); });
    return known;
}

/// Are all types to which the type refers chosen? True for named structs, unions and enums, whose
/// contents do not count.
bool refers_only_to(const Btf &btf, TypeId id, const std::vector<bool> &chosen)
{
    if (btf::has_tag_name(btf.type(id)))
        return true;
    bool only = true;
    btf::for_each_type_id(btf.type(id),
                          [&](uint32_t ref) { only = only && (!ref || chosen[ref]); });
    return only;
}

/// Step 2 with `all`: types of the base whose names all occur in the objects, and that refer only
/// to chosen types. Other types cannot equal a type of the objects.
std::vector<ChosenType> choose_all(const Sources &sources, const BaseIndex &base)
{
    const auto strings = collect_strings(sources);
    const Btf &btf = *base.btf();
    std::vector<ChosenType> out;
    std::vector<bool> chosen(btf.size() + 1); // by id
    base.for_all([&](TypeId id, TypeId lowest) {
        const bool known = has_known_names(btf, id, strings);
        chosen[raw(id)] = known;
        if (known)
            out.push_back({id, lowest, ClassId::none});
    });
    auto drop = [&](const ChosenType &c) {
        const bool stays = refers_only_to(btf, c.type, chosen);
        chosen[raw(c.type)] = stays;
        return !stays;
    };
    // A chain of types, each of which refers to the next, may need one sweep per type. A few sweeps
    // suffice, because a type that is chosen needlessly does not change the result.
    constexpr int max_sweeps = 6;
    for (int sweep = 0; sweep < max_sweeps && std::erase_if(out, drop); ++sweep)
        continue;
    return out;
}

/// Step 2.
std::vector<ChosenType> choose(const Sources &sources, const Classes &classes,
                               const BaseIndex &base, bool all)
{
    std::vector<ChosenType> out;
    auto add = [&](TypeId id, TypeId lowest, ClassId equals) {
        out.push_back({id, std::min(id, lowest), equals}); // a forged index may have lowest > id
    };
    for (ClassId c : classes.first.ids()) {
        const TypeAt at = classes.first[c];
        base.for_types_with(sources.list[at.source].hash(raw(at.type) - 1),
                            [&](TypeId id, TypeId lowest) { add(id, lowest, c); });
    }
    for (const auto &named : collect_names(sources, classes)) // clang 14 cannot capture bindings
        base.for_named(named.first, [&](TypeId id, TypeId lowest) {
            add(id, lowest, ClassId::none);
            all |= is_half_declared(base.btf()->type(id), named.second);
        });
    if (all)
        for (const ChosenType &c : choose_all(sources, base))
            add(c.type, c.lowest, ClassId::none);
    // If a type was found in several ways, the entry with the class that it equals comes first.
    std::ranges::sort(out, {}, [](const ChosenType &c) { return std::pair(c.type, c.equals); });
    auto is_same = [](const ChosenType &a, const ChosenType &b) { return a.type == b.type; };
    out.erase(std::unique(out.begin(), out.end(), is_same), out.end());
    return out;
}

/// Step 3. Chosen types get numbers after those of the objects.
void number_chosen_types(const std::vector<ChosenType> &chosen, Sources &sources)
{
    uint32_t number = 0;
    for (const ChosenType &c : chosen)
        sources.base[raw(c.type)] = ++number;
    sources.list[0].offset = sources.types;
    sources.types += 1 + chosen.size();
}

/// Step 3. Numbers classes again: first those that begin with a type of the base.
void add_classes(const std::vector<ChosenType> &chosen, const Sources &sources, Classes &classes)
{
    IdVector<ClassId, TypeAt> first;
    IdVector<ClassId, ClassId> number(classes.first.size(), ClassId::none);
    std::vector<ClassId> of_base{ClassId::none}; // by Source::chosen
    const Source &base = sources.list[0];
    for (const ChosenType &c : chosen) {
        if (c.lowest == c.type) {
            of_base.push_back(first.next_id());
            first.push_back({0, c.type});
        } else {
            of_base.push_back(of_base[base.index(c.lowest) - base.offset]);
        }
        if (c.equals != ClassId::none)
            number[c.equals] = of_base.back();
    }
    for (ClassId c : classes.first.ids())
        if (number[c] == ClassId::none) {
            number[c] = first.next_id();
            first.push_back(classes.first[c]);
        }
    for (ClassId &c : classes.of)
        if (c != ClassId::none)
            c = number[c];
    classes.of.insert(classes.of.end(), of_base.begin(), of_base.end());
    classes.first = std::move(first);
}

} // namespace

void choose_base(Sources &sources, Classes &classes, const BaseIndex &base, bool all)
{
    const std::vector<ChosenType> chosen = choose(sources, classes, base, all);
    number_chosen_types(chosen, sources);
    add_classes(chosen, sources, classes);
}

} // namespace btflink::merge
