// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The commands of btf-kernel.
#pragma once

namespace btflink::kernel
{

// Each command parses its own options and returns the exit status. argv[0] is the command's name.
int check_command(int argc, char **argv);
int diff_command(int argc, char **argv);
int encode_command(int argc, char **argv);
int report_command(int argc, char **argv);

} // namespace btflink::kernel
