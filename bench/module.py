#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures btf-merge for small modules, with and without an index of the base. Not a test. Also measures
the start of /bin/true, and btf-merge --version.

usage: module.py --tools=BUILD --base=FILE [--before=BTF-MERGE]... [--rounds=N] [--threads=N] MODULE...

BUILD is a meson build folder. FILE is vmlinux, or its raw BTF. MODULE has object BTF: the .o of a module in a
build with btf-cc (the .ko has final BTF), or the output of `btf-emit --address-pool -o MODULE KO-WITH-DWARF`.
BTF-MERGE is the btf-merge of another build, which is also measured, but not without an index. Each round
runs all programs in turn on one module, the next round on the next module.
"""
import argparse
import collections
import datetime
import os
import pathlib
import statistics
import tempfile
import time

from measure import processor

Cost = collections.namedtuple('Cost', 'wall processor faults')


def run(argv):
    """Runs one process; returns its wall and processor time in seconds, and its minor page faults.
    posix_spawn starts the process, as make does."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=nowhere)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f'bench: {" ".join(argv)} failed')
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_minflt)


def cases(options, scratch):
    """Returns name -> function from a module to the command."""
    extra = [f'--threads={options.threads}'] if options.threads else []

    def merge(program, out_name, *with_index):
        out = f'{scratch}/{out_name}.btf'
        return lambda module: [program, '-q', *extra, f'--base={options.base}', *with_index, '-o', out,
                               module]

    found = {'/bin/true': lambda module: ['/bin/true']}
    for number, program in enumerate([*options.before, f'{options.tools}/merge/btf-merge']):
        name = 'now' if number == len(options.before) else program
        found[f'{name}: --version'] = lambda module, program=program: [program, '--version']
        found[f'{name}: with an index'] = merge(program, number,
                                                f'--base-index={scratch}/{number}.index')
    found['now: without an index'] = merge(f'{options.tools}/merge/btf-merge', 'without')
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--tools', required=True)
    parser.add_argument('--base', required=True)
    parser.add_argument('--before', action='append', default=[])
    parser.add_argument('--rounds', type=int, default=200)
    parser.add_argument('--threads', type=int, help='threads of btf-merge (default: btf-merge chooses)')
    parser.add_argument('modules', nargs='+')
    options = parser.parse_args()
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        commands = cases(options, pathlib.Path(folder))
        costs = {name: [] for name in commands}
        for command in commands.values():  # the first runs make the indexes and fill the page cache
            for module in options.modules:
                run(command(module))
        for number in range(options.rounds):
            for name, command in commands.items():
                costs[name].append(run(command(options.modules[number % len(options.modules)])))
    print(f'{datetime.date.today()}; {processor()}, {len(os.sched_getaffinity(0))} processors; '
          f'{len(options.modules)} modules, {options.rounds} rounds; load at the end '
          f'{os.getloadavg()[0]:.1f}\n')
    print('| | wall, median | wall, fastest tenth | user+sys, median | page faults |\n|---|---|---|---|---|')
    for name, found in costs.items():
        walls, processors, faults = zip(*found)
        fastest = statistics.quantiles(walls, n=10)[0]
        print(f'| {name} | {statistics.median(walls) * 1e3:.2f} ms | {fastest * 1e3:.2f} ms | '
              f'{statistics.median(processors) * 1e3:.2f} ms | {statistics.median(faults):.0f} |')


if __name__ == '__main__':
    main()
