#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Compiles the sources of the emit suite in many ways; all objects go to compare-readers.

usage: readers-test.py COMPARE_READERS SOURCE...
"""
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

COMPILERS = ['gcc', 'clang-14', 'clang-19', 'aarch64-linux-gnu-gcc']
WAYS = ['-gdwarf-4', '-gdwarf-5', '-gdwarf-5 -O2', '-gdwarf-5 -O2 -gz']


def main():
    tool, *sources = sys.argv[1:]
    compilers = [c for c in COMPILERS if shutil.which(c)]
    if not compilers:
        print('skipped: none of ' + ', '.join(COMPILERS) + ' is installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for compiler, way, source in itertools.product(compilers, WAYS, sources):
            number = len(objects)
            obj = os.path.join(folder, f'{number}-{os.path.basename(source)}.o')
            done = subprocess.run([compiler, '-w', '-c', *way.split(), '-o', obj, source],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0: # some are for one compiler only
                objects.append(obj)
        status = subprocess.run([tool, *objects], check=False).returncode
        print(f'{len(objects)} objects by {", ".join(compilers)}')
        sys.exit(status if len(objects) > len(sources) else 1)


if __name__ == '__main__':
    main()
