// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Resolves forward declarations outside of structs: `struct s *` as a function's parameter or in a
// typedef, in an object that only declares `struct s`. If there are several `struct s`, nothing
// tells which is meant; btf__dedup takes the first that it meets. The choice should not add types.
//
// Only names come here that a struct or a typedef of some object resolved, and names of enums; all
// other such declarations stay. split_conflicts.cc decides that.
//
// Method. One name after the other. The users of the declaration (pointers, prototypes) are a list
// of keys: a class and the final classes that it refers to. Substitute each candidate for the
// declaration and count the keys that do not exist yet. The candidate with the fewest new keys
// wins; of several, the preferred one (that structs or typedefs of other objects showed), else
// the lowest. Users whose keys exist become aliases; the others stay and refer to the candidate.
//
// Invariant. Outside of structs all declarations of a name mean the same. So each choice makes
// fewer classes: the declaration goes, and nothing is added.
//
// Cost. Keys that reach declarations of conflicting names, times candidates.
#include "merge/dedup/split/resolve_forwards.h"

#include "common/io/trace.h"

#include <algorithm>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

// Users of a name times its candidates; a kernel has thousands of one and tens of the other. Of
// more, the preferred is taken, or the lowest.
constexpr size_t most_tries = size_t{1} << 22;

class Resolver
{
public:
    Resolver(RefKeys &keys, Partition &partition) : keys_(keys), partition_(partition)
    {
        for (uint32_t k = 0; k < keys_.keys.size(); ++k)
            note(k, k);
    }

    void resolve(const UnresolvedForward &unresolved)
    {
        std::vector<uint32_t> users = users_of(unresolved.forward);
        ClassId best = unresolved.preferred;
        size_t fewest = SIZE_MAX;
        const bool too_many = users.size() * unresolved.candidates.size() > most_tries;
        for (ClassId candidate : unresolved.candidates) {
            if (too_many && best != ClassId::none)
                break;
            size_t stay = substitute(users, unresolved.forward, candidate);
            bool better = stay < fewest || (stay == fewest && candidate == unresolved.preferred);
            if (better) {
                fewest = stay;
                best = candidate;
            }
        }
        if (best == ClassId::none)
            return;
        substitute(users, unresolved.forward, best);
        apply(users, unresolved.forward);
    }

private:
    /// `rank`: keys refer to the classes of those with lower ones.
    void note(uint32_t k, uint32_t rank)
    {
        rank_.push_back(rank);
        auto key = keys_.keys.at(k);
        for (size_t i = 1; i < key.size(); ++i)
            users_[ClassId{key[i]}].push_back(k);
    }

    /// Keys that reach a final class, those that others refer to first.
    std::vector<uint32_t> users_of(ClassId c) const
    {
        std::vector<uint32_t> found;
        std::vector<ClassId> pending{c};
        std::unordered_map<uint32_t, bool> seen;
        while (!pending.empty()) {
            auto at = users_.find(pending.back());
            pending.pop_back();
            if (at == users_.end())
                continue;
            for (uint32_t k : at->second) {
                if (gone_.contains(k) || std::exchange(seen[k], true))
                    continue;
                found.push_back(k);
                pending.push_back(keys_.final_class[k]);
            }
        }
        std::sort(found.begin(), found.end(),
                  [&](uint32_t a, uint32_t b) { return rank_[a] < rank_[b]; });
        return found;
    }

    /// Fills meant_ and new_keys_; returns how many users stay types of their own.
    size_t substitute(const std::vector<uint32_t> &users, ClassId forward, ClassId candidate)
    {
        meant_.clear();
        meant_[forward] = candidate;
        new_keys_.clear();
        VectorIndex added;
        std::vector<ClassId> owner; // of the keys that were added
        std::vector<uint32_t> key;
        size_t stay = 0;
        for (uint32_t k : users) {
            auto old = keys_.keys.at(k);
            key.assign(old.begin(), old.end());
            for (size_t i = 1; i < key.size(); ++i)
                if (auto m = meant_.find(ClassId{key[i]}); m != meant_.end())
                    key[i] = raw(m->second);
            ClassId mine = keys_.final_class[k];
            uint32_t found = keys_.keys.find(key);
            if (found != no_number && keys_.final_class[found] != mine && !gone_.contains(found)) {
                meant_[mine] = keys_.final_class[found];
                continue;
            }
            auto [number, is_new] = added.add(key);
            if (!is_new) {
                meant_[mine] = owner[number];
                continue;
            }
            owner.push_back(mine);
            ++stay;
            new_keys_.emplace_back(k, key);
        }
        return stay;
    }

    void apply(const std::vector<uint32_t> &users, ClassId forward)
    {
        for (auto [from, to] : meant_)
            partition_.alias[from] = to;
        partition_.alias[forward] = meant_[forward];
        for (uint32_t k : users) {
            gone_[k] = true;
            ClassId mine = keys_.final_class[k];
            auto m = meant_.find(mine);
            if (m == meant_.end())
                continue;
            TypeAt &first = partition_.classes[m->second].first;
            first = std::min(first, partition_.classes[mine].first);
        }
        for (auto &[k, key] : new_keys_) {
            auto [number, is_new] = keys_.keys.add(key);
            if (!is_new) {
                gone_.erase(number); // its words did not change
                continue;
            }
            keys_.final_class.push_back(keys_.final_class[k]);
            note(number, rank_[k]);
        }
    }

    RefKeys &keys_;
    Partition &partition_;
    std::unordered_map<ClassId, std::vector<uint32_t>> users_; // per final class: keys
    std::vector<uint32_t> rank_;                               // per key
    std::unordered_map<uint32_t, bool> gone_;                  // keys that were replaced
    std::unordered_map<ClassId, ClassId> meant_;               // final class -> another one
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> new_keys_;
};

} // namespace

void resolve_forwards(const std::vector<UnresolvedForward> &forwards, RefKeys &keys,
                      Partition &partition)
{
    trace::Phase phase("resolve_forwards");
    Resolver resolver(keys, partition);
    for (const UnresolvedForward &f : forwards)
        resolver.resolve(f);
    for (ClassId c : partition.alias.ids()) {
        ClassId end = c;
        while (partition.alias[end] != end)
            end = partition.alias[end];
        partition.alias[c] = end;
    }
}

} // namespace btflink::merge
