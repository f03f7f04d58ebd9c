// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Numbers the plain types of all objects. Types of a base get numbers when they are chosen.
#include "merge/dedup/type_space.h"

namespace btflink::merge
{

Sources make_sources(const std::vector<Object> &objects, const std::vector<bool> &not_linked,
                     const Btf *base)
{
    Sources out;
    if (base) {
        out.has_base = true;
        out.base = std::make_unique<Selection>(base->size());
        out.list.push_back({base, nullptr, base->size(), nullptr, out.base.get(), 0});
    }
    out.of_object.assign(objects.size(), UINT32_MAX);
    for (size_t i = 0; i < objects.size(); ++i) {
        if (not_linked[i])
            continue;
        const Object &o = objects[i];
        uint32_t count = o.has_trailer ? raw(o.trailer.plain_end) - 1 : o.btf.size();
        out.of_object[i] = static_cast<uint32_t>(out.list.size());
        out.list.push_back({&o.btf, o.hashes.data(), count,
                            o.has_trailer ? nullptr : &o.in_link_part, nullptr, out.types});
        out.types += count;
    }
    return out;
}

} // namespace btflink::merge
