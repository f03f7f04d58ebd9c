#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel check on packages that mix files of two builds of a kernel, and on BTF with a layout section.

usage: builds-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
from helpers.kernel_packages import MODULE, PROGRAMS, RELEASE, SOURCE, PackageCase, bz_image, must, run_tests

VERMAGIC = 'static const char m[] __attribute__((section(".modinfo"), used)) = "vermagic=%s SMP";\n'


class Builds(PackageCase):
    def make_other(self, source, features='default'):
        """Builds another vmlinux of the same release, and returns its bytes."""
        self.write('other.c', source.encode())
        must('gcc', '-g', '-O1', '-ffreestanding', '-c', 'other.c', cwd=self.top)
        must(PROGRAMS['emit'], '--address-pool', 'other.o', cwd=self.top)
        must('gcc', '-nostdlib', '-static', '-o', 'other', 'other.o', cwd=self.top)
        must(PROGRAMS['merge'], f'--features={features}', '--image=other', '--update=other', 'other.o',
             cwd=self.top)
        return (self.top / 'other').read_bytes()

    def module_over(self, vmlinux, release):
        self.write('over', vmlinux)
        self.write('m.c', (MODULE % {'n': 7} + VERMAGIC % release).encode())
        must('gcc', '-g', '-O1', '-c', '-o', 'm.ko', 'm.c', cwd=self.top)
        must(PROGRAMS['emit'], 'm.ko', cwd=self.top)
        must(PROGRAMS['merge'], '--base=over', '--update=m.ko', 'm.ko', cwd=self.top)
        return (self.top / 'm.ko').read_bytes()

    def test_images_of_two_builds(self):
        rebuilt = self.make_other(SOURCE.replace('#1', '#2'))
        self.assertNotEqual(rebuilt, self.vmlinux)
        files = [(f'usr/lib/debug/boot/vmlinux-{RELEASE}', self.vmlinux),
                 (f'boot/vmlinuz-{RELEASE}', bz_image(rebuilt, 'gz'))]
        found, = self.check(self.unpacked(files, 'two'), status=1)['findings']
        self.assertEqual((found['rule'], found['file'], found['what']),
                         ('base', f'boot/vmlinuz-{RELEASE}', f'is "{RELEASE} (a@b) #2", another build than '
                                                             f'"{RELEASE} (a@b) #1"'))
        files[1] = (files[1][0], bz_image(self.vmlinux, 'gz'))
        self.check(self.unpacked(files, 'one'))

    def test_banner_is_that_of_the_image_with_btf(self):
        self.write('bare', self.vmlinux)
        must('objcopy', '--remove-section=.BTF', 'bare', cwd=self.top)
        rebuilt = bz_image(self.make_other(SOURCE.replace('#1', '#2')), 'gz')
        files = [(f'usr/lib/debug/boot/vmlinux-{RELEASE}', (self.top / 'bare').read_bytes()),
                 (f'boot/vmlinuz-{RELEASE}', rebuilt)]
        found, = self.check(self.unpacked(files, 'mixed'), status=1)['findings']
        self.assertEqual((found['file'], found['what']),
                         (f'usr/lib/debug/boot/vmlinux-{RELEASE}', f'is "{RELEASE} (a@b) #1", another build than '
                                                                   f'"{RELEASE} (a@b) #2"'))

    def test_modules_of_another_build(self):
        """A module whose BTF does not fit vmlinux is reported, even if it states the release of vmlinux. A module
        whose BTF fits is not reported, even if it states another release."""
        other = self.make_other('struct first { long more; } first(void) { }\n' + SOURCE)
        for release, said in ((RELEASE, f'1 module whose BTF does not fit vmlinux states release {RELEASE}, '
                                        'as the kernel does: another build or flavour'),
                              ('6.12.0-other', '1 module whose BTF does not fit vmlinux states release 6.12.0-other, '
                                               f"but the kernel's is {RELEASE}")):
            *others, (module, _) = self.files()
            mixed = [*others, (module, self.module_over(other, release))]
            findings = self.check(self.unpacked(mixed, 'mixed'), status=1)['findings']
            self.assertIn(('base', '', said), [(f['rule'], f['binary'], f['what']) for f in findings])
            good = [*others, (module, self.module_over(self.vmlinux, release))]
            self.check(self.unpacked(good, 'good'))

    def test_layout(self):
        for features, notes in (('default', []), ('+layout', ['layout'])):
            report = self.check('--kernel=7.2', self.write('vmlinux', self.make_other(SOURCE, features)))
            self.assertEqual([note['rule'] for note in report['notes']], notes)


if __name__ == '__main__':
    run_tests()
