// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The BTF of a vmlinux or module of one of the two kernels, prepared for comparison.
//
// Shapes are a hash of each type's meaning, independent of ids, order and string offsets. A shape
// contains only the names of other named types, so a change shows in the type that changed and not
// in all types that reach it.
#pragma once

#include "btf-kernel/diff/difference.h"
#include "common/btf/btf.h"

#include <map>
#include <memory>
#include <span>
#include <tuple>

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

struct Name {
    Space space;
    std::string_view text;
    auto operator<=>(const Name &) const = default;
};

/// A definition of a name.
struct Definition {
    Shape shape;                 // of a constant: its value
    uint32_t id;                 // of a constant: the id of its enum
    bool in_unnamed_enum = true; // for a constant
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

    std::span<const Definition> find(const Name &name) const;
    /// The tags of a type.
    std::span<const Tag> tags_of(uint32_t id) const;
    bool is_kfunc(uint32_t id) const;
    /// The name of the DATASEC that has a VAR, or "".
    std::string_view section_of(uint32_t id) const;

    std::shared_ptr<const Btf> btf;
    Shapes shapes;
    std::map<Name, std::vector<Definition>> names; // by shape, without duplicates
    std::vector<Tag> tags;                         // sorted

private:
    void find_names();
    void add_constants(TypeId id, bool in_unnamed_enum);
    void find_tags();
    std::vector<std::pair<uint32_t, uint32_t>> sections_; // VAR, DATASEC; sorted
};

/// The same for equal names and shapes in several BTFs.
uint64_t number_of(const Name &name, Shape shape);

} // namespace btflink::kernel::diff
