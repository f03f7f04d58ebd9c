// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares two types as their stub hashes do, but without hashes.
#include "merge/dedup/stub_equal.h"

#include "common/object_btf/type_hash.h"

#include <set>

namespace btflink::merge
{

namespace
{

/// Everything but what the type refers to.
bool own_equal(const Btf &x, const btf_type &a, const Btf &y, const btf_type &b)
{
    if (a.info != b.info || x.str(a.name_off) != y.str(b.name_off))
        return false;
    const btf::KindInfo &kind = btf::kinds[btf::kind_of(a)];
    if (kind.third == btf::Third::size && a.size != b.size)
        return false;
    const uint32_t *ta = btf::tail_of(a), *tb = btf::tail_of(b);
    if (btf::kind_of(a) == BTF_KIND_ARRAY)
        return ta[2] == tb[2];
    for (uint32_t i = 0; i < kind.fixed_words; ++i)
        if (ta[i] != tb[i])
            return false;
    ta += kind.fixed_words;
    tb += kind.fixed_words;
    if (!kind.element_words)
        return true;
    for (uint32_t n = btf::vlen_of(a); n; --n, ta += kind.element_words, tb += kind.element_words)
        for (int w = 0; w < kind.element_words; ++w) {
            if (w == kind.element_type)
                continue;
            if (w == kind.element_name ? x.str(ta[w]) != y.str(tb[w]) : ta[w] != tb[w])
                return false;
        }
    return true;
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
