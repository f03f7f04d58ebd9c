#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Counts the instructions of btf-emit and btf-merge. Fails if a count is more than 5 % above the stored one.

usage: count.py --emit=PROGRAM --merge=PROGRAM --build=TEXT [--renew]

The input is objects that gcc makes from many-types.c and tests/emit/cases. Unlike times, instruction
counts are repeatable, but only for the same programs and objects. Next to the totals, the file `totals`
therefore states how the programs were built (TEXT), the architecture and gcc of the objects, the C library
and valgrind. If any of these is different, or valgrind is not installed, the test is skipped. --renew, or
`ninja -C BUILD renew-counts`, writes new totals. On x86, the counts do not depend on the model of the
processor, because the C library is told to use the same functions on all models.
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOTALS = HERE / 'totals'
ROOT = HERE.parents[1]
SOURCES = [HERE / 'many-types.c', *sorted((ROOT / 'tests/emit/cases').glob('*.c'))]
GROWTH = 1.05
# Switches off the functions that glibc on x86 would choose depending on the processor, and the filling of
# allocated memory, which meson switches on for tests.
SAME_EVERYWHERE = {'MALLOC_PERTURB_': '0',
                   'GLIBC_TUNABLES': 'glibc.cpu.hwcaps=-AVX2,-AVX,-AVX512F,-AVX512VL,-AVX512BW,'
                                     '-BMI2,-ERMS,-FSRM,-RTM,-MOVBE,-LZCNT,-SSE4_1,-SSE4_2'}


def skip(reason):
    print('skipped: ' + reason)
    sys.exit(77)


def output(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more).stdout


def made_with(build):
    """Returns what must be the same as in the file `totals` for the counts to be comparable."""
    compiler = output('gcc', '--version').splitlines()[0]
    library = ' '.join(platform.libc_ver())
    return {'programs': build, 'objects': f'{platform.machine()}, {compiler}', 'libc': library,
            'valgrind': output('valgrind', '--version').strip()}


def instructions(folder, *command):
    text = output('valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *command,
                  cwd=folder, env={**os.environ, **SAME_EVERYWHERE})
    return int(re.search(r'Collected : (\d+)', text)[1])


def count(options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in SOURCES:
            # Relative names in the DWARF, so that the counts do not depend on the folder.
            output('gcc', '-g', '-gdwarf-5', '-O2', '-w', '-fdebug-prefix-map=' + str(ROOT) + '=.',
                   f'-fdebug-prefix-map={folder}=.', '-c', source, '-o',
                   folder / (source.stem + '.o'), cwd=folder)
        objects = [source.stem + '.o' for source in SOURCES]
        emitted = sum(instructions(folder, options.emit, '--address-pool', name)
                      for name in objects)
        # The largest object twice, so that btf-merge finds many duplicate types.
        shutil.copy(folder / objects[0], folder / 'again.o')
        merged = instructions(folder, options.merge, '--threads=1', '-o', 'all.btf', *objects,
                              'again.o')
    return {'btf-emit': emitted, 'btf-merge': merged}


def read_totals():
    lines = [line.split(': ', 1) for line in TOTALS.read_text().splitlines() if ': ' in line]
    return {name.strip(): value.strip() for name, value in lines}


def renew(options):
    found = {**made_with(options.build), **count(options)}
    TOTALS.write_text(''.join(f'{name}: {value}\n' for name, value in found.items()))
    print(TOTALS.read_text(), end='')


def check(options):
    if not shutil.which('valgrind'):
        skip('valgrind is not installed')
    kept = read_totals()
    for what, now in made_with(options.build).items():
        if kept.get(what) != now:
            skip(f'the totals are of {what} "{kept.get(what)}", here is "{now}"')
    failed = False
    for program, now in count(options).items():
        before = int(kept[program])
        verdict = 'ok'
        if now > before * GROWTH:
            verdict, failed = 'FAIL: more than 5 % above it', True
        print(f'{program}: {now} instructions, total kept: {before} ({now / before - 1:+.1%}): '
              f'{verdict}')
    if failed:
        print('If this is intended, run `ninja -C BUILD renew-counts`, and give the reason in the commit.')
    sys.exit(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--emit', required=True, type=os.path.abspath)
    parser.add_argument('--merge', required=True, type=os.path.abspath)
    parser.add_argument('--build', required=True)
    parser.add_argument('--renew', action='store_true')
    options = parser.parse_args()
    (renew if options.renew else check)(options)


if __name__ == '__main__':
    main()
