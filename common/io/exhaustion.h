// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a program says when the system has no more memory or threads for it.
#pragma once

namespace btflink
{

/// For programs: if there is no more memory, or a thread cannot be started, that is the program's
/// end with exit status 1 and "PROGRAM: ERROR: ...", not by a signal. `program` must stay.
void report_exhaustion(const char *program);

} // namespace btflink
