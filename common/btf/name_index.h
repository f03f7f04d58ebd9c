// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds types of a blob by name.
#pragma once

#include "common/btf/btf.h"

#include <unordered_map>
#include <vector>

namespace btflink
{

/// The blob must outlive the index. Types of its base are not included.
class NameIndex
{
public:
    explicit NameIndex(const Btf &btf) : btf_(btf)
    {
        ids_.reserve(btf.size());
        for (TypeId id : btf.ids())
            if (btf.type(id).name_off)
                ids_[btf.name(id)].push_back(id);
    }

    const Btf &btf() const { return btf_; }
    /// The types of a name, by id. Nameless types are not found.
    const std::vector<TypeId> &of(std::string_view name) const
    {
        static const std::vector<TypeId> none;
        auto it = ids_.find(name);
        return it == ids_.end() ? none : it->second;
    }

private:
    const Btf &btf_;
    std::unordered_map<std::string_view, std::vector<TypeId>> ids_;
};

} // namespace btflink
