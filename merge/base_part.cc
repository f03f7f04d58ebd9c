// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A module has two thousand types, the kernel that it is built over has a hundred and
// forty thousand. Nearly all of these can be told apart from the module's at a glance, so neither
// their hashes nor their strings should be looked at.
//
// Method. Equal types have equal names, down to their members'. So the objects' strings are put
// into a set, and the base's are marked that are in it. Types of which a name is not marked are not
// wanted; nor is what has no name and refers to something that is not wanted. Definitions of named
// structs, unions and enums are wanted by that name alone: declarations may stand for them.
//
// Why it is right. Everything is wanted at first, and is put aside only if it has a name that no
// object has, or refers (other than by a struct's name) to what was put aside. Sweeps end after
// max_sweeps or when nothing changes; and strings are compared by 64 bits of hash. Both err on one
// side: too much may be wanted, never too little.
//
// Cost. One hash per string, one or two looks at each of the base's types.
#include "merge/base_part.h"

#include "merge/select_functions.h"

#include <bit>
#include <cstring>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

constexpr int max_sweeps = 6;

uint64_t hash_of(std::string_view s)
{
    return XXH3_64bits(s.data(), s.size()) | 1; // 0 is a free slot
}

/// A set of hashes; open addressing.
class HashSet
{
public:
    explicit HashSet(size_t most) : slots_(std::bit_ceil(most * 2 + 16)) {}

    void add(uint64_t hash) { slots_[place(hash)] = hash; }
    bool has(uint64_t hash) const { return slots_[place(hash)] == hash; }

private:
    size_t place(uint64_t hash) const
    {
        size_t mask = slots_.size() - 1, i = hash >> 20 & mask;
        while (slots_[i] && slots_[i] != hash)
            i = (i + 1) & mask;
        return i;
    }
    std::vector<uint64_t> slots_;
};

/// visit(offset, string) for each string.
template <typename Visit>
void for_strings(std::string_view strings, Visit visit)
{
    for (size_t at = 0; at < strings.size();) {
        auto end = static_cast<const char *>(
            std::memchr(strings.data() + at, 0, strings.size() - at)); // the last byte is one
        size_t length = static_cast<size_t>(end - strings.data()) - at;
        visit(static_cast<uint32_t>(at), strings.substr(at, length));
        at += length + 1;
    }
}

/// Does a reference to it count by name? Then so does whether it is wanted.
bool by_name(const btf_type &t)
{
    uint32_t kind = btf::kind_of(t);
    return t.name_off && (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION ||
                          kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64 || kind == BTF_KIND_FWD);
}

} // namespace

BasePart make_base_part(const Btf &base, const std::vector<Object> &objects)
{
    BasePart out;
    size_t bytes = 0;
    for (const Object &o : objects)
        bytes += o.btf.strings().size();
    HashSet known(bytes / 2 + 4); // a string takes two bytes at least, but for the empty ones
    for (std::string_view own : {std::string_view(), std::string_view("bpf_kfunc"),
                                 std::string_view("bpf_fastcall"), arena_tag}) // merge adds them
        known.add(hash_of(own));
    for (const Object &o : objects)
        for_strings(o.btf.strings(), [&](uint32_t, std::string_view s) { known.add(hash_of(s)); });
    std::vector<bool> marked(base.strings().size());
    for_strings(base.strings(), [&](uint32_t at, std::string_view s) {
        if (!known.has(hash_of(s)))
            return;
        marked[at] = true;
        if (at)
            out.strings.push_back(at);
    });
    // An offset into the middle of a string may be any of its endings.
    auto is_marked = [&](uint32_t off) {
        return marked[off] || (off && base.strings()[off - 1] != '\0');
    };
    out.wanted.assign(base.size(), false);
    for (uint32_t i = 0; i < base.size(); ++i) {
        const btf_type &t = base.type(TypeId{i + 1});
        bool ok = is_marked(t.name_off);
        if (ok && !by_name(t))
            btf::for_each_str_off(t, [&](uint32_t off) { ok = ok && is_marked(off); });
        out.wanted[i] = ok;
    }
    bool changed = true;
    for (int sweep = 0; changed && sweep < max_sweeps; ++sweep) {
        changed = false;
        for (uint32_t i = 0; i < base.size(); ++i) {
            if (!out.wanted[i])
                continue;
            const btf_type &t = base.type(TypeId{i + 1});
            if (by_name(t))
                continue;
            bool ok = true;
            btf::for_each_type_id(t,
                                  [&](uint32_t ref) { ok = ok && (!ref || out.wanted[ref - 1]); });
            out.wanted[i] = ok;
            changed |= !ok;
        }
    }
    return out;
}

} // namespace btflink::merge
