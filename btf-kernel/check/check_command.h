// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel check: options, and what is printed.
#pragma once

namespace btflink::kernel
{

/// Runs the command; returns the exit status. argv[0] is "check".
int check_command(int argc, char **argv);

} // namespace btflink::kernel
