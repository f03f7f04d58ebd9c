#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that btf-kernel reads a small kernel in the formats of firmware and boot loaders, and survives wrong headers.

usage: wrapping-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
import gzip
import lzma
import os
import resource
import shutil
import struct
import unittest

from helpers import kernel_images as images
from helpers.kernel_packages import (COMPRESSIONS, PROGRAMS, RELEASE, SOURCE, PackageCase, bz_image,
                                     flat_image, lz4, must, run, run_tests, with_size, zboot)

STUB = '/usr/lib/systemd/boot/efi/linuxx64.efi.stub'


def signed(image, size):
    """The image with a signature, as sign-file appends it. `size`: of the signature, as stated after it."""
    return image + bytes(min(size, 1000)) + struct.pack('>8xI', size) + b'~Module signature appended~\n'


class Wrapping(PackageCase):
    def good(self, data, name='image', release=RELEASE):
        report = self.check(self.write(name, data))
        self.assertEqual((report['release'], report['findings']), (release, []))

    def refused(self, data, words):
        said = self.check(self.write('image', data), status=1)
        self.assertIsInstance(said, str)
        self.assertRegex(said, f'^btf-kernel: ERROR: \\S*/image[^ ]*: .*{words}')

    def test_unified_image(self):
        inner = bz_image(self.vmlinux, 'xz')
        flat = flat_image(self.btf)
        for image in (inner, flat, gzip.compress(flat), zboot(flat, 'zst'), self.vmlinux):
            self.good(images.uki(image))
        self.good(images.uki(self.btf, release='6.12.7-from-uname'), release='6.12.7-from-uname')
        self.good(images.uki(self.btf, release='6.12.7-from-uname', more=[('.uname', b'of-another-profile')]),
                  release='6.12.7-from-uname')
        self.refused(images.uki(inner, sections=('.uname',)), 'is a program for EFI without a kernel')
        self.refused(images.uki(b''), 'is a program for EFI without a kernel')
        # A unified image in a folder is found by its path.
        folder = self.top / 'esp/EFI/Linux'
        folder.mkdir(parents=True)
        (folder / 'e2ec-6.12.efi').write_bytes(images.uki(inner))
        (folder / 'e2ec-6.12.efi.extra.d').mkdir()
        (folder / 'e2ec-6.12.efi.extra.d/command-line.addon.efi').write_bytes(images.uki(b''))
        self.assertEqual(self.check(self.top / 'esp')['release'], RELEASE)

    @unittest.skipUnless(os.path.exists(STUB), 'systemd-boot-efi is not installed')
    def test_unified_image_by_objcopy(self):
        uname = self.write('uname', RELEASE.encode() + b'\n')
        linux = self.write('linux', bz_image(self.vmlinux, 'gz'))
        out = self.top / 'u.efi'
        must('objcopy', '--add-section', f'.uname={uname}', '--change-section-vma', '.uname=0x1000000',
             '--add-section', f'.linux={linux}', '--change-section-vma', '.linux=0x2000000', STUB, out)
        self.good(out.read_bytes())

    def test_uimage(self):
        flat = flat_image(self.btf)
        for payload in (flat, *(pack(flat) for pack in COMPRESSIONS.values())):
            self.good(images.uimage(payload))
        # The payload is the memory image of a 32-bit kernel, which has no header, or a zImage of it.
        self.good(images.uimage(gzip.compress(images.arm_image(self.btf))))
        self.good(images.uimage(images.zimage(images.arm_image(self.btf), 'xz')))
        self.good(images.uimage(gzip.compress(flat), kind=4))
        openwrt = {'id': lzma.FILTER_LZMA1, 'lc': 1, 'lp': 2, 'pb': 2}
        self.good(images.uimage(lzma.compress(flat, lzma.FORMAT_ALONE, filters=[openwrt])))
        self.refused(images.uimage(flat, kind=3), 'uImage without a kernel .its type is 3.')

    def test_places(self):
        """Errors have offsets from the beginning of the file, or of an unpacked image or module."""
        flat = flat_image(self.btf)
        several = bytearray(images.uimage(flat, kind=4))
        several[64:68] = b'\xff' * 4 # the size of the first part
        self.assertIn('/image+0x4c: uImage: ', self.check(self.write('image', several), status=1))
        nested = self.write('image', images.uimage(gzip.compress(several)))
        self.assertIn('/image: unpacked image+0x4c: uImage: ', self.check(nested, status=1))
        fit = bytearray(images.fit(flat, external=False))
        nodes = int.from_bytes(fit[8:12], 'big')
        fit[nodes + 3] = 0x77 # the first token
        self.assertIn(f'/image+{nodes:#x}: FIT: ', self.check(self.write('image', fit), status=1))
        short = gzip.compress(self.vmlinux[:200]) # an ELF header; the section headers are missing
        self.assertIn('/image: unpacked image+0x', self.check(self.write('image', images.uimage(short)), status=1))
        in_folder = self.unpacked([('vmlinuz.gz', short)], 'short')
        self.assertIn('/vmlinuz.gz: unpacked image+0x', self.check(in_folder, status=1))
        files = self.files()
        files[2] = (files[2][0] + '.gz', gzip.compress(self.modules[0][:200]))
        report = self.check(self.unpacked(files, 'short'), status=1)
        self.assertEqual([(f['binary'], f['section']) for f in report['findings']], [('m_0', 'unpacked module')])

    def test_fit(self):
        flat = gzip.compress(flat_image(self.btf))
        for external in (False, True):
            self.good(images.fit(flat, external))
        for chosen in ('conf-1', ''): # no configuration is called '', so the first kernel counts: that of conf-1
            self.refused(images.fit(flat, chosen=chosen), 'is not a kernel image of a known form')
        tree = images.Tree()
        tree.node('', {'compatible': 'board'}, [('cpus', {})])
        self.refused(tree.whole(), 'is a device tree without a kernel in it')

    def test_fit_with_long_name(self):
        """The memory used does not grow with the number of a node's properties times the length of the node's name."""
        count = 40_000
        tree = images.Tree()
        tree.node('', {}, [('images', {}, [('x' * count, {})])])
        end = tree.nodes.index(struct.pack('>2I', 4, 2))
        tree.nodes = tree.nodes[:end] + struct.pack('>3I', 3, 0, 0) * count + tree.nodes[end:]
        self.refused(tree.whole(), 'is a device tree without a kernel in it')
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 700 << 10)

    @unittest.skipUnless(shutil.which('mkimage') and shutil.which('dtc'), 'mkimage or dtc is not installed')
    def test_by_mkimage(self):
        flat = self.write('Image.gz', gzip.compress(flat_image(self.btf)))
        out = self.top / 'made'
        for kind in ('kernel', 'kernel_noload', 'multi'):
            must('mkimage', '-A', 'arm64', '-O', 'linux', '-T', kind, '-C', 'gzip', '-d', flat, out)
            self.good(out.read_bytes())
        its = self.write('fit.its', b'''/dts-v1/; / { description = "x"; images { kernel { description = "k";
            data = /incbin/("Image.gz"); type = "kernel"; arch = "arm64"; os = "linux"; load = <0>;
            entry = <0>; compression = "gzip"; hash { algo = "sha256"; }; }; };
            configurations { default = "conf"; conf { kernel = "kernel"; }; }; };''')
        for options in ([], ['-E'], ['-E', '-p', '0x1000']):
            must('mkimage', *options, '-f', its, out, cwd=self.top)
            self.good(out.read_bytes())

    def test_zimage_of_arm(self):
        image = images.arm_image(self.btf)
        for order in '<>':
            for kind in COMPRESSIONS:
                with self.subTest(order=order, kind=kind):
                    self.good(images.zimage(image, kind, order))
        damaged = bytearray(images.zimage(image, 'xz'))
        damaged[0x40 + 0x100 + 200] ^= 0xff
        self.refused(damaged, 'has no compressed kernel after its code')
        old = bytearray(images.zimage(image, 'gz'))
        old[0x34] = 0
        self.refused(old, 'is a zImage of a kernel before 4.15')

    def test_image_of_s390x(self):
        # The little-endian unpacked size after the payload ends with two zero bytes, with one, or with none.
        for size in (0x100, 0x10000, 0x1000000):
            image = bytes(size) + images.arm_image(self.btf)
            for kind in (*COMPRESSIONS, None):
                for trailer in (True, False):
                    with self.subTest(size=len(image), kind=kind, trailer=trailer):
                        whole = images.s390_image(image, kind, trailer)
                        self.good(whole)
                        self.good(signed(whole, 300))
        damaged = bytearray(images.s390_image(images.arm_image(self.btf), 'xz'))
        damaged[0x10110 + 200] ^= 0xff
        self.refused(damaged, 'has no compressed kernel after its code')
        short = images.s390_image(b'', None)[:0x10010]
        marker = signed(b'', 0)[12:]
        for image in short, signed(short, 0), signed(short, 0xffffffff), short[:0x1000e] + marker:
            self.refused(image, 'has no compressed kernel after its code')

    @unittest.skipUnless(shutil.which('arm-linux-gnueabihf-gcc'), 'there is no compiler for arm')
    def test_big_endian_arm(self):
        self.write('be.c', SOURCE.encode() + b'long of_four_bytes(long a) { return a; }\n')
        must('arm-linux-gnueabihf-gcc', '-g', '-mbig-endian', '-c', 'be.c', cwd=self.top)
        must(PROGRAMS['emit'], 'be.o', cwd=self.top)
        must(PROGRAMS['merge'], '-o', 'be.btf', 'be.o', cwd=self.top)
        btf = (self.top / 'be.btf').read_bytes()
        self.assertEqual(btf[:2], b'\xeb\x9f')
        for order in '<>': # of the header: little-endian in a BE8 kernel, big-endian in a BE32 kernel
            self.good(images.zimage(images.arm_image(btf), 'xz', order))

    def test_boot_img(self):
        flat = flat_image(self.btf)
        for version in range(5):
            for kernel in (flat, gzip.compress(flat), lz4(flat), with_size(lz4(flat), flat, 'lz4'),
                           gzip.compress(flat) + b'\xd0\x0d\xfe\xed appended'):
                self.good(images.boot_img(kernel, version))
        self.good(images.boot_img(flat, 1, page=2048))
        self.refused(images.boot_img(flat, 5), 'boot.img of version 5, which is not known')
        self.refused(images.boot_img(b'', 4), 'boot.img without a kernel')
        self.refused(images.boot_img(flat, 2).replace(struct.pack('<I', 4096), bytes(4), 1),
                     'its pages have 0 bytes')
        self.refused(b'VNDRBOOT' + bytes(4096), 'vendor_boot.img, which has no kernel')

    def test_modules_of_android(self):
        """Android's vendor_dlkm has modules in lib/modules, without a folder for the release. Some modules are in
        subfolders."""
        boot = self.write('boot.img', images.boot_img(lz4(flat_image(self.btf)), 4))
        folder = self.top / 'vendor_dlkm/lib/modules'
        (folder / 'extra').mkdir(parents=True)
        (folder / 'm-0.ko').write_bytes(self.modules[0])
        (folder / 'extra/m-1.ko').write_bytes(self.modules[1])
        report = self.check(boot, self.top / 'vendor_dlkm')
        self.assertEqual((report['release'], report['modules_with_btf']), (RELEASE, 2))
        other = self.write('other.img', images.boot_img(flat_image(self.other_btf()), 4))
        report = self.check(other, self.top / 'vendor_dlkm', status=1)
        self.assertLessEqual({('base', 'm_0'), ('base', 'm_1')},
                             {(f['rule'], f['binary']) for f in report['findings']})

    def other_btf(self):
        self.write('other.c', SOURCE.encode() + b'struct more { long more; } more(void) { }\n')
        must('gcc', '-g', '-c', 'other.c', cwd=self.top)
        must(PROGRAMS['emit'], 'other.o', cwd=self.top)
        must(PROGRAMS['merge'], '-o', 'other.btf', 'other.o', cwd=self.top)
        return (self.top / 'other.btf').read_bytes()

    def test_zboot_of_older_and_newer_kernels(self):
        """The payload's size in the header may include the unpacked size that follows the payload."""
        flat = flat_image(self.btf)
        for kind in COMPRESSIONS:
            image = bytearray(zboot(flat, kind))
            self.good(image)
            if kind != 'gz':
                size, = struct.unpack_from('<I', image, 12)
                struct.pack_into('<I', image, 12, size - 4)
                self.good(image)

    def test_image_of_loongarch(self):
        image = bytearray(flat_image(self.btf))
        image[:2], image[56:60] = b'MZ', b'\xcd\x23\x82\x81'
        self.good(image)

    def test_incidental_magics(self):
        """Magics of compressed data before a bzImage's payload are ignored."""
        image = bytearray(bz_image(self.vmlinux, 'xz'))
        image[0x320:0x330] = b'\x1f\x8b\x08\0 not gzip'[:16].ljust(16, b'\0')
        image[0x340:0x346] = b'\xfd7zXZ\0'
        self.good(image)

    def test_vmlinux_without_sections(self):
        """A vmlinux without section headers, and one without symbols."""
        whole = bytearray(self.vmlinux)
        struct.pack_into('<Q', whole, 40, 0)
        struct.pack_into('<2H', whole, 60, 0, 0)
        self.good(whole)
        bare = self.write('bare', self.vmlinux)
        must('strip', '--strip-all', bare)
        self.good(bare.read_bytes())

    def test_wrong_headers(self):
        """Words of the headers become 0 or 0xffffffff. Files are cut off at many sizes."""
        flat = flat_image(self.btf)
        zimage = images.zimage(flat, 'gz')
        for whole, words in (
                (images.uki(flat), (0x3c, *range(0x80, 0x98, 4), *range(0x188, 0x200, 4))),
                (images.uimage(flat, 4), range(8, 0x4c, 4)),
                (images.fit(flat, True), (*range(8, 0x28, 4), *range(0x38, 0x90, 4))),
                (images.boot_img(flat, 2), range(8, 0x30, 4)),
                (zimage, (*range(0x24, 0x3c, 4), *range(len(zimage) - 19, len(zimage) - 3, 4))), # header, table
                (zboot(flat, 'xz'), (4, 8, 12, 24, 0x38)),
                (bz_image(self.vmlinux, 'gz'), (0x1f1, 0x202, 0x206, 0x20e, 0x248, 0x24c))):
            self.good(whole)
            for size in (*range(4, 64, 12), 100, 600, 1100, len(whole) // 2):
                self.survives(whole[:size])
            for at in words:
                for value in (b'\xff' * 4, bytes(4)):
                    self.survives(whole[:at] + value + whole[at + 4:])

    def survives(self, data):
        """Asserts that btf-kernel check reads the image, or that its error names the file."""
        done = run(PROGRAMS['kernel'], 'check', '-q', self.write('lie', data))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        if done.stderr:
            self.assertRegex(done.stderr, r'^btf-kernel: ERROR: \S*/lie.*\n$')


if __name__ == '__main__':
    run_tests()
