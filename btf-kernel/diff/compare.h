// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares the BTF of two kernels by meaning, or two single definitions, and finds the effects of
// differences on BPF programs that were compiled with the old kernel's types.
#pragma once

#include "btf-kernel/diff/side.h"

#include <initializer_list>

namespace btflink::kernel::diff
{

struct ModuleTypes {
    std::string name;
    std::shared_ptr<const Btf> btf; // its base is vmlinux above, or a distilled one
};

/// One of the two kernels.
struct KernelTypes {
    std::string name;
    std::shared_ptr<const Btf> vmlinux;
    std::vector<ModuleTypes> modules; // names are unique
};

/// A definition in a kernel.
struct DefinitionRef {
    const Side *side = nullptr; // null: there is none
    uint32_t id = 0;
    uint32_t place = 0; // as Change::places
    explicit operator bool() const { return side; }
};

/// The prepared BTF of one kernel.
struct Sides {
    std::unique_ptr<Side> vmlinux;
    std::vector<std::unique_ptr<Side>> bases;   // distilled bases of modules
    std::vector<std::unique_ptr<Side>> modules; // as Difference::modules; null: not in this kernel
    const Side *at(uint32_t place) const
    {
        return place ? modules[place - 1].get() : vmlinux.get();
    }
    /// The first definition of a name, in vmlinux or else in a module.
    DefinitionRef find(std::initializer_list<Space> spaces, std::string_view name) const;
};

/// The result, with both sides for further questions.
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
/// unions or enums; typedefs; functions; variables.
std::vector<Detail> compare_types(const SideType &before, const SideType &after);

/// For a constant whose value changed.
Detail compare_constants(const SideType &before, uint32_t old_index, const SideType &after,
                         uint32_t new_index);

/// "struct t" if members only moved because the size of a member of this type changed; otherwise
/// "".
std::string find_cause(const SideType &before, const SideType &after,
                       const std::vector<Detail> &details);

/// Larger for more similar definitions. Used to pair several definitions of one name.
size_t similarity(const SideType &before, const SideType &after);

/// All other fields of `change` must be set. `is_struct_ops`: BPF programs can implement the
/// struct.
std::vector<Effect> find_effects(const Change &change, bool is_struct_ops);

} // namespace btflink::kernel::diff
