// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Types that a module has of its own though vmlinux has them, and why.
#pragma once

#include "common/btf/name_index.h"

#include <string>
#include <vector>

namespace btflink::kernel
{

/// A struct, union or enum of a module that vmlinux has under the same name.
struct Redefinition {
    TypeId own{}, base{}; // in the module's BTF; both ids
    enum class Why : uint8_t {
        copy,    // nothing differs: it should not be there
        derived, // it is the same but for what it refers to
        clash,   // something else of the same name
    };
    Why why = Why::copy;
    std::string cause;     // for people: the member that differs, and how; of a copy empty
    std::string root;      // of a derived one: the name that is to blame
    bool declared = false; // what differs is a type that only one of them defines
};

/// Of the module's own types, by id. `split` continues the base of `names`.
std::vector<Redefinition> find_redefinitions(const Btf &split, const NameIndex &names);

/// Why one BTF has two types of one kind and name: what differs in them, or in what they refer to.
std::string why_two(const Btf &btf, TypeId a, TypeId b);

} // namespace btflink::kernel
