#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What BTF adds to a rebuild of vmlinux, as a ratio.

usage: rebuild.py [--rounds=N] [--touch=OBJECT] [--none=DIR] NAME=DIR...

Each DIR is Kbuild's output folder of a complete build; the commands of its builds are asked of
Kbuild, CC and PAHOLE are taken from the folder's file `make.arguments`, one argument a line. In each
round and each folder OBJECT (default: kernel/fork.o) is made older than its source and `make vmlinux`
is timed, folders in turn, so that the machine's moods meet all alike. Prints medians and, beside
--none (a build with CONFIG_DEBUG_INFO_NONE), their ratios.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time


def make(folder, *goals):
    arguments = (folder / 'make.arguments').read_text().splitlines()
    done = subprocess.run(['make', '-s', '-C', folder, *arguments, *goals],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f'rebuild.py: ERROR: make in {folder}: exit status {done.returncode}\n'
                 + done.stdout[-2000:])


def rebuild(folder, touch):
    """Seconds, wall and user+sys."""
    os.utime(folder / touch, (1, 1))
    before = os.times()
    start = time.monotonic()
    make(folder, 'vmlinux')
    after = os.times()
    return (time.monotonic() - start,
            after.children_user - before.children_user + after.children_system
            - before.children_system)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('folders', nargs='+', metavar='NAME=DIR')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--touch', default='kernel/fork.o')
    parser.add_argument('--none', type=pathlib.Path)
    options = parser.parse_args()
    folders = dict(item.split('=', 1) for item in options.folders)
    folders = {name: pathlib.Path(path) for name, path in folders.items()}
    if options.none:
        folders = {'none': options.none} | folders
    for folder in folders.values():
        make(folder, 'vmlinux') # nothing left to do but what is measured
        rebuild(folder, options.touch) # and everything in the page cache
    times = {name: [] for name in folders}
    for round_ in range(options.rounds):
        for name, folder in folders.items():
            times[name].append(rebuild(folder, options.touch))
            wall, cpu = times[name][-1]
            print(f'round {round_ + 1}: {name}: {wall:.1f} s wall, {cpu:.1f} s user+sys', flush=True)
    print(f'\nmedians of {options.rounds}; touch {options.touch}; make vmlinux')
    for name in folders:
        wall, cpu = (statistics.median(column) for column in zip(*times[name]))
        line = f'{name:12} {wall:8.1f} s wall {cpu:8.1f} s user+sys'
        if options.none and name != 'none':
            base_wall, base_cpu = (statistics.median(column) for column in zip(*times['none']))
            line += f'   {wall / base_wall:5.2f} times, {cpu / base_cpu:5.2f} times'
        print(line)


if __name__ == '__main__':
    main()
