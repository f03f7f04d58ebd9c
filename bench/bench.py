#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures time and memory of btf-emit, btf-merge and pahole on a kernel. Not a test.

usage: bench.py --tools=BUILD --kernel=DIR [--pahole=PATH] [--rounds=N]

BUILD is a meson build folder. DIR is the output folder of a kernel whose objects have object BTF and
DWARF; the kernel suite leaves one in $BTFLINK_KERNEL_DIR/dwarf, or by default in BUILD/kernel/dwarf. Each
round runs btf-emit on each object, and btf-merge and pahole with one thread and with one thread per
processor. A first round brings the input files into the page cache and is not counted. The table shows the
medians of the other N rounds (default: 5). The programs write their output to a temporary folder, in
/dev/shm if that is writable.
"""
import argparse
import collections
import datetime
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from measure import Cost, median, processor, run

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'tests/kernel'))
from kernel_tree import LATE_OBJECTS

PAHOLE_FLAGS = ['-J', '--lang_exclude=rust',
                '--btf_features=encode_force,var,float,enum64,decl_tag,type_tag,'
                'optimized_func,consistent_func,decl_tag_kfuncs']
# pahole before 1.26 does not know --btf_features.
PAHOLE_124_FLAGS = ['-J', '--lang_exclude=rust', '--btf_gen_floats']


def output(*argv, cwd=None):
    return subprocess.run(argv, cwd=cwd, check=True, text=True, stdout=subprocess.PIPE).stdout


def total(costs):
    """The cost of processes that ran one after the other."""
    *times, memory = zip(*costs)
    return Cost(*map(sum, times), max(memory))


def pahole_flags(pahole):
    version = re.match(r'v1\.(\d+)', output(pahole, '--version').strip())
    return PAHOLE_124_FLAGS if version and int(version[1]) < 26 else PAHOLE_FLAGS


def cases(options, objects, scratch):
    """Returns name of a measurement -> function that measures once and returns the cost."""
    kernel, threads = options.kernel, len(os.sched_getaffinity(0))
    emit, merge = options.tools / 'emit/btf-emit', options.tools / 'merge/btf-merge'
    image = '.tmp_vmlinux1'
    # LATE_OBJECTS are linked after vmlinux.o. Older kernels do not have all of them.
    inputs = ['vmlinux.o', *(name for name in LATE_OBJECTS if (kernel / name).exists())]
    found = {}
    found[f'btf-emit, {len(objects)} objects, one process each, one after the other'] = lambda: \
        total(run([emit, '--address-pool', '-o', scratch / 'out.o', path], kernel)
              for path in objects)
    for count in sorted({1, threads}):
        found[f'btf-merge vmlinux.o, {count} thread' + 's' * (count > 1)] = lambda count=count: \
            run([merge, *inputs, f'--image={image}', f'--threads={count}',
                 '-o', scratch / 'out.btf'], kernel)
    if options.pahole:
        flags = pahole_flags(options.pahole)
        for count in sorted({1, threads}):
            found[f'pahole -J -j{count} over the image'] = lambda count=count: \
                run([options.pahole, *flags, f'-j{count}',
                     f'--btf_encode_detached={scratch}/pahole.btf', image], kernel)
    return found


def describe(options, objects):
    kernel = output('make', '-s', 'kernelrelease', cwd=options.kernel).strip()
    config = (options.kernel / '.config').read_text()
    compiler = re.search(r'CONFIG_CC_VERSION_TEXT="(.*)"', config)[1]
    tools = [output(options.tools / 'emit/btf-emit', '--version').strip()]
    if options.pahole:
        tools.append('pahole ' + output(options.pahole, '--version').strip())
    return (f'{datetime.date.today()}; {processor()}, {len(os.sched_getaffinity(0))} processors, '
            f'Linux {platform.release()}; measured on Linux {kernel}, {len(objects)} objects, '
            f'{compiler}; {", ".join(tools)}; medians of {options.rounds}.')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tools', required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument('--kernel', required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument('--pahole')
    parser.add_argument('--rounds', type=int, default=5)
    options = parser.parse_args()
    if options.pahole:
        options.pahole = shutil.which(options.pahole) or sys.exit('bench: no such pahole')
    for name in ('vmlinux.a', 'vmlinux.o', '.tmp_vmlinux1'):
        if not (options.kernel / name).exists():
            sys.exit(f'bench: {options.kernel}/{name} not found; the kernel suite makes it')
    objects = output('ar', 't', 'vmlinux.a', cwd=options.kernel).split()
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    results = collections.defaultdict(list)
    with tempfile.TemporaryDirectory(dir=memory) as scratch:
        measured = cases(options, objects, pathlib.Path(scratch))
        for number in range(options.rounds + 1):
            print(f'round {number} of {options.rounds}' + ' (warm-up)' * (number == 0),
                  file=sys.stderr, flush=True)
            for name, once in measured.items():
                cost = once()
                if number > 0:
                    results[name].append(cost)
    print(describe(options, objects))
    print('\n| what | wall | user+sys | memory |\n|---|---|---|---|')
    for name, costs in results.items():
        cost = median(costs)
        print(f'| {name} | {cost.wall:.2f} s | {cost.user + cost.system:.2f} s | {cost.memory:.0f} MB |')


if __name__ == '__main__':
    main()
