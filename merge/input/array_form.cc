// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A base does not say which form its arrays have, and a flat array of several dimensions
// looks like any other. Over the wrong form, whatever reaches such an array is split off the base.
//
// Method. A kernel's BTF has dozens of chained arrays if it has any, so a base in which some are
// found is a chained one: that is the usual case, and the objects are not looked at. Otherwise the
// objects' chained arrays are looked up in the base: the member of that name at that offset in the
// struct of that name and size, the typedef of that name. Most answers decide. (A few chained
// arrays decide nothing: vectors of compilers are chained in a flat base, too.) If there is no
// answer, the form does not matter to types that both have; then it is the base's if the base has
// enough arrays to tell, else chained.
//
// To make arrays flat, words of types are changed in their places, so that ids stay what they are:
// an outer array becomes one of its innermost elements. An inner array that only arrays refer to
// must not be in the result; it becomes a copy of the array around it, and equal types are merged.
//
// Why it is right. The outer array becomes what pahole made of its DIE. An array type that only
// arrays refer to may have been written in the source as well; that cannot be known, and it is
// lost.
//
// Cost. In the usual case the base's types up to some chained arrays, a small part of them. Over a
// flat base, one look at all types of objects and base, and stub hashes of objects that are
// changed. An index of the base knows how many arrays it has, and finds structs by their names.
#include "merge/input/array_form.h"

#include "common/io/parallel.h"

#include <algorithm>
#include <map>
#include <set>

namespace btflink::merge
{

namespace
{

// Chained arrays that only several dimensions explain. A distribution's kernel has a hundred;
// vectors without a typedef, of which arrays are made, are rare.
constexpr unsigned chained_enough = 16;
// Among so many arrays at least one would be chained: in kernels it is one in thirty.
constexpr unsigned arrays_per_chained = 200;
// No compiler nests more; it is a cycle.
constexpr unsigned max_dimensions = 64;

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

/// A flat array.
struct Flat {
    uint32_t element;
    uint32_t count; // in 32 bits, as pahole multiplied
};

/// Empty if there are too many dimensions.
std::optional<Flat> flattened(const Btf &btf, const btf_type &array)
{
    Flat flat{element_of(array), count_of(array)};
    for (unsigned n = 1; const btf_type *inner = array_at(btf, flat.element); ++n) {
        if (n == max_dimensions)
            return std::nullopt;
        flat = {element_of(*inner), flat.count * count_of(*inner)};
    }
    return flat;
}

/// A place where base and object have the same array.
struct ArrayPlace {
    btf::Kind kind;
    std::string_view name;
    uint32_t size; // of the struct
    std::string_view member;
    uint32_t offset;
    auto operator<=>(const ArrayPlace &) const = default;
};

/// visit(place, array) if this is a typedef of an array, or for the members of a named struct that
/// are arrays.
template <typename Visit>
void for_array_places(const Btf &btf, TypeId id, Visit &visit)
{
    const btf_type &t = btf.type(id);
    const btf::Kind kind = btf::kind_of(t);
    const btf_type *array = nullptr;
    if (kind == btf::Kind::TYPEDEF && (array = array_at(btf, t.type)))
        visit(ArrayPlace{kind, btf.name(id), 0, "", 0}, *array);
    if (!btf::is_composite(kind) || t.name_off == 0)
        return;
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
        const uint32_t *member = btf::tail_of(t) + i * 3;
        if ((array = array_at(btf, member[1])))
            visit(ArrayPlace{kind, btf.name(id), t.size, btf.str(member[0]), member[2]}, *array);
    }
}

template <typename Visit>
void for_each_array_place(const Btf &btf, Visit visit)
{
    for (TypeId id = btf.first_id(); id < btf.end_id(); id = TypeId{raw(id) + 1})
        for_array_places(btf, id, visit);
}

using ArrayPlaces = std::map<ArrayPlace, uint32_t>; // with the product of dimensions

/// As for_each_array_place(), but it may leave out what is not among `places`.
template <typename Visit>
void for_array_places_among(const ArrayPlaces &places, const Btf &base,
                            const std::optional<KnownArrays> &known, Visit visit)
{
    auto is_typedef = [](const auto &place) { return place.first.kind == btf::Kind::TYPEDEF; };
    if (!known || std::ranges::any_of(places, is_typedef)) // an index has no names of those
        return for_each_array_place(base, visit);
    std::set<std::string_view> names;
    for (const auto &[place, count] : places)
        names.insert(place.name);
    for (std::string_view name : names)
        known->for_structs(name, [&](TypeId id) { for_array_places(base, id, visit); });
}

bool is_flat_base(const Btf &base, const std::optional<KnownArrays> &known,
                  const std::vector<Object> &objects)
{
    const ArrayCounts arrays = known ? known->counts : count_arrays(base);
    if (arrays.chained >= chained_enough)
        return false;
    ArrayPlaces chained;
    for (const Object &o : objects)
        for_each_array_place(o.btf, [&](const ArrayPlace &place, const btf_type &array) {
            if (auto flat = flattened(o.btf, array); flat && is_chained(o.btf, array))
                chained.emplace(place, flat->count);
        });
    uint32_t for_flat = 0, for_chained = 0;
    auto compare = [&](const ArrayPlace &place, const btf_type &array) {
        auto found = chained.find(place);
        if (found == chained.end())
            return;
        if (is_chained(base, array))
            ++for_chained;
        else
            for_flat += count_of(array) == found->second;
    };
    if (!chained.empty())
        for_array_places_among(chained, base, known, compare);
    if (for_flat != for_chained)
        return for_flat > for_chained;
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
                continue;
            const uint32_t *w = &o.trailer.proto_words[f.proto];
            used_[w[0]] = true;
            for (uint32_t i = 0; i < w[1]; ++i)
                used_[w[3 + i * 2]] = true;
        }
    }

    bool any() const { return chained_; }

    /// The types part with flat arrays.
    std::vector<uint32_t> words() const
    {
        std::vector<uint32_t> out(btf_.words().begin(), btf_.words().end());
        for (uint32_t id = raw(btf_.first_id()); id < used_.size(); ++id) {
            if (!array_at(btf_, id))
                continue;
            if (auto flat = flattened(btf_, btf_.type(TypeId{outermost(id)}))) {
                uint32_t *tail = out.data() + btf_.word_index(TypeId{id}) + 3;
                tail[0] = flat->element;
                tail[2] = flat->count;
            }
        }
        return out;
    }

private:
    /// The array whose copy `id` becomes: itself, if others than arrays refer to it.
    uint32_t outermost(uint32_t id) const
    {
        for (unsigned n = 1; n < max_dimensions && !used_[id] && outer_[id]; ++n)
            id = outer_[id];
        return id;
    }

    const Btf &btf_;
    std::vector<bool> used_;      // by id: something that is no array refers to it
    std::vector<uint32_t> outer_; // by id: the first array of such arrays
    bool chained_ = false;
};

bool flatten(Object &o, bool hashed)
{
    Flattener flattener(o);
    if (!flattener.any() || (o.damage && o.damage->found()))
        return false;
    o.btf.replace_words(flattener.words());
    if (hashed)
        o.rehash();
    return true;
}

} // namespace

ArrayCounts count_arrays(const Btf &btf)
{
    ArrayCounts counts;
    for (TypeId id = btf.first_id(); id < btf.end_id() && counts.chained < chained_enough;
         id = TypeId{raw(id) + 1})
        if (const btf_type *array = array_at(btf, raw(id))) {
            ++counts.all;
            counts.chained += is_chained(btf, *array);
        }
    return counts;
}

size_t take_form_of_base(const Btf &base, const std::optional<KnownArrays> &known,
                         std::vector<Object> &objects, bool hashed, unsigned threads)
{
    if (!is_flat_base(base, known, objects))
        return 0;
    std::vector<uint8_t> changed(objects.size());
    parallel_for(objects.size(), threads,
                 [&](size_t i) { changed[i] = flatten(objects[i], hashed); });
    return static_cast<size_t>(std::count(changed.begin(), changed.end(), 1));
}

} // namespace btflink::merge
