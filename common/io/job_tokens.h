// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// make's jobserver: threads count as jobs of the make that runs this program.
// Source: GNU make's manual, "Sharing Job Slots with GNU make: POSIX Jobserver Interaction".
#pragma once

namespace btflink
{

/// How many threads may run, up to `wanted`. Under a make with a jobserver only the first one is
/// free; each other one needs a token that is free now. Never waits for a token. If make has a
/// jobserver but this program cannot reach it, one. Tokens are kept until give_back_job_tokens(); a
/// signal that ends the program gives them back, too. Call it once, before there are threads.
unsigned take_job_tokens(unsigned wanted);

/// Gives back what take_job_tokens() took, if anything. May be called at any time, repeatedly, and
/// in signal handlers.
void give_back_job_tokens();

} // namespace btflink
