// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A vector for results that threads fill in.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace btflink
{

/// Leaves what resize() adds unset.
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

/// resize() does not touch the memory: else the thread that calls it gets, and clears, all pages of
/// what others fill in. T is a number.
template <typename T>
using UnsetVector = std::vector<T, UnsetAllocator<T>>;

} // namespace btflink
