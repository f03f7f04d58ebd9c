// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Shelves, one for each thread that is there at a time, and the classes of them all. Neither the
// number of shelves nor which object came to which is to be seen in the result: classes are
// numbered by their lowest types, and types read as they stood in their objects.
#include "merge/gather/gatherer.h"

#include <algorithm>

namespace btflink::merge
{

/// Of all shelves, in one numbering.
class Gatherer::Classes : public KnownClasses
{
public:
    /// `place`: of each object by its number.
    Classes(const std::deque<Shelf> &shelves, const std::vector<uint32_t> &place,
            std::vector<std::unique_ptr<const ShelvedTypes>> types)
        : types_(std::move(types))
    {
        OpenTable<HashSlot> slots(size_t{1} << 16);
        std::vector<std::vector<uint32_t>> numbers; // per shelf and class: index in `first_`
        for (const Shelf &shelf : shelves) {
            numbers.emplace_back();
            for (const Shelf::Kept &k : shelf.kept()) {
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
        number(shelves, numbers);
    }

    std::span<const std::pair<uint32_t, TypeId>> first() const override { return first_; }

    void copy(uint32_t object, std::span<uint32_t> out) const override
    {
        const std::vector<uint32_t> &final = final_.at(&types_[object]->shelf());
        std::ranges::transform(types_[object]->classes(), out.begin(),
                               [&](uint32_t c) { return final[c]; });
    }

private:
    void number(const std::deque<Shelf> &shelves, const std::vector<std::vector<uint32_t>> &numbers)
    {
        std::vector<uint32_t> order(first_.size()), place(first_.size());
        for (uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::ranges::sort(order, {}, [&](uint32_t i) { return first_[i]; });
        std::vector<std::pair<uint32_t, TypeId>> sorted;
        for (uint32_t i : order) {
            place[i] = static_cast<uint32_t>(sorted.size());
            sorted.push_back(first_[i]);
        }
        first_ = std::move(sorted);
        for (size_t s = 0; s < shelves.size(); ++s)
            for (uint32_t i : numbers[s])
                final_[&shelves[s]].push_back(place[i]);
    }

    std::vector<std::unique_ptr<const ShelvedTypes>> types_; // by object
    std::vector<std::pair<uint32_t, TypeId>> first_;
    std::unordered_map<const Shelf *, std::vector<uint32_t>> final_; // by class on the shelf
};

Shelf &Gatherer::take_shelf()
{
    std::lock_guard hold(lock_);
    if (free_.empty())
        return shelves_.emplace_back();
    Shelf &shelf = *free_.back();
    free_.pop_back();
    return shelf;
}

Result<void> Gatherer::add(uint32_t number, Btf btf, LinkTrailer trailer, ByteOrder order)
{
    auto o = TRY(adopt(where_, std::move(btf), std::move(trailer)));
    Shelf &shelf = take_shelf();
    auto types = shelf.put(number, o);
    o.btf = Btf::stored(*types, o.btf.size(), std::string_view("\0", 1), order);
    std::lock_guard hold(lock_);
    free_.push_back(&shelf);
    objects_.push_back({number, std::move(o), std::move(types)});
    return {};
}

Loaded Gatherer::finish()
{
    std::ranges::sort(objects_, {}, &Gathered::number);
    Loaded out;
    out.objects.reserve(objects_.size());
    std::vector<std::unique_ptr<const ShelvedTypes>> types;
    std::vector<uint32_t> place(objects_.empty() ? 0 : objects_.back().number + 1);
    for (Gathered &g : objects_) {
        place[g.number] = static_cast<uint32_t>(types.size());
        Object &o = g.object;
        o.btf = Btf::stored(*g.types, o.btf.size(), g.types->shelf().strings(), o.btf.order());
        out.objects.push_back(std::move(o));
        types.push_back(std::move(g.types));
    }
    objects_.clear();
    out.classes = std::make_unique<Classes>(shelves_, place, std::move(types));
    return out;
}

} // namespace btflink::merge
