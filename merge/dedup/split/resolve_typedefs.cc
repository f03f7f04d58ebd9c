// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. In one object `typedef struct s *t` leads to a declaration, in another to a definition
// of `struct s`, of which there are several. The typedef shows which one is meant. A typedef of a
// prototype may lead to declarations of several names, of which none can be told without the
// others.
//
// Method. Types between structs are keys: a class and the final classes that it refers to
// (resolve_forwards.h). Keys of one class have the same form. They are looked at from the bottom
// up, so that what they refer to is known:
//  1. Replace what became an alias. If that makes two keys equal, one is an alias of the other.
//  2. Compare each typedef that leads to a declaration with the others of its class, in order. The
//     first that agrees is what it means: at each place both refer to the same, or it to the
//     declaration where the other has a definition of that name, or both to types of one class that
//     agree.
//
// Invariant. An alias has definitions where its typedef had declarations, and nowhere the reverse.
// So aliases of aliases end, and no object's definition is replaced by another. Types that are not
// behind such a typedef stay as they are.
//
// Cost. All keys once, if a typedef leads to a declaration. Pairs of typedefs have a limit, which
// only hostile input reaches; those beyond it stay declarations.
#include "merge/dedup/split/resolve_typedefs.h"

#include "common/io/trace.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

constexpr size_t most_pairs = 1 << 20; // pairs of types compared, in all

class TypedefResolver
{
public:
    TypedefResolver(const std::vector<UnresolvedForward> &forwards, const ClassGraph &graph,
                    const RefKeys &keys, Partition &partition)
        : graph_(graph), old_(keys), partition_(partition),
          declaration_of_(partition.classes.size(), ClassId::none),
          leads_to_declaration_(partition.classes.size())
    {
        for (const UnresolvedForward &f : forwards) {
            for (ClassId definition : f.candidates)
                declaration_of_[definition] = f.forward;
            leads_to_declaration_[f.forward] = true;
        }
    }

    /// Is there a typedef that leads to a declaration?
    bool is_needed()
    {
        bool found = false;
        for (uint32_t k = 0; k < old_.keys.size(); ++k) {
            for (uint32_t word : old_.keys.at(k).subspan(1))
                if (is_final(word) && leads_to_declaration_[ClassId{word}])
                    leads_to_declaration_[old_.final_class[k]] = true;
            found |= is_open_typedef(k);
        }
        return found;
    }

    void run()
    {
        number_of_.assign(partition_.classes.size(), no_number);
        depth_.assign(old_.keys.size(), 0);
        for (uint32_t k = 0; k < old_.keys.size(); ++k) {
            for (uint32_t word : old_.keys.at(k).subspan(1))
                if (is_final(word) && number_of_[ClassId{word}] != no_number)
                    depth_[k] = std::max(depth_[k], depth_[number_of_[ClassId{word}]] + 1);
            number_of_[old_.final_class[k]] = k;
        }
        number_of_.assign(partition_.classes.size(), no_number);
        meant_.assign(partition_.classes.size(), ClassId::none);
        std::vector<uint32_t> order(old_.keys.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](uint32_t k) { return depth_[k]; });
        for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            while (end < order.size() && depth_[order[end]] == depth_[order[begin]])
                ++end;
            resolve_level({order.data() + begin, end - begin});
        }
    }

    RefKeys made;
    std::unordered_map<ClassId, ClassId> shown;

private:
    /// Else it stands for a cycle.
    bool is_final(uint32_t word) const { return word < partition_.classes.size(); }

    ClassId class_of(uint32_t k) const { return ClassId{old_.keys.at(k)[0]}; }

    bool is_open_typedef(uint32_t k) const
    {
        return graph_.kind[class_of(k)] == btf::Kind::TYPEDEF &&
               leads_to_declaration_[old_.final_class[k]];
    }

    /// A key of the old ones, and what it is now.
    struct Renewed {
        uint32_t old;
        std::vector<uint32_t> key;
    };

    /// Keys that do not refer to each other.
    void resolve_level(std::span<const uint32_t> level)
    {
        std::vector<Renewed> renewed;
        std::unordered_map<ClassId, std::vector<uint32_t>> typedefs; // by class: in `renewed`
        for (uint32_t k : level)
            if (is_open_typedef(k))
                typedefs[class_of(k)];
        for (uint32_t k : level) {
            auto same_class = typedefs.find(class_of(k));
            if (!leads_to_declaration_[old_.final_class[k]] && same_class == typedefs.end()) {
                add(k, old_.keys.at(k)); // nearly all: it stays as it is
                continue;
            }
            const std::span key = old_.keys.at(k);
            renewed.push_back({k, {key.begin(), key.end()}});
            for (uint32_t &word : std::span(renewed.back().key).subspan(1))
                if (is_final(word) && meant_[ClassId{word}] != ClassId::none)
                    word = raw(meant_[ClassId{word}]);
            if (same_class != typedefs.end())
                same_class->second.push_back(static_cast<uint32_t>(renewed.size() - 1));
        }
        std::vector<uint32_t> means(renewed.size(), no_number);
        for (uint32_t i = 0; i < renewed.size(); ++i)
            if (is_open_typedef(renewed[i].old) && pairs_ <= most_pairs)
                for (uint32_t other : typedefs[class_of(renewed[i].old)])
                    if (renewed[other].key != renewed[i].key &&
                        agree(renewed[i].key, renewed[other].key)) {
                        means[i] = other;
                        break;
                    }
        for (uint32_t i = 0; i < renewed.size(); ++i) {
            if (means[i] != no_number)
                continue;
            add(renewed[i].old, renewed[i].key);
        }
        for (uint32_t i = 0; i < renewed.size(); ++i) {
            if (means[i] == no_number)
                continue;
            uint32_t end = means[i];
            while (means[end] != no_number)
                end = means[end];
            const ClassId other = old_.final_class[renewed[end].old];
            const ClassId equal = meant_[other]; // another one, now
            become(old_.final_class[renewed[i].old], equal == ClassId::none ? other : equal);
        }
    }

    void add(uint32_t old, std::span<const uint32_t> key)
    {
        const ClassId own = old_.final_class[old];
        auto [number, is_new] = made.keys.add(key);
        if (is_new) {
            made.final_class.push_back(own);
            number_of_[own] = number;
        } else {
            become(own, made.final_class[number]);
        }
    }

    void become(ClassId from, ClassId to)
    {
        meant_[from] = to;
        partition_.alias[from] = to;
        TypeAt &first = partition_.classes[to].first;
        first = std::min(first, partition_.classes[from].first);
    }

    /// Does the second key have definitions where the first has declarations, and else the same?
    bool agree(std::span<const uint32_t> a, std::span<const uint32_t> b)
    {
        seen_ = {}; // clear() would take as long as for the largest
        pending_.clear();
        std::vector<std::pair<ClassId, ClassId>> found;
        if (!push(a, b))
            return false;
        while (!pending_.empty()) {
            const auto [x, y] = pending_.back();
            pending_.pop_back();
            if (x == y)
                continue;
            if (!is_final(raw(x)) || !is_final(raw(y)))
                return false;
            if (declaration_of_[y] == x) {
                found.emplace_back(x, y);
                continue;
            }
            const uint64_t both = uint64_t{raw(x)} << 32 | raw(y);
            if (!seen_.insert(both).second)
                continue;
            const uint32_t mine = number_of_[x], its = number_of_[y];
            if (++pairs_ > most_pairs || mine == no_number || its == no_number ||
                !push(made.keys.at(mine), made.keys.at(its)))
                return false;
        }
        for (auto [declaration, definition] : found)
            shown.emplace(declaration, definition);
        return true;
    }

    /// False: they are not of one class.
    bool push(std::span<const uint32_t> a, std::span<const uint32_t> b)
    {
        pairs_ += a.size();
        if (a[0] != b[0] || a.size() != b.size() || pairs_ > most_pairs)
            return false;
        for (size_t i = 1; i < a.size(); ++i)
            pending_.emplace_back(ClassId{a[i]}, ClassId{b[i]});
        return true;
    }

    const ClassGraph &graph_;
    const RefKeys &old_;
    Partition &partition_;
    // Per final class.
    IdVector<ClassId, ClassId> declaration_of_;    // of a definition; or none
    IdVector<ClassId, bool> leads_to_declaration_; // or is one
    IdVector<ClassId, ClassId> meant_;             // what it is an alias of; or none
    IdVector<ClassId, uint32_t> number_of_;        // its key in `made`
    std::vector<uint32_t> depth_; // per old key: references to other keys, one below the other
    std::vector<std::pair<ClassId, ClassId>> pending_;
    std::unordered_set<uint64_t> seen_;
    size_t pairs_ = 0;
};

} // namespace

std::unordered_map<ClassId, ClassId>
resolve_typedefs(const std::vector<UnresolvedForward> &forwards, const ClassGraph &graph,
                 RefKeys &keys, Partition &partition)
{
    trace::Phase phase("resolve_typedefs");
    if (forwards.empty())
        return {};
    TypedefResolver resolver(forwards, graph, keys, partition);
    if (!resolver.is_needed())
        return {};
    resolver.run();
    keys = std::move(resolver.made);
    return std::move(resolver.shown);
}

} // namespace btflink::merge
