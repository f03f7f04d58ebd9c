// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes a distilled base: the data with which a module finds its base types in another kernel.
//
// Problem. Split BTF refers to types of its base by id, so it fits only one kernel. An external
// module is built for one kernel and loaded into another, which has other ids.
//
// Method. The module gets its own base of a few hundred bytes, which describes each needed type
// just well enough to find it by name: INT, FLOAT and FWD unchanged; named structs, unions and
// enums by kind, name and size, without members (an ENUM64 as an ENUM). A kernel that loads the
// module looks these up in its own BTF (kernel/bpf/btf_relocate.c), and renumbers the types of the
// module.
//
// Other types of the old base (pointers, qualifiers, typedefs, arrays, prototypes, unnamed types)
// are not looked up by kernels. Those that are needed are copied after the module's own types. If a
// type is needed, so are the types that it refers to, except for the members of named structs and
// unions, which are dropped.
//
//     base     [7] STRUCT list_head  [8] PTR -> 7  [9] TYPEDEF u8 -> 3  [3] INT
//     split    [90] STRUCT mine { 8; 9 }
//     becomes
//     base     [1] INT  [2] STRUCT list_head, no members
//     split    [3] STRUCT mine { 4; 5 }  [4] PTR -> 2  [5] TYPEDEF u8 -> 1
//
// A FUNC is needed if the module has a tag on a function that base and module share, because the
// merge kept only the base's FUNC. It is copied, because the module also has that function (pahole
// reports an error here).
//
// Invariant. The types of the new base, the module's own types, and the copies each keep their
// order. Once the kernel has looked up the names, each reference leads to the same type as over the
// old base.
//
// Cost. A table of the base's size, and four passes over it; the rest is proportional to the module
// and to what it needs of the base.
#include "merge/output/write_steps.h"

#include "common/btf/btf_builder.h"

#include <unordered_map>

namespace btflink::merge
{

namespace
{

class Distiller
{
public:
    Distiller(const Btf &old, const Where &where)
        : old_(old), where_(where), first_(raw(old.first_id())), ids_(first_)
    {
    }

    Result<DistilledBtf> run(ByteOrder order)
    {
        for (uint32_t id = first_; id < raw(old_.end_id()); ++id)
            TRY(mark_targets(TypeId{id}));
        while (!waiting_.empty()) {
            TypeId id = waiting_.back();
            waiting_.pop_back();
            TRY(mark_targets(id));
        }

        // Number: first the base, then the module's own types, then copies.
        uint32_t next = 1;
        number(next, true);
        if (next == 1)
            return fail(where_, "needs no named type of its base: there is nothing to distil");
        new_first_ = next;
        next += raw(old_.end_id()) - first_;
        number(next, false);

        // Write: all ids are final now.
        BtfBuilder base;
        for (uint32_t id = 1; id < first_; ++id)
            if (ids_[id] && stays_in_base(old_.type(TypeId{id})))
                add_to_base(base, TypeId{id});
        BtfBuilder split(TypeId{new_first_}, static_cast<uint32_t>(base.string_bytes()));
        for (uint32_t id = first_; id < raw(old_.end_id()); ++id)
            copy(split, TypeId{id});
        for (uint32_t id = 1; id < first_; ++id)
            if (ids_[id] && !stays_in_base(old_.type(TypeId{id})))
                copy(split, TypeId{id});
        return DistilledBtf{base.serialize(order), split.serialize(order)};
    }

private:
    static constexpr uint32_t needed = UINT32_MAX; // in ids_, before number()

    /// Can the type be found in another base by kind, name and size?
    static bool stays_in_base(const btf_type &t)
    {
        const btf::Family family = btf::kind_info(t).family;
        return family == btf::Family::number || family == btf::Family::forward ||
               btf::has_tag_name(t);
    }

    /// Marks the types that a type of the module, or a needed type of the base, refers to.
    Result<void> mark_targets(TypeId id)
    {
        uint32_t wrong = 0;
        btf::for_each_type_id(old_.type(id), [&](uint32_t target) {
            if (target == 0 || target >= first_ || ids_[target])
                return;
            const btf_type &t = old_.type(TypeId{target});
            if (old_.is_of_link(TypeId{target}) && btf::kind_of(t) != btf::Kind::FUNC) {
                wrong = target;
                return;
            }
            ids_[target] = needed;
            if (!stays_in_base(t))
                waiting_.push_back(TypeId{target});
        });
        if (wrong)
            return fail(where_, strf("type %u refers to type %u of the base, a %s, which a "
                                     "distilled base cannot have",
                                     raw(id), wrong, old_.kind_name(TypeId{wrong})));
        return {};
    }

    void number(uint32_t &next, bool in_base)
    {
        for (uint32_t id = 1; id < first_; ++id)
            if (ids_[id] && stays_in_base(old_.type(TypeId{id})) == in_base)
                ids_[id] = next++;
    }

    uint32_t new_id(uint32_t id) const
    {
        if (id == 0)
            return 0;
        return id < first_ ? ids_[id] : id - first_ + new_first_;
    }

    void add_to_base(BtfBuilder &base, TypeId id)
    {
        const btf_type &t = old_.type(id);
        std::string_view name = old_.name(id);
        btf::Kind kind = btf::kind_of(t);
        TypeId mine;
        if (btf::is_composite(kind))
            mine = base.add_composite(kind, name, t.size, false);
        else if (btf::is_enum(kind))
            mine = base.add_enum(btf::Kind::ENUM, name, t.size, false);
        else
            mine = add_words(base, t, raw(base.str(name)));
        CHECK(raw(mine) == ids_[raw(id)]);
        if (!name.empty())
            base_strings_.emplace(name, raw(base.str(name)));
    }

    static TypeId add_words(BtfBuilder &to, const btf_type &t, uint32_t name)
    {
        const std::span all = btf::all_words(t);
        std::vector<uint32_t> words(all.begin(), all.end());
        words[0] = name;
        return to.add_words(words);
    }

    void copy(BtfBuilder &split, TypeId id)
    {
        const std::span all = btf::all_words(old_.type(id));
        std::vector<uint32_t> words(all.begin(), all.end());
        auto &t = *reinterpret_cast<btf_type *>(words.data());
        btf::for_each_type_id(t, [&](uint32_t &target) { target = new_id(target); });
        btf::for_each_str_off(t, [&](uint32_t &offset) {
            std::string_view text = old_.str(offset);
            auto known = base_strings_.find(text);
            if (text.empty())
                offset = 0;
            else
                offset = known != base_strings_.end() ? known->second : raw(split.str(text));
        });
        TypeId mine = split.add_words(words);
        CHECK(raw(mine) == new_id(raw(id)));
    }

    const Btf &old_;
    const Where &where_;
    uint32_t first_;              // the module's first id over the old base
    uint32_t new_first_ = 0;      // the module's first id over the new base
    std::vector<uint32_t> ids_;   // new ids of the base's types; 0: not needed
    std::vector<TypeId> waiting_; // needed types whose targets are not marked yet
    std::unordered_map<std::string_view, uint32_t> base_strings_;
};

} // namespace

Result<DistilledBtf> distil(const Btf &split, ByteOrder order, const Where &where)
{
    return Distiller(split, where).run(order);
}

} // namespace btflink::merge
