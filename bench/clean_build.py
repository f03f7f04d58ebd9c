#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures what BTF adds to a clean build of a kernel with its modules. Not a test.

usage: clean_build.py --tools=BUILD --source=LINUX --scratch=DIR [--pahole=PATH] [--config=FILE]
                      [--jobs=N] [--keep] [WAY...]

BUILD is a meson build folder. LINUX is a clean source tree; it is not changed. FILE is a kernel
configuration; the default is the defconfig for the architecture of this machine. CONFIG_BPF_SYSCALL is
added, and either CONFIG_DEBUG_INFO_NONE, or DWARF 5 and BTF. WAY is one of these; the default is all of
them, but stock only if --pahole is given:
    none       no debug information, no BTF
    stock      pahole (PATH) makes the BTF
    kept       btf-cc and btf-pahole make the BTF, DWARF is kept
    stripped   the same, DWARF is dropped after each compile
    plugin     btf-cc --plugin: gcc makes the BTF with btflink's plugin, without DWARF
Each way is built once, in DIR/WAY. An existing folder is deleted first. After the build the folder is
deleted, unless --keep is given. The result replaces that of the same way in DIR/results.json. At the end
all results in this file are printed, so the ways can be built in several runs. Compare only results of the
same machine under the same load.

Columns: wall is in seconds. user+sys is the processor time of all processes. written is what all
processes wrote to the file system (write_bytes of /proc/PID/io, which counts whole pages). tree is the
size of the folder on disk after the build. BTF is the beginning of the SHA-256 of vmlinux's BTF.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'tests/kernel'))
from kernel_tree import FIXED
from measure import processor

WAYS = {'none': None, 'stock': None, 'kept': 'gcc', 'stripped': '--strip-dwarf gcc',
        'plugin': '--plugin gcc'}
# Every build sets BPF_SYSCALL: CONFIG_DEBUG_INFO_BTF depends on it, and not all defconfigs set it.
BTF = '-e BPF_SYSCALL -d DEBUG_INFO_NONE -e DEBUG_INFO_DWARF5 -e DEBUG_INFO_BTF'.split()
NO_BTF = '-e BPF_SYSCALL -d DEBUG_INFO_DWARF5 -d DEBUG_INFO_BTF -e DEBUG_INFO_NONE'.split()
COLUMNS = ['wall', 'user+sys', 'written', 'tree', 'BTF']


def fail(text):
    sys.exit(f'clean_build.py: ERROR: {text}')


def run(argv, **options):
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode:
        fail(f'{" ".join(map(str, argv))}: exit status {done.returncode}\n{done.stdout[-2000:]}')
    return done.stdout


def written():
    """Bytes written by this process and by all children that have ended."""
    text = pathlib.Path('/proc/self/io').read_text(encoding='ascii')
    return int(re.search('^write_bytes: ([0-9]+)', text, re.M)[1])


def digest_of_btf(folder):
    run(['objcopy', '-O', 'binary', '-j', '.BTF', '--set-section-flags', '.BTF=alloc', 'vmlinux',
         'digest'], cwd=folder)
    text = hashlib.sha256((folder / 'digest').read_bytes()).hexdigest()[:12]
    (folder / 'digest').unlink()
    return text


def build(options, way):
    folder = options.scratch / way
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make = ['make', '-s', '-C', options.source, f'O={folder}', f'-j{options.jobs}', *FIXED]
    if WAYS[way]:
        bin_ = options.tools / 'kbuild-integration'
        make += [f'CC={bin_ / "btf-cc"} {WAYS[way]}', f'PAHOLE={bin_ / "btf-pahole"}']
    elif way == 'stock':
        make += [f'PAHOLE={options.pahole}']
    if options.config:
        shutil.copy(options.config, folder / '.config')
    else:
        run(make + ['defconfig'])
    run([options.source / 'scripts/config', '--file', folder / '.config',
         *(NO_BTF if way == 'none' else BTF)])
    run(make + ['olddefconfig'])
    has_btf = 'CONFIG_DEBUG_INFO_BTF=y' in (folder / '.config').read_text().splitlines()
    if has_btf != (way != 'none'):
        fail(f'{folder}/.config: CONFIG_DEBUG_INFO_BTF is {"" if has_btf else "not "}set')

    wrote, before, start = written(), os.times(), time.monotonic()
    run(make)
    wall, after = time.monotonic() - start, os.times()
    wrote = written() - wrote

    found = {'wall': f'{wall:.0f} s',
             'user+sys': f'{after.children_user - before.children_user:.0f} + '
                         f'{after.children_system - before.children_system:.0f} s',
             'written': f'{wrote / 1e9:.2f} GB',
             'tree': f'{int(run(["du", "-sB1", folder]).split()[0]) / 1e9:.2f} GB',
             'BTF': '-' if way == 'none' else digest_of_btf(folder)}
    if not options.keep:
        shutil.rmtree(folder)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    for name in ('tools', 'source', 'scratch'):
        parser.add_argument(f'--{name}', type=pathlib.Path, required=True)
    parser.add_argument('--pahole')
    parser.add_argument('--config', type=pathlib.Path)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('ways', nargs='*', metavar='WAY')
    options = parser.parse_args()
    for name in ('tools', 'source', 'scratch'):
        setattr(options, name, getattr(options, name).resolve())
    ways = options.ways or [way for way in WAYS if way != 'stock' or options.pahole]
    if unknown := set(ways) - set(WAYS):
        parser.error(f'unknown: {", ".join(unknown)}; known are {", ".join(WAYS)}')
    if 'stock' in ways and not options.pahole:
        parser.error('stock requires --pahole')

    options.scratch.mkdir(parents=True, exist_ok=True)
    results = options.scratch / 'results.json'
    for way in ways:
        found = build(options, way)
        known = json.loads(results.read_text()) if results.exists() else {}
        results.write_text(json.dumps(known | {way: found}, indent=1))
    known = json.loads(results.read_text())
    print(f'{processor()}, {options.jobs} jobs')
    print('| | ' + ' | '.join(COLUMNS) + ' |\n' + '|---' * (len(COLUMNS) + 1) + '|')
    for way in WAYS:
        if way in known:
            print(f'| {way} | ' + ' | '.join(known[way][column] for column in COLUMNS) + ' |')


if __name__ == '__main__':
    main()
