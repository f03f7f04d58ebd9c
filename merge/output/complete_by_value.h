// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Gives a size to structs that are only declared, where a prototype needs one.
#pragma once

#include "common/btf/btf.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// C allows `struct s; void (*f)(struct s);` where no object defines the struct. Kernels refuse a
/// prototype that has a type without a size, so such a struct or union becomes one of no members
/// and 0 bytes. `blob`: what `btf` was parsed from, in byte order `order`; it keeps its size.
/// Returns the names of those that were changed ("struct s"); a base's cannot be.
std::vector<std::string> complete_by_value(std::vector<std::byte> &blob, const Btf &btf,
                                           ByteOrder order);

} // namespace btflink::merge
