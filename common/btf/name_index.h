// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The types of a blob by their names.
#pragma once

#include "common/btf/btf.h"

#include <unordered_map>
#include <vector>

namespace btflink
{

/// The blob must outlive it. Types of its base are not in it.
class NameIndex
{
public:
    explicit NameIndex(const Btf &btf);

    const Btf &btf() const { return btf_; }
    /// Those of a name, by id; of no name: none.
    const std::vector<TypeId> &of(std::string_view name) const;

private:
    const Btf &btf_;
    std::unordered_map<std::string_view, std::vector<TypeId>> ids_;
};

} // namespace btflink
