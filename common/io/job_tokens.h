// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// make's jobserver: threads count as jobs of the make that runs this program.
// Source: GNU make's manual, "Sharing Job Slots with GNU make: POSIX Jobserver Interaction".
#pragma once

namespace btflink
{

/// Threads that a program may run at a time.
struct Threads {
    unsigned workers;    // 1 or more
    bool beside = false; // one more may run beside them
};

/// `wanted` workers and, if they are several and it is asked for, one thread beside them. Under a
/// make that has a jobserver: of these the first, and one more for each token that is free now.
/// Never waits for a token. Where make has a jobserver but does not let this program reach it: one
/// worker. Tokens are kept until give_back_job_tokens(); a signal that ends the program gives them
/// back, too. To be called once, before there are threads.
Threads take_job_tokens(unsigned wanted, bool beside);

/// Gives back what take_job_tokens() took, if anything. May be called at any time, in signal
/// handlers too, and again.
void give_back_job_tokens();

} // namespace btflink
