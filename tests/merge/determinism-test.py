#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that the result has the same bytes for any number of threads and any scheduling, and for each form of
the inputs, and the same meaning for any order of the inputs.

usage: determinism-test.py BTF-EMIT BTF-MERGE BTF-COMPARE [TEST...]

The compiled objects have conflicts, forward declarations, functions and variables, and enough types to be
divided among threads. The number of rounds of tests that depend on chance is proportional to BTFLINK_ROUNDS
(default: 3).
"""
import contextlib
import os
import random
import struct
import subprocess

from helpers.cli_case import MadeOnceCase, run
from helpers.program_maker import Program

STRUCTS, FILES = 1100, 16
THREADS = (1, 2, 3, 8, 64)
ROUNDS = int(os.environ.get('BTFLINK_ROUNDS', '3'))
ALL = '--features=+global_var'
CFLAGS = ('-g', '-O1', '-w', '-fno-eliminate-unused-debug-types')


class Determinism(MadeOnceCase):
    btf_merge = btf_compare = None  # set by run()

    def setUp(self):
        super().setUp()
        self.objects = [f'file{n}.o' for n in range(FILES)]

    def make(self):
        sources = Program(STRUCTS, FILES).write(self.folder)
        for source in sources:
            self.must('gcc', *CFLAGS, '-c', source)
        objects = [s[:-2] + '.o' for s in sources]
        self.good('--address-pool', ALL, *objects)
        self.must('gcc', *objects, '-o', 'program')

    def merge(self, *inputs, threads=2, image='program', **options):
        arguments = [f'--threads={threads}', ALL, '-o', 'out.btf', *inputs]
        if image:
            arguments.append(f'--image={image}')
        done = self.call(self.btf_merge, *arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ''), arguments)
        return self.read('out.btf')

    def same(self, expected, *inputs, **options):
        self.assertTrue(self.merge(*inputs, **options) == expected,
                        f'other bytes: {inputs} {options}')

    def test_objects_are_many_and_varied(self):
        done = self.call(self.btf_merge, '--stats', ALL, *self.objects, '-o', 'out.btf',
                         '--image=program')
        stats = dict(line.strip().split(': ')[:2]
                     for line in (done.stdout + done.stderr).splitlines() if ': ' in line)
        self.assertGreater(int(stats['types_in']), 4 << 14, 'too few types to be divided among threads')
        self.assertGreaterEqual(int(stats['conflicting_names']), 3)
        self.assertGreater(int(stats['types_out.FWD']), 0)
        self.assertGreater(int(stats['types_out.FUNC']), FILES)
        self.assertGreater(int(stats['types_out.VAR']), FILES)

    def test_threads(self):
        for image in ('program', ''):
            expected = self.merge(*self.objects, threads=1, image=image)
            for threads in THREADS[1:]:
                self.same(expected, *self.objects, threads=threads, image=image)

    def test_scheduling(self):
        """Merges with several threads on one processor. Then runs several merges at once, which keep the machine
        busy."""
        expected = self.merge(*self.objects, threads=1)
        one = min(os.sched_getaffinity(0))
        for number in range(ROUNDS):
            self.same(expected, *self.objects, threads=THREADS[1 + number % 4],
                      preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        with contextlib.ExitStack() as stack:
            for _ in range(ROUNDS):
                commands = [[self.btf_merge, ALL, f'--threads={threads}', '--image=program',
                             *self.objects, '-o', f'out{threads}'] for threads in THREADS[1:]]
                running = [stack.enter_context(subprocess.Popen(c, cwd=self.folder))
                           for c in commands]
                for process, threads in zip(running, THREADS[1:]):
                    self.assertEqual(process.wait(), 0)
                    self.assertTrue(self.read(f'out{threads}') == expected, f'{threads} threads')

    def test_forms(self):
        """The inputs are results of ld -r with all objects or some, archives, thin archives, response files."""
        half, mixed = FILES // 2, FILES // 3
        first, second = self.objects[:half], self.objects[half:]
        self.write('list', '\n'.join(self.objects))
        self.must('ar', 'rcS', 'all.a', *self.objects)
        self.must('ar', 'rcST', 'thin.a', *self.objects)
        for linker in self.linkers():
            tool = {'bfd': 'ld.bfd', 'lld': 'ld.lld'}[linker]
            self.must(tool, '-r', *self.objects, '-o', f'{linker}-all')
            self.must(tool, '-r', *first, '-o', f'{linker}-first')
            self.must(tool, '-r', *second, '-o', f'{linker}-second')
            self.must(tool, '-r', f'{linker}-first', f'{linker}-second', '-o', f'{linker}-twice')
        for image in ('program', ''):
            expected = self.merge(*self.objects, threads=1, image=image)
            forms = [['@list'], ['all.a'], ['thin.a']]
            for linker in self.linkers():
                forms += [[f'{linker}-all'], [f'{linker}-twice'],
                          [f'{linker}-first', f'{linker}-second'],
                          [f'{linker}-first', *second], [*first, f'{linker}-second']]
            self.must('ar', 'rcS', 'part.a', *self.objects[:mixed])
            forms.append(['part.a', *self.objects[mixed:]])
            for form in forms:
                for threads in (1, 3):
                    self.same(expected, *form, threads=threads, image=image)

    def test_order_of_inputs(self):
        """The order of the inputs may decide which one of several definitions a declaration stands for, and thus the
        number of types (merge/NOTES.md). The meaning never depends on the order."""
        for shown in (False, True):
            objects, image = list(self.objects), 'program'
            if shown:  # each object has all definitions, so the number of types does not depend on the order
                objects, image = objects[:FILES // 2], 'shown'
                for name in objects:
                    self.must('gcc', *CFLAGS, '-DSHOW_ALL', '-c', name[:-2] + '.c')
                self.good('--address-pool', ALL, *objects)
                self.must('gcc', *objects, '-o', image)
            self.merge(*objects, image=image)
            os.rename(self.path('out.btf'), self.path('expected.btf'))
            order = random.Random(2)
            for _ in range(ROUNDS):
                order.shuffle(objects)
                self.merge(*objects, image=image)
                done = self.call(self.btf_compare, 'expected.btf', 'out.btf')
                self.assertIn('differing signatures 0;', done.stdout)
                if shown:
                    self.assertEqual(done.returncode, 0, done.stdout)

    def test_lying_hashes(self):
        """False hashes in one object's trailer, random ones or those of other types, cause an error of one line, or
        readable BTF: the same with one thread and with three. lying_hashes_test.cc has more kinds of false hashes."""
        noise = random.Random(3)
        inputs = self.objects[:3]
        whole = bytearray(self.read(inputs[1]))
        trailer = whole.index(b'BTFL')
        begin, count = struct.unpack_from('<II', whole, trailer + 40)
        begin += trailer
        for _ in range(4 * ROUNDS):
            lie = bytearray(whole)
            for _ in range(noise.choice((1, 20, count))):
                at = begin + 16 * noise.randrange(count)
                other = begin + 16 * noise.randrange(count)
                lie[at:at + 16] = noise.choice((noise.randbytes(16), whole[other:other + 16]))
            self.write(inputs[1], bytes(lie))
            ends = set()
            for threads in (1, 3):
                self.write('out.btf', b'')
                done = self.call(self.btf_merge, f'--threads={threads}', ALL, *inputs, '-o',
                                 'out.btf')
                ends.add((done.returncode, done.stderr, self.read('out.btf')))
            self.assertEqual(len(ends), 1, 'depends on threads')
            status, said, _ = ends.pop()
            if status:
                self.assertEqual((status, said.count('\n')), (1, 1), said)
                self.assertRegex(said, '^btf-merge: ERROR: ')
            else:
                self.assertEqual(self.call(self.btf_compare, 'out.btf', 'out.btf').returncode, 0)


if __name__ == '__main__':
    run('__main__', Determinism, ('btf_emit', 'btf_merge', 'btf_compare'))
