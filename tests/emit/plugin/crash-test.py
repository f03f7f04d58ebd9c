#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that oracle-test.py fails if gcc fails with the plugin, and does not take this for a source that gcc refuses.

usage: crash-test.py FOLDER_OF_CASES"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../..'))
from helpers.usage import check_arguments  # noqa: E402


def main():
    check_arguments(__doc__, 1)
    # gcc fails, because there is no such plugin.
    done = subprocess.run([sys.executable, os.path.join(HERE, 'oracle-test.py'), 'gcc', '/nowhere/plugin.so',
                           'btf-emit', sys.argv[1]], capture_output=True, text=True, check=False)
    counts = re.search(r'^(\d+) objects compared, (\d+) differ$', done.stdout, re.M)
    print(counts and counts[0], done.stderr)
    sys.exit(not (counts and counts[1] == counts[2] != '0' and done.returncode == 1))


main()
