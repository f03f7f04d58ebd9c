// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares two types by walking both graphs of types at once. Counts types that differ, by refining
// a partition.
#include "tests/merge/meaning.h"

#include <algorithm>
#include <map>
#include <set>

namespace btflink::merge::test
{

namespace
{

/// The words of a type, with 0 in place of names and ids.
std::vector<uint32_t> own_words(const btf_type &type)
{
    auto *p = reinterpret_cast<const uint32_t *>(&type);
    std::vector<uint32_t> w(p, p + btf::words_of(type));
    auto &own = *reinterpret_cast<btf_type *>(w.data());
    btf::for_each_str_off(own, [](uint32_t &o) { o = 0; });
    btf::for_each_type_id(own, [](uint32_t &o) { o = 0; });
    return w;
}

/// The names of a type and its elements, in order.
std::string names_of(const Btf &btf, const btf_type &type)
{
    std::string names;
    btf::for_each_str_off(type, [&](uint32_t o) { (names += btf.str(o)) += '\0'; });
    return names;
}

bool is_enum(const btf_type &type)
{
    return btf::kind_of(type) == btf::Kind::ENUM || btf::kind_of(type) == btf::Kind::ENUM64;
}

/// "struct NAME" or "union NAME", for a definition or a declaration.
std::string struct_name(const Btf &btf, const btf_type &type)
{
    const btf::Kind kind = btf::kind_of(type);
    const bool is_union =
        kind == btf::Kind::UNION || (kind == btf::Kind::FWD && btf::kflag_of(type));
    return (is_union ? "union " : "struct ") + std::string(btf.str(type.name_off));
}

/// Decides whether a type of an object and a type of the result mean the same.
class Matcher
{
public:
    Matcher(const Btf &a, const Btf &b, const Known &known) : a_(a), b_(b), known_(known) {}

    bool same(TypeId x, TypeId y)
    {
        std::set<Pair> seen{{x, y}};
        std::vector<Pair> open{{x, y}};
        while (!open.empty()) {
            const Pair pair = open.back();
            open.pop_back();
            const Answer answer = compare_alone(pair);
            if (answer == Answer::differ)
                return false;
            if (answer == Answer::agree)
                continue;
            const btf_type &type = b_.type(pair.y);
            const bool is_struct =
                btf::kind_of(type) == btf::Kind::STRUCT || btf::kind_of(type) == btf::Kind::UNION;
            const bool in_struct = pair.in_struct || is_struct;
            const bool in_base = pair.in_base || (is_struct && pair.y < b_.first_id());
            std::vector<TypeId> refs;
            btf::for_each_type_id(a_.type(pair.x), [&](uint32_t r) { refs.push_back(TypeId{r}); });
            size_t next = 0;
            btf::for_each_type_id(type, [&](uint32_t r) {
                const Pair p{refs[next++], TypeId{r}, in_struct, in_base};
                if (seen.insert(p).second)
                    open.push_back(p);
            });
        }
        return true;
    }

private:
    struct Pair {
        TypeId x, y;
        bool in_struct = false; // the pair was reached through a struct or union
        bool in_base = false;   // the pair was reached through a struct or union of the base
        auto operator<=>(const Pair &) const = default;
    };

    enum class Answer { differ, agree, agree_if_references_do };
    static Answer agree_if(bool condition) { return condition ? Answer::agree : Answer::differ; }

    /// Compares two types, but neither the types that they refer to nor the names of members,
    /// parameters and enumerators.
    Answer compare_alone(const Pair &pair)
    {
        auto [x, y, in_struct, in_base] = pair;
        if (x == void_id || y == void_id)
            return agree_if(x == y);
        const btf_type &s = a_.type(x), &t = b_.type(y);
        if (a_.name(x) != b_.name(y))
            return Answer::differ;
        btf::Kind k = btf::kind_of(s), l = btf::kind_of(t);
        if (k == btf::Kind::FWD) {
            if (l == btf::Kind::FWD)
                return agree_if(s.info == t.info &&
                                (in_base || !known_.defined_by_one.contains(struct_name(a_, s))));
            return agree_if(l == (btf::kflag_of(s) ? btf::Kind::UNION : btf::Kind::STRUCT));
        }
        if (is_enum(s) && is_enum(t) &&
            (btf::vlen_of(s) == 0 || (in_base && btf::vlen_of(t) == 0) ||
             (in_struct && known_.declared_enums.contains(std::string(a_.name(x))))))
            return Answer::agree;
        // In a struct of the base, a declaration of the base agrees with any definition.
        if (in_base && l == btf::Kind::FWD)
            return agree_if(k == (btf::kflag_of(t) ? btf::Kind::UNION : btf::Kind::STRUCT));
        const bool equal = s.info == t.info && own_words(s) == own_words(t);
        return equal ? Answer::agree_if_references_do : Answer::differ;
    }

    const Btf &a_, &b_;
    const Known &known_;
};

} // namespace

Known known_to(const std::vector<Btf> &objects, const Btf *base)
{
    Known out;
    std::map<std::string, size_t> definitions;
    auto count = [&](const Btf &btf) {
        for (TypeId id : btf.ids()) {
            const btf_type &t = btf.type(id);
            const btf::Kind kind = btf::kind_of(t);
            if (is_enum(t) && btf::is_declaration(t))
                out.declared_enums.emplace(btf.name(id));
            if ((kind == btf::Kind::STRUCT || kind == btf::Kind::UNION) && !btf.name(id).empty())
                definitions[struct_name(btf, t)] += &btf == base ? 2 : 1;
        }
    };
    for (const Btf &btf : objects)
        count(btf);
    if (base)
        count(*base);
    for (const auto &[name, number] : definitions)
        if (number == 1)
            out.defined_by_one.insert(name);
    return out;
}

std::string first_lost(const Btf &object, const Btf &merged, const Known &known)
{
    Matcher matcher(object, merged, known);
    for (TypeId id : object.ids()) {
        bool found = false;
        for (TypeId m = TypeId{1}; m < merged.end_id() && !found; m = TypeId{raw(m) + 1})
            found = matcher.same(id, m);
        if (!found)
            return strf("type %u (%s '%s')", raw(id), object.kind_name(id),
                        std::string(object.name(id)).c_str());
    }
    return "";
}

size_t fewest_types(const std::vector<const Btf *> &objects)
{
    // The types of all objects, one object after the other; [0] is void.
    std::vector<std::pair<const Btf *, TypeId>> types{{nullptr, void_id}};
    std::vector<std::vector<uint32_t>> refs(1);
    std::map<std::pair<std::vector<uint32_t>, std::string>, uint32_t> classes;
    std::vector<uint32_t> class_of{0};
    for (const Btf *btf : objects) {
        auto begin = static_cast<uint32_t>(types.size()) - raw(btf->first_id());
        for (TypeId id : btf->ids()) {
            const btf_type &t = btf->type(id);
            types.emplace_back(btf, id);
            auto &mine = refs.emplace_back();
            btf::for_each_type_id(t, [&](uint32_t r) { mine.push_back(r ? begin + r : 0); });
            auto content = std::pair(own_words(t), names_of(*btf, t));
            class_of.push_back(
                classes.emplace(content, static_cast<uint32_t>(classes.size()) + 1).first->second);
        }
    }
    // Refine the classes until their number stays the same: the new class of a type depends on its
    // class and on the classes of the types that it refers to.
    for (size_t count = classes.size(), last = 0; count != last;) {
        last = count;
        std::map<std::vector<uint32_t>, uint32_t> next;
        std::vector<uint32_t> now{0};
        for (uint32_t i = 1; i < types.size(); ++i) {
            std::vector<uint32_t> key{class_of[i]};
            for (uint32_t r : refs[i])
                key.push_back(class_of[r]);
            now.push_back(next.emplace(key, static_cast<uint32_t>(next.size()) + 1).first->second);
        }
        class_of = std::move(now);
        count = next.size();
    }
    return *std::max_element(class_of.begin(), class_of.end());
}

} // namespace btflink::merge::test
