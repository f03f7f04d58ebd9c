// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// int a[2][3] has two forms in BTF: an ARRAY of 2 ARRAYs of 3 (chained arrays) in object BTF and
// from pahole 1.32 on, and one ARRAY of 6 (a flat array) up to pahole 1.31. Types can equal those
// of a base only if they have the base's form.
#pragma once

#include "merge/input/load_objects.h"

#include <functional>
#include <optional>

namespace btflink::merge
{

struct ArrayCounts {
    uint32_t all = 0, chained = 0;
};

/// Counts arrays, stopping when there are enough chained ones to be sure of the form.
ArrayCounts count_arrays(const Btf &btf);

/// Information from an index of the base, to avoid reading all of the base.
struct KnownArrays {
    ArrayCounts counts;
    /// Visits the structs and unions of this name, and perhaps other types.
    std::function<void(std::string_view, const std::function<void(TypeId)> &)> for_structs;
};

/// If the arrays of `base` are flat, makes those of the objects flat and, if `hashed`, updates the
/// objects' stub hashes. Returns the number of changed objects.
size_t take_form_of_base(const Btf &base, const std::optional<KnownArrays> &known,
                         std::vector<Object> &objects, bool hashed, unsigned threads);

} // namespace btflink::merge
