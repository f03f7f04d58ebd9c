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

/// A set of strings, by their hashes; open addressing. Most strings that it is asked for are not in
/// it, which their lengths and ends tell mostly.
class StringSet
{
public:
    void add(std::string_view s)
    {
        ends_[ends_of(s)] = true;
        uint64_t hash = hash_of(s);
        uint64_t &slot = slots_[place(hash)];
        used_ += slot == 0;
        slot = hash;
        if (used_ * 2 <= slots_.size())
            return;
        std::vector<uint64_t> old(slots_.size() * 2);
        old.swap(slots_);
        for (uint64_t each : old)
            if (each)
                slots_[place(each)] = each;
    }
    bool has(std::string_view s) const
    {
        if (!ends_[ends_of(s)])
            return false;
        uint64_t hash = hash_of(s);
        return slots_[place(hash)] == hash;
    }

private:
    static uint16_t ends_of(std::string_view s)
    {
        return static_cast<uint16_t>(
            s.empty() ? 0 : s.size() << 10 ^ (s.front() & 0xff) << 5 ^ (s.back() & 0xff));
    }
    size_t place(uint64_t hash) const
    {
        size_t mask = slots_.size() - 1, i = hash >> 20 & mask;
        while (slots_[i] && slots_[i] != hash)
            i = (i + 1) & mask;
        return i;
    }
    std::vector<uint64_t> slots_ = std::vector<uint64_t>(1024);
    size_t used_ = 0;
    std::vector<bool> ends_ = std::vector<bool>(1 << 16);
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
    StringSet known;
    for (std::string_view own : {std::string_view(), std::string_view("bpf_kfunc"),
                                 std::string_view("bpf_fastcall"), arena_tag}) // merge adds them
        known.add(own);
    for (const Object &o : objects)
        for_strings(o.btf.strings(), [&](uint32_t, std::string_view s) { known.add(s); });
    std::vector<bool> marked(base.strings().size());
    for_strings(base.strings(), [&](uint32_t at, std::string_view s) {
        if (!known.has(s))
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
