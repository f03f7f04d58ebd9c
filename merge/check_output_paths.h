// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A run that writes over what it reads, or one result over another, is a mistake on the command
// line: it is told before anything is written.
#pragma once

#include "merge/input/open.h"
#include "merge/merge.h"

namespace btflink::merge
{

/// Error: a file that gets a result of its own is an input, the image, the base, a response file of
/// the command line, or the file to be updated; or the file to be updated is the base.
Result<void> check_apart(const Options &options, const Inputs &inputs);

/// Error: trace and result have one file. To be asked once more when the result is written: before,
/// two names for one file cannot be known as such.
Result<void> check_trace_apart(const Options &options);

} // namespace btflink::merge
