// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Does split BTF belong to a base? Does a kernel have the types that a distilled base names?
#pragma once

#include "common/btf/btf.h"
#include "common/result.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace btflink
{

/// Finds types of a blob by name. The blob must outlive the index. Types of its base are not
/// included.
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

/// Signs that `split`, a valid blob in the byte order of `base`, was made over another base; one
/// per line. `name`: what to call `base` in these lines. `where`: the position of the first byte of
/// the blob.
std::vector<Error> compare_to_base(Bytes split, const Where &where, const Btf &base,
                                   const std::string &name);

/// Types of a distilled base that a kernel with the types of `whole` does not find by name and size
/// when it loads the module whose BTF is `split`. The rules are those of kernel/bpf/btf_relocate.c,
/// except for ambiguous names. `name`: what to call the kernel. `where`: the position of the
/// distilled base.
std::vector<Error> look_up_distilled(const Btf &distilled, const Btf &split, const NameIndex &whole,
                                     const Where &where, const std::string &name);

} // namespace btflink
