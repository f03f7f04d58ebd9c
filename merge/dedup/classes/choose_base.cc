// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A kernel's BTF has a hundred thousand types, a module over it a few thousand. Types of
// the base that no type of the module can be equal to, or be resolved to, must not cost anything.
//
// Method. Group the module's types first. Then a type of the base takes part
//  - if it has the stub hash of a type of the module, or
//  - if it is a struct, union or enum, defined or declared, and the module has one of that name.
// An index answers both questions by look-ups. Without one, prune_base.cc finds by
// their names the types of the base that may matter. These are hashed, and the others are left out.
// Types of the base with one stub hash are one class, whether or not the module has it.
//
// Why it is right. Equal types have equal stub hashes, and conflicts are found by names. A
// reference to a type that takes no part is lost. If base and module have a struct with one stub
// hash, the module has all that it refers to, so none of its references is lost. If their structs
// have different hashes, they differ anyway. If the module only declares the struct, the
// declaration agrees with every definition of the base. The references in which two definitions of
// the base differ may be lost then, but the conflict graph only needs to know that there are two.
// Declarable enums are an exception: a type that refers to a declaration of one has another hash
// than one that refers to the definition. If base and module have both, all types that may matter
// take part (`all`), and an index is of no use.
//
// Invariant. Which types take part, and in which classes, does not depend on whether there is an
// index. So the result does not.
//
// Cost. By an index: a few look-ups per class of the module. Else, see prune_base.cc.
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
/// Names of structs, unions and enums.
struct NameUse {
    bool enum_defined = false, enum_declared = false; // in the objects
};
using Names = std::unordered_map<std::string_view, NameUse, TextHash>;

/// A chosen type of the base.
struct Choice {
    TypeId lowest;                  // with the same hash
    ClassId equals = ClassId::none; // of the objects' types
};
using Choices = std::vector<std::pair<TypeId, Choice>>;

/// Is an enum declared in the base and defined in the objects, or the reverse?
class EnumCheck
{
public:
    explicit EnumCheck(const Btf &base) : base_(base) {}
    /// A type of the base of that name.
    void add(TypeId id, const NameUse &use)
    {
        const btf_type &t = base_.type(id);
        if (btf::is_enum(btf::kind_of(t)))
            open_ |= (btf::is_declaration(t) ? use.enum_defined : use.enum_declared);
    }
    bool found() const { return open_; }

private:
    const Btf &base_;
    bool open_ = false;
};

class Chooser
{
public:
    Chooser(const Sources &sources, const Classes &classes)
        : sources_(sources), classes_(classes), base_(*sources.list[0].btf)
    {
        for (ClassId c : classes.first.ids())
            note_name(classes.first[c]);
    }

    /// Nothing if the index does not suffice.
    std::optional<Choices> by_index(const BaseIndex &index) const
    {
        Choices out;
        EnumCheck enums(base_);
        auto add = [&](TypeId id, TypeId lowest, ClassId equals) {
            out.push_back({id, {std::min(id, lowest), equals}}); // a forged index may say anything
        };
        for (ClassId c : classes_.first.ids())
            index.for_types_with(hash_of(c), [&](TypeId id, TypeId lowest) { add(id, lowest, c); });
        for (const auto &named : names_)
            index.for_named(named.first, [&](TypeId id, TypeId lowest) {
                add(id, lowest, ClassId::none);
                enums.add(id, named.second);
            });
        if (enums.found())
            return std::nullopt;
        // If a type was found both ways, the entry with the class that it equals comes first.
        std::sort(out.begin(), out.end(), [](const auto &a, const auto &b) {
            return std::pair(a.first, a.second.equals) < std::pair(b.first, b.second.equals);
        });
        out.erase(std::unique(out.begin(), out.end(),
                              [](const auto &a, const auto &b) { return a.first == b.first; }),
                  out.end());
        return out;
    }

    /// `wanted`: the plain types that may matter. `all`: choose all of them.
    Choices by_search(const Selection &wanted, bool all) const
    {
        EnumCheck enums(base_);
        wanted.for_each(0, [&](uint32_t i) {
            if (auto use = named(TypeId{i + 1}))
                enums.add(TypeId{i + 1}, *use);
        });
        all = all || enums.found();
        const Selection hashed = all ? wanted : to_hash(wanted);
        const std::vector<Hash128> hashes = stub_hashes(base_, hashed);
        DistinctHashes distinct(sources_);
        std::vector<ClassId> of; // by place among the hashed
        hashed.for_each(0, [&](uint32_t i) {
            of.push_back(distinct.add(visible(hashes[of.size()]), {0, TypeId{i + 1}}));
        });
        IdVector<ClassId, ClassId> equals(distinct.entries().size(), ClassId::none);
        for (ClassId c : classes_.first.ids())
            if (ClassId found = distinct.find(visible(hash_of(c)), classes_.first[c]);
                found != ClassId::none)
                equals[found] = c;
        Choices out;
        size_t place = 0;
        hashed.for_each(0, [&](uint32_t i) {
            const ClassId mine = of[place++];
            if (all || equals[mine] != ClassId::none || named(TypeId{i + 1}))
                out.push_back({TypeId{i + 1}, {distinct.entries()[mine].first.type, equals[mine]}});
        });
        return out;
    }

private:
    void note_name(TypeAt at)
    {
        const btf_type &t = sources_.type(at);
        if (!btf::has_tag_name(t))
            return;
        NameUse &use = names_[sources_.name(at)];
        if (btf::is_enum(btf::kind_of(t)))
            (btf::is_declaration(t) ? use.enum_declared : use.enum_defined) = true;
    }

    Hash128 hash_of(ClassId c) const
    {
        const TypeAt at = classes_.first[c];
        return sources_.list[at.source].hash(raw(at.type) - 1);
    }

    /// How the objects use the name of a struct, union or enum of the base; null: they do not use
    /// it, or the type is of another kind.
    const NameUse *named(TypeId id) const
    {
        if (!btf::has_tag_name(base_.type(id)))
            return nullptr;
        auto found = names_.find(base_.name(id));
        return found == names_.end() ? nullptr : &found->second;
    }

    /// The types that may be chosen, and all types whose hashes are part of their hashes.
    Selection to_hash(const Selection &wanted) const
    {
        Selection out(base_.size());
        std::vector<TypeId> open;
        auto add = [&](TypeId id) {
            if (out.has(raw(id) - 1))
                return;
            out.set(raw(id) - 1, true);
            open.push_back(id);
        };
        wanted.for_each(0, [&](uint32_t i) {
            if (!btf::has_tag_name(base_.type(TypeId{i + 1})) || named(TypeId{i + 1}))
                add(TypeId{i + 1});
        });
        while (!open.empty()) {
            const TypeId id = open.back();
            open.pop_back();
            btf::for_each_type_id(base_.type(id), [&](uint32_t ref) {
                if (ref && !stub_class(base_, TypeId{ref}))
                    add(TypeId{ref});
            });
        }
        out.number();
        return out;
    }

    const Sources &sources_;
    const Classes &classes_;
    const Btf &base_;
    Names names_;
};

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
            if (!bad && !btf::is_type(base.kind(TypeId{ref})))
                bad = i + 1;
        });
    });
    if (bad)
        return fail(where, strf("type %u (%s) refers to one that is no type proper", bad,
                                base.kind_name(TypeId{bad})));
    plain.number();
    return plain;
}

/// Numbers classes anew: first those that begin with a type of the base.
void add_classes(const Choices &choices, Sources &sources, Classes &classes)
{
    IdVector<ClassId, TypeAt> first;
    IdVector<ClassId, ClassId> number(classes.first.size(), ClassId::none);
    std::vector<ClassId> of_base{ClassId::none}; // by number, as in Source::index()
    const Source &base = sources.list[0];
    for (const auto &[id, choice] : choices) {
        if (choice.lowest == id) {
            of_base.push_back(first.next_id());
            first.push_back({0, id});
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
    const Chooser chooser(sources, classes);
    BaseKnowledge known;
    std::optional<Choices> choices;
    if (given.index && !all)
        choices = chooser.by_index(*given.index);
    if (choices) {
        known.index = given.index;
    } else {
        if (given.index) // its types were not all looked at
            TRY(Btf::parse(given.blob, given.where));
        auto part = std::make_unique<BasePart>(make_base_part(*given.btf, objects));
        auto plain = TRY(plain_part(*given.btf, part->wanted, given.where));
        choices = chooser.by_search(plain, all);
        known.part = std::move(part);
    }
    for (const auto &[id, choice] : *choices)
        sources.base->set(raw(id) - 1, true);
    sources.base->number();
    sources.list[0].offset = sources.types;
    sources.types += 1 + choices->size();
    add_classes(*choices, sources, classes);
    return known;
}

} // namespace btflink::merge
