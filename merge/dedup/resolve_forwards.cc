// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. `struct s *` in an object that only declares `struct s`, outside of any struct: a
// function's parameter, a typedef. There are several `struct s`; which is meant nobody can tell,
// and btf__dedup takes what it met first, anywhere. The result should not grow by the choice.
//
// Method. Name by name. What refers to the declaration, through pointers and prototypes, is a list
// of keys (a class and the final classes that it refers to). For each variant, put it into the
// declaration's place and count how many keys nobody has yet; the variant with the fewest is taken,
// of several the preferred (what structs of other objects took it for), else the lowest. Keys that
// are there already become aliases of theirs; the others stay, their references lead to the
// variant.
//
// Invariant. All declarations of a name mean the same where no struct says otherwise, so each
// choice makes fewer classes, never more: the declaration is gone, and nothing is added.
//
// Cost. Keys that reach declarations of conflicting names, times variants.
#include "merge/dedup/resolve_forwards.h"

#include <algorithm>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

class Chooser
{
public:
    Chooser(RefKeys &keys, Partition &partition) : keys_(keys), partition_(partition)
    {
        for (uint32_t k = 0; k < keys_.keys.size(); ++k)
            note(k, k);
    }

    void choose(const OpenForward &open)
    {
        std::vector<uint32_t> users = users_of(open.forward);
        uint32_t best = none;
        size_t fewest = SIZE_MAX;
        for (uint32_t variant : open.variants) {
            size_t stay = substitute(users, open.forward, variant);
            bool better = stay < fewest || (stay == fewest && variant == open.preferred);
            if (better) {
                fewest = stay;
                best = variant;
            }
        }
        if (best == none)
            return;
        substitute(users, open.forward, best);
        apply(users, open.forward);
    }

private:
    /// `rank`: keys refer to the classes of those with lower ones.
    void note(uint32_t k, uint32_t rank)
    {
        rank_.push_back(rank);
        auto key = keys_.keys.at(k);
        for (size_t i = 1; i < key.size(); ++i)
            users_[key[i]].push_back(k);
    }

    /// Keys that reach a final class, those that others refer to first.
    std::vector<uint32_t> users_of(uint32_t c) const
    {
        std::vector<uint32_t> found, open{c};
        std::unordered_map<uint32_t, bool> seen;
        while (!open.empty()) {
            auto at = users_.find(open.back());
            open.pop_back();
            if (at == users_.end())
                continue;
            for (uint32_t k : at->second) {
                if (gone_.contains(k) || std::exchange(seen[k], true))
                    continue;
                found.push_back(k);
                open.push_back(keys_.final_class[k]);
            }
        }
        std::sort(found.begin(), found.end(),
                  [&](uint32_t a, uint32_t b) { return rank_[a] < rank_[b]; });
        return found;
    }

    /// Fills meant_ and new_keys_; returns how many stay.
    size_t substitute(const std::vector<uint32_t> &users, uint32_t forward, uint32_t variant)
    {
        meant_.clear();
        meant_[forward] = variant;
        new_keys_.clear();
        VectorIndex added;
        std::vector<uint32_t> owner; // of the keys that were added
        std::vector<uint32_t> key;
        size_t stay = 0;
        for (uint32_t k : users) {
            auto old = keys_.keys.at(k);
            key.assign(old.begin(), old.end());
            for (size_t i = 1; i < key.size(); ++i)
                if (auto m = meant_.find(key[i]); m != meant_.end())
                    key[i] = m->second;
            uint32_t mine = keys_.final_class[k];
            uint32_t found = keys_.keys.find(key);
            if (found != none && keys_.final_class[found] != mine && !gone_.contains(found)) {
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

    void apply(const std::vector<uint32_t> &users, uint32_t forward)
    {
        for (auto [from, to] : meant_)
            partition_.alias[from] = to;
        partition_.alias[forward] = meant_[forward];
        for (uint32_t k : users) {
            gone_[k] = true;
            uint32_t mine = keys_.final_class[k];
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
    std::unordered_map<uint32_t, std::vector<uint32_t>> users_; // per final class: keys
    std::vector<uint32_t> rank_;                                // per key
    std::unordered_map<uint32_t, bool> gone_;                   // keys that mean something else now
    std::unordered_map<uint32_t, uint32_t> meant_;              // final class -> another one
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> new_keys_;
};

} // namespace

void choose_forwards(const std::vector<OpenForward> &open, RefKeys &keys, Partition &partition)
{
    Chooser chooser(keys, partition);
    for (const OpenForward &f : open)
        chooser.choose(f);
    for (uint32_t c = 0; c < partition.alias.size(); ++c) {
        uint32_t end = c;
        while (partition.alias[end] != end)
            end = partition.alias[end];
        partition.alias[c] = end;
    }
}

} // namespace btflink::merge
