// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Refuses command lines by which a run would overwrite its inputs, or one result with another,
// before anything is written.
#pragma once

#include "merge/input/open.h"
#include "merge/options.h"

namespace btflink::merge
{

/// Error: a file that gets a result of its own is an input, the image, the base, a response file of
/// the command line, or the file to be updated; or the file to be updated is the base.
Result<void> check_apart(const Options &options, const Inputs &inputs);

/// Error: trace and result are the same file. Call it again when the result is written: two names
/// for one file cannot be recognised before the file exists.
Result<void> check_trace_apart(const Options &options);

} // namespace btflink::merge
