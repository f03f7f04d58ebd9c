#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures btf-merge with simulated inputs as large as an allmodconfig. Not a test. Three tables: up to 24
times the objects of a kernel, up to 70,000 separate files, and a module over large bases.

usage: scale.py --tools=BUILD --objects=FILE [--object=O] [--module=KO] [--rounds=N] [--scratch=DIR]
                [--only=curve,files,modules]

BUILD is a meson build folder. FILE has object BTF of a kernel, such as vmlinux.o. O is one object file,
given many times in the table of separate files. KO is a module of the same kernel with object BTF. Without
O or KO, leave out its table with --only. --scratch needs room for 15 times the objects' BTF.

There are up to eight copies of the objects. Each copy after the first has its own names for types,
functions and variables that occur in few objects (see btf-corpus.cc). Many more copies would exceed the limit
of BTF (2^20 types), so larger inputs repeat the eight copies. This adds only VARs to the result.
Time is processor time (user and system), which can be compared on a busy machine. Private memory is
resident memory without pages of mapped files; it is read every millisecond, in one more run. The tables
show medians of the times of N rounds; the table of modules, of three times as many.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from measure import names_from, rounds, run

TABLES = ('curve', 'files', 'modules')


def must(*argv):
    done = subprocess.run([str(a) for a in argv], text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f'scale: {argv[0]}: {done.stderr}')
    return done.stdout + done.stderr


class Scale:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.merge = options.tools / 'merge/btf-merge'
        self.out = scratch / 'out.btf'
        self.made = {}
        self.clean = self.corpus('clone', '1/1')

    def corpus(self, *arguments):
        """Returns a file with contributions. btf-corpus makes it on the first call with these arguments."""
        if arguments not in self.made:
            path = self.scratch / '-'.join(arguments).replace('/', 'of')
            print(f'making {path.name}', file=sys.stderr, flush=True)
            source = self.options.objects if not self.made else self.clean
            must(self.options.tools / 'bench/btf-corpus', *arguments, source, path)
            self.made[arguments] = path
        return self.made[arguments]

    def stats(self, *inputs):
        said = must(self.merge, '--threads=2', '--stats', '-q', *inputs, '-o', self.out)
        return lambda name: int(re.search(f'^{name}: ([0-9]+)', said, re.M)[1])

    def merging(self, *arguments):
        return lambda watch: run([self.merge, '-q', *arguments, '-o', self.out], watch=watch)

    def curve(self):
        # `copies`: number of copies in a file; `times`: how often the file is given.
        cases = {inputs: [self.corpus('clone', f'{copies}/1')] * times for inputs, (copies, times) in
                 {'1': (1, 1), '2': (2, 1), '4': (4, 1), '8': (8, 1), '8, given twice': (8, 2),
                  '8, given three times': (8, 3)}.items()}
        found = rounds({name: self.merging('--threads=2', *inputs) for name, inputs in cases.items()},
                       self.options.rounds)
        print('\n| copies | objects | types in | types out | bytes out | user+sys | µs per object | '
              'private memory |\n|---|---|---|---|---|---|---|---|')
        for name, inputs in cases.items():
            stat, cost = self.stats(*inputs), found[name]
            cpu = cost.user + cost.system
            print(f'| {name} | {stat("objects")} | {stat("types_in")} | {stat("types_out")} | '
                  f'{stat("bytes_out")} | {cpu:.2f} s | {cpu / stat("objects") * 1e6:.0f} | '
                  f'{cost.memory:.0f} MB |', flush=True)

    def files(self):
        if not self.options.object:
            sys.exit('scale: the table of files needs --object')
        cases = {}
        for count in (1000, 10000, 30000, 70000):
            path = self.scratch / f'list{count}'
            path.write_text(f'{self.options.object}\n' * count)
            cases[count] = self.merging('--threads=2', f'@{path}')
        found = rounds(cases, self.options.rounds)
        size = self.options.object.stat().st_size // 1024
        print(f'\n| separate files of {size} KB | user+sys | µs per file | private memory |\n'
              '|---|---|---|---|')
        for count, cost in found.items():
            cpu = cost.user + cost.system
            print(f'| {count} | {cpu:.2f} s | {cpu / count * 1e6:.0f} | {cost.memory:.0f} MB |')

    def modules(self):
        if not self.options.module:
            sys.exit('scale: the table of modules needs --module')
        cases, types = {}, {}
        for copies in (1, 2, 4, 8):
            base = self.scratch / f'base{copies}'
            types[copies] = self.stats(self.corpus('clone', f'{copies}/1'))('types_out')
            self.out.rename(base)
            cases[copies] = self.merging('--threads=1', f'--base={base}', self.options.module)
        found = rounds(cases, self.options.rounds * 3)
        print(f'\n| types of the base | {self.options.module.name}: user+sys | 9,000 such modules | '
              'private memory |\n|---|---|---|---|')
        for copies, cost in found.items():
            cpu = cost.user + cost.system
            print(f'| {types[copies]} | {cpu * 1000:.0f} ms | {cpu * 9000:.0f} s | '
                  f'{cost.memory:.0f} MB |')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    path = lambda p: pathlib.Path(p).resolve()  # noqa: E731
    parser.add_argument('--tools', required=True, type=path)
    parser.add_argument('--objects', required=True, type=path)
    for name in ('object', 'module', 'scratch'):
        parser.add_argument(f'--{name}', type=path)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', type=names_from(TABLES), default=TABLES)
    return parser.parse_args()


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scale = Scale(options, pathlib.Path(folder))
        print(f'{os.cpu_count()} processors; load at the start {os.getloadavg()[0]:.1f}; '
              f'medians of {options.rounds} rounds (modules: {options.rounds * 3})')
        for name in options.only:
            getattr(scale, name)()


if __name__ == '__main__':
    main()
