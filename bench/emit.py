#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What btf-emit costs on a kernel, beside pahole. Not a test.

usage: emit.py --tools=BUILD --kernel=DIR [--pahole=PATH] [--rounds=N] [--every=N]

BUILD: a meson build folder. DIR: the output folder of a kernel that was built with DWARF; object BTF is
taken out. Copies of each object are emitted one after the other, one process each, in random
order: by btf-emit, by btf-emit --strip-dwarf, by pahole; and /bin/true shows what a process costs at
least. So a disturbance meets all alike. The program is a copy, as an installed one is: what the
linker wrote lies in the page cache in single pages, which cost a small process a sixth more. --every=20 takes every 20th object and scales the sums. Then
the image: pahole -j1 and -j2, btf-emit --image --threads=2. Copies lie in memory if there is
/dev/shm. Figures are medians of the rounds; those of processes are user and system time.
"""
import argparse
import datetime
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measure import processor

PAHOLE = ['-J', '--btf_features=encode_force,var,float,enum64,decl_tag,type_tag,'
          'optimized_func,consistent_func,decl_tag_kfuncs']
QUIET = [(os.POSIX_SPAWN_OPEN, fd, '/dev/null', os.O_RDWR, 0) for fd in (0, 1, 2)]


def cost(*argv, may_fail=False):
    """Processor time and wall time of one process."""
    argv = [str(word) for word in argv]
    start = time.monotonic()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=QUIET)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    if status and not may_fail:
        sys.exit(f'emit.py: failed: {" ".join(argv)}')
    return usage.ru_utime + usage.ru_stime, wall


def objects_of(kernel):
    """What the compiler made, with debug information, by kbuild's own records."""
    for record in sorted(kernel.rglob('.*.o.cmd')):
        path = record.parent / record.name[1:-len('.cmd')]
        with open(record, encoding='utf-8', errors='replace') as file:
            compiled = ' -c ' in file.readline()
        if not compiled or not path.exists() or path.name.startswith('.'):
            continue
        if b'.debug_info' in path.read_bytes():
            yield path


def without_btf(original, target):
    """Object BTF would be replaced, which costs more than to write it."""
    subprocess.run(['objcopy', '-R', '.BTF', '-R', '.debug', original, target], check=True)
    return target


def per_object(options, objects, scratch):
    """name -> function of a copy of an object."""
    emit = options.emit
    ways = {
        '/bin/true': lambda path: cost('/bin/true'),
        'btf-emit': lambda path: cost(emit, '--address-pool', path),
        'btf-emit --strip-dwarf': lambda path: cost(emit, '--address-pool', '--strip-dwarf', path),
    }
    if options.pahole:
        # Detached: into the object it would start objcopy. It fails where there is nothing for it.
        ways['pahole'] = lambda path: cost(options.pahole, *PAHOLE, '-j1',
                                           f'--btf_encode_detached={scratch}/copy.btf', path,
                                           may_fail=True)
    sums = dict.fromkeys(ways, 0)
    for original in objects:
        names = list(ways)
        random.shuffle(names)
        for name in names:
            shutil.copyfile(original, scratch / 'copy.o')
            sums[name] += ways[name](scratch / 'copy.o')[0] * options.every
    return sums


def over_image(options, image, scratch):
    """name -> (processor time, wall time)"""
    emit = options.emit
    ways = {'btf-emit --image --threads=2': [emit, '--image', '--threads=2',
                                             f'--detached={scratch}/emit.btf', image]}
    if options.pahole:
        for count in (1, 2):
            ways[f'pahole -j{count}'] = [options.pahole, *PAHOLE, f'-j{count}',
                                         f'--btf_encode_detached={scratch}/pahole.btf', image]
    return {name: cost(*argv) for name, argv in ways.items()}


def start_up(options):
    """btf-emit --version against /bin/true, each 200 times in turn: (processor time in ms) each."""
    pairs = [(cost(options.emit, '--version')[0], cost('/bin/true')[0])
             for _ in range(200)]
    return [statistics.mean(column) * 1000 for column in zip(*pairs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    folder = lambda text: pathlib.Path(text).resolve()
    parser.add_argument('--tools', required=True, type=folder)
    parser.add_argument('--kernel', required=True, type=folder)
    parser.add_argument('--pahole')
    parser.add_argument('--image', default='.tmp_vmlinux1')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--every', type=int, default=1)
    options = parser.parse_args()
    if options.pahole:
        options.pahole = shutil.which(options.pahole) or sys.exit('emit.py: no such pahole')
    found = list(objects_of(options.kernel))
    objects = found[::options.every]
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    sums, image = [], []
    with (tempfile.TemporaryDirectory(dir=memory) as name,
          tempfile.TemporaryDirectory(dir=options.tools) as installed):
        scratch = pathlib.Path(name)
        options.emit = shutil.copy2(options.tools / 'emit/btf-emit', installed)
        bare = scratch / 'bare'
        bare.mkdir()
        objects = [without_btf(path, bare / f'{i}.o') for i, path in enumerate(objects)]
        for number in range(options.rounds):
            print(f'round {number + 1} of {options.rounds}', file=sys.stderr, flush=True)
            sums.append(per_object(options, objects, scratch))
            image.append(over_image(options, options.kernel / options.image, scratch))
        started = start_up(options)

    each = {name: statistics.median(r[name] for r in sums) for name in sums[0]}
    whole = {name: [statistics.median(column) for column in zip(*(r[name] for r in image))]
             for name in image[0]}
    print(f'{datetime.date.today()}; {processor()}, {len(os.sched_getaffinity(0))} processors; '
          f'{len(found)} objects, of which {len(objects)} were measured; '
          f'medians of {options.rounds}.\n')
    print('| one process per object | user+sys | without /bin/true |\n|---|---|---|')
    for name, seconds in each.items():
        print(f'| {name} | {seconds:.2f} s | {seconds - each["/bin/true"]:.2f} s |')
    print('\n| over the image | user+sys | wall |\n|---|---|---|')
    for name, (seconds, wall) in whole.items():
        print(f'| {name} | {seconds:.2f} s | {wall:.2f} s |')
    print('\n| what | is | asked |\n|---|---|---|')
    emit = each['btf-emit']
    print(f'| btf-emit, all objects | {emit:.2f} s | 5 s |')
    if options.pahole:
        print(f'| of pahole -j1 over the image | {emit / whole["pahole -j1"][0]:.2f} | 0.6 |')
        print(f'| of pahole per object | {emit / each["pahole"]:.2f} | 0.2 |')
        faster = whole['pahole -j2'][1] / whole['btf-emit --image --threads=2'][1]
        print(f'| --image --threads=2 is faster than pahole -j2 by | {faster:.2f} | 2 |')
    print(f'| btf-emit --version, of /bin/true | {started[0] / started[1]:.2f} | 1.5 |')


if __name__ == '__main__':
    main()
