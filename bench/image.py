#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Measures time and memory of btf-pahole and pahole on linked images with DWARF. Not a test.

usage: image.py --tools=BUILD --image=FILE [--pahole=PATH] [--rounds=N] [--jobs=N] [--sizes=LIST]

BUILD is a meson build folder. FILE is a 64-bit little-endian image whose units do not refer to each
other, such as a vmlinux with DWARF 5 that was built without link-time optimisation. LIST names the sizes
to measure, as fractions 1/N and whole numbers, separated by commas: 1/16 is an image with every 16th
unit, 4 an image with all units four times. Each image is a copy of FILE with a new .debug_info at its
end; the other sections are unchanged. The programs run in turn, and write BTF to a separate file. Memory
is the maximum resident set, which includes pages of mapped files. The table shows medians of the rounds;
one more round to warm up is not counted. The images are made one at a time in a temporary folder in BUILD,
which needs room for the largest of them.
"""
import argparse
import collections
import fractions
import os
import pathlib
import shutil
import struct
import sys
import tempfile

from measure import median, processor, run

FEATURES = '--btf_features=default'


class Image:
    """An image: `header` is the position of the section header of .debug_info, `info` the section's bytes,
    and `units` the begin and end of each unit in the section."""

    def __init__(self, path):
        self.path = path
        with open(path, 'rb') as file:
            head = file.read(64)
            if head[:6] != b'\x7fELF\x02\x01':
                sys.exit(f'image.py: {path}: not a 64-bit little-endian ELF file')
            table, = struct.unpack_from('<Q', head, 40)
            size, count, names = struct.unpack_from('<HHH', head, 58)
            file.seek(table)
            heads = file.read(size * count)
            entries = [struct.unpack_from('<IIQQQQ', heads, i * size) for i in range(count)]
            file.seek(entries[names][4])
            texts = file.read(entries[names][5])
            name = lambda entry: texts[entry[0]:texts.index(b'\0', entry[0])]
            index = next((i for i, e in enumerate(entries) if name(e) == b'.debug_info'), None)
            if index is None or entries[index][2] & 0x800:
                sys.exit(f'image.py: {path}: no uncompressed .debug_info')
            self.header = table + index * size
            file.seek(entries[index][4])
            self.info = file.read(entries[index][5])
        self.units, at = [], 0
        while at < len(self.info):
            end = at + 4 + struct.unpack_from('<I', self.info, at)[0]
            self.units.append((at, end))
            at = end

    def scaled(self, factor, out):
        """Writes a copy with `factor` times the units; returns the number of units in the copy."""
        if factor < 1:
            chosen = self.units[::factor.denominator]
        else:
            chosen = self.units * int(factor)
        shutil.copyfile(self.path, out)
        with open(out, 'r+b') as file:
            begin = file.seek(0, os.SEEK_END)
            for first, last in chosen:
                file.write(self.info[first:last])
            end = file.tell()
            file.seek(self.header + 24)  # sh_offset and sh_size
            file.write(struct.pack('<QQ', begin, end - begin))
        return len(chosen)


def measure(ways, rounds):
    """Runs all commands in turn, once to warm up and `rounds` times to measure. Returns name -> median cost."""
    found = collections.defaultdict(list)
    for number in range(rounds + 1):
        for name, argv in ways.items():
            cost = run(argv)
            if number:
                found[name].append(cost)
    return {name: median(costs) for name, costs in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--tools', required=True, type=pathlib.Path)
    parser.add_argument('--image', required=True, type=pathlib.Path)
    parser.add_argument('--pahole')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--sizes', default='1/16,1/8,1/4,1/2,1,2,4')
    options = parser.parse_args()
    programs = {'btf-pahole': options.tools / 'kbuild-integration/btf-pahole'}
    if options.pahole:
        programs['pahole'] = shutil.which(options.pahole) or sys.exit('image.py: no such pahole')
    image = Image(options.image)
    print(f'{processor()}, {len(os.sched_getaffinity(0))} processors; -j{options.jobs}; '
          f'medians of {options.rounds}\n')
    print('| units | program | wall | user+sys | memory |\n|---|---|---|---|---|')
    with tempfile.TemporaryDirectory(dir=options.tools) as scratch:
        path = pathlib.Path(scratch) / 'image'
        for size in options.sizes.split(','):
            count = image.scaled(fractions.Fraction(size), path)
            ways = {name: [program, '-J', FEATURES, f'-j{options.jobs}',
                           f'--btf_encode_detached={scratch}/{name}.btf', path]
                    for name, program in programs.items()}
            for name, cost in measure(ways, options.rounds).items():
                print(f'| {size}: {count} | {name} | {cost.wall:.2f} s | {cost.user + cost.system:.2f} s | '
                      f'{cost.memory:.0f} MB |', flush=True)


if __name__ == '__main__':
    main()
