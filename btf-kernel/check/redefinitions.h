// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Types of a module that vmlinux also has, and the reasons.
#pragma once

#include "common/btf/name_index.h"

#include <string>
#include <vector>

namespace btflink::kernel
{

/// A struct, union or enum of a module whose name is also in vmlinux.
struct Redefinition {
    TypeId own{}, base{}; // the module's type, and that of vmlinux
    enum class Why : uint8_t {
        copy,    // nothing differs: the module should use the base's type
        derived, // only types that it refers to differ
        clash,   // the type itself differs
    };
    Why why = Why::copy;
    std::string cause;     // the member that differs, and how; empty for a copy
    std::string root;      // for a derived type: the name of the type that differs
    bool declared = false; // only one side defines the differing type, the other declares it
};

/// By id. `split`: the BTF of the module, whose base is the BTF of `names`.
std::vector<Redefinition> find_redefinitions(const Btf &split, const NameIndex &names);

/// The difference between two types of one BTF with the same kind and name, or between types to
/// which they refer.
std::string why_two(const Btf &btf, TypeId a, TypeId b);

} // namespace btflink::kernel
