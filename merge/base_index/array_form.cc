// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Gives the objects' multidimensional arrays the form that they have in the base: chained or flat
// (base_index.h).
//
// Problem. A base does not state the form of its arrays, and a flat multidimensional array looks
// like any other array. With the wrong form, every type that reaches such an array differs from the
// base's.
//
// Method. First the form of the base is found:
//  - A base with many chained arrays is chained. A few chained arrays show nothing: arrays of
//    vectors (GNU C's vector_size) are chained even in a flat base.
//  - Otherwise members vote. If an object's struct has a chained array as a member, the same member
//    of the base's struct shows the form of the base, unless it may be an array of vectors.
//  - In a tie, the share of chained arrays in the base decides.
// If the base is flat, the objects' arrays are made flat in place, so that ids stay the same. Take
// int a[2][3]: the outer array, of 2 int[3], becomes an int[6]. Usually only the outer array refers
// to the inner one, int[3]. Then int[3] must not be in the result. It becomes an int[6], too, and
// the deduplication merges the two.
//
// Limits. An inner array looks like a vector, and like an array type of its own. So an array of
// vectors becomes an array of the vectors' elements, although pahole kept the vectors. And if the
// source also uses int[3] where nothing in BTF refers to it, as for a local variable, int[3] is
// lost, although pahole kept it.
//
// Cost. Usually nothing. If the base has few chained arrays, one look at all types of the objects;
// if its form is flat, also new stub hashes of changed objects.
#include "merge/base_index/base_index.h"

#include "common/io/parallel.h"
#include "merge/input/load_objects.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

// A flat base has fewer chained arrays than this: only those of vectors. The chained base of a
// distribution's kernel has a hundred.
constexpr unsigned chained_enough = 16;
// In a chained base, at least one array in this many is chained. In kernels it is one in thirty.
constexpr unsigned arrays_per_chained = 200;
// A longer chain of arrays or of modifiers is taken for a cycle.
constexpr unsigned max_chain = 64;

const btf_type *array_at(const Btf &btf, uint32_t id)
{
    return btf.kind(TypeId{id}) == btf::Kind::ARRAY ? &btf.type(TypeId{id}) : nullptr;
}

uint32_t element_of(const btf_type &array)
{
    return btf::tail_of(array)[0];
}

uint32_t count_of(const btf_type &array)
{
    return btf::tail_of(array)[2];
}

bool is_chained(const Btf &btf, const btf_type &array)
{
    return array_at(btf, element_of(array));
}

/// May a chained array be one of vectors? The elements of vectors are numbers or enums.
bool may_be_of_vectors(const Btf &btf, const btf_type &array)
{
    TypeId id{element_of(*array_at(btf, element_of(array)))};
    for (unsigned n = 0; n < max_chain && btf::is_modifier(btf.kind(id)); ++n)
        id = TypeId{btf.type(id).type};
    const btf::Kind kind = btf.kind(id);
    return btf::kind_info(kind).family == btf::Family::number || btf::is_enum(kind);
}

struct FlatArray {
    uint32_t element; // type id
    uint32_t count;   // modulo 2^32, as pahole computed it
};

/// The flat form of an array; nothing if there are too many dimensions.
std::optional<FlatArray> flattened(const Btf &btf, const btf_type &array)
{
    FlatArray flat{element_of(array), count_of(array)};
    for (unsigned n = 1; const btf_type *inner = array_at(btf, flat.element); ++n) {
        if (n == max_chain)
            return std::nullopt;
        flat = {element_of(*inner), flat.count * count_of(*inner)};
    }
    return flat;
}

/// How many members of the objects' structs show that the base has the one form or the other.
struct Votes {
    uint32_t flat = 0, chained = 0;
};

/// Compares a struct or union of an object (`mine`) with a type of the same name in the base
/// (`its`). Each member of `mine` that is a chained array votes for the form that the same member
/// of `its` has, if there is such a member. A chained member of `its` that may be an array of
/// vectors does not count, because such arrays are chained in both forms. A flat member of `its`
/// counts only if it has as many elements as the member of `mine` has in all its dimensions.
void compare_members(const Btf &btf, const btf_type &mine, const Btf &base, const btf_type &its,
                     Votes &votes)
{
    if (btf::kind_of(mine) != btf::kind_of(its) || mine.size != its.size)
        return;
    for (uint32_t i = 0; i < std::min(btf::vlen_of(mine), btf::vlen_of(its)); ++i) {
        // The words of a member are name, type and offset.
        const uint32_t *one = btf::tail_of(mine) + i * 3, *other = btf::tail_of(its) + i * 3;
        const btf_type *array = array_at(btf, one[1]), *known = array_at(base, other[1]);
        if (!array || !known || !is_chained(btf, *array) || one[2] != other[2] ||
            btf.str(one[0]) != base.str(other[0]))
            continue;
        const auto flat = flattened(btf, *array);
        if (is_chained(base, *known))
            votes.chained += !may_be_of_vectors(base, *known);
        else
            votes.flat += flat && flat->count == count_of(*known);
    }
}

bool is_flat_base(const BaseIndex &base, const std::vector<Object> &objects)
{
    const ArrayCounts arrays = base.arrays();
    if (arrays.chained >= chained_enough)
        return false;
    // Each struct of an object is compared with all types of its name in the base. Without this
    // limit, many structs of one name could take time that grows with the square of the input's
    // size.
    constexpr unsigned most_of_a_name = 64;
    std::unordered_map<std::string_view, unsigned> of_name;
    Votes votes;
    for (const Object &o : objects)
        for (TypeId id : o.btf.ids()) {
            const btf_type &t = o.btf.type(id);
            if (btf::is_composite(btf::kind_of(t)) && t.name_off &&
                ++of_name[o.btf.name(id)] <= most_of_a_name)
                base.for_named(o.btf.name(id), [&](TypeId its, TypeId) {
                    compare_members(o.btf, t, *base.btf(), base.btf()->type(its), votes);
                });
        }
    if (votes.flat != votes.chained)
        return votes.flat > votes.chained;
    return arrays.chained < arrays.all / arrays_per_chained;
}

class Flattener
{
public:
    explicit Flattener(const Object &o) : btf_(o.btf), used_(raw(o.btf.end_id()))
    {
        outer_.resize(used_.size());
        for (uint32_t id = raw(btf_.first_id()); id < used_.size(); ++id) {
            const btf_type &t = btf_.type(TypeId{id});
            if (btf::kind_of(t) != btf::Kind::ARRAY) {
                btf::for_each_type_id(t, [&](uint32_t ref) { used_[ref] = true; });
            } else if (is_chained(btf_, t)) {
                chained_ = true;
                if (uint32_t &outer = outer_[element_of(t)]; outer == 0)
                    outer = id;
            }
        }
        for (const LinkFunction &f : o.trailer.functions) {
            if (f.func != void_id)
                continue; // its prototype is one of the types above
            const Prototype proto = prototype_of(o, f);
            for (uint32_t slot = 0; slot < proto.slots(); ++slot)
                used_[proto.type(slot)] = true;
        }
    }

    bool has_chained() const { return chained_; }

    /// The words of all types, with the chained arrays made flat.
    std::vector<uint32_t> words() const
    {
        std::vector<uint32_t> out(btf_.words().begin(), btf_.words().end());
        for (uint32_t id = raw(btf_.first_id()); id < used_.size(); ++id) {
            if (!array_at(btf_, id))
                continue;
            if (auto flat = flattened(btf_, btf_.type(TypeId{array_to_copy(id)}))) {
                uint32_t *tail = out.data() + btf_.word_index(TypeId{id}) + 3;
                tail[0] = flat->element;
                tail[2] = flat->count;
            }
        }
        return out;
    }

private:
    /// The array of which `id` becomes a copy: the first one that is used_, from `id` itself
    /// outwards, or else the outermost.
    uint32_t array_to_copy(uint32_t id) const
    {
        for (unsigned n = 1; n < max_chain && !used_[id] && outer_[id]; ++n)
            id = outer_[id];
        return id;
    }

    const Btf &btf_;
    std::vector<bool> used_;      // by id: something that is not an array refers to it
    std::vector<uint32_t> outer_; // by id: the first array that has it as element; 0: none
    bool chained_ = false;
};

void flatten(Object &o, bool hashed)
{
    Flattener flattener(o);
    if (!flattener.has_chained() || (o.malformed && o.malformed->is_set()))
        return;
    o.btf.replace_words(flattener.words());
    if (hashed)
        o.rehash();
}

} // namespace

void use_array_form_of_base(const BaseIndex &base, std::vector<Object> &objects, bool hashed,
                            unsigned threads)
{
    if (is_flat_base(base, objects))
        parallel_for(objects.size(), threads, [&](size_t i) { flatten(objects[i], hashed); });
}

} // namespace btflink::merge
