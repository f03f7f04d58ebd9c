# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What a script answers if it is started with too few arguments, or with --help."""
import sys


def check_arguments(text, least):
    """Prints `text` and exits: with status 0 if the first argument is --help or -h, with status 2 for fewer than
    `least` arguments. Otherwise returns."""
    if sys.argv[1:2] in (['--help'], ['-h']):
        print(text.strip())
        sys.exit(0)
    if len(sys.argv) <= least:
        print(text.strip(), file=sys.stderr)
        sys.exit(2)
