// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Refuses command lines that would overwrite inputs, or one result with another, before anything is
// written.
#pragma once

#include "merge/input/open.h"
#include "merge/options.h"

namespace btflink::merge
{

/// Error: an output is an input, the image, the base, a response file, or the file to update; or
/// the file to update is the base.
Result<void> check_apart(const Options &options, const Inputs &inputs);

/// Error: trace and result are the same file. Call it again after the result is written, because
/// two names of one file can be recognised only when the file exists.
Result<void> check_trace_apart(const Options &options);

} // namespace btflink::merge
