// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares the BTF of two kernels by meaning.
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
struct Found {
    const Side *side = nullptr; // null: there is none
    uint32_t id = 0;
    uint32_t place = 0; // as Change::places
    explicit operator bool() const { return side; }
};

/// The prepared BTF of one kernel.
struct Sides {
    std::unique_ptr<Side> vmlinux;
    std::vector<std::unique_ptr<Side>> bases;   // distilled bases of modules; null: none
    std::vector<std::unique_ptr<Side>> modules; // as Difference::modules; null: not in this kernel
    const Side *at(uint32_t place) const
    {
        return place ? modules[place - 1].get() : vmlinux.get();
    }
    /// The first definition of a name, in vmlinux or else in a module.
    Found find(std::initializer_list<Space> spaces, std::string_view name) const;
};

/// The result, with both sides for further questions.
struct Compared {
    Sides before, after;
    Difference difference;
};

/// The result does not depend on the number of threads.
Compared compare(const KernelTypes &before, const KernelTypes &after, unsigned threads);

} // namespace btflink::kernel::diff
