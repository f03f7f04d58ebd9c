#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Compiles a C file with each compiler, runs btf-emit, and compares the BTF with the directives in the file.

usage: run-case.py BTF-EMIT BTF-LINES CASE.c

Directives, one per line, anywhere in the C file:
  // flags: -O2                 compiler flags (added up)
  // emit: --features=+global_var   btf-emit options (added up)
  // compilers: gcc clang       only these keys of COMPILERS below (default: gcc clang)
  // said: REGEX                pattern of all messages of the first run of btf-emit (default: none)
  // expect: count: reject:     see helpers/directives.py; expect-gcc: and the like for gcc or clang only
Every case runs with DWARF 4 and 5. btf-emit runs twice; the second run must not change the file. A compiler that is not
installed is named in a line SKIP, which tests/run-all repeats at its end. If no compiler of the case is installed, the
test is skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from helpers.compilers import clangs, gccs_with_tags  # noqa: E402
from helpers.directives import check, directives, values  # noqa: E402
from helpers.usage import check_arguments  # noqa: E402

COMPILERS = {
    'gcc': ['gcc'],
    'clang': clangs(),
    'gcc16': gccs_with_tags(),
    'cross64': ['aarch64-linux-gnu-gcc', 'riscv64-linux-gnu-gcc', 's390x-linux-gnu-gcc',
                'mips64el-linux-gnuabi64-gcc', 'loongarch64-linux-gnu-gcc',
                # Without this option, long double is a name for _Float128 from gcc 16 on.
                'powerpc64le-linux-gnu-gcc -mabi=ibmlongdouble'],
    'riscv64-clang': ['clang-19 --target=riscv64-linux-gnu'],
    's390x': ['s390x-linux-gnu-gcc'],
}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    check_arguments(__doc__, 3)
    emit, btf_lines, case = sys.argv[1:4]
    wanted = directives(case)
    families = values(wanted, 'compilers') or ['gcc', 'clang']
    failed = ran = 0
    with tempfile.TemporaryDirectory() as folder:
        obj = os.path.join(folder, 'case.o')
        for family in families:
            if not COMPILERS[family]:
                print(f'SKIP {family}: none is installed')
            for compiler in COMPILERS[family]:
                if not shutil.which(compiler.split()[0]):
                    print(f'SKIP {compiler}: not installed')
                    continue
                for dwarf in ('-gdwarf-4', '-gdwarf-5'):
                    # gcc 15 and newer default to C23, where _Bool is called bool
                    flags = ['-std=gnu17', '-w', '-c', dwarf, '-o', obj] + values(wanted, 'flags')
                    problems = one(emit, btf_lines, obj, wanted, family,
                                   [*compiler.split(), case] + flags, values(wanted, 'emit'))
                    ran += 1
                    failed += bool(problems)
                    print(('FAIL' if problems else 'ok  '), compiler, dwarf)
                    for problem in problems:
                        print('    ', problem)
    if not ran:
        print('skipped: none of the compilers of this case is installed')
        sys.exit(77)
    sys.exit(1 if failed else 0)


def one(emit, btf_lines, obj, wanted, family, compile_command, options):
    done = run(compile_command)
    if done.returncode:
        return ['does not compile: ' + done.stderr]
    done = run([emit, obj] + options)
    said = ''.join(text for key, text in wanted if key == 'said')
    if done.returncode or not re.fullmatch(said, done.stderr.strip()):
        return [f'btf-emit: exit {done.returncode}: {done.stderr}']
    with open(obj, 'rb') as f:
        once = f.read()
    again = run([emit, obj] + options)
    with open(obj, 'rb') as f:
        twice = f.read()
    problems = [] if once == twice else ['emitting twice gives other bytes than once']
    if again.returncode:
        problems.append(f'second btf-emit: exit {again.returncode}: {again.stderr}')
    done = run([btf_lines, obj])
    if done.returncode:
        return problems + [f'btf-lines: exit {done.returncode}: {done.stderr}']
    found = check(done.stdout.splitlines(), wanted,
                  ['clang' if 'clang' in family else 'gcc'])
    return problems + found + (done.stdout.splitlines() if found else [])


if __name__ == '__main__':
    main()
