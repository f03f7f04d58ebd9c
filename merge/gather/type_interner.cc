// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Keeps the types of many objects, each distinct type only once.
//
// Problem. The objects of an image have millions of types, nearly all of which are repetitions. If
// all are kept, they take as much memory as the image.
//
// Method. For each plain type, the interner keeps its class (4 bytes). As a rule it keeps words
// only for the lowest type of a class. The deduplication reads few other plain types: in conflicts,
// and where it does not choose the lowest one. Those types are made from the kept words: types with
// equal stub hashes differ only in ids, and at each position both ids stand for the same name or
// class. In an object with one type of each name and class, this name or class leads to the id that
// the object uses. Other objects, for example with a definition and a declaration of one name, keep
// all their words. Types of the link part are always kept.
//
// Invariant. A type is returned as it was in its object. Each class knows its lowest type,
// independent of the order in which objects come.
//
// Cost. One look-up per plain type; a copy per class, per type of the link part, and per type of
// the objects that keep all their words.
#include "merge/gather/gatherer.h"

#include <cstring>

namespace btflink::merge
{

namespace
{

constexpr uint32_t ahead = 12; // prefetch distance in types

} // namespace

const btf_type &InternedTypes::type(uint32_t index) const
{
    if (index >= first_own_)
        return interner_.at(starts_[index - first_own_]);
    const TypeInterner::DistinctType &kept = interner_.kept()[classes_[index]];
    const btf_type &words = interner_.at(kept.word);
    if (kept.home == this) // this object has one type of each class, see put()
        return words;
    std::lock_guard hold(lock_);
    std::unique_ptr<uint32_t[]> &made = made_[index];
    if (!made)
        made = make(*kept.home, words);
    return *reinterpret_cast<const btf_type *>(made.get());
}

/// A type of `other` with this object's ids.
std::unique_ptr<uint32_t[]> InternedTypes::make(const InternedTypes &other,
                                                const btf_type &kept) const
{
    const size_t words = btf::words_of(kept);
    auto out = std::make_unique<uint32_t[]>(words);
    std::memcpy(out.get(), &kept, words * sizeof(uint32_t));
    btf::for_each_type_id(*reinterpret_cast<btf_type *>(out.get()), [&](uint32_t &ref) {
        if (ref)
            ref = id_of(interner_.key_of(other.classes_[ref - 1]));
    });
    return out;
}

uint32_t InternedTypes::id_of(uint64_t key) const
{
    auto hash = [](uint64_t k) { return k * 0x9e3779b97f4a7c15; };
    auto has = [&](uint64_t k) {
        return [this, k](uint32_t i) { return interner_.key_of(classes_[i]) == k; };
    };
    if (!ids_) {
        ids_.emplace(classes_.size());
        for (uint32_t i = 0; i < classes_.size(); ++i) {
            const uint64_t mine = interner_.key_of(classes_[i]);
            ids_->find_or_add(hash(mine), i, has(mine));
        }
    }
    const uint32_t found = ids_->find(hash(key), has(key));
    CHECK(found != FlatIndex::none); // otherwise two different types have the same hash
    return found + 1;
}

std::unique_ptr<const InternedTypes> TypeInterner::put(uint32_t number, Object &o)
{
    auto out = std::make_unique<InternedTypes>(*this);
    const bool simple = classify(number, o, *out) && o.trailer.ambiguous.empty();
    const uint32_t plain = raw(o.trailer.plain_end) - 1;
    out->first_own_ = simple ? plain : 0;
    for (uint32_t i = out->first_own_; i < o.btf.size(); ++i)
        out->starts_.push_back(copy(o.btf, TypeId{i + 1}));
    for (uint32_t i : fresh_) {
        DistinctType &kept = kept_[out->classes_[i]];
        kept = {kept.hash, number, TypeId{i + 1},
                simple ? copy(o.btf, TypeId{i + 1}) : out->starts_[i], out.get()};
    }
    translate(o.btf, o.trailer);
    std::vector<Hash128>().swap(o.trailer.hashes); // = {} keeps the memory
    return out;
}

/// Finds the classes of the plain types, and lists in `fresh_` the types that are now the first of
/// their class. Returns whether the object has only one type of each class and name.
bool TypeInterner::classify(uint32_t number, const Object &o, InternedTypes &out)
{
    const uint32_t plain = raw(o.trailer.plain_end) - 1, put = ++puts_;
    bool simple = true;
    fresh_.clear();
    out.classes_.resize(plain);
    for (uint32_t i = 0; i < plain; ++i) {
        if (i + ahead < plain)
            slots_.prefetch(o.trailer.hashes[i + ahead].low);
        const Hash128 &hash = o.trailer.hashes[i];
        auto same = [&](const HashSlot &slot) { return slot.hash == hash; };
        auto make = [&] {
            kept_.push_back({hash, number, TypeId{i + 1}, 0, nullptr});
            uses_.push_back({name_number(o.btf, TypeId{i + 1}), number, 0});
            fresh_.push_back(i);
            return HashSlot{hash, static_cast<uint32_t>(kept_.size())};
        };
        auto [slot, is_new] = slots_.find_or_add(hash.low, same, make);
        const uint32_t c = out.classes_[i] = slot->entry - 1;
        Use &use = uses_[c];
        if (number < use.object) { // a later object was added before
            use.object = number;
            fresh_.push_back(i);
        }
        simple &= std::exchange(use.seen, put) != put;
        if (use.name)
            simple &= std::exchange(name_seen_[use.name], put) != put;
    }
    return simple;
}

/// The number of the type's name, if references to the type count by name in stub hashes; else 0.
uint32_t TypeInterner::name_number(const Btf &btf, TypeId id)
{
    const char kind = reference_letter(btf, id);
    if (!kind)
        return 0;
    const uint64_t key = uint64_t{translated(btf, btf.type(id).name_off)} << 1 | (kind == 'U');
    auto [name, is_new] = names_.emplace(key, static_cast<uint32_t>(name_seen_.size()));
    if (is_new)
        name_seen_.push_back(0);
    return name->second;
}

uint32_t TypeInterner::copy(const Btf &btf, TypeId id)
{
    const btf_type &t = btf.type(id);
    const size_t begin = words_.size(), count = btf::words_of(t);
    words_.resize(begin + count);
    std::memcpy(words_.data() + begin, &t, count * sizeof(uint32_t));
    btf::for_each_str_off(*reinterpret_cast<btf_type *>(words_.data() + begin),
                          [&](uint32_t &off) { off = translated(btf, off); });
    return static_cast<uint32_t>(begin);
}

void TypeInterner::translate(const Btf &btf, LinkTrailer &trailer)
{
    auto move = [&](StrOff &off) { off = StrOff{translated(btf, raw(off))}; };
    move(trailer.source);
    for (auto *functions : {&trailer.functions, &trailer.true_signatures}) {
        for (LinkFunction &f : *functions) {
            move(f.name);
            if (f.func != void_id)
                continue;
            uint32_t *words = &trailer.proto_words[f.proto]; // each function has its own
            for (uint32_t p = 0; p < words[1]; ++p)
                words[2 + p * 2] = translated(btf, words[2 + p * 2]);
        }
        functions->shrink_to_fit();
    }
    trailer.proto_words.shrink_to_fit();
    for (LinkVariable &v : trailer.variables)
        move(v.section);
    for (StrOff &name : trailer.ambiguous)
        move(name);
}

} // namespace btflink::merge
