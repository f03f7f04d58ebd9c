// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A base does not state the form of its arrays, and a flat multidimensional array looks
// like any other array. With the wrong form, every type that reaches such an array differs from the
// base's.
//
// Method. A kernel's BTF has dozens of chained arrays or none. Usually a base has at least
// chained_enough of them; then this is its form, and the objects need not be read. (Fewer decide
// nothing, because compilers' vectors are chained even in a flat base.) Otherwise the objects'
// chained arrays are looked up in the base: the member of the same name and offset in the struct of
// the same name and size, or the typedef of the same name. The majority decides. Without any match,
// the form does not affect types that both have, and the number of the base's arrays decides.
//
// To make arrays flat, types are changed in place, so that ids stay the same: an outer array
// becomes an array of its innermost elements. An inner array to which only arrays refer must not be
// in the result; it becomes a copy of the outer array, and equal types are merged.
//
// Why it is right. The outer array becomes what pahole made from its DIE. If the source also uses
// the inner array type on its own, this type is lost, because nothing distinguishes the two.
//
// Cost. Usually a small part of the base's types; nothing with an index of the base. Over a flat
// base, one look at all types of objects and base, and new stub hashes of changed objects.
#include "merge/input/array_form.h"

#include "common/io/parallel.h"

#include <algorithm>
#include <map>
#include <set>

namespace btflink::merge
{

namespace
{

// More than compilers' vectors can cause. A distribution's kernel has a hundred.
constexpr unsigned chained_enough = 16;
// If arrays are chained, at least one in this many is; in kernels, one in thirty.
constexpr unsigned arrays_per_chained = 200;
// More can only be a cycle.
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
    uint32_t count; // modulo 2^32, as pahole computed it
};

/// Nothing if there are too many dimensions.
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

/// Calls visit(place, array) for a typedef of an array, or for each member of a named struct that
/// is an array.
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
    for (TypeId id : btf.ids())
        for_array_places(btf, id, visit);
}

using ArrayPlaces = std::map<ArrayPlace, uint32_t>; // with the product of the dimensions

/// Like for_each_array_place(), but may skip places that are not in `places`.
template <typename Visit>
void for_array_places_among(const ArrayPlaces &places, const Btf &base,
                            const std::optional<KnownArrays> &known, Visit visit)
{
    auto is_typedef = [](const auto &place) { return place.first.kind == btf::Kind::TYPEDEF; };
    if (!known || std::ranges::any_of(places, is_typedef)) // no index finds typedefs
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

    /// The words of the types part with flat arrays.
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
    /// The array of which `id` becomes a copy; `id` itself if a type that is not an array refers to
    /// it.
    uint32_t outermost(uint32_t id) const
    {
        for (unsigned n = 1; n < max_dimensions && !used_[id] && outer_[id]; ++n)
            id = outer_[id];
        return id;
    }

    const Btf &btf_;
    std::vector<bool> used_;      // by id: a type that is not an array refers to it
    std::vector<uint32_t> outer_; // by id: the first array that has it as element
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
