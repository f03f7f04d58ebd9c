#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What debug information and BTF cost a kernel's compile. Not a test.

usage: compile.py --tools=BUILD --kernel=DIR --scratch=DIR [--every=N] [--flags=NAME=FLAGS]...

BUILD: a meson build folder. KERNEL: Kbuild's output folder of a build, whose saved commands are run
again, in random order, with objects going to SCRATCH, in these ways:
    none        without -g, by the compiler alone
    -g          with it
    stripped    by btf-cc --strip-dwarf
    plugin      by btf-cc --plugin, where there is a plugin for the compiler
    NAME        as `stripped`, with the FLAGS of each --flags
--every=20 takes every 20th object.

Prints processor time and size of each way, all programs that it takes together. For `plugin` and each
NAME, against `stripped`: objects with other code (there must be none: exit status 1); objects whose BTF
does not mean the same; functions of which the link is told something else. Not all of what it is told
matters in the end: a kernel built both ways shows that. Interrupted, it prints what it has.
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


def compile_once(options, compiler, words, name, way, prefix):
    """Seconds of user+sys, and the object."""
    target = options.scratch / way / name
    target.parent.mkdir(parents=True, exist_ok=True)
    words = [word for word in words if not word.startswith(('-Wp,-MMD', '-Wp,-MD'))]
    words[words.index('-o') + 1] = str(target)
    if way == 'none':
        words = [word for word in words if word != '-g' and not word.startswith('-gdwarf')]
    before = os.times()
    subprocess.run([*prefix, compiler, *options.flags.get(way, '').split(), *words],
                   cwd=options.kernel, check=True, stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, 'objtree': str(options.kernel)})
    after = os.times()
    return (after.children_user - before.children_user + after.children_system
            - before.children_system), target


def code_of(path):
    """The object, symbols and all, without debug information and BTF."""
    copy = path.with_suffix('.code')
    subprocess.run(['objcopy', '--strip-debug', '-R', '.BTF', '-R', '.debug', path, copy],
                   check=True)
    content = copy.read_bytes()
    copy.unlink()
    return content


def functions(options, path):
    """What the link is told of each instance of a function, without numbers of types."""
    lines = subprocess.run([options.tools / 'tests/tools/btf-dump', '--trailer', path], text=True,
                           check=True, capture_output=True).stdout.splitlines()
    return [re.sub(r" (type_id|pool|proto)=.*?(?= loose_hash=)", '', line)
            for line in lines if line.startswith('function ')]


def compare(options, made, way, name, found):
    if code_of(made['stripped']) != code_of(made[way]):
        found['code'].append(f'{way}: {name}')
    if b'.BTF\0' not in made['stripped'].read_bytes():
        return # not of the kernel proper, so left alone
    status = subprocess.run([options.tools / 'tests/tools/btf-compare', made['stripped'],
                             made[way]], stdout=subprocess.DEVNULL, check=False).returncode
    if status:
        found['types'].append(f'{way}: {name}')
    if status == 2:
        return # there is none, or it is malformed
    want, got = (collections.Counter(functions(options, made[one])) for one in ('stripped', way))
    for sign, lines in (('-', want - got), ('+', got - want)):
        found['functions'] += [f'{way}: {name}: {sign} {line}' for line in sorted(lines)]


def has_plugin(options, compiler):
    """By btf-cc's settings, which then name the plugin."""
    done = subprocess.run([options.tools / 'kbuild-integration/btf-cc', '--plugin', '--settings', compiler],
                          capture_output=True, text=True, check=True)
    return done.stdout.count(' plugin=') == 2


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
    for what, text in (('code', 'objects with other code'),
                       ('types', 'objects whose BTF does not mean the same'),
                       ('functions', 'lines about functions for the link that differ')):
        print(f'\n{text}: {len(found[what])}', *found[what], sep='\n  ')


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
    taken = taken[::options.every] or sys.exit(f'compile.py: no commands in {options.kernel}')
    options.flags = dict(item.split('=', 1) for item in options.flags)
    btf_cc = [options.tools / 'kbuild-integration/btf-cc', '--strip-dwarf']
    ways = {'none': [], '-g': [], 'stripped': btf_cc}
    if has_plugin(options, taken[0][1][0]):
        ways['plugin'] = [btf_cc[0], '--plugin']
    ways |= {name: btf_cc for name in options.flags}
    times, sizes = collections.defaultdict(list), collections.defaultdict(list)
    found = {'code': [], 'types': [], 'functions': []}
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
            for way in list(ways)[3:]:
                compare(options, files, way, name, found)
            for path in files.values():
                path.unlink()
    except KeyboardInterrupt:
        pass
    report(times, sizes, found)
    sys.exit(bool(found['code']))


if __name__ == '__main__':
    main()
