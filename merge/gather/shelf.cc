// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. The objects of an image have millions of types, and of a hundred one is new. Kept as
// they are they take as much memory as the image.
//
// Method. Per type its class on the shelf is kept, 4 bytes. Words are kept of the types that are
// the first of their class. The deduplication reads few others: where conflicts are, and where its
// choice for a class is not the lowest type. These are made of the kept one: types with equal stub
// hashes differ in the ids that they refer to, and what a reference goes by is the same: a name, or
// a class. That leads to one type in an object that has one of each. Objects that do not (several
// definitions of a name, or a definition and a declaration) keep all their words.
//
// Invariant. A type reads as it stood in its object, whatever else is on the shelf. Of a class the
// lowest type is known, in whatever order objects come.
//
// Cost. One look-up per type, a copy per distinct one.
#include "merge/gather/shelf.h"

#include <cstring>

namespace btflink::merge
{

namespace
{

constexpr uint32_t ahead = 12; // slots are fetched this many types ahead

} // namespace

const btf_type &ShelvedTypes::type(uint32_t index) const
{
    if (index >= first_own_)
        return shelf_.at(starts_[index - first_own_]);
    const Shelf::Kept &kept = shelf_.kept()[classes_[index]];
    const btf_type &like = shelf_.at(kept.word);
    if (kept.home == this) // a class has one type in such an object
        return like;
    std::lock_guard hold(lock_);
    std::unique_ptr<uint32_t[]> &made = made_[index];
    if (!made)
        made = make(*kept.home, like);
    return *reinterpret_cast<const btf_type *>(made.get());
}

/// What is `like` in `home`, in this object's ids.
std::unique_ptr<uint32_t[]> ShelvedTypes::make(const ShelvedTypes &home, const btf_type &like) const
{
    const size_t words = btf::words_of(like);
    auto out = std::make_unique<uint32_t[]>(words);
    std::memcpy(out.get(), &like, words * sizeof(uint32_t));
    btf::for_each_type_id(*reinterpret_cast<btf_type *>(out.get()), [&](uint32_t &ref) {
        if (ref)
            ref = id_of(shelf_.key_of(home.classes_[ref - 1]));
    });
    return out;
}

uint32_t ShelvedTypes::id_of(uint64_t key) const
{
    auto hash = [](uint64_t k) { return k * 0x9e3779b97f4a7c15; };
    auto has = [&](uint64_t k) {
        return [this, k](uint32_t i) { return shelf_.key_of(classes_[i]) == k; };
    };
    if (!ids_) {
        ids_.emplace(classes_.size());
        for (uint32_t i = 0; i < classes_.size(); ++i) {
            const uint64_t mine = shelf_.key_of(classes_[i]);
            ids_->find_or_add(hash(mine), i, has(mine));
        }
    }
    const uint32_t found = ids_->find(hash(key), has(key));
    CHECK(found != FlatIndex::none); // else two different types have one hash
    return found + 1;
}

std::unique_ptr<const ShelvedTypes> Shelf::put(uint32_t number, Object &o)
{
    auto out = std::make_unique<ShelvedTypes>(*this);
    const bool simple = classify(number, o, *out) && o.trailer.ambiguous.empty();
    const uint32_t plain = raw(o.trailer.plain_end) - 1;
    out->first_own_ = simple ? plain : 0;
    for (uint32_t i = out->first_own_; i < o.btf.size(); ++i)
        out->starts_.push_back(copy(o.btf, TypeId{i + 1}));
    for (uint32_t i : fresh_) {
        Kept &kept = kept_[out->classes_[i]];
        kept = {kept.hash, number, TypeId{i + 1},
                simple ? copy(o.btf, TypeId{i + 1}) : out->starts_[i], out.get()};
    }
    translate(o.btf, o.trailer);
    std::vector<Hash128>().swap(o.trailer.hashes); // = {} keeps the memory
    return out;
}

/// Finds the classes of the plain types, and lists in `fresh_` which are the first of theirs.
/// Returns whether the object has one type of each class and name.
bool Shelf::classify(uint32_t number, const Object &o, ShelvedTypes &out)
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
            marks_.push_back({stub_of(o.btf, TypeId{i + 1}), number, 0});
            fresh_.push_back(i);
            return HashSlot{hash, static_cast<uint32_t>(kept_.size())};
        };
        auto [slot, is_new] = slots_.find_or_add(hash.low, same, make);
        const uint32_t c = out.classes_[i] = slot->entry - 1;
        Mark &mark = marks_[c];
        if (number < mark.object) { // a later object came before
            mark.object = number;
            fresh_.push_back(i);
        }
        simple &= std::exchange(mark.seen, put) != put;
        if (mark.stub)
            simple &= std::exchange(stub_seen_[mark.stub], put) != put;
    }
    return simple;
}

/// The number of the name that a reference to the type goes by; 0: none.
uint32_t Shelf::stub_of(const Btf &btf, TypeId id)
{
    const char kind = stub_class(btf, id);
    if (!kind)
        return 0;
    const uint64_t key = uint64_t{translated(btf, btf.type(id).name_off)} << 1 | (kind == 'U');
    auto [stub, is_new] = stubs_.emplace(key, static_cast<uint32_t>(stub_seen_.size()));
    if (is_new)
        stub_seen_.push_back(0);
    return stub->second;
}

uint32_t Shelf::copy(const Btf &btf, TypeId id)
{
    const btf_type &t = btf.type(id);
    const size_t begin = words_.size(), count = btf::words_of(t);
    words_.resize(begin + count);
    std::memcpy(words_.data() + begin, &t, count * sizeof(uint32_t));
    btf::for_each_str_off(*reinterpret_cast<btf_type *>(words_.data() + begin),
                          [&](uint32_t &off) { off = translated(btf, off); });
    return static_cast<uint32_t>(begin);
}

void Shelf::translate(const Btf &btf, LinkTrailer &trailer)
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
