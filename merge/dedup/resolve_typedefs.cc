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
#include "merge/dedup/resolve_typedefs.h"

#include "common/io/trace.h"

#include <algorithm>
#include <numeric>

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
        : graph_(graph), old_(keys), partition_(partition)
    {
        for (const UnresolvedForward &f : forwards)
            for (ClassId definition : f.candidates)
                declaration_of_.emplace(definition, f.forward);
        for (const UnresolvedForward &f : forwards)
            leads_to_declaration_.insert(f.forward);
    }

    /// Is there a typedef that leads to a declaration?
    bool is_needed()
    {
        depth_.assign(old_.keys.size(), 0);
        std::unordered_map<ClassId, uint32_t> number; // of a final class's key
        bool found = false;
        for (uint32_t k = 0; k < old_.keys.size(); ++k) {
            const std::span key = old_.keys.at(k);
            for (uint32_t word : key.subspan(1)) {
                if (auto below = number.find(ClassId{word}); below != number.end())
                    depth_[k] = std::max(depth_[k], depth_[below->second] + 1);
                if (leads_to_declaration_.contains(ClassId{word}))
                    leads_to_declaration_.insert(old_.final_class[k]);
            }
            number[old_.final_class[k]] = k;
            found |= is_open_typedef(k);
        }
        return found;
    }

    void run()
    {
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
    ClassId class_of(uint32_t k) const { return ClassId{old_.keys.at(k)[0]}; }

    bool is_open_typedef(uint32_t k) const
    {
        return graph_.kind[class_of(k)] == BTF_KIND_TYPEDEF &&
               leads_to_declaration_.contains(old_.final_class[k]);
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
        std::unordered_map<ClassId, std::vector<uint32_t>>
            typedefs; // by class: places in `renewed`
        for (uint32_t k : level) {
            const std::span key = old_.keys.at(k);
            renewed.push_back({k, {key.begin(), key.end()}});
            for (uint32_t &word : std::span(renewed.back().key).subspan(1))
                if (auto m = meant_.find(ClassId{word}); m != meant_.end())
                    word = raw(m->second);
            if (graph_.kind[class_of(k)] == BTF_KIND_TYPEDEF)
                typedefs[class_of(k)].push_back(static_cast<uint32_t>(renewed.size() - 1));
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
            const ClassId own = old_.final_class[renewed[i].old];
            auto [number, is_new] = made.keys.add(renewed[i].key);
            if (is_new) {
                made.final_class.push_back(own);
                number_of_[own] = number;
            } else {
                become(own, made.final_class[number]);
            }
        }
        for (uint32_t i = 0; i < renewed.size(); ++i) {
            if (means[i] == no_number)
                continue;
            uint32_t end = means[i];
            while (means[end] != no_number)
                end = means[end];
            const ClassId other = old_.final_class[renewed[end].old];
            auto m = meant_.find(other); // it may be equal to another one now
            become(old_.final_class[renewed[i].old], m == meant_.end() ? other : m->second);
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
            if (auto d = declaration_of_.find(y); d != declaration_of_.end() && d->second == x) {
                found.emplace_back(x, y);
                continue;
            }
            const uint64_t both = uint64_t{raw(x)} << 32 | raw(y);
            if (!seen_.insert(both).second)
                continue;
            auto mine = number_of_.find(x), its = number_of_.find(y);
            if (++pairs_ > most_pairs || mine == number_of_.end() || its == number_of_.end() ||
                !push(made.keys.at(mine->second), made.keys.at(its->second)))
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
    std::unordered_map<ClassId, ClassId> declaration_of_; // of a definition
    std::unordered_set<ClassId> leads_to_declaration_;    // final classes
    std::vector<uint32_t> depth_; // per old key: references to other keys, one below the other
    std::unordered_map<ClassId, ClassId> meant_;      // final class -> what it is an alias of
    std::unordered_map<ClassId, uint32_t> number_of_; // final class -> its key in `made`
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
    TypedefResolver resolver(forwards, graph, keys, partition);
    if (!resolver.is_needed())
        return {};
    resolver.run();
    keys = std::move(resolver.made);
    return std::move(resolver.shown);
}

} // namespace btflink::merge
