#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What debug information costs a kernel's compile, and whether the options that btf-cc adds with
--lean-debug change anything but its price. Not a test.

usage: lean_debug.py --tools=BUILD --kernel=DIR --scratch=DIR [--every=N] [--flags=NAME=FLAGS]...

BUILD: a meson build folder. KERNEL: Kbuild's output folder of a build, whose saved commands are run
again, in random order, with objects going to SCRATCH: without -g, with it, with the options that
btf-cc adds (`lean`), and with those of each --flags. --every=20 takes every 20th object.

Prints processor time and size of each way. For each way with debug information, against plain -g:
objects that differ when stripped of it (there must be none: exit status 1), and functions of their
object BTF that differ. Interrupted, it prints what it has.
"""
import argparse
import collections
import datetime
import os
import pathlib
import random
import re
import shlex
import statistics
import subprocess
import sys

from measure import processor

COMPILER = re.compile(r'(.*-)?(gcc|clang)(-[0-9.]+)?')


def commands(kernel):
    """object -> (compiler, its arguments), by Kbuild's own records; C only."""
    for record in sorted(kernel.rglob('.*.o.cmd')):
        with open(record, encoding='utf-8', errors='replace') as file:
            found = re.match(r'(?:savedcmd|cmd)_(\S+) := (.*)', file.readline())
        if not found or ' -D__KERNEL__ ' not in found[2] or not found[2].rstrip().endswith('.c'):
            # What follows the compile, such as objtool, is behind a semicolon.
            if not found or ' -D__KERNEL__ ' not in found[2] or '.c ;' not in found[2]:
                continue
        text = found[2].split(' ; ')[0].replace('$(pound)', '#').replace('$$', '$')
        words = shlex.split(text)
        at = next((i for i, word in enumerate(words)
                   if COMPILER.fullmatch(os.path.basename(word))), None)
        if at is not None and '-g' in words:
            yield found[1], (words[at], words[at + 1:])


def added_options(options, compiler):
    """Asked of btf-cc, with a compiler of that name that only writes them down."""
    fake, said = options.scratch / os.path.basename(compiler), options.scratch / 'options'
    fake.write_text(f'#!/bin/sh\necho "$@" >{said}\nexit 1\n', encoding='ascii')
    fake.chmod(0o755)
    subprocess.run([options.tools / 'kbuild-integration/btf-cc', '--strip-dwarf', '--lean-debug', fake,
                    '-g', '-c', 'x.c'], env={**os.environ, 'objtree': str(options.kernel)}, check=False)
    return said.read_text(encoding='ascii').split(' -g ')[0].split()


def compile_once(options, compiler, words, name, way, flags):
    """Seconds of user+sys, and the object."""
    target = options.scratch / way / name
    target.parent.mkdir(parents=True, exist_ok=True)
    words = [word for word in words if not word.startswith(('-Wp,-MMD', '-Wp,-MD'))]
    words[words.index('-o') + 1] = str(target)
    if way == 'none':
        words = [word for word in words if word != '-g' and not word.startswith('-gdwarf')]
    before = os.times()
    subprocess.run([compiler, *flags, *words], cwd=options.kernel, check=True,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user + after.children_system
            - before.children_system), target


def stripped(path):
    copy = path.with_suffix('.stripped')
    subprocess.run(['objcopy', '--strip-debug', path, copy], check=True)
    content = copy.read_bytes()
    copy.unlink()
    return content


def functions(options, path):
    """Object BTF as lines: types by number, instances of functions with their facts."""
    copy = path.with_suffix('.btf')
    subprocess.run([options.tools / 'emit/btf-emit', '--address-pool', '-o', copy, path],
                   check=True)
    lines = []
    for form in (['raw'], ['--trailer']):
        lines += subprocess.run([options.tools / 'tests/tools/btf-dump', *form, copy], text=True,
                                check=True, capture_output=True).stdout.splitlines()
    copy.unlink()
    return [line for line in lines if 'object_id' not in line]


def compare(options, made, way, name, found):
    if stripped(made['-g']) != stripped(made[way]):
        found['code'].append(f'{way}: {name}')
    want, got = functions(options, made['-g']), functions(options, made[way])
    different = set(want) ^ set(got)
    found['btf'] += [f'{way}: {name}: {line}' for line in sorted(different)]
    if want != got and not different:
        found['btf'].append(f'{way}: {name}: another order')


def report(times, sizes, found):
    count = len(times['none'])
    if not count:
        return
    print(f'{datetime.date.today()}; {processor()}; {count} objects\n')
    print('| | user+sys | of none | median of none | objects |\n|---|---|---|---|---|')
    for way, seconds in times.items():
        ratios = [a / b for a, b in zip(seconds, times['none'])]
        print(f'| {way} | {sum(seconds):.1f} s | {sum(seconds) / sum(times["none"]) - 1:+.1%} '
              f'| {statistics.median(ratios) - 1:+.1%} | {sum(sizes[way]) / 1e6:.1f} MB |')
    print(f'\nobjects whose code differs: {len(found["code"])}', *found['code'], sep='\n  ')
    print(f'lines of BTF that differ: {len(found["btf"])}', *found['btf'], sep='\n  ')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    folder = lambda text: pathlib.Path(text).resolve()
    for name in ('tools', 'kernel', 'scratch'):
        parser.add_argument(f'--{name}', required=True, type=folder)
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--flags', action='append', default=[], metavar='NAME=FLAGS')
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    taken = list(commands(options.kernel))
    random.Random(1).shuffle(taken)
    taken = taken[::options.every] or sys.exit(f'lean_debug.py: no commands in {options.kernel}')
    ways = {'none': [], '-g': [], 'lean': added_options(options, taken[0][1][0])}
    ways |= {name: flags.split() for name, flags in (item.split('=', 1) for item in options.flags)}
    print('lean:', *ways['lean'])
    times, sizes = collections.defaultdict(list), collections.defaultdict(list)
    found = {'code': [], 'btf': []}
    try:
        for name, (compiler, words) in taken:
            order = list(ways)
            random.shuffle(order)
            made = {way: compile_once(options, compiler, words, name, way, ways[way])
                    for way in order}
            for way in ways:
                times[way].append(made[way][0])
                sizes[way].append(made[way][1].stat().st_size)
            files = {way: path for way, (_, path) in made.items()}
            for way in list(ways)[2:]:
                compare(options, files, way, name, found)
            for path in files.values():
                path.unlink()
    except KeyboardInterrupt:
        pass
    report(times, sizes, found)
    sys.exit(bool(found['code']))


if __name__ == '__main__':
    main()
