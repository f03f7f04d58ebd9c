#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Compiles the sources of the emit suite in many ways, and runs compare-readers on all objects.

usage: readers-test.py COMPARE_READERS SOURCE...
"""
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

COMPILERS = ['gcc', 'clang-14', 'clang-19']
# Compilers for other machines, used in only some ways.
CROSS = ['gcc -m32', 'clang-19 --target=riscv64-linux-gnu', 'aarch64-linux-gnu-gcc',
         'arm-linux-gnueabihf-gcc', 'powerpc64le-linux-gnu-gcc', 'riscv64-linux-gnu-gcc',
         's390x-linux-gnu-gcc', 'mips64el-linux-gnuabi64-gcc', 'mipsel-linux-gnu-gcc',
         'clang-19 --target=mips64-linux-gnuabi64', 'clang-19 --target=loongarch64-linux-gnu']
WAYS = ['-gdwarf-4', '-gdwarf-5', '-gdwarf-5 -O2', '-gdwarf-5 -O2 -gz']


def main():
    tool, *sources = sys.argv[1:]
    compilers = [c for c in COMPILERS + CROSS if shutil.which(c.split()[0])]
    if not compilers:
        print('skipped: none of ' + ', '.join(COMPILERS + CROSS) + ' is installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for compiler, way, source in itertools.product(compilers, WAYS, sources):
            if compiler in CROSS and way not in (WAYS[0], WAYS[-1]):
                continue
            number = len(objects)
            obj = os.path.join(folder, f'{number}-{os.path.basename(source)}.o')
            done = subprocess.run([*compiler.split(), '-w', '-c', *way.split(), '-o', obj, source],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0: # some sources are for one compiler only
                objects.append(obj)
        status = subprocess.run([tool, *objects], check=False).returncode
        print(f'{len(objects)} objects by {", ".join(compilers)}')
        sys.exit(status if len(objects) > len(sources) else 1)


if __name__ == '__main__':
    main()
