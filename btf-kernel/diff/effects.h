// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a change breaks for BPF programs that were compiled with the old kernel's types.
#pragma once

#include "btf-kernel/diff/difference.h"

namespace btflink::kernel::diff
{

/// The effects of `change`, whose other fields are filled in. `is_struct_ops`: BPF programs can
/// implement this struct.
std::vector<Effect> find_effects(const Change &change, bool is_struct_ops);

} // namespace btflink::kernel::diff
