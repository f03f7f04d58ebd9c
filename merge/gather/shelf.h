// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The types of many objects, those with equal stub hashes kept once.
#pragma once

#include "common/btf/btf_builder.h"
#include "common/graph/flat_index.h"
#include "common/graph/open_table.h"
#include "common/object_btf/hash_slot.h"
#include "merge/input/load_objects.h"

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace btflink::merge
{

class Shelf;

/// The types of one object, in the object's numbering. Plain types whose words are another object's
/// are made when they are asked for. The shelf must be complete by then, and outlive it.
class ShelvedTypes : public TypeStore
{
public:
    explicit ShelvedTypes(const Shelf &shelf) : shelf_(shelf) {}

    const btf_type &type(uint32_t index) const override;
    /// Numbers, on the shelf, of the classes of plain types.
    std::span<const uint32_t> classes() const { return classes_; }
    const Shelf &shelf() const { return shelf_; }

private:
    friend class Shelf;
    std::unique_ptr<uint32_t[]> make(const ShelvedTypes &home, const btf_type &like) const;
    uint32_t id_of(uint64_t key) const;

    const Shelf &shelf_;
    std::vector<uint32_t> classes_;
    std::vector<uint32_t> starts_; // words of the types from `first_own_` on
    uint32_t first_own_ = 0;       // all of this and the following indices are kept
    mutable std::mutex lock_;      // of the following
    // By what a reference to a type goes (Shelf::key_of()): its number in classes_. Made when it is
    // needed for the first time.
    mutable std::optional<FlatIndex> ids_;
    mutable std::unordered_map<uint32_t, std::unique_ptr<uint32_t[]>> made_;
};

/// Not for several threads at a time.
class Shelf
{
public:
    /// A distinct type.
    struct Kept {
        Hash128 hash;
        uint32_t object; // the lowest, of those that were put here, that has it
        TypeId type;     // there
        uint32_t word;   // where its words are
        const ShelvedTypes *home;
    };

    /// Take what `o` has in its blob, and the hashes of its trailer. `number`: its place in the
    /// order of all objects. Its strings are from then on the shelf's; o.btf is to be made anew of
    /// what is returned.
    std::unique_ptr<const ShelvedTypes> put(uint32_t number, Object &o);

    const std::vector<Kept> &kept() const { return kept_; }
    std::string_view strings() const { return strings_.blob(); }
    /// What a reference to a type of this class goes by in all objects: for named structs, unions
    /// and their declarations that name, else the class itself.
    uint64_t key_of(uint32_t c) const
    {
        return marks_[c].stub ? uint64_t{1} << 32 | marks_[c].stub : c;
    }
    const btf_type &at(uint32_t word) const
    {
        return *reinterpret_cast<const btf_type *>(words_.data() + word);
    }

private:
    /// Per class, and apart from it: looked at for each type.
    struct Mark {
        uint32_t stub;   // of stub_seen_; 0: it has no such name
        uint32_t object; // as in Kept
        uint32_t seen;   // in which object it was seen last
    };

    bool classify(uint32_t number, const Object &o, ShelvedTypes &out);
    uint32_t stub_of(const Btf &btf, TypeId id);
    uint32_t copy(const Btf &btf, TypeId id);
    uint32_t translated(const Btf &btf, uint32_t offset)
    {
        return raw(strings_.add(btf.str(offset)));
    }
    void translate(const Btf &btf, LinkTrailer &trailer);

    OpenTable<HashSlot> slots_{4096};
    std::vector<Kept> kept_;
    std::vector<Mark> marks_;
    std::unordered_map<uint64_t, uint32_t> stubs_; // by string and kind
    std::vector<uint32_t> stub_seen_{0};
    std::vector<uint32_t> words_;
    StringTable strings_;
    uint32_t puts_ = 0;
    std::vector<uint32_t> fresh_; // indices of the types to be kept of one object
};

} // namespace btflink::merge
