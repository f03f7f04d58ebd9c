#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel on valid and damaged Alpine packages (version 3 of the apk format) of a small kernel.

usage: apk-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
import random
import stat
import struct

from helpers.kernel_packages import (APK3_PACKINGS, PROGRAMS, RELEASE, PackageCase, apk3_block, Apk3Tree, apk3,
                                     bz_image, run, run_tests)


class Apk(PackageCase):
    def report(self, data, status=0):
        """Runs btf-kernel check on a package with the bytes `data`."""
        return self.check(self.write('linux.apk', data), status=status)

    def refused(self, data, words):
        said = self.report(data, status=1)
        self.assertIsInstance(said, str)
        self.assertIn('linux.apk' + words, said)

    def good(self, data):
        report = self.report(data)
        self.assertEqual((report['release'], report['modules'], report['modules_with_btf']), (RELEASE, 3, 3))

    def test_all_packings(self):
        for name, pack in APK3_PACKINGS.items():
            with self.subTest(name):
                self.good(pack(apk3(self.files())))

    def test_forms(self):
        files = self.files()
        self.good(apk3(files, long=True))
        deep = 'very-long-name/' * 20 # so that the length of each folder's path takes two bytes
        self.good(apk3([(deep + name, data) for name, data in files]))
        self.good(apk3([('usr/bin/other', b'x' * 100001), *files, ('usr/share/more', b'y')]))

    def test_files_without_data(self):
        def target(mode):
            return struct.pack('<H', mode) + b'/etc/passwd'
        base = f'lib/modules/{RELEASE}/kernel'
        report = self.report(apk3([*self.files(), (f'{base}/empty.ko', b'')],
                                  [(f'{base}/hard.ko', target(stat.S_IFREG)), (f'{base}/soft.ko', target(stat.S_IFLNK)),
                                   (f'{base}/device.ko', target(stat.S_IFCHR)), ('bin/other', target(stat.S_IFREG)),
                                   (f'{base}/damaged.ko', b'x')]), status=1)
        self.assertEqual(report['modules'], 4)
        self.assertEqual(sorted((f['file'].split('/')[-1], f['what'].split(':')[0]) for f in report['findings']),
                         [('damaged.ko)', 'is not a regular file'), ('device.ko)', 'is not a regular file'),
                          ('empty.ko)', 'cannot be unpacked'), ('hard.ko)', 'is a hard link')])

    def test_paths(self):
        report = self.report(apk3([*self.files(), ('../outside/m-9.ko', self.modules[0])]), status=1)
        self.assertEqual([(f['rule'], f['what']) for f in report['findings']],
                         [('unreadable', "its path has '..'")])

    def test_size(self):
        """A kernel configuration that is too large is reported."""
        _, *others = self.files()  # without the small configuration
        files = [*others, (f'boot/config-{RELEASE}', bytes((64 << 20) + 1))]
        report = self.report(APK3_PACKINGS['deflate'](apk3(files)), status=1)
        self.assertIn('has more than 67108864 bytes', [f['what'] for f in report['findings']])

    def test_encode(self):
        files = [('boot/vmlinux', (self.make / 'vmlinux').read_bytes())]
        out = self.top / 'encoded'
        done = run(PROGRAMS['kernel'], 'encode', '-o', out, self.write('linux-dbg.apk', apk3(files)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((out / 'vmlinux.btf').stat().st_size)

    def test_other_files(self):
        files = self.files()
        self.refused(apk3(files, kind=b'indx'), ': is not a package, but other data of apk')
        self.refused(b'ADBc\x07\x03' + apk3(files), ': has an unknown compression')
        newer = bytearray(apk3(files))
        newer[12] = 1
        self.refused(bytes(newer), ': has an unknown version')
        self.refused(b'ADBd' + b'\xff' * 100, ': cannot be unpacked: ')
        self.refused(b'ADBc\x02\x03' + b'\xff' * 100, ': is not compressed, or has an unknown compression')

    def test_cut_off(self):
        whole = apk3(self.files())
        for size in (4, 7, 8, 11, 12, 40, 100, 500, len(whole) // 2, len(whole) - 9):
            for name, pack in APK3_PACKINGS.items():
                with self.subTest(name, size=size):
                    self.refused(pack(whole[:size]), ': is cut off')
                    packed = pack(whole)
                    self.refused(packed[:len(packed) * size // (len(whole) + 1)], '')
        # The last block is missing, and the block before it is complete.
        last = 4 + 8 + len(self.modules[2])
        self.refused(whole[:-(last + -last % 8)], ': is cut off')

    def test_block_of_a_missing_file(self):
        """A block begins with the numbers of its folder and file, counted from 1."""
        image = bz_image(self.vmlinux, 'gz')
        whole = bytearray(apk3([('boot/vmlinuz', image)]))
        at = whole.rindex(image) - 8
        self.assertEqual(struct.unpack_from('<II', whole, at), (1, 1))
        for folder, file in ((0, 1), (1, 0), (2, 1), (1, 2), (1 << 31, 1), (1, 0xffffffff)):
            struct.pack_into('<II', whole, at, folder, file)
            with self.subTest(folder=folder, file=file):
                self.refused(bytes(whole), ': is damaged')

    def test_repeated_block(self):
        """Two blocks for one file are an error, because then another file has none."""
        whole = bytearray(apk3(self.files()))
        at = whole.rindex(self.modules[1]) - 8
        folder, file = struct.unpack_from('<II', whole, at)
        struct.pack_into('<II', whole, at, folder, file - 1)
        self.refused(bytes(whole), ': is damaged')

    def test_name_that_is_too_long(self):
        self.refused(apk3([*self.files(), ('x' * 5000, b'x')]), ': is damaged')

    def test_long_name_of_many_folders(self):
        """1,900 folders share one long name and one list of 1,900 files. Looking at all paths would take minutes."""
        tree = Apk3Tree()
        files = tree.list(tree.ARRAY, [tree.list(tree.OBJECT, [tree.text(b'x')])] * 1900)
        folder = tree.list(tree.OBJECT, [tree.text(b'a/' * 1900), 0, files])
        root = tree.list(tree.OBJECT, [0, tree.list(tree.ARRAY, [folder] * 1900)])
        struct.pack_into('<I', tree.bytes, 4, root)
        self.refused(b'ADB.pckg' + apk3_block(0, bytes(tree.bytes), False),
                     ': has paths that add up to more than 256 MB')

    def test_random_changes(self):
        """Damaged packages cause a report or an error message, never a signal."""
        whole = apk3([('boot/vmlinuz', b'x'), *self.files()[2:]], long=True)
        numbers = random.Random(1)
        for _ in range(150):
            changed = bytearray(whole)
            for _ in range(numbers.randint(1, 3)):
                changed[numbers.randrange(600)] = numbers.choice((0, 1, 8, 0x7f, 0xd0, 0xe0, 0xff))
            done = run(PROGRAMS['kernel'], 'check', '--threads=1', self.write('linux.apk', bytes(changed)))
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertTrue(done.stdout or done.stderr)


if __name__ == '__main__':
    run_tests()
