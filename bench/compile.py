#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures what debug information and BTF add to the compiles of a kernel. Not a test.

usage: compile.py --tools=BUILD --kernel=DIR --scratch=DIR [--every=N]

--tools is a meson build folder. --kernel is the output folder of a finished kernel build with debug
information. The commands that Kbuild saved there and that compile C files of the kernel with -g are run
again, with objects written to --scratch. Their order is arbitrary, but the same in each run. Each command
is run in these ways:
    none        the compiler without -g and -gdwarf*
    -g          the compiler with -g
    stripped    btf-cc --strip-dwarf
    plugin      btf-cc --plugin, if there is a plugin for the compiler
--every=20 takes only every 20th command.

Prints for each way the processor time of all its processes, also relative to `none`, and the size of the
objects. If interrupted, prints the results so far.
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
    """Yields (object, (compiler, arguments)) from each of Kbuild's .cmd files whose command compiles a C
    file of the kernel (-D__KERNEL__) with -g."""
    for record in sorted(kernel.rglob('.*.o.cmd')):
        with open(record, encoding='utf-8', errors='replace') as file:
            found = re.match(r'(?:savedcmd|cmd)_(\S+) := (.*)', file.readline())
        if not found or ' -D__KERNEL__ ' not in found[2]:
            continue
        # A semicolon separates later commands, such as objtool, from the compile.
        text = re.split(r' +; ', found[2])[0].rstrip()
        if not text.endswith('.c'):
            continue
        text = text.replace('$(pound)', '#').replace('$$', '$')
        words = shlex.split(text)
        at = next((i for i, word in enumerate(words)
                   if COMPILER.fullmatch(os.path.basename(word))), None)
        if at is not None and '-g' in words:
            yield found[1], (words[at], words[at + 1:])


def compile_once(options, compiler, words, name, way, prefix):
    """Returns seconds of user+sys, and the object's path."""
    target = options.scratch / way / name.lstrip('/')
    target.parent.mkdir(parents=True, exist_ok=True)
    words = [word for word in words if not word.startswith(('-Wp,-MMD', '-Wp,-MD'))]
    words[words.index('-o') + 1] = str(target)
    if way == 'none':
        words = [word for word in words if word != '-g' and not word.startswith('-gdwarf')]
    before = os.times()
    subprocess.run([*prefix, compiler, *words],
                   cwd=options.kernel, check=True, stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, 'objtree': str(options.kernel)})
    after = os.times()
    return (after.children_user - before.children_user + after.children_system
            - before.children_system), target


def has_plugin(options, compiler):
    """True if btf-cc finds a plugin for the compiler. The settings that btf-cc prints then have the plugin's
    hash (plugin=HASH) in addition to the setting plugin=1."""
    done = subprocess.run([options.tools / 'kbuild-integration/btf-cc', '--plugin', '--settings', compiler],
                          capture_output=True, text=True, check=True)
    return done.stdout.count(' plugin=') == 2


def report(times, sizes):
    count = len(times['none'])
    if not count:
        return
    print(f'{datetime.date.today()}; {processor()}; {count} objects\n')
    print('| | user+sys | more than none | median | objects |\n|---|---|---|---|---|')
    for way, seconds in times.items():
        ratios = [a / b for a, b in zip(seconds, times['none'])]
        print(f'| {way} | {sum(seconds):.1f} s | {sum(seconds) / sum(times["none"]) - 1:+.1%} '
              f'| {statistics.median(ratios) - 1:+.1%} | {sum(sizes[way]) / 1e6:.1f} MB |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    folder = lambda text: pathlib.Path(text).resolve()
    for name in ('tools', 'kernel', 'scratch'):
        parser.add_argument(f'--{name}', required=True, type=folder)
    parser.add_argument('--every', type=int, default=1)
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    taken = list(commands(options.kernel))
    random.Random(1).shuffle(taken)
    taken = taken[::options.every] or sys.exit(f'compile.py: no commands in {options.kernel}')
    btf_cc = options.tools / 'kbuild-integration/btf-cc'
    ways = {'none': [], '-g': [], 'stripped': [btf_cc, '--strip-dwarf']}
    if has_plugin(options, taken[0][1][0]):
        ways['plugin'] = [btf_cc, '--plugin']
    times, sizes = collections.defaultdict(list), collections.defaultdict(list)
    try:
        for name, (compiler, words) in taken:
            order = list(ways)
            random.shuffle(order)
            made = {way: compile_once(options, compiler, words, name, way, ways[way])
                    for way in order}
            for way, (seconds, target) in made.items():
                times[way].append(seconds)
                sizes[way].append(target.stat().st_size)
                target.unlink()
    except KeyboardInterrupt:
        pass
    report({way: times[way] for way in ways}, sizes)


if __name__ == '__main__':
    main()
