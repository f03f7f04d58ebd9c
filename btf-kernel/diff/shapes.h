// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What each type of a blob says, as a number: equal for equal meaning, whatever the ids, the order
// and the strings' places. It ends at names, so that a change is seen at the type that changed and
// not at all that reach it.
#pragma once

#include "common/btf/btf.h"

#include <vector>

namespace btflink::kernel::diff
{

/// 64 bits, of XXH3. Two different shapes of one name are taken for equal once in 10^19 pairs.
using Shape = uint64_t;

class Shapes
{
public:
    /// Of all types of `btf` itself. `base`: the shapes of its base; must outlive this.
    explicit Shapes(const Btf &btf, const Shapes *base = nullptr);

    /// The type as others refer to it: a struct, union, enum, typedef or number by its kind
    /// and name (a forward declaration is what it declares), pointers, arrays and prototypes by
    /// what they are made of, types without a name by all that is in them.
    Shape reference(uint32_t id) const
    {
        if (id == 0)
            return 0;
        return id < first_ ? base_->reference(id) : types_[id - first_].reference;
    }
    /// The type as it is defined, the tags on it included: size, members, values, prototype.
    Shape definition(uint32_t id) const
    {
        if (id == 0)
            return 0;
        return id < first_ ? base_->definition(id) : types_[id - first_].definition;
    }

private:
    struct Both {
        Shape reference = 0, definition = 0;
    };
    void compute(const Btf &btf);
    void add_tags(const Btf &btf);

    const Shapes *base_;
    uint32_t first_;
    std::vector<Both> types_;
};

/// The name of an integer as C has it, whatever compiler wrote it: "unsigned long" for
/// "long unsigned int". Other names stay.
std::string_view plain_int_name(std::string_view name);

/// A suffix of a kfunc's parameter that tells the kernel's verifier something ("__sz",
/// "__nullable"), or "". Names of parameters mean nothing else.
std::string_view verifier_suffix(std::string_view parameter);

} // namespace btflink::kernel::diff
