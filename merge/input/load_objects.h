// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Turns inputs into objects, one per contribution, in link order. Later passes trust all data in an
// object. All data are checked here, with two exceptions: types that are found by position samples
// are checked on access, and hashes are checked only with --verify.
#pragma once

#include "common/btf/btf.h"
#include "common/object_btf/features.h"
#include "common/object_btf/link_trailer.h"
#include "merge/input/inputs.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

namespace btflink::merge
{

struct Variable {
    TypeId var{};
    TypeId datasec{}; // the DATASEC that lists the VAR; void: none does
    uint32_t size = 0;
    uint32_t pool_index = 0;     // 0: none
    bool weak = false;           // its definition is weak
    UnresolvedAddress address{}; // as the DATASEC's entry states it
};

/// The contribution of one object file.
struct Object {
    Where where;        // of the blob
    uint32_t input = 0; // index into Inputs::list
    Btf btf;
    std::unique_ptr<MalformedFlag> malformed; // null unless `btf` is read by position samples
    LinkTrailer trailer{};                    // without one in the input: `functions` is computed
    bool has_trailer = false;
    Bytes hashes{};                      // stub hashes in a trailer's format
    std::vector<Hash128> own_hashes{};   // what `hashes` points into after rehash()
    Bytes blob_bytes{}, trailer_bytes{}; // as read; empty without a trailer in the input
    // Without a trailer: by id - first_id(), true for the types of the link part. With a trailer,
    // the link part is the ids from trailer.plain_end on (FORMAT.md, 2).
    std::vector<bool> in_link_part{};
    std::vector<Variable> variables{}; // in id order
    // {target, tag} of DECL_TAGs on functions and variables; sorted.
    std::vector<std::pair<TypeId, TypeId>> link_tags{};
    // The entries of the object's pool in a relocatable input, entry i at [i - 1]. Empty if the
    // pool is missing, or has too few entries.
    std::vector<UnresolvedAddress> pool{};

    /// For messages: the place, and the source file if known.
    std::string describe() const;
    /// Computes `hashes` from the types.
    void rehash();
    /// {target, tag} of the DECL_TAGs on a function or variable.
    std::span<const std::pair<TypeId, TypeId>> tags_of(TypeId target) const
    {
        auto begin = std::ranges::lower_bound(link_tags, std::pair(target, void_id)), end = begin;
        while (end != link_tags.end() && end->first == target)
            ++end;
        return {begin, end};
    }
    /// Ids that include those of the link part; without a trailer, all.
    IdRange<TypeId> around_link_part() const
    {
        return {has_trailer ? trailer.plain_end : btf.first_id(), btf.end_id()};
    }
    bool is_plain(TypeId id) const
    {
        return has_trailer ? id < trailer.plain_end : !in_link_part[raw(id) - raw(btf.first_id())];
    }
};

/// The prototype of a function: a FUNC_PROTO of its object's blob, or words of its trailer. Slot 0
/// is the result, the others are the parameters.
struct Prototype {
    uint32_t name, info;              // words of the FUNC_PROTO
    uint32_t result;                  // type
    std::span<const uint32_t> params; // name and type of each

    uint32_t slots() const { return static_cast<uint32_t>(1 + params.size() / 2); }
    uint32_t type(uint32_t slot) const { return slot ? params[slot * 2 - 1] : result; }
    uint32_t param_name(uint32_t slot) const { return params[slot * 2 - 2]; }
};
/// The function's FUNC_PROTO; void if the trailer has its prototype.
TypeId func_proto_of(const Object &object, const LinkFunction &f);
Prototype prototype_of(const Object &object, const LinkFunction &f);
/// The same for callers that know `func_proto`, the result of func_proto_of().
Prototype prototype_of(const Object &object, const LinkFunction &f, TypeId func_proto);

/// Computes the loose hashes of functions' prototypes, once for each FUNC_PROTO.
class PrototypeHasher
{
public:
    /// `btf`: the types of `object`, or a copy of these.
    PrototypeHasher(const Object &object, const Btf &btf) : object_(object), hasher_(btf) {}
    uint64_t hash(const LinkFunction &f);

private:
    const Object &object_;
    LooseHasher hasher_;
    std::unordered_map<TypeId, uint64_t> known_; // by FUNC_PROTO
};

/// Classes of types with equal stub hashes, if they are known before the deduplication
/// (merge/gather).
class KnownClasses
{
public:
    virtual ~KnownClasses() = default;
    /// {object, type}: the first type of each class, in ascending order. An index in this list is
    /// the number of the class.
    virtual std::span<const std::pair<uint32_t, TypeId>> first() const = 0;
    /// Writes the numbers of the classes of an object's plain types, in id order.
    virtual void copy(uint32_t object, std::span<uint32_t> out) const = 0;
};

struct LoadedObjects {
    std::vector<Object> objects;
    std::vector<std::string> without_btf;            // inputs that contributed nothing
    std::vector<std::shared_ptr<const void>> owners; // of memory that the objects point into
    /// Set if equal types are already known; then the objects have no hashes.
    std::unique_ptr<const KnownClasses> classes;
};

/// An object from a blob and trailer made in this process, without address pool or ELF file.
/// Object::hashes stays empty; `trailer` must have at least the hashes of the plain types.
/// Error: the link part or a prototype in the trailer is malformed.
Result<Object> adopt(Where where, Btf btf, LinkTrailer trailer);

enum class ParseMode {
    whole,      // all types are checked now; a blob without trailer gets no hashes
    by_samples, // types that samples can find are checked on access
};
/// All objects of the inputs, in link order. Error: an input is malformed, or has split BTF.
Result<LoadedObjects> load(const std::vector<Input> &inputs, ParseMode mode, unsigned threads);

/// Replaces the record of each instance that has a true signature by the record of that signature.
void use_true_signatures(std::vector<Object> &objects);

/// Error: `parsed`, the completely parsed blob of an object, has another number of types than its
/// trailer states. Objects that were loaded by samples have the trailer's number.
Result<void> check_number_of_types(const Object &object, const Btf &parsed);

/// Call it after the last pass that reads the objects. Error: a pass has read a malformed type of
/// an object that was linked, so its results must not be used.
Result<void> check_sampled(const std::vector<Object> &objects, const std::vector<bool> &not_linked);

// verify_objects.cc: checks the contents of link trailers (--verify).

/// Error: the first object, in link order, whose blob is malformed, or whose link trailer has wrong
/// hashes, samples, number of types or object id. Call it before anything changes the objects.
Result<void> verify_objects(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                            unsigned threads);

// check_features.cc: checks that all objects of a link were emitted with the same features, and
// with those that the link asks for. A build folder may have objects that were compiled with
// earlier settings.

/// Returns warnings about objects whose version of btflink or features differ from those of most
/// objects, and about features of most objects that differ from `asked`. Differences that the merge
/// can make up for do not count.
std::vector<std::string> check_settings(const std::vector<Object> &objects, FeatureSet asked);

} // namespace btflink::merge
