#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that oracle-test.py fails if the plugin makes gcc fail, and does not mistake this for a source that gcc
refuses.

usage: crash-test.py FOLDER_OF_CASES"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../..'))
from helpers.usage import check_arguments  # noqa: E402

# A gcc that fails if it has to run the plugin.
GCC = '#!/bin/sh\ncase " $*" in *" -fplugin="*) exit 1 ;; esac\nexec gcc "$@"\n'


def main():
    check_arguments(__doc__, 1)
    with tempfile.TemporaryDirectory() as folder:
        gcc = os.path.join(folder, 'gcc')
        with open(gcc, 'w', opener=lambda path, flags: os.open(path, flags, 0o755), encoding='ascii') as file:
            file.write(GCC)
        done = subprocess.run([sys.executable, os.path.join(HERE, 'oracle-test.py'), gcc, 'plugin.so', 'btf-emit',
                               sys.argv[1]], capture_output=True, text=True, check=False)
    counts = re.search(r'^(\d+) objects compared, (\d+) differ$', done.stdout, re.M)
    print(counts and counts[0], done.stderr)
    sys.exit(not (counts and counts[1] == counts[2] != '0' and done.returncode == 1))


main()
