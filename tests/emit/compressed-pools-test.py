#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that compressed address pools are found, used and removed like uncompressed ones.

usage: compressed-pools-test.py BTF-EMIT BTF-LINES BTF-MERGE [TEST...]

A line SKIP names each compressor that is not installed, and each file whose pools a compressor left as they were.
"""
import shutil

from helpers.btf_reader import Elf
from helpers.cli_case import PROGRAM, CliCase, run

OBJECTS = [source[:-2] + '.o' for source in PROGRAM]
COMPRESSORS = [
    *(['objcopy', '--compress-debug-sections=' + form] for form in ('zlib', 'zlib-gnu', 'zstd')),
    *(['llvm-objcopy', '--compress-debug-sections=' + form] for form in ('zlib', 'zstd')),
    *(['llvm-objcopy-19', '--compress-debug-sections=' + form] for form in ('zlib', 'zstd')),
    *(['eu-elfcompress', '-q', '-f', '-t', form] for form in ('zlib', 'gnu', 'zstd')),
]
FEATURES = '--features=+global_var'


class CompressedPools(CliCase):
    btf_merge = None  # set by run()

    def setUp(self):
        super().setUp()
        # Enough functions that compression makes the pool smaller; otherwise objcopy does not compress it.
        many = ''.join(f'int number_{i} = {i}; int f{i}(void) {{ return number_{i}; }}\n'
                       for i in range(64))
        self.compile_all()
        self.write('many.c', many)
        self.must('gcc', '-g', '-c', 'many.c', '-o', 'many.o')
        self.objects = [*OBJECTS, 'many.o']
        self.good('--address-pool', FEATURES, *self.objects)
        self.must('gcc', '-no-pie', *self.objects, '-o', 'program')
        self.must('ld', '-r', *self.objects, '-o', 'module')

    def merge(self, *arguments, status=0):
        done = self.call(self.btf_merge, FEATURES, *arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ''), done.stderr)
        if status == 0:
            self.assertEqual(done.stderr, '')
        return done.stderr

    def pool(self, name):
        """The section with the pools, or None."""
        elf = Elf(self.path(name))
        return elf.get('.debug') or elf.get('.zdebug')

    def compressed(self, compressor, name):
        """Copies the file to `packed`, and lets `compressor` compress the pools of the copy. Returns 'packed', or None
        if the compressor fails or leaves the pools as they are."""
        shutil.copy(self.path(name), self.path('packed'))
        done = self.call(*compressor, 'packed')
        if done.returncode or self.pool('packed').data == self.pool(name).data:
            print(f'SKIP {compressor}: leaves the pools of {name} as they are', flush=True)
            return None
        return 'packed'

    def each(self, test, *names):
        """Calls test(name, copy with compressed pools) for each installed compressor and each of `names`. Fails if no
        pool was compressed."""
        tried = 0
        for compressor in COMPRESSORS:
            if not shutil.which(compressor[0]):
                print(f'SKIP {compressor[0]}: not installed', flush=True)
                continue
            for name in names:
                with self.subTest(compressor=compressor, name=name):
                    packed = self.compressed(compressor, name)
                    if packed:
                        tried += 1
                        test(name, packed)
        self.assertGreater(tried, 0, 'nothing was compressed')

    def test_images(self):
        """btf-merge makes the same BTF of an image with compressed pools as with plain pools. --update removes the
        compressed pools of `module`."""
        for name in ('program', 'module'):
            self.merge('--image=' + name, '-o', name + '.btf', *self.objects)

        def test(name, packed):
            self.merge('--image=' + packed, '-o', 'packed.btf', *self.objects)
            self.assertEqual(self.read('packed.btf'), self.read(name + '.btf'))
            if name == 'module':
                self.merge('--image=' + packed, '--update=' + packed, *self.objects)
                self.assertIsNone(self.pool(packed))
        self.each(test, 'program', 'module')

    def test_objects(self):
        """Another run of btf-emit replaces the compressed pool of an object by a pool that is not compressed."""
        want = self.lines('many.o')
        size = self.pool('many.o').size

        def test(_, packed):
            self.good('--address-pool', FEATURES, packed)
            self.assertEqual(self.lines(packed), want)
            self.assertEqual([(s.name, s.size, s.flags) for s in Elf(self.path(packed)).sections
                              if s.name in ('.debug', '.zdebug')], [('.debug', size, 0)])
        self.each(test, 'many.o')

    def test_linked_again(self):
        """A linker accepts an object with a compressed pool, and fills in this pool."""
        self.merge('--image=program', '-o', 'program.btf', *self.objects)

        def test(_, packed):
            self.must('gcc', '-no-pie', *OBJECTS, packed, '-o', 'again')
            self.merge('--image=again', '-o', 'again.btf', *OBJECTS, packed)
            self.assertEqual(self.read('again.btf'), self.read('program.btf'))
        self.each(test, 'many.o')

    def test_damaged(self):
        """Damaged compressed pools cause an error that names file, section and offset. The file is unchanged."""
        def test(name, packed):
            pool, contents = self.pool(packed), self.read(packed)
            end = pool.offset + pool.size
            damaged = contents[:end - 8] + b'\xff' * 8 + contents[end:]
            self.write(packed, damaged)
            said = self.merge('--image=' + packed, '--update=' + packed, *self.objects, status=1)
            self.assertRegex(said, r'^btf-merge: ERROR: packed: \.z?debug\+0x[0-9a-f]+: cannot '
                                   r'decompress: the data is damaged\n$', name)
            self.assertEqual(self.read(packed), damaged)
        self.each(test, 'module')


if __name__ == '__main__':
    run(__name__, CompressedPools, ('btf_emit', 'btf_lines', 'btf_merge'))
