// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Takes the name at the position that the check reports, and looks for it in the objects in link
// order.
#include "merge/explain/name_origin.h"

#include <algorithm>

namespace btflink::merge
{

namespace
{

/// The name of the type, member, parameter or enumerator at byte `at` of the blob, or empty.
std::string_view name_at(const Btf &btf, uint64_t at)
{
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        const btf::KindInfo &kind = btf::kind_info(t);
        const uint64_t begin = btf.types_offset() + btf.word_index(id) * 4;
        if (at == begin)
            return btf.name(id);
        const uint64_t word = (at - begin) / 4 - 3; // behind the head
        if (at > begin && kind.element.name >= 0 &&
            word < kind.fixed.count + uint64_t{btf::vlen_of(t)} * kind.element.count)
            return btf.str(btf::tail_of(t)[word + static_cast<uint32_t>(kind.element.name)]);
    }
    return {};
}

bool has_name(const Object &o, std::string_view name)
{
    const Btf &btf = o.btf;
    bool found = false;
    for (TypeId id = btf.first_id(); id < btf.end_id() && !found; id = TypeId{raw(id) + 1})
        btf::for_each_str_off(btf.type(id), [&](uint32_t off) { found |= btf.str(off) == name; });
    return found || std::any_of(o.trailer.functions.begin(), o.trailer.functions.end(),
                                [&](const LinkFunction &f) { return btf.str(f.name) == name; });
}

} // namespace

std::string name_origin(const Error &error, const Btf &btf, const std::vector<Object> &objects)
{
    if (!error.what.ends_with("name is not an identifier"))
        return {};
    const std::string_view name = name_at(btf, error.where.offset.value_or(0));
    auto owner = std::find_if(objects.begin(), objects.end(),
                              [&](const Object &o) { return !name.empty() && has_name(o, name); });
    return owner == objects.end() ? "" : owner->describe();
}

} // namespace btflink::merge
