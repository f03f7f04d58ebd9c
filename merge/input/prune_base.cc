// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A module has two thousand types, its kernel a hundred and forty thousand. Most of these
// obviously differ from all of the module's types, and should not be hashed.
//
// Method. Equal types have equal names, including the names of members. So a type of the base is
// wanted only if the objects have all of its names, and only if all types that it refers to are
// wanted. Named structs, unions and enums are wanted by their name alone, because declarations may
// stand for them.
//
// Why it is right. A type is dropped only if it has a name that no object has, or refers (other
// than by a struct's name) to a dropped type. Sweeps end after max_sweeps or when nothing changes,
// and strings are compared by their beginnings, ends and lengths. Both can only result in too many
// wanted types.
//
// Cost. Each string and each type of the base once, and types whose names are known once or twice
// more.
#include "merge/input/prune_base.h"

#include "common/graph/open_table.h"
#include "merge/input/tag_texts.h"

#include <cstring>

namespace btflink::merge
{

namespace
{

constexpr int max_sweeps = 6;

/// Depends on the length and on the first and last eight bytes.
uint64_t key_of(std::string_view s)
{
    uint64_t first = 0, last = 0;
    const size_t n = std::min(s.size(), sizeof first);
    if (n == sizeof first) { // a copy of constant size is one instruction
        std::memcpy(&first, s.data(), sizeof first);
        std::memcpy(&last, s.data() + s.size() - n, sizeof last);
    } else if (n) { // the data of an empty view may be null
        std::memcpy(&first, s.data(), n);
    }
    return (first * 0x9e3779b97f4a7c15 ^ last) * 0xff51afd7ed558ccd + s.size() * 0xc4ceb9fe1a85ec53;
}

/// A set of strings, by their keys. Most look-ups are for strings that are not in the set, and most
/// of these end after testing one bit.
class StringSet
{
public:
    void add(std::string_view s)
    {
        const Slot fresh{key_of(s) | 1};
        bits_[fresh.key >> 48] = true;
        keys_.find_or_add(
            fresh.home(), [&](Slot slot) { return slot.key == fresh.key; }, [&] { return fresh; });
    }
    /// May return true for a string that is not in the set.
    bool has(std::string_view s) const
    {
        const Slot wanted{key_of(s) | 1};
        auto same = [&](Slot slot) { return slot.key == wanted.key; };
        return bits_[wanted.key >> 48] && !keys_.find(wanted.home(), same).is_free();
    }

private:
    struct Slot {
        uint64_t key = 0; // 0: the slot is free

        bool is_free() const { return key == 0; }
        uint64_t home() const { return key >> 20; }
    };

    OpenTable<Slot> keys_{1024};
    std::vector<bool> bits_ = std::vector<bool>(1 << 16);
};

/// Calls visit(offset, string) for each string.
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

} // namespace

BasePart make_base_part(const Btf &base, const std::vector<Object> &objects)
{
    BasePart out;
    StringSet known;
    for (std::string_view ours : {std::string_view(), kfunc_tag, fastcall_tag, arena_tag})
        known.add(ours);
    for (const Object &o : objects)
        for_strings(o.btf.strings(), [&](uint32_t, std::string_view s) { known.add(s); });
    // An offset into the middle of a string may be any suffix of it.
    std::vector<bool> may_be_known(base.strings().size(), true);
    for_strings(base.strings(), [&](uint32_t at, std::string_view s) {
        if (!known.has(s))
            may_be_known[at] = false;
        else if (at)
            out.strings.push_back(at);
    });
    Selection &wanted = out.wanted;
    wanted = Selection(base.size());
    std::vector<uint32_t> open; // wanted so far, but may refer to unwanted types
    for (uint32_t i = 0; i < base.size(); ++i) {
        const btf_type &t = base.type(TypeId{i + 1});
        if (!may_be_known[t.name_off])
            continue;
        bool ok = true;
        if (!btf::has_tag_name(t)) {
            btf::for_each_str_off(t, [&](uint32_t off) { ok = ok && may_be_known[off]; });
            if (ok)
                open.push_back(i);
        }
        wanted.set(i, ok);
    }
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        const size_t before = open.size();
        std::erase_if(open, [&](uint32_t i) {
            bool ok = true;
            btf::for_each_type_id(base.type(TypeId{i + 1}),
                                  [&](uint32_t ref) { ok = ok && (!ref || wanted.has(ref - 1)); });
            wanted.set(i, ok);
            return !ok;
        });
        if (open.size() == before)
            break;
    }
    wanted.number();
    return out;
}

} // namespace btflink::merge
