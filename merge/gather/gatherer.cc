// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects objects that this process makes.
//
// Method. Each string table has an interner. The classes of all interners have one numbering. The
// result does not depend on the number of interners or on which interner took which object: classes
// are numbered by their lowest types, and each type is returned as it was in its object.
#include "merge/gather/gatherer.h"

#include <algorithm>

namespace btflink::merge
{

/// The classes of all interners, in one numbering.
class Gatherer::Classes : public KnownClasses
{
public:
    /// `place`: index of each object in link order, by its number.
    Classes(const std::deque<TypeInterner> &interners, const std::vector<uint32_t> &place,
            std::vector<std::unique_ptr<const InternedTypes>> types)
        : types_(std::move(types))
    {
        OpenTable<HashSlot> slots(size_t{1} << 16);
        std::vector<std::vector<uint32_t>> numbers; // per interner and class: index in `first_`
        for (const TypeInterner &interner : interners) {
            numbers.emplace_back();
            for (const TypeInterner::DistinctType &k : interner.kept()) {
                const std::pair type(place[k.object], k.type);
                auto [slot, is_new] = slots.find_or_add(
                    k.hash.low, [&](const HashSlot &s) { return s.hash == k.hash; },
                    [&] {
                        first_.push_back(type);
                        return HashSlot{k.hash, static_cast<uint32_t>(first_.size())};
                    });
                numbers.back().push_back(slot->entry - 1);
                first_[slot->entry - 1] = std::min(first_[slot->entry - 1], type);
            }
        }
        number(interners, numbers);
    }

    std::span<const std::pair<uint32_t, TypeId>> first() const override { return first_; }

    void copy(uint32_t object, std::span<uint32_t> out) const override
    {
        const std::vector<uint32_t> &final = final_.at(&types_[object]->interner());
        std::ranges::transform(types_[object]->classes(), out.begin(),
                               [&](uint32_t c) { return final[c]; });
    }

private:
    /// Numbers the classes again, by their lowest types. `numbers`: per interner and class, the old
    /// number.
    void number(const std::deque<TypeInterner> &interners,
                const std::vector<std::vector<uint32_t>> &numbers)
    {
        std::vector<uint32_t> order(first_.size()), new_number(first_.size());
        for (uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::ranges::sort(order, {}, [&](uint32_t i) { return first_[i]; });
        std::vector<std::pair<uint32_t, TypeId>> sorted;
        for (uint32_t i : order) {
            new_number[i] = static_cast<uint32_t>(sorted.size());
            sorted.push_back(first_[i]);
        }
        first_ = std::move(sorted);
        for (size_t s = 0; s < interners.size(); ++s) {
            // An interner without types gets an entry, too: its objects may have functions.
            std::vector<uint32_t> &final = final_[&interners[s]];
            for (uint32_t i : numbers[s])
                final.push_back(new_number[i]);
        }
    }

    std::vector<std::unique_ptr<const InternedTypes>> types_; // by object
    std::vector<std::pair<uint32_t, TypeId>> first_;
    // For each interner, by its class: the class in the common numbering.
    std::unordered_map<const TypeInterner *, std::vector<uint32_t>> final_;
};

TypeInterner &Gatherer::interner_of(const std::shared_ptr<StringTable> &strings)
{
    std::lock_guard hold(lock_);
    for (TypeInterner &interner : interners_)
        if (interner.uses(*strings))
            return interner;
    return interners_.emplace_back(strings);
}

Result<void> Gatherer::add(uint32_t number, Btf btf, LinkTrailer trailer, ByteOrder order,
                           const std::shared_ptr<StringTable> &strings)
{
    auto o = TRY(adopt(where_, std::move(btf), std::move(trailer)));
    TypeInterner &interner = interner_of(strings);
    auto types = interner.put(number, o);
    // The strings may still move, so finish() sets them.
    o.btf = Btf::stored(*types, o.btf.size(), std::string_view("\0", 1), order);
    std::lock_guard hold(lock_);
    objects_.push_back({number, std::move(o), std::move(types)});
    return {};
}

LoadedObjects Gatherer::finish()
{
    std::ranges::sort(objects_, {}, &GatheredObject::number);
    LoadedObjects out;
    out.objects.reserve(objects_.size());
    std::vector<std::unique_ptr<const InternedTypes>> types;
    std::vector<uint32_t> place(objects_.empty() ? 0 : objects_.back().number + 1);
    for (GatheredObject &g : objects_) {
        place[g.number] = static_cast<uint32_t>(types.size());
        Object &o = g.object;
        o.btf = Btf::stored(*g.types, o.btf.size(), g.types->interner().strings(), o.btf.order());
        out.objects.push_back(std::move(o));
        types.push_back(std::move(g.types));
    }
    objects_.clear();
    out.classes = std::make_unique<Classes>(interners_, place, std::move(types));
    return out;
}

} // namespace btflink::merge
