#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that both DWARF readers read the same from objects: the SOURCEs, compiled in many ways. Also fails if a
compiler refuses a SOURCE that it should compile, because then no object of this SOURCE would be compared.

usage: readers-test.py COMPARE_READERS SOURCE...
"""
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from helpers.directives import directives, values  # noqa: E402
from helpers.usage import check_arguments  # noqa: E402

COMPILERS = ['gcc', 'clang-14', 'clang-19']
# Compilers for other machines, used only with the first and the last of WAYS. The machines of CROSS differ from x86-64
# in word size, byte order or form of relocations. The compilers of OTHERS compile only FEW of the sources.
CROSS = ['arm-linux-gnueabihf-gcc', 'powerpc-linux-gnu-gcc', 'riscv64-linux-gnu-gcc', 's390x-linux-gnu-gcc',
         'mips64el-linux-gnuabi64-gcc']
OTHERS = ['gcc -m32', 'clang-19 --target=riscv64-linux-gnu', 'aarch64-linux-gnu-gcc', 'powerpc64le-linux-gnu-gcc',
          'mipsel-linux-gnu-gcc', 'clang-19 --target=mips64-linux-gnuabi64',
          'clang-19 --target=loongarch64-linux-gnu']
FEW = {'composites.c', 'functions.c'}
WAYS = ['-gdwarf-4', '-gdwarf-5', '-gdwarf-5 -O2', '-gdwarf-5 -O2 -gz']
ELSEWHERE = {'base-types.c', 'variables.c'}  # may be refused for other machines, which lack __int128 or rsp


def concerns(compiler, source):
    """True if the source is meant for the family of the compiler, gcc or clang."""
    families = values(directives(source), 'compilers')
    return not families or ('clang' if 'clang' in compiler else 'gcc') in families


def compile_all(compiler, sources, folder):
    """Returns the objects, and the sources that were not compiled although they concern the compiler."""
    objects, refused = [], set()
    for way, source in itertools.product(WAYS, sources):
        if compiler not in COMPILERS and way not in (WAYS[0], WAYS[-1]):
            continue
        if compiler in OTHERS and os.path.basename(source) not in FEW:
            continue
        obj = os.path.join(folder, f'{len(os.listdir(folder))}-{os.path.basename(source)}.o')
        done = subprocess.run([*compiler.split(), '-w', '-c', *way.split(), '-o', obj, source],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            objects.append(obj)
        elif concerns(compiler, source):
            refused.add(os.path.basename(source))
    return objects, refused


def main():
    check_arguments(__doc__, 2)
    tool, *sources = sys.argv[1:]
    compilers = [c for c in COMPILERS + CROSS + OTHERS if shutil.which(c.split()[0])]
    if not compilers:
        print('skipped: none of ' + ', '.join(COMPILERS + CROSS + OTHERS) + ' is installed')
        sys.exit(77)
    for compiler in COMPILERS + CROSS + OTHERS:
        if compiler not in compilers:
            print(f'SKIP {compiler}: not installed')
    objects, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            made, refused = compile_all(compiler, sources, folder)
            is_bad = not made or bool(refused - (set() if compiler in COMPILERS else ELSEWHERE))
            print(f'{"FAIL" if is_bad else "ok  "} {compiler}: {len(made)} objects'
                  + (', refuses ' + ', '.join(sorted(refused)) if refused else ''))
            objects += made
            failed |= is_bad
        failed |= subprocess.run([tool, *objects], check=False).returncode != 0
    sys.exit(failed)


if __name__ == '__main__':
    main()
