// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares two kernels' BTF, or two definitions, by meaning. Finds the effects of changes on BPF
// programs that were compiled with the old kernel's types.
#pragma once

#include "btf-kernel/diff/difference.h"
#include "common/btf/btf.h"

#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>

namespace btflink::kernel::diff
{

// side.cc: the BTF of a vmlinux or module of one of the two kernels, prepared for comparison.
//
// A shape is a hash of a type's meaning, independent of ids, the order of types and string offsets.
// Named types to which the type refers count only by kind and name. So if struct a changes, the
// shape of a struct with a member `struct a *` stays the same.

/// A hash made with XXH3. Different types have the same shape in one of 10^19 pairs.
using Shape = uint64_t;

class Shapes
{
public:
    /// `base`: the shapes of the base of `btf`; null if `btf` has no base. `base` must outlive
    /// this object.
    explicit Shapes(const Btf &btf, const Shapes *base = nullptr);

    /// What a reference to the type adds to a shape. For a struct, union, enum, typedef or number
    /// with a name, this is a hash of kind and name; a forward declaration equals its definition.
    /// For any other type, it is a hash of the contents.
    Shape reference(uint32_t id) const { return of(id).reference; }
    /// A hash of the type's definition: size, members, values, target or prototype, tags.
    Shape definition(uint32_t id) const { return of(id).definition; }

private:
    struct TypeShapes {
        Shape reference = 0, definition = 0;
    };
    TypeShapes of(uint32_t id) const
    {
        if (id == 0)
            return {};
        return id < first_ ? base_->of(id) : types_[id - first_];
    }
    void compute(const Btf &btf);
    void add_tags(const Btf &btf);

    const Shapes *base_;
    uint32_t first_;
    std::vector<TypeShapes> types_;
};

/// The usual C name of an integer type, because compilers differ: "unsigned long" for "long
/// unsigned int". Other names are returned unchanged.
std::string_view plain_int_name(std::string_view name);

/// What the kernel's verifier reads in the name of a kfunc's parameter: a suffix ("__sz",
/// "__nullable"), one of the whole names "rdonly_buf_size" and "rdwr_buf_size", or "".
std::string_view name_for_verifier(std::string_view parameter);

struct Name {
    Space space;
    std::string_view text;
    auto operator<=>(const Name &) const = default;
};

/// A definition of a name.
struct Definition {
    // Of a constant: its value; a negative int is converted to unsigned, so that -1 equals
    // 4294967295. Otherwise Shapes::definition(), for a variable plus a hash of its DATASEC's name.
    Shape shape;
    uint32_t id;              // of a constant: the id of its enum
    bool in_bare_enum = true; // of a constant: its enum has no name, and nothing refers to it
    uint32_t index = 0;       // of a constant: its index in the enum
};

/// A DECL_TAG.
struct Tag {
    uint32_t target;
    int32_t component;
    std::string_view text;
    auto operator<=>(const Tag &) const = default;
};

/// One BTF, with its names, tags and shapes.
struct Side {
    /// `base`: the Side of the base of `btf`; null if `btf` has no base. `base` must outlive this
    /// object.
    Side(std::shared_ptr<const Btf> btf, const Side *base);

    std::span<const Definition> find(const Name &name) const;
    /// The tags of a type.
    std::span<const Tag> tags_of(uint32_t id) const;
    bool is_kfunc(uint32_t id) const;
    /// The name of the DATASEC that contains a VAR; "" if there is none.
    std::string_view section_of(uint32_t id) const;

    std::shared_ptr<const Btf> btf;
    Shapes shapes;
    std::map<Name, std::vector<Definition>> names; // each list sorted by shape, each shape once
    std::vector<Tag> tags;                         // sorted

private:
    void find_names();
    void add_constants(TypeId id, bool in_bare_enum);
    void find_tags_and_sections();
    std::vector<std::pair<uint32_t, uint32_t>> sections_; // VAR, DATASEC; sorted
};

/// A hash of a definition; equal names and shapes have equal numbers in all BTFs.
uint64_t number_of(const Name &name, Shape shape);

struct ModuleTypes {
    std::string name;               // escaped by plain_text()
    std::shared_ptr<const Btf> btf; // its base is KernelTypes::vmlinux, a distilled base, or null
};

/// One of the two kernels.
struct KernelTypes {
    std::string name; // escaped by plain_text()
    std::shared_ptr<const Btf> vmlinux;
    std::vector<ModuleTypes> modules;  // names are unique
    std::set<std::string> without_btf; // names of modules without readable BTF, escaped
};

/// A definition in a kernel.
struct DefinitionRef {
    const Side *side = nullptr; // null: there is no definition
    uint32_t id = 0;
    uint32_t place = 0; // 0: vmlinux; n: Sides::modules[n - 1]
    Shape shape = {};
    explicit operator bool() const { return side; }
};

/// The prepared BTF of one kernel.
struct Sides {
    std::unique_ptr<Side> vmlinux;
    std::vector<std::unique_ptr<Side>> bases; // distilled bases of modules
    // In the order of Difference::modules; null: this kernel has no readable BTF of the module.
    std::vector<std::unique_ptr<Side>> modules;
    const Side *at(uint32_t place) const
    {
        return place ? modules[place - 1].get() : vmlinux.get();
    }
    /// The first definition of a name in this place.
    DefinitionRef find_at(uint32_t place, Space space, std::string_view name) const;
    /// The first definition of a name in one of the spaces, in vmlinux or else in a module.
    /// `without`: the other kernel, or null. Definitions are skipped if the other kernel has the
    /// name in the same place and space.
    DefinitionRef find(std::initializer_list<Space> spaces, std::string_view name,
                       const Sides *without = nullptr) const;
};

/// The difference between two kernels, and their prepared BTF for further look-ups.
struct ComparedKernels {
    Sides before, after;
    Difference difference;
};

ComparedKernels compare(const KernelTypes &before, const KernelTypes &after);

/// A type of a side.
struct SideType {
    const Side &side;
    uint32_t id;

    const Btf &btf() const { return *side.btf; }
    const btf_type &type() const { return btf().type(TypeId{id}); }
    btf::Kind kind() const { return btf().kind(TypeId{id}); }
    SideType at(uint32_t other) const { return {side, other}; }
};

/// The differences between two definitions of one name. Both types belong to one space: structs,
/// unions, enums or numbers; typedefs; functions; variables. Unnamed types are compared only as a
/// whole if they are nested too deeply (max_depth), if the names of the members that lead to them
/// are too long together, or after too much work. Work in a type to which several members refer
/// counts for each member.
std::vector<Detail> compare_types(const SideType &before, const SideType &after);

/// The difference between two definitions of a constant whose value changed.
Detail compare_constants(const SideType &before, uint32_t old_index, const SideType &after,
                         uint32_t new_index);

/// Why members moved: the type of the first member whose size changed, such as "struct t"; members
/// of unnamed structs and unions inside count, too. "" if there is no such member, if the order of
/// members changed (also in unnamed structs and unions inside or behind pointers), if unnamed types
/// are nested too deeply, or if more than sizes and offsets changed. `details`: the result of
/// compare_types().
std::string find_cause(const SideType &before, const SideType &after,
                       const std::vector<Detail> &details);

/// A number that is larger for more similar definitions. It serves to pair several definitions of
/// one name.
size_t similarity(const SideType &before, const SideType &after);

/// The effects of a change, from its fields space, what, name, details, one_of_several, old_side.
/// `is_struct_ops`: BPF programs can implement the struct that changed.
std::vector<Effect> find_effects(const Change &change, bool is_struct_ops);

} // namespace btflink::kernel::diff
