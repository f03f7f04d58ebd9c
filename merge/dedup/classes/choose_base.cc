// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A kernel's BTF has a hundred thousand types, a module a few thousand more. Types of the
// base that no type of the module can equal, or be resolved to, must cost nothing.
//
// Method. The module's types are grouped by stub hash already.
//  1. Collect the names of the module's structs, unions and enums.
//  2. Choose each type of the base
//      - that has the stub hash of a type of the module, or
//      - that is a struct, union or enum, defined or declared, and the module has one of that name.
//     An index answers both questions by look-ups (choose_by_index). Without one, prune_base.cc
//     finds by their names the types of the base that may matter; these are hashed, and the others
//     are left out (choose_by_search).
//  3. Add classes of the chosen types, in front of the module's. Types of the base with one stub
//     hash are one class, whether or not the module has it.
//
// Why it is right. Equal types have equal stub hashes, and conflicts are found by names. A
// reference to a type that does not take part is lost. If base and module have a struct with the
// same stub hash, the module has all types that the struct refers to, so no reference is lost. If
// their structs have different hashes, they differ anyway. If the module only declares the struct,
// the declaration agrees with every definition of the base. References in which two definitions of
// the base differ may be lost then, but the conflict graph only needs to know that there are two.
// Declarable enums are an exception: a type that refers to a declaration of one has another hash
// than a type that refers to the definition. If base and module have both, all types that may be
// equal take part (`all`), and an index is not used.
//
// Invariant. Which types take part, and in which classes, does not depend on the presence of an
// index. So neither does the result.
//
// Cost. With an index: a few look-ups per class of the module. Otherwise see prune_base.cc.
#include "merge/dedup/classes/choose_base.h"

#include "merge/dedup/classes/distinct_hashes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

struct TextHash {
    size_t operator()(std::string_view s) const { return XXH3_64bits(s.data(), s.size()); }
};
/// How the objects use the name of a struct, union or enum.
struct NameUse {
    bool enum_defined = false, enum_declared = false;
};
using Names = std::unordered_map<std::string_view, NameUse, TextHash>;

/// The objects' types, and the base from which others are chosen.
struct ChoiceInput {
    const Sources &sources;
    const Classes &classes; // of the objects' types
    const Btf &base;
    Names names; // of the objects' structs, unions and enums
};

/// A chosen type of the base.
struct Choice {
    TypeId type;
    TypeId lowest;  // with the same hash
    ClassId equals; // of the objects' types; or none
};

/// Step 1.
Names collect_names(const Sources &sources, const Classes &classes)
{
    Names names;
    for (ClassId c : classes.first.ids()) {
        const btf_type &t = sources.type(classes.first[c]);
        if (!btf::has_tag_name(t))
            continue;
        NameUse &use = names[sources.name(classes.first[c])];
        if (btf::is_enum(btf::kind_of(t)))
            (btf::is_declaration(t) ? use.enum_declared : use.enum_defined) = true;
    }
    return names;
}

/// Null: the objects do not use the name, or the type of the base is of another kind.
const NameUse *find_use(const ChoiceInput &in, TypeId id)
{
    if (!btf::has_tag_name(in.base.type(id)))
        return nullptr;
    auto found = in.names.find(in.base.name(id));
    return found == in.names.end() ? nullptr : &found->second;
}

/// Is a type of the base an enum that the base declares and the objects define, or the reverse?
bool is_half_declared(const ChoiceInput &in, TypeId id, const NameUse &use)
{
    const btf_type &t = in.base.type(id);
    return btf::is_enum(btf::kind_of(t)) &&
           (btf::is_declaration(t) ? use.enum_defined : use.enum_declared);
}

Hash128 hash_of(const ChoiceInput &in, ClassId c)
{
    const TypeAt at = in.classes.first[c];
    return in.sources.list[at.source].hash(raw(at.type) - 1);
}

/// Step 2 with an index. Nothing if it does not suffice.
std::optional<std::vector<Choice>> choose_by_index(const ChoiceInput &in, const BaseIndex &index)
{
    std::vector<Choice> out;
    auto add = [&](TypeId id, TypeId lowest, ClassId equals) {
        out.push_back({id, std::min(id, lowest), equals}); // a forged index may say anything
    };
    for (ClassId c : in.classes.first.ids())
        index.for_types_with(hash_of(in, c), [&](TypeId id, TypeId lowest) { add(id, lowest, c); });
    bool half_declared = false;
    for (const auto &named : in.names)
        index.for_named(named.first, [&](TypeId id, TypeId lowest) {
            add(id, lowest, ClassId::none);
            half_declared |= is_half_declared(in, id, named.second);
        });
    if (half_declared)
        return std::nullopt;
    // If a type was found both ways, the entry with the class that it equals comes first.
    std::ranges::sort(out, {}, [](const Choice &c) { return std::pair(c.type, c.equals); });
    auto is_same = [](const Choice &a, const Choice &b) { return a.type == b.type; };
    out.erase(std::unique(out.begin(), out.end(), is_same), out.end());
    return out;
}

/// The plain types among `wanted`.
Result<Selection> plain_part(const Btf &base, const Selection &wanted, const Where &where)
{
    Selection plain(base.size());
    uint32_t bad = 0;
    wanted.for_each(0, [&](uint32_t i) {
        const btf_type &t = base.type(TypeId{i + 1});
        if (base.is_of_link(TypeId{i + 1}))
            return;
        plain.set(i, true);
        btf::for_each_type_id(t, [&](uint32_t ref) {
            if (!bad && ref && base.is_of_link(TypeId{ref}))
                bad = i + 1;
        });
    });
    if (bad)
        return fail(where, strf("type %u (%s) refers to a FUNC, VAR or DATASEC", bad,
                                base.kind_name(TypeId{bad})));
    plain.number();
    return plain;
}

bool any_half_declared(const ChoiceInput &in, const Selection &plain)
{
    bool any = false;
    plain.for_each(0, [&](uint32_t i) {
        if (const NameUse *use = find_use(in, TypeId{i + 1}))
            any |= is_half_declared(in, TypeId{i + 1}, *use);
    });
    return any;
}

/// The types that may be chosen, and all types whose hashes are part of their hashes.
Selection types_to_hash(const ChoiceInput &in, const Selection &plain)
{
    Selection out(in.base.size());
    std::vector<TypeId> open;
    auto add = [&](TypeId id) {
        if (out.has(raw(id) - 1))
            return;
        out.set(raw(id) - 1, true);
        open.push_back(id);
    };
    plain.for_each(0, [&](uint32_t i) {
        if (!btf::has_tag_name(in.base.type(TypeId{i + 1})) || find_use(in, TypeId{i + 1}))
            add(TypeId{i + 1});
    });
    while (!open.empty()) {
        const TypeId id = open.back();
        open.pop_back();
        btf::for_each_type_id(in.base.type(id), [&](uint32_t ref) {
            if (ref && !stub_class(in.base, TypeId{ref}))
                add(TypeId{ref});
        });
    }
    out.number();
    return out;
}

/// Step 2 without an index. `plain`: the plain types that may matter. `all`: choose all of them.
std::vector<Choice> choose_by_search(const ChoiceInput &in, const Selection &plain, bool all)
{
    all = all || any_half_declared(in, plain);
    const Selection hashed = all ? plain : types_to_hash(in, plain);
    const std::vector<Hash128> hashes = stub_hashes(in.base, hashed);
    DistinctHashes distinct(in.sources);
    std::vector<ClassId> of; // by place among the hashed: a number in `distinct`
    hashed.for_each(0, [&](uint32_t i) {
        of.push_back(distinct.add(visible(hashes[of.size()]), {0, TypeId{i + 1}}));
    });
    IdVector<ClassId, ClassId> equals(distinct.entries().size(), ClassId::none);
    for (ClassId c : in.classes.first.ids())
        if (ClassId found = distinct.find(visible(hash_of(in, c)), in.classes.first[c]);
            found != ClassId::none)
            equals[found] = c;
    std::vector<Choice> out;
    size_t place = 0;
    hashed.for_each(0, [&](uint32_t i) {
        const ClassId mine = of[place++];
        if (all || equals[mine] != ClassId::none || find_use(in, TypeId{i + 1}))
            out.push_back({TypeId{i + 1}, distinct.entries()[mine].first.type, equals[mine]});
    });
    return out;
}

/// Step 3. Chosen types get numbers behind those of the objects.
void number_choices(const std::vector<Choice> &choices, Sources &sources)
{
    for (const Choice &choice : choices)
        sources.base->set(raw(choice.type) - 1, true);
    sources.base->number();
    sources.list[0].offset = sources.types;
    sources.types += 1 + choices.size();
}

/// Step 3. Numbers classes again: first those that begin with a type of the base.
void add_classes(const std::vector<Choice> &choices, const Sources &sources, Classes &classes)
{
    IdVector<ClassId, TypeAt> first;
    IdVector<ClassId, ClassId> number(classes.first.size(), ClassId::none);
    std::vector<ClassId> of_base{ClassId::none}; // by number as in Source::index()
    const Source &base = sources.list[0];
    for (const Choice &choice : choices) {
        if (choice.lowest == choice.type) {
            of_base.push_back(first.next_id());
            first.push_back({0, choice.type});
        } else {
            of_base.push_back(of_base[base.index(choice.lowest) - base.offset]);
        }
        if (choice.equals != ClassId::none)
            number[choice.equals] = of_base.back();
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

Result<BaseKnowledge> choose_base(Sources &sources, Classes &classes,
                                  const std::vector<Object> &objects, const GivenBase &given,
                                  bool all)
{
    const ChoiceInput in{sources, classes, *given.btf, collect_names(sources, classes)};
    BaseKnowledge known;
    std::optional<std::vector<Choice>> choices;
    if (given.index && !all)
        choices = choose_by_index(in, *given.index);
    if (choices) {
        known.index = given.index;
    } else {
        if (given.index) // its types were not all checked
            TRY(Btf::parse(given.blob, given.where));
        auto part = std::make_unique<BasePart>(make_base_part(in.base, objects));
        const auto plain = TRY(plain_part(in.base, part->wanted, given.where));
        choices = choose_by_search(in, plain, all);
        known.part = std::move(part);
    }
    number_choices(*choices, sources);
    add_classes(*choices, sources, classes);
    return known;
}

} // namespace btflink::merge
