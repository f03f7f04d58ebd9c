// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds the index.
#include "common/btf/name_index.h"

namespace btflink
{

NameIndex::NameIndex(const Btf &btf) : btf_(btf)
{
    ids_.reserve(btf.size());
    for (TypeId id : btf.ids())
        if (btf.type(id).name_off)
            ids_[btf.name(id)].push_back(id);
}

const std::vector<TypeId> &NameIndex::of(std::string_view name) const
{
    static const std::vector<TypeId> none;
    auto it = ids_.find(name);
    return it == ids_.end() ? none : it->second;
}

} // namespace btflink
