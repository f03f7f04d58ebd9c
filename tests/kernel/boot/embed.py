#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Writes the C++ definitions of the variables that programs.h declares: the bytes of compiled BPF programs.

usage: embed.py OUT.cc FILE...     each FILE is named NAME.bpf.o
"""
import pathlib
import sys


def main():
    if len(sys.argv) < 3 or sys.argv[1] == '--help':
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    out, *files = map(pathlib.Path, sys.argv[1:])
    text = ['#include "tests/kernel/boot/programs.h"', 'namespace btflink::boot', '{']
    for path in files:
        name = path.name.removesuffix('.bpf.o')
        content = path.read_bytes()
        # Aligned, because libbpf reads the object in place, and ELF has fields of 8 bytes.
        text += [f'alignas(8) static const unsigned char {name}_data[] = {{',
                 ','.join(map(str, content)), '};',
                 f'const Bytes {name}_object{{"{name}", {name}_data, sizeof {name}_data}};']
    out.write_text('\n'.join([*text, '}', '']))


if __name__ == '__main__':
    main()
