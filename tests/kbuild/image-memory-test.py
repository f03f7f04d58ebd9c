#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the memory of btf-pahole on a linked file without object BTF. btf-pahole must keep neither duplicate types nor
DWARF that it has read. An image with many equal units is compared with an image with a quarter of them.

usage: image-memory-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import os
import sys

from helpers.kbuild_case import KbuildCase, run

TYPES = 1500
FEW, MANY = 50, 200
# The allowed additional memory in bytes per additional byte of the image. A third of a byte is needed, for ids of
# types, symbols and the like. If pages of DWARF stayed mapped, 1.2 bytes would be needed; if object BTF were kept, 8.
MOST = 0.6
# A new process inherits the peak of its parent, so a small process starts btf-pahole.
STARTER = '''import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
'''


def unit():
    """The source of a unit with many types. Its function is static, so the unit can be linked many times."""
    lines = [f'struct s{i} {{ struct s{max(i - 1, 0)} *before; int (*call{i % 50})(struct s{i} *, long); '
             f'char text[{i % 40 + 1}]; unsigned flag : 3; }};' for i in range(TYPES)]
    members = ''.join(f'struct s{i} *m{i};' for i in range(TYPES))
    return '\n'.join([*lines, f'union all {{ {members} }};',
                      'static __attribute__((used)) int look(union all *a) { return a != 0; }\n'])


class ImageMemory(KbuildCase):
    def setUp(self):
        super().setUp()
        with open(self.btf_pahole, 'rb') as file:
            program = file.read()
        if program[:4] != b'\x7fELF':
            self.skipTest('btf-pahole is run by something else (valgrind?)')
        if b'__asan_init' in program or b'__tsan_init' in program:
            self.skipTest("a sanitizer's memory would be counted")

    def peak(self, image, jobs):
        """Returns the peak memory of btf-pahole in bytes."""
        done = self.run_tool(sys.executable, '-I', '-S', '-c', STARTER, self.btf_pahole, '-J',
                             f'-j{jobs}', '--btf_features=default', '--btf_encode_detached=out', image,
                             text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return int(done.stdout) * 1024

    def test_units_that_are_alike(self):
        self.write('unit.c', unit())
        self.write('main.c', 'int main(void) { return 0; }\n')
        self.must('gcc', '-g', '-gz=none', '-c', 'unit.c', 'main.c')
        sizes, peaks, results = {}, {}, set()
        for count in (FEW, MANY):
            image = f'image{count}'
            self.must('gcc', '-gz=none', '-o', image, 'main.o', *['unit.o'] * count)
            sizes[count] = os.path.getsize(self.path(image))
            for jobs in (1, 2):
                peaks[count, jobs] = self.peak(image, jobs)
                results.add(self.read('out'))
        self.assertEqual(len(results), 1, 'more of the same units, more threads: the same types')
        more = sizes[MANY] - sizes[FEW]
        for jobs in (1, 2):
            grown = peaks[MANY, jobs] - peaks[FEW, jobs]
            print(f'-j{jobs}: {grown >> 10} KB more for {more >> 10} KB of image', file=sys.stderr)
            self.assertLess(grown, more * MOST)


if __name__ == '__main__':
    run(__name__)
