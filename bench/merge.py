#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures time and memory of btf-merge, and compares them with those of libbpf's deduplication and of pahole.
Not a test. Four tables: a whole merge, a merge in which a central struct differs between objects, inputs of
different sizes, and a module.

usage: merge.py --tools=BUILD [--kernel=DIR | --objects=FILE --image=ELF] [--dwarf-image=ELF]
                [--pahole=PATH] [--module=KO] [--struct=NAME] [--rounds=N] [--scratch=DIR] [--only=TABLES]

BUILD is a meson build folder. --kernel is the output folder of a kernel with object BTF in vmlinux.o; the
image is its .tmp_vmlinux1. Without --kernel and --objects, generated sources are compiled. pahole reads the
DWARF of --dwarf-image, by default that of the image. KO is a module with object BTF and, for pahole,
DWARF; without --module, the table of the module is left out. NAME is the struct that gets a volatile member
in half of the objects that define it. --scratch needs room for 9 times the objects' BTF; /dev/shm is fastest.

In each round all programs run in turn. Input files are in the page cache. The tables show medians of the
times. Memory is the maximum of private memory, that is, resident memory without pages of mapped files.
Private memory is read every millisecond, in one more run.
"""
import argparse
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from measure import names_from, processor, rounds, run

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'tests'))
from helpers.program_maker import Program  # noqa: E402

PAHOLE = ['-J', '--btf_features=encode_force,var,float,enum64,decl_tag,type_tag,'
          'optimized_func,consistent_func,decl_tag_kfuncs']
# Sizes of the input relative to the given objects. The table shows ratios to the size UNIT.
# The result of much larger inputs would exceed the limit of BTF (2^20 types).
FACTORS, UNIT = ('1/16', '1/8', '1/4', '1/2', '1/1', '2/1', '5/1'), '1/2'
TABLES = ('whole', 'explosion', 'curve', 'module')
PATIENCE = 20  # seconds of processor time, after which runs of merging() and libbpf() are given up


def must(*argv, cwd=None):
    done = subprocess.run([str(a) for a in argv], cwd=cwd, text=True, capture_output=True,
                          check=False)
    if done.returncode:
        sys.exit(f'bench: {argv[0]}: {done.stderr}')
    return done.stdout + done.stderr


def make_objects(tools, folder):
    """Compiles generated sources; returns the paths of the result of ld -r and of the linked image."""
    sources = Program(1500, 24, agree=True).write(folder)
    for source in sources:
        must('gcc', '-g', '-O1', '-w', '-fno-eliminate-unused-debug-types', '-c', source,
             cwd=folder)
    objects = [s[:-2] + '.o' for s in sources]
    must(tools / 'emit/btf-emit', '--address-pool', *objects, cwd=folder)
    must('gcc', *objects, '-o', 'program', cwd=folder)
    must('ld', '-r', *objects, '-o', 'all.o', cwd=folder)
    return folder / 'all.o', folder / 'program'


class Bench:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.merge = options.tools / 'merge/btf-merge'
        self.threads = len(os.sched_getaffinity(0))
        self.out = scratch / 'out.btf'
        self.clean = None  # a file with only the objects' contributions
        self.clean, _ = self.corpus('clone', '1/1')

    def corpus(self, *arguments):
        """Runs btf-corpus, which makes a file with contributions. Returns the file's path and the output."""
        path = self.scratch / ('-'.join(arguments).replace('/', 'of'))
        print(f'making {path.name}', file=sys.stderr, flush=True)
        said = must(self.options.tools / 'bench/btf-corpus', *arguments,
                    self.clean or self.options.objects, path)
        return path, said.strip()

    def merging(self, *arguments):
        return lambda watch: run([self.merge, f'--threads={self.threads}', *arguments, '-o',
                                  self.out], watch=watch, limit=PATIENCE)

    def stat(self, path, name):
        said = must(self.merge, '--stats', path, '-o', self.out)
        return int(re.search(f'^ *{name}: ([0-9]+)', said, re.M)[1])

    def table(self, title, cases, first=None, extra=()):
        """Measures the cases, and prints them with ratios to the case `first`, by default the first one.
        There are no ratios if that case exceeds PATIENCE.
        `extra` has texts that follow the names of cases: name -> text."""
        found = rounds(cases, self.options.rounds)
        print(f'\n| {title} | wall | user | system | private memory | times wall | times CPU | '
              f'times memory |\n|---|---|---|---|---|---|---|---|')
        unit = found[first or next(iter(cases))]
        for name, cost in found.items():
            text = f'| {name}{dict(extra).get(name, "")} '
            if cost is None:
                print(text + f'| | more than {PATIENCE} s | | | | | |')
                continue
            text += (f'| {cost.wall:.3f} s | {cost.user:.3f} s | {cost.system:.3f} s | '
                     f'{cost.memory:.0f} MB |')
            if unit is None:
                print(text + ' | | |', flush=True)
                continue
            cpu, unit_cpu = cost.user + cost.system, unit.user + unit.system
            print(text + f' {cost.wall / unit.wall:.2f} | {cpu / max(unit_cpu, .001):.2f} | '
                  f'{cost.memory / max(unit.memory, 1):.2f} |', flush=True)

    def whole(self):
        options = self.options
        cases = {'btf-merge': self.merging(options.objects, f'--image={options.image}'),
                 'btf-merge, no image': self.merging(options.objects),
                 'libbpf: btf__add_btf, btf__dedup, of the bare blobs': lambda watch: run(
                     [options.tools / 'bench/dedup-libbpf', self.clean, self.out], watch=watch)}
        if options.pahole:
            cases[f'pahole -J -j{self.threads}, on the image'] = lambda watch: run(
                [options.pahole, *PAHOLE, f'-j{self.threads}',
                 f'--btf_encode_detached={self.out}', options.dwarf_image], watch=watch)
        self.table('whole merge', cases)

    def explosion(self):
        """Measures the merge if a member of the struct --struct is volatile in every second object that defines
        the struct. Then types that reach the struct exist twice."""
        clean = self.clean
        exploded, said = self.corpus('explode', self.options.struct)
        left = {path: self.stat(path, 'types_out') for path in (clean, exploded)}
        self.table(f'explosion: {said}',
                   {'clean': self.merging(clean), 'exploded': self.merging(exploded),
                    'clean, libbpf': self.libbpf(clean), 'exploded, libbpf': self.libbpf(exploded)},
                   extra={'clean': f', {left[clean]} types left',
                          'exploded': f', {left[exploded]} types left'})
        exploded.unlink()

    def libbpf(self, path):
        return lambda watch: run([self.options.tools / 'bench/dedup-libbpf', path, self.out],
                                 watch=watch, limit=PATIENCE)

    def curve(self):
        clean = self.clean
        paths = {f: clean if f == '1/1' else self.corpus('clone', f)[0] for f in FACTORS}
        types = {f: f' ({self.stat(path, "types_in")} types)' for f, path in paths.items()}
        self.table('as the input grows', {f: self.merging(path) for f, path in paths.items()},
                   first=UNIT, extra=types)
        for path in paths.values():
            if path != clean:
                path.unlink()

    def module(self):
        """Measures a module. The module's base is merged from the objects and the image."""
        options = self.options
        base = self.scratch / 'base.btf'
        must(self.merge, options.objects, f'--image={options.image}', '-o', base)
        cases = {'btf-merge --base': lambda watch: run(
            [self.merge, '--threads=1', f'--base={base}', options.module, '-o', self.out],
            watch=watch)}
        if options.pahole:
            cases['pahole -J --btf_base'] = lambda watch: run(
                [options.pahole, *PAHOLE, f'--btf_base={base}',
                 f'--btf_encode_detached={self.out}', options.module], watch=watch)
        self.table(f'module {options.module.name}', cases)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    path = lambda p: pathlib.Path(p).resolve()  # noqa: E731
    parser.add_argument('--tools', required=True, type=path)
    for name in ('kernel', 'objects', 'image', 'dwarf-image', 'module', 'scratch'):
        parser.add_argument(f'--{name}', type=path)
    parser.add_argument('--pahole')
    parser.add_argument('--struct')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--only', type=names_from(TABLES), default=TABLES,
                        help='which tables, separated by commas; default: all')
    return parser.parse_args()


def main():
    options = arguments()
    if options.pahole:
        options.pahole = shutil.which(options.pahole) or sys.exit('bench: no such pahole')
    if options.kernel:
        options.objects = options.objects or options.kernel / 'vmlinux.o'
        options.image = options.image or options.kernel / '.tmp_vmlinux1'
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=options.scratch or memory) as folder:
        scratch = pathlib.Path(folder)
        options.struct = options.struct or ('task_struct' if options.objects else 's3')
        if not options.objects:
            options.objects, options.image = make_objects(options.tools, scratch)
        options.dwarf_image = options.dwarf_image or options.image
        for file in (options.objects, options.image):
            if not file or not file.exists():
                sys.exit(f'bench: {file} not found')
        bench = Bench(options, scratch)
        print(f'{datetime.date.today()}; {processor()}, {bench.threads} processors; '
              f'{must(bench.merge, "--version").strip()}; objects: {options.objects.name}; '
              f'medians of {options.rounds}; load at the start {os.getloadavg()[0]:.1f}')
        for name in options.only:
            if name != 'module' or options.module:
                getattr(bench, name)()


if __name__ == '__main__':
    main()
