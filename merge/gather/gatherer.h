// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects the object BTF that this process makes in image mode, and keeps each distinct type once.
#pragma once

#include "common/btf/btf_builder.h"
#include "common/graph/tables.h"
#include "common/object_btf/type_hash.h"
#include "merge/input/load_objects.h"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace btflink::merge
{

// type_interner.cc: keeps the types of many objects. Plain types with equal stub hashes form a
// class, of which one type is kept. Only objects in which a name or class occurs twice keep all
// their plain types.

class TypeInterner;

/// The types of one object, in the object's numbering. Plain types that the interner keeps in the
/// numbering of another object are translated on first access. By then the interner must be
/// complete.
class InternedTypes : public TypeStore
{
public:
    explicit InternedTypes(const TypeInterner &interner) : interner_(interner) {}

    const btf_type &type(uint32_t index) const override;
    /// Classes of the plain types, as the interner numbers them.
    std::span<const uint32_t> classes() const { return classes_; }
    const TypeInterner &interner() const { return interner_; }

private:
    friend class TypeInterner;
    std::unique_ptr<uint32_t[]> make(const InternedTypes &other, const btf_type &kept) const;
    uint32_t id_of(uint64_t key) const;

    const TypeInterner &interner_;
    std::vector<uint32_t> classes_;
    std::vector<uint32_t> starts_; // of each type from index `first_own_` on: where its words begin
    uint32_t first_own_ = 0;       // from this index on, all types have words of their own
    mutable std::mutex lock_;      // of the following
    // Index in classes_ by TypeInterner::key_of(); made on first use.
    mutable std::optional<FlatIndex> ids_;
    mutable std::unordered_map<uint32_t, std::unique_ptr<uint32_t[]>> made_;
};

/// Keeps each distinct type once. For one thread at a time.
class TypeInterner
{
public:
    struct DistinctType {
        Hash128 hash;
        uint32_t object;           // the lowest that has it
        TypeId type;               // in that object
        uint32_t word;             // index of its words
        const InternedTypes *home; // the types of `object`
    };

    /// `strings`: the interner's strings, which the interner keeps alive. Objects may use them,
    /// too.
    explicit TypeInterner(std::shared_ptr<StringTable> strings) : strings_(std::move(strings)) {}
    bool uses(const StringTable &strings) const { return strings_.get() == &strings; }

    /// Takes the types of `o` and the hashes of its trailer. Names in the trailer become offsets
    /// into the interner's strings. The caller replaces o.btf by the result. `number`: position of
    /// `o` in link order.
    std::unique_ptr<const InternedTypes> put(uint32_t number, Object &o);

    const std::vector<DistinctType> &kept() const { return kept_; }
    std::string_view strings() const { return strings_->blob(); }
    /// The meaning of a reference to a type of this class, the same in every object: a name, for
    /// named structs and unions and their declarations; otherwise the class itself.
    uint64_t key_of(uint32_t c) const
    {
        return uses_[c].name ? uint64_t{1} << 32 | uses_[c].name : c;
    }
    const btf_type &at(uint32_t word) const
    {
        return *reinterpret_cast<const btf_type *>(words_.data() + word);
    }

private:
    /// Per class; not in DistinctType, because it is read for every type.
    struct Use {
        uint32_t name;   // index in name_seen_; 0: references are not by name
        uint32_t object; // as in DistinctType
        uint32_t seen;   // the last put() with this class
    };

    bool classify(uint32_t number, const Object &o, InternedTypes &out);
    uint32_t name_number(const Btf &btf, TypeId id);
    uint32_t copy(const Btf &btf, TypeId id);
    uint32_t translated(const Btf &btf, uint32_t offset)
    {
        return btf.strings().data() == strings_->blob().data()
                   ? offset
                   : raw(strings_->add(btf.str(offset)));
    }
    void translate(const Btf &btf, LinkTrailer &trailer);

    OpenTable<HashSlot> slots_{4096};
    std::vector<DistinctType> kept_;
    std::vector<Use> uses_;
    std::unordered_map<uint64_t, uint32_t> names_; // by string and kind
    std::vector<uint32_t> name_seen_{0};           // the last put() with each name
    std::vector<uint32_t> words_;
    std::shared_ptr<StringTable> strings_;
    uint32_t puts_ = 0;
    std::vector<uint32_t> fresh_; // during put(): types that are now the first of their class
};

/// Collects the objects of one file, from any number of threads; then finish() returns them.
class Gatherer
{
public:
    /// `where`: the file from which the objects are made.
    explicit Gatherer(Where where) : where_(std::move(where)) {}

    /// Takes one object: the blob and the link trailer of its `.BTF`. `number`: the object's
    /// position in link order. `order`: byte order of the file. `strings`: a table that has all
    /// strings of `btf`, or is to get them. Any thread may call this, in any order, but only one at
    /// a time with the same table. Error: the link part or a prototype in the trailer is malformed.
    Result<void> add(uint32_t number, Btf btf, LinkTrailer trailer, ByteOrder order,
                     const std::shared_ptr<StringTable> &strings);
    const Where &where() const { return where_; }
    bool empty() const { return objects_.empty(); }

    /// All objects in link order. Call it once, after the last add(). The result has `classes`
    /// instead of hashes. The Gatherer must outlive the result.
    LoadedObjects finish();

private:
    class Classes;
    struct GatheredObject {
        uint32_t number;
        Object object;
        std::unique_ptr<const InternedTypes> types;
    };

    TypeInterner &interner_of(const std::shared_ptr<StringTable> &strings);

    const Where where_;
    std::mutex lock_;                    // of the following
    std::deque<TypeInterner> interners_; // one per string table
    std::vector<GatheredObject> objects_;
};

} // namespace btflink::merge
