// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// int a[2][3] has two forms in BTF. Object BTF, and pahole since 1.32, have an ARRAY of 2 ARRAYs of
// 3: chained arrays. pahole up to 1.31 made one ARRAY of 6: flat arrays. Types over a base equal
// those of the base only if they have the same form.
#pragma once

#include "merge/input/load_objects.h"

#include <functional>
#include <optional>

namespace btflink::merge
{

struct ArrayCounts {
    uint32_t all = 0, chained = 0;
};

/// Of the types up to so many chained arrays that nothing else explains them.
ArrayCounts count_arrays(const Btf &btf);

/// What an index of a base tells without a look at all of it.
struct KnownArrays {
    ArrayCounts counts;
    /// Visits the structs and unions of this name, and perhaps others.
    std::function<void(std::string_view, const std::function<void(TypeId)> &)> for_structs;
};

/// Makes the objects' arrays flat if those of `base` are, and updates their stub hashes if
/// `hashed`. Returns how many objects it changed.
size_t take_form_of_base(const Btf &base, const std::optional<KnownArrays> &known,
                         std::vector<Object> &objects, bool hashed, unsigned threads);

} // namespace btflink::merge
