// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// int a[2][3] has two forms in BTF: an ARRAY of 2 ARRAYs of 3 (chained arrays) in object BTF and
// from pahole 1.32 on, and one ARRAY of 6 (a flat array) up to pahole 1.31. Types can equal those
// of a base only if they have the base's form.
#pragma once

#include "merge/base_index/base_index.h"
#include "merge/input/load_objects.h"

namespace btflink::merge
{

/// If the arrays of the base are flat, makes those of the objects flat and, if `hashed`, updates
/// the objects' stub hashes.
void take_form_of_base(const BaseIndex &base, std::vector<Object> &objects, bool hashed,
                       unsigned threads);

} // namespace btflink::merge
