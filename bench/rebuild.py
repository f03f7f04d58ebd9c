#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures what BTF adds to a rebuild of vmlinux. Not a test.

usage: rebuild.py [--rounds=N] [--touch=OBJECT] [--none=DIR] NAME=DIR...

Each DIR is the output folder of a finished kernel build. The file DIR/make.arguments has the arguments for
make, such as CC and PAHOLE, one per line. In each round and folder, OBJECT (default: kernel/fork.o) is made
older than its source, and `make vmlinux` is timed. The folders take turns, so that changes of the machine's
speed affect all equally. Prints medians. --none names the folder of a build with CONFIG_DEBUG_INFO_NONE;
then ratios to this build are printed, too.
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
    """Returns seconds: wall, and user+sys."""
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
        make(folder, 'vmlinux') # so that the timed runs have nothing else to do
        rebuild(folder, options.touch) # fills the page cache
    times = {name: [] for name in folders}
    for round_ in range(options.rounds):
        for name, folder in folders.items():
            times[name].append(rebuild(folder, options.touch))
            wall, cpu = times[name][-1]
            print(f'round {round_ + 1}: {name}: {wall:.1f} s wall, {cpu:.1f} s user+sys', flush=True)
    print(f'\nmedians of {options.rounds}; {options.touch} made older; make vmlinux')
    for name in folders:
        wall, cpu = (statistics.median(column) for column in zip(*times[name]))
        line = f'{name:12} {wall:8.1f} s wall {cpu:8.1f} s user+sys'
        if options.none and name != 'none':
            base_wall, base_cpu = (statistics.median(column) for column in zip(*times['none']))
            line += f'   {wall / base_wall:5.2f} times, {cpu / base_cpu:5.2f} times'
        print(line)


if __name__ == '__main__':
    main()
