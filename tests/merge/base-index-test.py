#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that an index of the base does not change the result, even if the index is damaged.

usage: base-index-test.py BTF-EMIT BTF-MERGE BTF-PAHOLE [TEST...]

Some files of a compiled program are merged as modules over the BTF of the rest: without an index, with one,
with the index of another base, with damaged ones, and where no index can be written; also many at once.
BTFLINK_ROUNDS=N multiplies the number of indexes that are damaged at random places (60).
"""
import os
import random
import shutil
import subprocess

from helpers.cli_case import MadeOnceCase, run
from helpers.program_maker import Program

STRUCTS, FILES, OF_BASE = 300, 8, 4
ROUNDS = int(os.environ.get('BTFLINK_ROUNDS', '1'))
CFLAGS = ('-g', '-O1', '-w', '-fno-eliminate-unused-debug-types')
INDEX = 'index'


class BaseIndex(MadeOnceCase):
    btf_merge = btf_pahole = None  # set by run()

    def setUp(self):
        super().setUp()
        self.modules = [f'file{n}.o' for n in range(OF_BASE, FILES)]

    def make(self):
        for source in Program(STRUCTS, FILES).write(self.folder):
            self.must('gcc', *CFLAGS, '-c', source)
        self.good('--address-pool', *(f'file{n}.o' for n in range(FILES)))
        base = [f'file{n}.o' for n in range(OF_BASE)]
        self.must(self.btf_merge, '-o', 'base.btf', *base)
        self.must(self.btf_merge, '-o', 'other.btf', *base[1:])

    def merge(self, module, index=None, base='base.btf', threads=1):
        """Merges; returns the result, and whether an index was used."""
        arguments = [f'--threads={threads}', '--stats', f'--base={base}', '-o', 'out.btf', module]
        if index:
            arguments.append(f'--base-index={index}')
        done = self.call(self.btf_merge, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        used = [line for line in done.stderr.splitlines() if line.startswith('base_index_used: ')]
        self.assertEqual(len(used), 1, done.stderr)
        return self.read('out.btf'), used[0].endswith(' 1')

    def check(self, module, index, used, **options):
        """Checks that the bytes are the same as without an index, and that the index is used (`used`: True), not used
        (False), or either (None)."""
        expected, _ = self.merge(module, None, **options)
        result, was_used = self.merge(module, index, **options)
        self.assertEqual(result, expected)
        if used is not None:
            self.assertEqual(was_used, used)

    def test_same_bytes(self):
        self.check(self.modules[0], INDEX, False)
        made = self.read(INDEX)
        for module in self.modules:
            for threads in 1, 3:
                self.check(module, INDEX, True, threads=threads)
        self.assertEqual(self.read(INDEX), made)

    def test_the_index_does_not_depend_on_the_module(self):
        made = []
        for module in self.modules[:2]:
            self.merge(module, INDEX)
            made.append(self.read(INDEX))
            os.remove(self.path(INDEX))
        self.assertEqual(made[0], made[1])

    def test_of_another_base(self):
        self.merge(self.modules[0], INDEX, base='other.btf')
        other = self.read(INDEX)
        self.check(self.modules[0], INDEX, False)
        self.assertNotEqual(self.read(INDEX), other)
        self.check(self.modules[0], INDEX, True)

    def test_of_a_base_that_changed(self):
        """One byte of the base changes; the size and modification time of the base do not."""
        self.merge(self.modules[0], INDEX)
        blob = bytearray(self.read('base.btf'))
        before = os.stat(self.path('base.btf'))
        at = blob.rindex(b'\0', 0, len(blob) - 1) + 1  # the last string
        blob[at] = ord('x') if blob[at] != ord('x') else ord('y')
        with open(self.path('base.btf'), 'r+b') as file:
            file.write(blob)
        os.utime(self.path('base.btf'), ns=(before.st_atime_ns, before.st_mtime_ns))
        self.check(self.modules[0], INDEX, False)
        self.check(self.modules[0], INDEX, True)

    def test_damaged(self):
        module = self.modules[0]
        expected, _ = self.merge(module)
        self.merge(module, INDEX)
        good = self.read(INDEX)
        chance = random.Random(1)
        # All bytes of the header, then random ones.
        places = list(range(0, 80)) + [chance.randrange(len(good)) for _ in range(60 * ROUNDS)]
        for at in places:
            bad = bytearray(good)
            bad[at] ^= 1 << chance.randrange(8)
            self.write(INDEX, bytes(bad))
            self.assertEqual(self.merge(module, INDEX), (expected, False), at)
            # The damaged index is replaced. But a file with other first 8 bytes is not an index, and stays.
            self.assertEqual(self.read(INDEX), good if at >= 8 else bytes(bad), at)
        for size in (0, 1, 79, 80, 81, len(good) // 2, len(good) - 1):
            self.write(INDEX, good[:size])
            self.assertEqual(self.merge(module, INDEX), (expected, False), size)
            # An empty file, as from a full disk, is replaced; one that ends within the first 8 bytes is not an index.
            self.assertEqual(self.read(INDEX), good[:1] if size == 1 else good, size)
        self.write(INDEX, good + b'\0')
        self.assertEqual(self.merge(module, INDEX), (expected, False))

    def test_other_files_stay(self):
        """Inputs and outputs cannot be the index, and files that are not an index are not overwritten."""
        expected, _ = self.merge(self.modules[0])
        for name, text in ('notes.txt', b'notes\n'), ('x.o', self.read(self.modules[1])):
            self.write(name, text)
            self.assertEqual(self.merge(self.modules[0], name), (expected, False))
            self.assertEqual(self.read(name), text)
        for name in 'base.btf', self.modules[0], 'out':
            self.write('out', b'old')
            before = self.read(name)
            done = self.call(self.btf_merge, '--base=base.btf', f'--base-index={name}', '-o', 'out',
                             self.modules[0])
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(f"'{name}' is already used by this merge", done.stderr)
            self.assertEqual(self.read(name), before)
        for more in ('-o', 'new'), ('-o', './new'), ('-o', self.path('new')), ('-o', 'out', '--time-trace=new'):
            done = self.call(self.btf_merge, '--base=base.btf', '--base-index=new', *more,
                             self.modules[0])
            self.assertEqual(done.returncode, 2, more)
            self.assertIn("'new' is already used by this merge", done.stderr)
            self.assertNotIn('new', self.names())
        done = self.call(self.btf_merge, '--base=base.btf', '--base-index=new.base', '--distilled-base', '-o', 'new',
                         self.modules[0])
        self.assertEqual(done.returncode, 2)
        self.assertIn("'new.base' is already used by this merge", done.stderr)

    def test_links_that_lead_to_no_file(self):
        """A link to a file that the merge will write is refused. Two paths through a link that leads to itself do not
        count as the same file."""
        os.symlink('new', self.path('link'))
        os.symlink('link', self.path('link2'))
        for name in 'link', 'link2':
            done = self.call(self.btf_merge, '--base=base.btf', f'--base-index={name}', '-o', 'new', self.modules[0])
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(f"'{name}' is already used by this merge", done.stderr)
        os.symlink('loop', self.path('loop'))
        done = self.call(self.btf_merge, '--base=base.btf', '--base-index=loop/a', '-o', 'loop/b', self.modules[0])
        self.assertNotIn('already used', done.stderr)
        self.assertIn('loop/b: ', done.stderr)

    def test_unreadable_file_stays(self):
        """btf-merge has the right to write the file of --base-index, but not to read it. If root runs this test, a
        copy of btf-merge runs as another user. The original may be in a folder that this user cannot enter."""
        other = {'user': 65534, 'group': 65534, 'extra_groups': ()} if os.getuid() == 0 else {}
        program = shutil.copy(self.btf_merge, self.path('btf-merge')) if other else self.btf_merge
        os.mkdir(self.path('shared'))
        self.write('shared/notes', b'notes\n')
        for name, mode in ('', 0o755), ('shared', 0o777), ('shared/notes', 0o222):
            os.chmod(self.path(name), mode)
        before = os.stat(self.path('shared/notes'))
        done = self.call(program, '--base=base.btf', '--base-index=shared/notes', '-o', 'shared/out',
                         self.modules[0], **other)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = os.stat(self.path('shared/notes'))
        self.assertEqual((after.st_ino, after.st_size, after.st_mtime_ns),
                         (before.st_ino, before.st_size, before.st_mtime_ns))

    def test_pipes(self):
        """The base or the module is a pipe, which can be read only once. The result is the same as for files."""
        expected, _ = self.merge(self.modules[0])
        self.merge(self.modules[0], INDEX)
        for index in INDEX, 'new':
            for base, module in ('base.btf', 'pipe'), ('pipe', self.modules[0]):
                os.mkfifo(self.path('pipe'))
                what = 'base.btf' if base == 'pipe' else self.modules[0]
                with subprocess.Popen(['sh', '-c', f'cat {what} >pipe'], cwd=self.folder) as writer:
                    done = subprocess.run(
                        [self.btf_merge, f'--base={base}', f'--base-index={index}', '-o', 'out', module],
                        cwd=self.folder, timeout=60, check=False)
                    writer.wait()
                os.remove(self.path('pipe'))
                self.assertEqual(done.returncode, 0, (base, module))
                self.assertEqual(self.read('out'), expected)

    def test_sections_of_an_image(self):
        """The result uses the base's string .data, the name of a section of the image. The object has no such string,
        because its sections have other names (-fdata-sections)."""
        options = ('--features=+global_var', '--threads=1')
        for name in 'one', 'two':
            self.write(f'{name}.c', f'int {name}_counter = 1, {name}_zero; int {name}(void) {{ return '
                       f'{name}_counter + {name}_zero; }}\n')
            self.must('gcc', '-g', '-O1', '-fdata-sections', '-c', f'{name}.c')
            self.good('--features=+global_var', '--address-pool', f'{name}.o')
            self.must('ld', '-e', name, '-o', name, f'{name}.o')
        self.must(self.btf_merge, *options, '--image=one', '-o', 'one.btf', 'one.o')
        self.assertIn(b'\0.data\0', self.read('one.btf'))
        two = (self.btf_merge, *options, '--base=one.btf', '--image=two', '-o', 'out')
        self.must(*two, 'two.o')
        expected = self.read('out')
        self.assertNotIn(b'\0.data\0', expected)
        for used in '0', '1':
            said = self.call(*two, '--stats', f'--base-index={INDEX}', 'two.o').stderr
            self.assertIn(f'base_index_used: {used}', said)
            self.assertEqual(self.read('out'), expected)

    def test_where_there_can_be_no_file(self):
        os.mkdir(self.path('folder'))
        os.mkfifo(self.path('pipe'))
        os.symlink('nowhere/at/all', self.path('link'))
        for index in 'no/such/folder/index', 'folder', 'pipe', '/proc/index', '/dev/null', 'link':
            before = self.names() | {'out.btf'}
            self.check(self.modules[0], index, False)
            self.assertEqual(self.names(), before, index)

    def test_many_at_once(self):
        expected = [self.merge(module)[0] for module in self.modules]
        for _ in range(4):
            runs = [subprocess.Popen([self.btf_merge, '--threads=1', '--base=base.btf',
                                      f'--base-index={INDEX}', '-o', f'out{n}',
                                      self.modules[n % len(self.modules)]], cwd=self.folder)
                    for n in range(16)]
            self.assertEqual([p.wait() for p in runs], [0] * len(runs))
            for n in range(16):
                self.assertEqual(self.read(f'out{n}'), expected[n % len(self.modules)])
            self.check(self.modules[0], INDEX, True)
            os.remove(self.path(INDEX))
            self.assertEqual([n for n in self.names() if n.startswith('.')], [])

    def test_errors_are_those_of_a_run_without(self):
        self.merge(self.modules[0], INDEX)
        self.write('bad.o', self.read(self.modules[0])[:2000])
        said = [self.call(self.btf_merge, '--base=base.btf', '-o', 'out', 'bad.o', *more)
                for more in ((), (f'--base-index={INDEX}',))]
        self.assertEqual(said[0].returncode, 1)
        self.assertEqual((said[0].returncode, said[0].stderr), (said[1].returncode, said[1].stderr))

    def test_it_needs_a_base(self):
        done = self.call(self.btf_merge, '--base-index=index', '-o', 'out', self.modules[0])
        self.assertEqual(done.returncode, 2)
        self.assertIn('--base-index needs --base', done.stderr)

    # In a kernel's build.

    def pahole(self, module, **environment):
        shutil.copy(self.path(self.modules[0]), self.path(module))
        done = self.call(self.btf_pahole, '-J', '--btf_base=tree/vmlinux', module,
                         env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.read(module)

    def test_next_to_a_vmlinux_that_kbuild_linked(self):
        os.mkdir(self.path('tree'))
        shutil.copy(self.path('base.btf'), self.path('tree/vmlinux'))
        index = self.path('tree/.tmp_vmlinux.btf-index')
        expected = self.pahole('a.ko')
        self.assertEqual(os.listdir(self.path('tree')), ['vmlinux'], 'Kbuild has not linked this vmlinux')
        self.write('tree/.vmlinux.cmd', 'savedcmd_vmlinux := link\n')
        self.assertEqual(self.pahole('b.ko', BTF_PAHOLE_NO_INDEX='1'), expected)
        self.assertFalse(os.path.exists(index))
        for module in 'c.ko', 'd.ko':
            self.assertEqual(self.pahole(module), expected)
            self.assertTrue(os.path.exists(index))
        with open(index, 'r+b') as file:
            file.seek(100)
            file.write(b'damage')
        self.assertEqual(self.pahole('e.ko'), expected)


if __name__ == '__main__':
    run('__main__', BaseIndex, ('btf_emit', 'btf_merge', 'btf_pahole'))
