// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Resolves forward declarations by typedefs of other objects.
//
// Problem. In one object `typedef struct s *t` leads to a declaration of `struct s`, in another to
// one of several definitions. The typedef shows which definition is meant. A typedef of a prototype
// may lead to declarations of several names, which can only be resolved together.
//
// Method. Each type between nodes has a key: its class, and the final classes that it refers to
// (BetweenKeys). Keys of one class have the same form. The keys are processed level by level, each
// after the keys to which it refers:
//  1. In each key, replace classes that became aliases of others.
//  2. Compare each typedef T that leads to a declaration with the others of its class, in order. T
//     becomes an alias of the first one that agrees with it. A typedef U agrees with T if at each
//     place of their keys one of these is true: both keys refer to the same type; T's key refers to
//     a declaration, and U's key to a definition of that name; both keys refer to types of one
//     class that agree in the same way.
//  3. Step 1 may have made other keys equal. Of equal keys, one becomes an alias of the other.
//
// Invariant. In step 2 a typedef becomes an alias only of one that has definitions where it has
// declarations, never vice versa. So chains of aliases end, and definitions are never replaced.
// Only these typedefs, and types that lead to one, change.
//
// Cost. At most a few passes over all keys. The number of compared pairs of types is limited; only
// malicious input reaches the limit, and then further typedefs are not resolved.
#include "merge/dedup/split/split_conflicts.h"

#include "common/io/trace.h"

#include <algorithm>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

constexpr size_t most_pairs = 1 << 20; // pairs of types compared, in all

/// What is known about a final class.
struct ClassFacts {
    ClassId declaration = ClassId::none; // of a definition: its declaration
    bool leads_to_declaration = false;   // or is a declaration
    ClassId meant = ClassId::none;       // the class of which it is an alias
    uint32_t key = no_number;            // index in `renewed`
};

struct TypedefResolver {
    const ClassGraph &graph;
    const BetweenKeys &old;
    Partition &partition;
    IdVector<ClassId, ClassFacts> facts = {};
    BetweenKeys renewed = {};                        // the keys without aliases
    std::unordered_map<ClassId, ClassId> shown = {}; // declaration -> definition
    size_t pairs = 0;                                // pairs compared

    /// Is the word a final class? Other words of a key represent cycles.
    bool is_final(uint32_t word) const { return word < partition.classes.size(); }
    ClassId class_of(uint32_t k) const { return ClassId{old.keys.at(k)[0]}; }
    ClassFacts &facts_of(uint32_t k) { return facts[old.final_class[k]]; }
    bool is_open_typedef(uint32_t k)
    {
        return graph.kind[class_of(k)] == btf::Kind::TYPEDEF && facts_of(k).leads_to_declaration;
    }
};

/// A key that leads to a declaration, and so may change; or the key of a typedef that is compared
/// with a typedef that leads to a declaration.
struct OpenKey {
    uint32_t number;             // in TypedefResolver::old
    std::vector<uint32_t> words; // without aliases
    uint32_t means = no_number;  // the open key of which it is an alias
};

/// Marks the classes that lead to a declaration. Returns whether there is a typedef among them.
bool find_open_typedefs(TypedefResolver &r)
{
    bool found = false;
    for (uint32_t k = 0; k < r.old.keys.size(); ++k) {
        for (uint32_t word : r.old.keys.at(k).subspan(1))
            if (r.is_final(word) && r.facts[ClassId{word}].leads_to_declaration)
                r.facts_of(k).leads_to_declaration = true;
        found |= r.is_open_typedef(k);
    }
    return found;
}

/// All keys by level. Keys of a level refer to keys of lower levels only.
std::vector<std::vector<uint32_t>> find_levels(const TypedefResolver &r)
{
    std::vector<std::vector<uint32_t>> out;
    IdVector<ClassId, size_t> height(r.partition.classes.size()); // level + 1; 0: no key
    for (uint32_t k = 0; k < r.old.keys.size(); ++k) {
        size_t level = 0;
        for (uint32_t word : r.old.keys.at(k).subspan(1))
            if (r.is_final(word))
                level = std::max(level, height[ClassId{word}]);
        height[r.old.final_class[k]] = level + 1;
        out.resize(std::max(out.size(), level + 1));
        out[level].push_back(k);
    }
    return out;
}

void become_alias(TypedefResolver &r, ClassId from, ClassId to)
{
    r.facts[from].meant = to;
    r.partition.alias[from] = to;
    TypeAt &first = r.partition.classes[to].first;
    first = std::min(first, r.partition.classes[from].first);
}

void add_key(TypedefResolver &r, uint32_t old, std::span<const uint32_t> words)
{
    const ClassId own = r.old.final_class[old];
    auto [number, is_new] = r.renewed.keys.add(words);
    if (!is_new)
        return become_alias(r, own, r.renewed.final_class[number]);
    r.renewed.final_class.push_back(own);
    r.facts[own].key = number;
}

/// Step 1. Returns the open keys. All other keys, which are nearly all, cannot change: they are
/// added to `renewed` at once.
std::vector<OpenKey> find_open_keys(TypedefResolver &r, std::span<const uint32_t> level)
{
    std::unordered_set<ClassId> typedefs;
    for (uint32_t k : level)
        if (r.is_open_typedef(k))
            typedefs.insert(r.class_of(k));
    std::vector<OpenKey> out;
    for (uint32_t k : level) {
        const std::span words = r.old.keys.at(k);
        if (!r.facts_of(k).leads_to_declaration && !typedefs.contains(r.class_of(k))) {
            add_key(r, k, words);
            continue;
        }
        out.push_back({k, {words.begin(), words.end()}});
        for (uint32_t &word : std::span(out.back().words).subspan(1))
            if (r.is_final(word) && r.facts[ClassId{word}].meant != ClassId::none)
                word = raw(r.facts[ClassId{word}].meant);
    }
    return out;
}

using ClassPairs = std::vector<std::pair<ClassId, ClassId>>;

/// Adds the references of the keys, place by place. Returns false if the keys are not of one class
/// and length, or if too many pairs were compared.
bool add_references(TypedefResolver &r, std::span<const uint32_t> a, std::span<const uint32_t> b,
                    ClassPairs &out)
{
    r.pairs += a.size();
    if (a[0] != b[0] || a.size() != b.size() || r.pairs > most_pairs)
        return false;
    for (size_t i = 1; i < a.size(); ++i)
        out.emplace_back(ClassId{a[i]}, ClassId{b[i]});
    return true;
}

/// Does the second key have definitions where the first has declarations, and is it otherwise
/// equal? If so, adds these definitions to `shown`.
bool typedefs_agree(TypedefResolver &r, const OpenKey &a, const OpenKey &b)
{
    ClassPairs pending, found;
    std::unordered_set<uint64_t> seen;
    if (!add_references(r, a.words, b.words, pending))
        return false;
    while (!pending.empty()) {
        const auto [x, y] = pending.back();
        pending.pop_back();
        if (x == y)
            continue;
        if (!r.is_final(raw(x)) || !r.is_final(raw(y)))
            return false;
        if (r.facts[y].declaration == x) {
            found.emplace_back(x, y);
            continue;
        }
        if (!seen.insert(uint64_t{raw(x)} << 32 | raw(y)).second)
            continue;
        const uint32_t mine = r.facts[x].key, its = r.facts[y].key;
        if (++r.pairs > most_pairs || mine == no_number || its == no_number ||
            !add_references(r, r.renewed.keys.at(mine), r.renewed.keys.at(its), pending))
            return false;
    }
    r.shown.insert(found.begin(), found.end());
    return true;
}

/// Step 2.
void find_meanings(TypedefResolver &r, std::vector<OpenKey> &open)
{
    std::unordered_map<uint32_t, std::vector<uint32_t>> of_class;
    for (uint32_t i = 0; i < open.size(); ++i)
        of_class[open[i].words[0]].push_back(i);
    for (OpenKey &key : open) {
        if (!r.is_open_typedef(key.number) || r.pairs > most_pairs)
            continue;
        const std::vector<uint32_t> &others = of_class[key.words[0]];
        const auto meant = std::ranges::find_if(others, [&](uint32_t other) {
            return ++r.pairs <= most_pairs && open[other].words != key.words &&
                   typedefs_agree(r, key, open[other]);
        });
        if (meant != others.end())
            key.means = *meant;
    }
}

/// The class that an open key means in the end.
ClassId final_meaning(TypedefResolver &r, const std::vector<OpenKey> &open, const OpenKey &key)
{
    const OpenKey *end = &key;
    while (end->means != no_number)
        end = &open[end->means];
    const ClassId equal = r.facts_of(end->number).meant; // add_key() found an equal key
    return equal == ClassId::none ? r.old.final_class[end->number] : equal;
}

void resolve_level(TypedefResolver &r, std::span<const uint32_t> level)
{
    std::vector<OpenKey> open = find_open_keys(r, level);
    find_meanings(r, open);
    // Step 3. Of equal keys, the first one stays, and the others become its aliases. Keys that lead
    // to a declaration are added last, so only these become aliases. Keys that refer to them lead
    // to a declaration, too, so find_open_keys() renews them.
    for (bool leads : {false, true})
        for (const OpenKey &key : open)
            if (key.means == no_number && r.facts_of(key.number).leads_to_declaration == leads)
                add_key(r, key.number, key.words);
    for (const OpenKey &key : open)
        if (key.means != no_number)
            become_alias(r, r.old.final_class[key.number], final_meaning(r, open, key));
}

} // namespace

std::unordered_map<ClassId, ClassId>
resolve_typedefs(const std::vector<UnresolvedForward> &forwards, const ClassGraph &graph,
                 BetweenKeys &keys, Partition &partition)
{
    trace::Phase phase("resolve_typedefs");
    if (forwards.empty())
        return {};
    TypedefResolver r{graph, keys, partition};
    r.facts.resize(partition.classes.size());
    for (const UnresolvedForward &f : forwards) {
        for (ClassId definition : f.candidates)
            r.facts[definition].declaration = f.forward;
        r.facts[f.forward].leads_to_declaration = true;
    }
    if (!find_open_typedefs(r))
        return {};
    for (const std::vector<uint32_t> &level : find_levels(r))
        resolve_level(r, level);
    keys = std::move(r.renewed);
    return std::move(r.shown);
}

} // namespace btflink::merge
