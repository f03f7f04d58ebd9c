// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Shapes: a hash of each type's meaning, independent of ids, order and string offsets. A shape
// contains only the names of other named types, so a change shows in the type that changed and not
// in all types that reach it.
#pragma once

#include "common/btf/btf.h"

#include <vector>

namespace btflink::kernel::diff
{

/// 64 bits of XXH3. Different types with the same name have the same shape in one of 10^19 pairs.
using Shape = uint64_t;

class Shapes
{
public:
    /// `base`: the shapes of the base of `btf`, which must outlive this.
    explicit Shapes(const Btf &btf, const Shapes *base = nullptr);

    /// The type as seen by a reference to it: kind and name of a named type (a forward declaration
    /// equals its definition), the contents of a pointer, array, prototype or unnamed type.
    Shape reference(uint32_t id) const
    {
        if (id == 0)
            return 0;
        return id < first_ ? base_->reference(id) : types_[id - first_].reference;
    }
    /// The type's definition: size, members, values, prototype, tags.
    Shape definition(uint32_t id) const
    {
        if (id == 0)
            return 0;
        return id < first_ ? base_->definition(id) : types_[id - first_].definition;
    }

private:
    struct TypeShapes {
        Shape reference = 0, definition = 0;
    };
    void compute(const Btf &btf);
    void add_tags(const Btf &btf);

    const Shapes *base_;
    uint32_t first_;
    std::vector<TypeShapes> types_;
};

/// The usual C name of an integer type, because compilers differ: "unsigned long" for "long
/// unsigned int". Other names are returned unchanged.
std::string_view plain_int_name(std::string_view name);

/// The suffix of a kfunc's parameter that the kernel's verifier interprets ("__sz", "__nullable"),
/// or "". The rest of a parameter's name does not matter.
std::string_view verifier_suffix(std::string_view parameter);

} // namespace btflink::kernel::diff
