// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares two types like their stub hashes, but without hashes.
#include "merge/dedup/classes/stub_equal.h"

#include "common/object_btf/type_hash.h"

#include <set>

namespace btflink::merge
{

namespace
{

/// Are they equal except for the types to which they refer?
bool own_equal(const Btf &x, const btf_type &a, const Btf &y, const btf_type &b)
{
    if (a.info != b.info)
        return false;
    const auto *own = reinterpret_cast<const uint32_t *>(&a);
    const auto *other = reinterpret_cast<const uint32_t *>(&b);
    bool equal = true;
    btf::for_each_word(a, [&](btf::Word role, const uint32_t &word) {
        const uint32_t there = other[&word - own];
        if (role == btf::Word::name)
            equal &= x.str(word) == y.str(there);
        else if (role != btf::Word::ref && role != btf::Word::unused)
            equal &= word == there;
    });
    return equal;
}

} // namespace

bool stub_equal(const Sources &sources, TypeAt a, TypeAt b)
{
    const Btf &x = *sources.list[a.source].btf, &y = *sources.list[b.source].btf;
    std::set<std::pair<TypeId, TypeId>> seen{{a.type, b.type}};
    std::vector<std::pair<TypeId, TypeId>> open{{a.type, b.type}};
    std::vector<TypeId> refs;
    while (!open.empty()) {
        auto [ia, ib] = open.back();
        open.pop_back();
        const btf_type &ta = x.type(ia), &tb = y.type(ib);
        if (!own_equal(x, ta, y, tb))
            return false;
        refs.clear();
        btf::for_each_type_id(ta, [&](uint32_t ref) { refs.push_back(TypeId{ref}); });
        size_t next = 0;
        bool equal = true;
        btf::for_each_type_id(tb, [&](uint32_t ref) {
            TypeId ra = refs[next++], rb{ref};
            if (ra == void_id || rb == void_id) {
                equal &= ra == rb;
                return;
            }
            char ca = stub_class(x, ra), cb = stub_class(y, rb);
            if (ca != cb)
                equal = false;
            else if (ca)
                equal &= x.name(ra) == y.name(rb);
            else if (seen.emplace(ra, rb).second)
                open.emplace_back(ra, rb);
        });
        if (!equal)
            return false;
    }
    return true;
}

} // namespace btflink::merge
