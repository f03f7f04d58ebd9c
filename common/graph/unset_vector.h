// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A vector that threads fill in.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace btflink
{

/// Leaves elements that resize() adds uninitialized.
template <typename T>
struct UnsetAllocator : std::allocator<T> {
    template <typename U>
    struct rebind {
        using other = UnsetAllocator<U>;
    };

    template <typename U>
    void construct(U *at)
    {
        ::new (static_cast<void *>(at)) U;
    }
    template <typename U, typename... Arguments>
    void construct(U *at, Arguments &&...arguments)
    {
        ::new (static_cast<void *>(at)) U(std::forward<Arguments>(arguments)...);
    }
};

/// resize() does not touch the memory, so that each thread faults in the pages that it fills. T is
/// a number.
template <typename T>
using UnsetVector = std::vector<T, UnsetAllocator<T>>;

} // namespace btflink
