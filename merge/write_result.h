// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes what was made.
#pragma once

#include "merge/finish_result.h"

namespace btflink::merge
{

/// Returns how many bytes were written of the result.
Result<uint64_t> write_result(const Options &options, const MergeResult &result, const Read &read);

} // namespace btflink::merge
