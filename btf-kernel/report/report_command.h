// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel report: options, and what is written.
#pragma once

namespace btflink::kernel
{

/// Runs the command; returns the exit status. argv[0] is "report".
int report_command(int argc, char **argv);

} // namespace btflink::kernel
