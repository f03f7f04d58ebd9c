// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// One BTF of one of the two kernels that are compared, with what is found out about it once.
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

/// What has a name.
struct Named {
    uint64_t key;     // of space and name
    Shape definition; // of a constant: of its value
    Space space;
    bool loose = true;  // a constant of an enum without a name; false: of one with a name
    uint32_t id;        // of a constant: its enum
    uint32_t index = 0; // of a constant in its enum
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
    /// `base`: of the vmlinux that a module is of; must outlive this. nullptr: this is a vmlinux.
    Side(std::shared_ptr<const Btf> btf, const Side *base);

    std::string_view name_of(const Named &named) const;
    /// Those of one key: none, or several if there are several definitions.
    std::span<const Named> find(uint64_t key) const;
    /// The tags of a type.
    std::span<const Tag> tags_of(uint32_t id) const;
    bool is_kfunc(uint32_t id) const;
    /// The DATASEC that a VAR is in, or "".
    std::string_view section_of(uint32_t id) const;

    std::shared_ptr<const Btf> btf;
    Shapes shapes;
    std::vector<Named> names; // sorted by key, then shape; each definition once
    std::vector<Tag> tags;    // sorted

private:
    void find_names();
    void find_tags();
    std::vector<std::pair<uint32_t, uint32_t>> sections_; // VAR, DATASEC; sorted
};

uint64_t key_of(Space space, std::string_view name);

} // namespace btflink::kernel::diff
