// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The effects of a change on BPF programs that were compiled with the old kernel's types.
#pragma once

#include "btf-kernel/diff/difference.h"

namespace btflink::kernel::diff
{

/// All other fields of `change` must be set. `is_struct_ops`: BPF programs can implement the
/// struct.
std::vector<Effect> find_effects(const Change &change, bool is_struct_ops);

} // namespace btflink::kernel::diff
