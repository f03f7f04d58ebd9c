// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes what was made.
#pragma once

#include "merge/finish_result.h"

namespace btflink::merge
{

/// Returns how many bytes were written of the result.
Result<uint64_t> write_result(const Options &options, const MergeResult &result, const Read &read);

/// For report.nothing, in place of a result: says so. pahole takes that for no error either. A file
/// that was asked for is not made, and one of an earlier run is not left to be taken for this
/// one's.
Result<void> end_without_btf(const Options &options, Report &report);

} // namespace btflink::merge
