// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The BTF of a vmlinux or module of one of the two kernels, prepared for comparison.
#pragma once

#include "btf-kernel/diff/difference.h"
#include "btf-kernel/diff/shapes.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace btflink::kernel::diff
{

/// A definition of a name.
struct Definition {
    uint64_t key; // by key_of()
    Shape shape;  // of a constant: its value
    Space space;
    bool in_unnamed_enum = true; // for a constant
    uint32_t id;                 // of a constant: the id of its enum
    uint32_t index = 0;          // of a constant: its index in the enum
};

/// A DECL_TAG.
struct Tag {
    uint32_t target;
    int32_t component;
    std::string_view text;
    bool operator<(const Tag &other) const
    {
        return std::tie(target, component, text) <
               std::tie(other.target, other.component, other.text);
    }
};

struct Side {
    /// `base`: the base of a module, which must outlive this; null for vmlinux.
    Side(std::shared_ptr<const Btf> btf, const Side *base);

    std::string_view name_of(const Definition &named) const;
    /// The definitions of one name.
    std::span<const Definition> find(uint64_t key) const;
    /// The tags of a type.
    std::span<const Tag> tags_of(uint32_t id) const;
    bool is_kfunc(uint32_t id) const;
    /// The name of the DATASEC that has a VAR, or "".
    std::string_view section_of(uint32_t id) const;

    std::shared_ptr<const Btf> btf;
    Shapes shapes;
    std::vector<Definition> names; // sorted by key and shape, without duplicates
    std::vector<Tag> tags;         // sorted

private:
    void find_names();
    void find_tags();
    std::vector<std::pair<uint32_t, uint32_t>> sections_; // VAR, DATASEC; sorted
};

uint64_t key_of(Space space, std::string_view name);

} // namespace btflink::kernel::diff
