// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The kernel's rules for a blob as a whole.
#pragma once

#include "common/kernel_forms.h"

namespace btflink
{

/// The first violation; the parameters are those of check_btf().
Result<void> check_btf_header(Bytes blob, const Btf &btf, const Where &where,
                              std::optional<KernelVersion> kernel);

} // namespace btflink
