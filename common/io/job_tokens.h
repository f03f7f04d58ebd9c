// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// make's jobserver: threads count as jobs of the make that runs this program.
// Source: GNU make's manual, "Sharing Job Slots with GNU make: POSIX Jobserver Interaction".
#pragma once

namespace btflink
{

/// Returns the number of threads that may run, up to `wanted`. Under a make with a jobserver, this
/// is one, plus one for each token that is free now; one if the jobserver cannot be reached. Never
/// waits. Tokens are kept until give_back_job_tokens(), or until a signal ends the program. Call it
/// once, before starting threads.
unsigned take_job_tokens(unsigned wanted);

/// Returns all tokens. May be called at any time, repeatedly, and in signal handlers.
void give_back_job_tokens();

} // namespace btflink
