// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Classes of types with equal stub hashes, if they are known before the deduplication
// (merge/gather).
#pragma once

#include "common/btf/ids.h"

#include <cstdint>
#include <span>
#include <utility>

namespace btflink::merge
{

class KnownClasses
{
public:
    virtual ~KnownClasses() = default;
    /// {object, type}: the lowest type of each class, in ascending order.
    virtual std::span<const std::pair<uint32_t, TypeId>> first() const = 0;
    /// The classes of an object's plain types, in id order.
    virtual void copy(uint32_t object, std::span<uint32_t> out) const = 0;
};

} // namespace btflink::merge
