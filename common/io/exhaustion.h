// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Ends a program with a message when memory or threads run out.
#pragma once

namespace btflink
{

/// For programs: if memory runs out or a thread cannot be started, end the program with exit
/// status 1 and "PROGRAM: ERROR: ...", not by a signal. `program` must outlive the process.
void report_exhaustion(const char *program);

} // namespace btflink
