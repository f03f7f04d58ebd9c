#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel with a small kernel as a folder, an image or a package, and with malicious packages. apk-test.py
tests version 3 of Alpine's format, wrapping-test.py the formats of firmware and boot loaders.

usage: package-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
import gzip
import io
import lzma
import os
import re
import shutil
import struct
import tarfile
import unittest
import zlib
from unittest import mock

from helpers.btf_reader import type_heads
from helpers.kernel_packages import (COMPRESSIONS, PROGRAMS, RELEASE, SOURCE, PackageCase, ar, bounded_memory,
                                     bz_image, flat_image, must, run, run_tests, tar, zboot, zstd)


class Package(PackageCase):
    def good(self, *paths, modules=3, release=RELEASE):
        report = self.check(*paths)
        self.assertEqual((report['release'], report['modules'], report['modules_with_btf']),
                         (release, modules, modules), paths)

    def refused(self, path, words, **more):
        error = self.check(path, status=1, **more)
        self.assertIsInstance(error, str)
        self.assertIn(words, error)

    def found(self, report):
        return sorted({(f['rule'], f['binary']) for f in report['findings']})

    def test_folder(self):
        for suffix in ('', 'xz', 'zst', 'gz'):
            compress = COMPRESSIONS.get(suffix)
            with self.subTest(suffix):
                self.good(self.unpacked(self.files(compress=compress, suffix=suffix and '.' + suffix)))

    def test_images(self):
        for kind in COMPRESSIONS:
            with self.subTest(kind):
                self.good(self.write('image', bz_image(self.vmlinux, kind)), modules=0)
                self.good(self.write('image', zboot(flat_image(self.btf), kind)), modules=0)
                self.good(self.write('image', COMPRESSIONS[kind](flat_image(self.btf))), modules=0)
        self.good(self.write('Image', flat_image(self.btf)), modules=0)
        self.good(self.make / 'vmlinux', modules=0)
        self.good(self.make / 'vmlinux.btf', modules=0, release='')
        self.good(self.make / 'vmlinux', *(self.make / f'm-{n}.ko' for n in range(3)))

    def test_kfuncs_of_a_flat_image(self):
        """A flat image has no sections; .BTF_ids is found after .BTF."""
        func = type_heads(self.btf).index('FUNC use') + 1
        struct_id = type_heads(self.btf).index('STRUCT task_struct') + 1
        end_of_btf = len(flat_image(self.btf, b''))
        word, page = -end_of_btf % 4, -end_of_btf % 4096
        # The words of .BTF_ids: ids of structs (0: no such struct), and a set of kfuncs. A set has the number of
        # kfuncs, the flags of the set, and the id and flags of each kfunc.
        for gap in (word, page):
            for words, kfuncs, rules in (
                    ((struct_id, 1, 1, func, 0), 1, []),
                    ((struct_id, 0, 0, 2, 1, 0, 0, func, 32, struct_id), 1, ['kfunc-func']),
                    # .BTF_ids seems to end at the large word.
                    ((struct_id, 1, 1, func, 1 << 20), 0, []),
                    ((struct_id, 0x7fffffff, 1, 1, func, 0), 0, [])):
                with self.subTest(gap=gap, words=words):
                    ids = struct.pack(f'<{len(words)}I', *words)
                    image = flat_image(self.btf, bytes(gap) + ids + bytes(-len(ids) % 4096) + b'\xff' * 64)
                    report = self.check(self.write('Image', image), status=1 if rules else 0)
                    self.assertEqual(report['kfuncs'], kfuncs)
                    self.assertEqual([f['rule'] for f in report['findings']], rules)
                    self.assertEqual(self.unchecked(report), [('ids', ['vmlinux'])] +
                                     [('kfunc-tag', ['vmlinux'])] * kfuncs)

        # Data that look like a set of more than 1,024 kfuncs are skipped. Without such a limit, the remaining data
        # could be read again from each word.
        for count in (1024, 1025):
            ids = struct.pack('<II', count, 1) + struct.pack('<II', func, 0) * count
            image = flat_image(self.btf, bytes(word) + ids + b'\xff' * 64)
            self.assertEqual(self.check(self.write('Image', image))['kfuncs'], 1 if count == 1024 else 0)
        # Much other data may follow .BTF. Only the first megabyte after .BTF is searched.
        for before, kfuncs in ((1 << 20) - 16, 1), (1 << 20, 0):
            ids = struct.pack('<I', struct_id) * (before // 4) + struct.pack('<IIII', 1, 1, func, 0) + bytes(1 << 20)
            image = flat_image(self.btf, bytes(word) + ids)
            self.assertEqual(self.check(self.write('Image', image))['kfuncs'], kfuncs)

    def unchecked(self, report):
        return [(u['rule'], u['binaries']) for u in report['unchecked']]

    def test_unchecked_rules_are_named(self):
        image = self.write('Image', flat_image(self.btf))
        self.assertEqual(self.unchecked(self.check(image)), [('ids', ['vmlinux'])])
        done = run(PROGRAMS['kernel'], 'check', image)
        self.assertIn('not checked: ids: vmlinux: there is no .BTF_ids, the section with ids and kfuncs\n',
                      done.stdout)
        self.assertNotIn('not checked', run(PROGRAMS['kernel'], 'check', '--ignore=ids', image).stdout)
        # Without a configuration it is not known whether modules should have BTF.
        bare = self.write('bare.ko', self.make.joinpath('m-0.ko').read_bytes())
        must('objcopy', '--remove-section=.BTF', bare)
        report = self.check(image, bare)
        self.assertEqual(self.unchecked(report), [('no-btf', ['bare']), ('ids', ['vmlinux'])])

    def test_other_files_called_config(self):
        files = [(name, data) for name, data in self.files() if 'boot/config' not in name]
        bare = self.write('bare.ko', self.make.joinpath('m-0.ko').read_bytes())
        must('objcopy', '--remove-section=.BTF', bare)
        files[1] = (files[1][0], bare.read_bytes())
        files.append((f'lib/modules/{RELEASE}/config', b'CONFIG_DEBUG_INFO_BTF_MODULES=y\n'))
        for other in (b'[core]\n', b'CONFIG_DEBUG_INFO_BTF_MODULES=n\n'):
            report = self.check(self.unpacked([*files, ('.git/config', other)], 'tree'), status=1)
            self.assertIn('although CONFIG_DEBUG_INFO_BTF_MODULES=y', report['findings'][0]['what'])

    def test_results_of_encode(self):
        """Raw BTF of vmlinux and modules, as btf-kernel encode writes it, is read like a kernel. The raw BTF is
        ignored if the kernel's own files are there, too."""
        files = [('vmlinux.btf', self.btf)]
        for n, name in enumerate(('m-0.ko', 'm-1.ko.xz', 'm-2-9.ko')):
            raw = self.write('raw', b'')
            must('objcopy', '-O', 'binary', '--only-section=.BTF', '--set-section-flags=.BTF=alloc',
                 self.make / f'm-{n}.ko', raw)
            files.append((f'usr/lib/debug/lib/modules/{RELEASE}/{name}.btf', raw.read_bytes()))
        folder = self.unpacked(files, 'encoded')
        self.good(folder)
        self.good(self.write('encoded.tar', tar(files)))
        self.good(*(folder / name for name, data in files), release='')
        self.assertEqual(self.unchecked(self.check(folder)), [('ids', ['vmlinux', 'm_0', 'm_1', 'm_2_9'])])
        done = run(PROGRAMS['kernel'], 'check', folder)
        self.assertIn('not checked: ids: vmlinux, 3 modules: raw BTF comes without .BTF_ids', done.stdout)
        for command in ('diff', folder, folder), ('report', '-o', self.top / 'page.html', folder):
            must(PROGRAMS['kernel'], *command)
        # As written by encode --self-contained: the BTF of the module has no base.
        whole = self.unpacked([files[0], ('m-0.ko.btf', self.btf)], 'whole')
        report = self.check(whole)
        self.assertEqual(self.unchecked(report), [('base', ['m_0']), ('ids', ['vmlinux', 'm_0']),
                                                  ('redefined', ['m_0'])])
        # Damaged.
        self.unpacked([*files[:3], (files[3][0], files[3][1][:-5])], 'cut')
        report = self.check(self.top / 'cut', status=1)
        self.assertEqual(self.found(report), [('verifier', 'm_2_9')])
        self.unpacked([*files[:3], (files[3][0], b'')], 'cut')
        self.assertEqual(self.found(self.check(self.top / 'cut', status=1)), [('unreadable', 'm_2_9')])
        # Raw BTF in one folder with the kernel's own files.
        both = self.unpacked([*self.files(), *files], 'both')
        report = self.check(both)
        self.assertEqual((report['modules'], self.unchecked(report)), (3, [('ids', ['vmlinux'])]))

    def test_build(self):
        files = [('include/config/kernel.release', RELEASE.encode() + b'\n'),
                 ('.config', b'CONFIG_DEBUG_INFO_BTF=y\n'), ('vmlinux', self.vmlinux),
                 ('arch/x86/boot/bzImage', bz_image(self.vmlinux, 'gz')),
                 ('arch/x86/boot/compressed/vmlinux', b'\177ELF none'), ('arch/arm/boot/Image', b'no header'),
                 *((f'drivers/m-{n}.ko', data) for n, data in enumerate(self.modules)),
                 *((f'{copy}/m-{n}.ko', data) for n, data in enumerate(self.modules)
                   for copy in ('debian/linux', 'pacman/linux', 'tar-install', 'rpmbuild'))]
        folder = self.unpacked(files, 'build')
        self.good(folder)
        self.good(f'{folder}/')

    def test_sources_are_no_images(self):
        """A kernel's sources have files whose names begin like those of images."""
        sources = [(name, b'text\n') for name in (
            'scripts/gdb/vmlinux-gdb.py', 'arch/arm/kernel/vmlinux-xip.lds.S',
            'arch/m68k/kernel/vmlinux-std.lds', 'tools/perf/tests/vmlinux-kallsyms.c')]
        self.good(self.unpacked(sources + self.files(), 'sources'))
        self.refused(self.unpacked(sources, 'no-images'), 'has neither vmlinux nor modules')

    def test_deb(self):
        files = self.files(compress=lzma.compress, suffix='.xz')
        for kind, mode in (('xz', 'w:xz'), ('gz', 'w:gz'), ('zst', 'w'), ('', 'w')):
            data = tar([('./' + name, data) for name, data in files], mode)
            if kind == 'zst':
                data = zstd(data)
            with self.subTest(kind):
                self.good(self.write('package.deb', ar([
                    ('debian-binary', b'2.0\n'), ('control.tar.xz', tar([('control', b'')], 'w:xz')),
                    ('data.tar' + (kind and '.' + kind), data)])))

    def test_ipk(self):
        """OpenWrt's packages are compressed tar archives of the members of a Debian package."""
        control, data = tar([('./control', b'')], 'w:gz'), tar(self.files(), 'w:gz')
        package = tar([('./debian-binary', b'2.0\n'), ('./data.tar.gz', data), ('./control.tar.gz', control)], 'w:gz')
        self.good(self.write('kernel.ipk', package))

    def test_names_of_images(self):
        """The names that distributions give to images, and names that mean other files."""
        image, modules = self.files()[1], self.files()[2:]
        for name in ('boot/0123456789abcdef/RELEASE/linux', 'boot/kernel-RELEASE', 'boot/image-RELEASE',
                     'lib/modules/RELEASE/image', 'usr/lib/modules/RELEASE/vmlinux.xz',
                     'boot/vmlinux-RELEASE.gz', 'boot/image-RELEASE.gz', 'boot/vmlinuz-RELEASE.efi',
                     'boot/Image.gz-RELEASE',
                     'usr/lib/debug/boot/vmlinux-RELEASE.debug',
                     'usr/lib/debug/usr/lib/modules/RELEASE/vmlinux.debug'):
            with self.subTest(name):
                path = name.replace('RELEASE', RELEASE)
                folder = self.unpacked([(path, image[1]), *modules], 'names')
                self.good(folder)
                if name.startswith('boot/'):
                    self.good(folder / 'boot', folder / 'lib/modules')
                self.good(self.unpacked([(path, image[1]), ('boot/kernel-logo', b''), ('linux', b''),
                                         ('usr/share/image-6', b''), *modules], 'names'))
                shutil.rmtree(self.top / 'names')
        # A release that ends like a file's suffix.
        files = [(name.replace(RELEASE, RELEASE + '.debug'), data) for name, data in self.files()]
        self.good(self.unpacked(files, 'names'), release=RELEASE + '.debug')

    def package(self, files):
        """Returns the bytes of a Debian package of `files`."""
        return ar([('debian-binary', b'2.0\n'), ('control.tar.xz', tar([('control', b'')], 'w:xz')),
                   ('data.tar.xz', tar(files, 'w:xz'))])

    def test_apk(self):
        """An Alpine package of version 2 is several compressed tar archives. Only the last has an end marker."""
        def without_end(archive):
            members = archive.rstrip(b'\0')
            return members + bytes(-len(members) % 512)
        parts = (without_end(tar([('.SIGN.RSA.test', b'signature')])),
                 without_end(tar([('.PKGINFO', b'pkgname = linux\n')])), tar(self.files()))
        self.good(self.write('linux.apk', b''.join(map(gzip.compress, parts))))

    def test_folder_of_packages(self):
        """Packages of other programs are ignored. If the folder has unpacked files of a kernel, all packages are
        ignored."""
        files = self.files()
        packages = [('linux-image-dbg.deb', self.package(files[:2])), ('modules.deb', self.package(files[2:])),
                    ('bpftool-dbgsym.deb', self.package([('usr/lib/debug/.build-id/12/34.debug', b'')])),
                    ('linux-perf.deb', self.package([(f'usr/bin/perf-{RELEASE}', self.vmlinux)])),
                    ('SHA256SUMS', b'')]
        folder = self.unpacked(packages, 'packages')
        self.good(folder)
        for suffix in ('ddeb', 'ipk', 'xbps'):
            self.good(self.unpacked([(f'{n}.{suffix}', data) for n, (_, data) in enumerate(packages[:2])], suffix))
        must(PROGRAMS['kernel'], 'diff', folder, self.unpacked(files, 'same'))
        both = self.unpacked([*packages, ('boot/vmlinuz', bz_image(self.vmlinux, 'gz'))], 'both')
        self.assertEqual(self.check(both)['modules'], 0)
        self.refused(self.unpacked(packages[2:], 'others'), 'has neither vmlinux nor modules')
        self.refused(self.unpacked([('broken.deb', b'!<arch>\n')], 'broken'), 'has neither vmlinux')

    def test_module_and_its_debug_file_are_one(self):
        """If a module and its debug file are found, the module counts, because the kernel loads the module."""
        shipped = self.files(compress=COMPRESSIONS['xz'], suffix='.xz')
        modules = [(name, data) for name, data in self.files() if name.endswith('.ko')]
        for folder, suffix in (('usr/lib/debug', ''), ('usr/lib/debug/usr', '.debug')):
            debug = [(f'{folder}/{name}{suffix}', b'damaged') for name, _ in modules]
            self.good(self.unpacked([*shipped, *debug], 'both'))
            for place in ('', 'lib/debug/'): # the folder of an archive does not matter
                (self.top / place).mkdir(parents=True, exist_ok=True)
                self.good(self.write(f'{place}image.tar', tar(shipped)),
                          self.write(f'{place}debug.tar', tar(debug)))
        # A debug file without a shipped module is checked, too, even if its path begins like that of a module.
        more = [(f'usr/lib/debug/{modules[0][0]}'.replace('.ko', suffix), modules[0][1])
                for suffix in ('-more.ko', '/again.ko')]
        self.good(self.unpacked([*shipped, *more], 'more'), modules=5)
        # The paths in these folders have no lib/modules/RELEASE, and only the argument `two / place` shows that its
        # files are debug files.
        one = self.unpacked([('kernel/' + name.rpartition('/')[2], data) for name, data in modules], 'one')
        for place in 'lib/debug', 'lib/debug/x(1)':
            two = self.unpacked([(f'{place}/kernel/' + name.rpartition('/')[2], b'') for name, _ in modules], 'two')
            report = self.check(self.make / 'vmlinux', two / place, one)
            self.assertEqual((report['modules'], report['modules_with_btf']), (3, 3))

    def test_modules_signed_and_compressed(self):
        """The signature follows the ELF file."""
        def sign(module):
            return module + b'signature' + bytes(28) + b'~Module signature appended~\n'
        for suffix, compress in COMPRESSIONS.items():
            if suffix in ('gz', 'xz', 'zst'):
                self.good(self.unpacked(self.files(compress=lambda m, c=compress: c(sign(m)),
                                                   suffix='.' + suffix), 'signed'))

    def test_tar_and_several_packages(self):
        files = self.files()
        self.good(self.write('package.tar.gz', tar(files, 'w:gz')))
        # Fedora has vmlinuz and modules in separate packages. The order of the arguments does not matter.
        parts = (self.write('modules.tar', tar(files[2:])), self.write('core.tar', tar(files[:2])))
        self.good(*parts)
        report = self.check(parts[0], status=1)
        self.assertEqual(self.found(report), [('no-btf', 'vmlinux')])

    def test_sparse_file(self):
        """A member may end with a hole. Here that is the end of the strings."""
        hole = 1 << 20
        kept = self.btf[:20] + struct.pack('<I', struct.unpack_from('<I', self.btf, 20)[0] + hole) + self.btf[24:]
        info = tarfile.TarInfo('vmlinux.btf')
        info.size = len(kept)
        info.pax_headers = {'GNU.sparse.major': '0', 'GNU.sparse.minor': '1', 'GNU.sparse.name': 'vmlinux.btf',
                            'GNU.sparse.size': str(len(kept) + hole), 'GNU.sparse.numblocks': '1',
                            'GNU.sparse.map': f'0,{len(kept)}'}
        with tarfile.open(self.top / 'sparse.tar', 'w') as archive:
            archive.addfile(info, io.BytesIO(kept))
        self.good(self.top / 'sparse.tar', modules=0, release='')

    @unittest.skipUnless(shutil.which('rpmbuild'), 'rpmbuild is not installed')
    def test_rpm(self):
        folder = self.unpacked(self.files(), 'for-rpm')
        spec = self.write('kernel.spec', f'''
Name: kernel
Version: 1
Release: 1
Summary: x
License: x
%define _binary_payload w9.gzdio
%define __os_install_post %{{nil}}
%define __find_provides %{{nil}}
%define __find_requires %{{nil}}
AutoReqProv: no
%description
x
%install
mkdir -p %{{buildroot}}; cp -r {folder}/* %{{buildroot}}
%files
/boot
/lib
'''.encode())
        must('rpmbuild', '-bb', '--define', f'_topdir {self.top}/rpm', spec)
        self.good(next((self.top / 'rpm').rglob('*.rpm')))

    def test_several_kernels(self):
        files = self.files()
        files += [(name.replace(RELEASE, '6.13.0'), data) for name, data in files]
        folder = self.unpacked(files, 'several')
        self.refused(folder, 'has several kernels; choose one with --release=NAME: '
                             f'{RELEASE}, 6.13.0')
        self.check(folder, options=[f'--release={RELEASE}'])
        image = folder / f'boot/vmlinuz-{RELEASE}'
        for paths in (folder, image), (image, folder): # diff has no --release
            done = run(PROGRAMS['kernel'], 'diff', *paths)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f'{folder}: has several kernels; name a file or folder of only one: {RELEASE}, 6.13.0\n',
                          done.stderr)
        must(PROGRAMS['kernel'], 'diff', image, image)
        self.refused(folder, f'has no kernel 6.14.0, but: {RELEASE}, 6.13.0',
                     options=['--release=6.14.0'])
        report = self.check(folder / 'boot', folder / 'lib/modules', options=[f'--release={RELEASE}'])
        self.assertEqual(report['modules'], 3)
        self.refused(folder / 'lib/modules', f'has several kernels; choose one with --release=NAME: {RELEASE}, 6.13.0')

    def test_rescue_image(self):
        """Red Hat's copy of some kernel is not a kernel of its own."""
        files = [(name, data) for name, data in self.files() if name.startswith('boot/')]
        files.append(('boot/vmlinuz-0-rescue-0123456789abcdef', b'a copy'))
        self.assertEqual(self.check(self.unpacked(files, 'rescue'))['release'], RELEASE)

    def test_btf_named_by_its_release(self):
        for name in '5.14.0-362.18.1.el9_3.x86_64.btf', 'vmlinux-5.14.0-362.18.1.el9_3.x86_64.btf':
            raw = self.write(name, self.btf)
            report = self.check(raw, options=['--release=5.14.0-362.18.1.el9_3.x86_64'])
            self.assertEqual(report['release'], '5.14.0-362.18.1.el9_3.x86_64')
            self.refused(raw, 'has no kernel 362.18', options=['--release=362.18'])
        for name in '3.btf', '5-14.btf', '5.14.0.vmlinux', '5.14.0-55-generic':
            self.assertEqual(self.check(self.write(name, self.btf))['release'], '')
        # Raw BTF is not preferred to an image.
        files = [(f'boot/vmlinuz-{RELEASE}', flat_image(self.btf)), (f'vmlinux-{RELEASE}.btf', self.btf)]
        report = self.check(self.unpacked(files, 'raw-too'))
        self.assertRegex(report['unchecked'][0]['why'], '^there is no .BTF_ids') # words for images, not for raw BTF

    def test_images_without_release_in_their_names(self):
        """Arch Linux has such names. vmlinuz-linux-lts is of the kernel that was chosen, vmlinuz-linux of another
        one."""
        image = flat_image(self.btf)
        files = [(name, data) for name, data in self.files() if name.startswith('lib/modules/')]
        files += [('boot/vmlinuz-linux', image.replace(b'version 6.12', b'version 6.13')),
                  ('boot/vmlinuz-linux-lts', image)]
        report = self.check(self.unpacked(files, 'unnamed'), options=[f'--release={RELEASE}'])
        self.assertEqual((report['release'], report['modules_with_btf']), (RELEASE, 3))
        alone = self.unpacked([('vmlinuz-linux', image)], 'alone')
        self.refused(alone, f'has no kernel 6.13.0, but: {RELEASE}', options=['--release=6.13.0'])
        self.check(alone, options=[f'--release={RELEASE}'])
        # The name of a file that the user names may state a release, too.
        named = self.write('vmlinuz-6.12', image)
        self.check(named, options=['--release=6.12'])
        self.refused(named, 'has no kernel 6.13.0, but: 6.12', options=['--release=6.13.0'])
        build = self.unpacked([('include/config/kernel.release', RELEASE.encode()), ('m.ko', files[0][1])], 'build')
        self.refused(build, f'has no kernel 6.13.0, but: {RELEASE}', options=['--release=6.13.0'])

    def test_unreadable_folder(self):
        """If root runs this test, btf-kernel runs as another user, because root may read everything. The program is
        copied, because this user may not be allowed to enter the build folder."""
        folder = self.unpacked(self.files(), 'closed')
        self.top.chmod(0o755)
        other = {'user': 65534, 'group': 65534, 'extra_groups': ()} if os.getuid() == 0 else {}
        if other:
            copy = mock.patch.dict(PROGRAMS, kernel=shutil.copy(PROGRAMS['kernel'], self.top))
            copy.start()
            self.addCleanup(copy.stop)
        for name in 'boot/lost+found', 'boot/efi', 'boot/grub2': # only root may read these, on many systems
            (folder / name).mkdir()
            (folder / name).chmod(0)
            self.addCleanup((folder / name).chmod, 0o755)
        self.assertEqual(self.check(folder, **other)['modules'], 3)
        self.assertEqual(self.check(folder / 'boot', folder / 'lib/modules', **other)['modules'], 3)
        vmlinuz = next(folder.rglob('vmlinuz*')) # Ubuntu lets only root read it
        vmlinuz.chmod(0)
        for command in ['diff', folder, folder], ['report', '-o', '/dev/null', folder]:
            done = run(PROGRAMS['kernel'], *command, **other)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f'{vmlinuz}: cannot open: Permission denied\n', done.stderr)
        closed = next(path.parent for path in folder.rglob('*.ko*'))
        closed.chmod(0)
        self.addCleanup(closed.chmod, 0o755)
        self.refused(folder, f'{closed}: cannot be read: Permission denied', **other)
        self.refused(closed, f'{closed}: cannot be read: Permission denied', **other)

    def test_report_over_an_input(self):
        """The page replaces only pages and empty files, so nothing that is read is lost."""
        files = [*self.files(), *((name, (self.make / name).read_bytes()) for name in ('vmlinux', 'vmlinux.o'))]
        folder, package = self.unpacked(files, 'own'), self.write('own.tar', tar(files))
        for output, given in (*((folder / name, folder) for name, _ in files), (package, package),
                                (folder / 'vmlinux', folder / 'vmlinux')):
            with self.subTest(output=output):
                before = output.read_bytes()
                done = run(PROGRAMS['kernel'], 'report', '-o', output, given)
                self.assertEqual((done.returncode, output.read_bytes() == before), (1, True), done.stderr)
                self.assertIn(f'{output}: exists and is not an HTML page; it would be overwritten\n', done.stderr)
        page = self.write('own/page.html', b'')
        for _ in range(2):
            must(PROGRAMS['kernel'], 'report', '-o', page, folder)
            self.assertTrue(page.read_bytes().endswith(b'</html>\n'))
            page.write_bytes(page.read_bytes() + b'earlier')
        must('sh', '-c', '"$0" report -o - "$1" >> "$2"', PROGRAMS['kernel'], folder, self.write('log', b'text\n'))

    def test_exit_status_of_findings(self):
        files = self.files()
        files[3] = (files[3][0], self.modules[1][:200])
        files[4] = (files[4][0], lzma.compress(self.modules[2]).replace(b'7zXZ', b'8zXZ'))
        folder = self.unpacked(files, 'damaged')
        report = self.check(folder, status=1)
        self.assertEqual(self.found(report), [('unreadable', 'm_1'), ('unreadable', 'm_2')])
        self.check(folder, options=['--ignore=unreadable'])
        done = run(PROGRAMS['kernel'], 'check', '--ignore=unread', folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'unread' is not a rule; rules are unreadable, ", done.stderr)

    def test_object_btf(self):
        """A build that was killed may leave a module with object BTF."""
        must('gcc', '-g', '-c', '-ffreestanding', '-o', 'object.ko', 'm-1.c', cwd=self.make)
        must(PROGRAMS['emit'], self.make / 'object.ko')
        files = self.files()
        files[3] = (files[3][0], (self.make / 'object.ko').read_bytes())
        report = self.check(self.unpacked(files, 'object'), status=1)
        self.assertEqual(self.found(report), [('unreadable', 'm_1')])
        self.assertIn('is object BTF, which no kernel reads', report['findings'][0]['what'])

    def test_module_of_another_kernel(self):
        other = self.top / 'other'
        other.mkdir()
        (other / 'vmlinux.c').write_text(SOURCE + 'struct more { long more; } more(void) { }\n')
        must('gcc', '-g', '-c', 'vmlinux.c', cwd=other)
        must(PROGRAMS['emit'], 'vmlinux.o', cwd=other)
        must(PROGRAMS['merge'], '-o', 'vmlinux.btf', 'vmlinux.o', cwd=other)
        shutil.copy(self.make / 'm-1.c', other)
        must('gcc', '-g', '-c', '-o', 'm-1.ko', 'm-1.c', cwd=other)
        must(PROGRAMS['emit'], 'm-1.ko', cwd=other)
        must(PROGRAMS['merge'], '--base=vmlinux.btf', '--update=m-1.ko', 'm-1.ko', cwd=other)
        files = self.files()
        files[3] = (files[3][0], (other / 'm-1.ko').read_bytes())
        report = self.check(self.unpacked(files, 'mixed'), status=1)
        self.assertIn(('base', 'm_1'), self.found(report))
        self.assertEqual({f['binary'] for f in report['findings']}, {'m_1'})

    # Malicious packages.

    def test_paths_and_links(self):
        files = self.files()
        hard, device, link = (tarfile.TarInfo(f'lib/modules/{RELEASE}/{n}.ko') for n in 'hdl')
        hard.type, hard.linkname = tarfile.LNKTYPE, '/etc/passwd'
        device.type, link.type, link.linkname = tarfile.CHRTYPE, tarfile.SYMTYPE, '/etc/passwd'
        files.append(('../../outside/m-9.ko', self.modules[0]))
        files.append(('/absolute/m-8.ko', self.modules[0])) # an absolute path is allowed
        report = self.check(self.write('lies.tar', tar(files, extra=(hard, device, link))), status=1)
        self.assertEqual(report['modules'], 4)
        self.assertEqual(sorted((f['rule'], f['file'].split('(')[1], f['what'])
                                for f in report['findings']),
                         [('unreadable', '../../outside/m-9.ko)', "its path has '..'"),
                          ('unreadable', f'lib/modules/{RELEASE}/d.ko)', 'is not a regular file'),
                          ('unreadable', f'lib/modules/{RELEASE}/h.ko)', 'is a hard link')])
        # Such findings belong to no module, so their line names the files.
        files += [('../../outside/m-7.ko', self.modules[0])]
        done = run(PROGRAMS['kernel'], 'check', self.write('more-lies.tar', tar(files)))
        self.assertRegex(done.stdout, r"(?m)^error: unreadable: its path has '\.\.', in \S+\(\S+m-7\.ko\), "
                                      r'\S+\(\S+m-9\.ko\)$')
        folder = self.unpacked(self.files(), 'linked')
        (folder / f'lib/modules/{RELEASE}/build').symlink_to('/')
        (folder / f'lib/modules/{RELEASE}/endless').symlink_to('..')
        self.good(folder)
        packages = self.unpacked([('kernel.deb', tar(self.files()))], 'packages-and-links')
        (packages / 'link.deb').symlink_to(self.write('text', b'no package'))
        self.good(packages)

    def test_control_characters_in_names(self):
        """Names of modules and of the kernel come from file names. Control characters in these names are printed as
        escape sequences."""
        files = self.files()
        files[2] = (files[2][0].replace('m-0', 'm\x1b[31m\n'), b'none')
        folder = self.unpacked([(path.replace(RELEASE, '6.12.0-\x07'), data) for path, data in files])
        done = run(PROGRAMS['kernel'], 'check', '-v', folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn('unreadable: m\\x1b[31m\\x0a: ', done.stdout)
        self.assertIn('\n6.12.0-\\x07, by the rules of ', done.stdout)
        self.assertIsNone(re.search('[^ -~\n]', done.stdout), done.stdout)
        plain = self.unpacked(self.files(), 'plain')
        done = run(PROGRAMS['kernel'], 'diff', folder, plain)
        self.assertIn('m\\x1b[31m\\x0a', done.stdout + done.stderr)
        self.assertIsNone(re.search('[^ -~\n]', done.stdout + done.stderr), done.stdout)

    def test_cut_off(self):
        whole = tar(self.files(), 'w:gz')
        for size in (10, 1000, len(whole) // 2, len(whole) - 200):
            with self.subTest(size):
                self.refused(self.write('cut.tar.gz', whole[:size]), 'cut.tar.gz')
        image = bz_image(self.vmlinux, 'xz')
        for size in (0x210, 1000, len(image) // 2):
            with self.subTest(size):
                self.refused(self.write('vmlinuz', image[:size]), 'vmlinuz')
        self.refused(self.write('vmlinuz', b''), 'vmlinuz')
        self.refused(self.write('vmlinuz', b'text\n' * 200), 'is neither a kernel nor a package of one')
        self.refused(self.top / 'nothing-there', 'nothing-there')

    def test_damaged_header(self):
        """If the header of a member is damaged, the archive is refused, although the other members can be read."""
        data = bytearray(tar(self.files()))
        data[data.index(b'm-1.ko')] ^= 1
        self.refused(self.write('header.tar', data), 'header.tar: cannot be unpacked: ')

    def test_bomb(self):
        packer = zlib.compressobj(wbits=31)
        bomb = packer.compress(b'\177ELF') # libarchive takes zeros alone for an empty tar archive
        bomb += b''.join(packer.compress(bytes(1 << 20)) for _ in range(1025)) + packer.flush()
        files = self.files()
        files[2] = (files[2][0] + '.gz', bomb)
        report = self.check(self.unpacked(files, 'bomb'), status=1, options=['--threads=2'], **bounded_memory())
        self.assertEqual(self.found(report), [('unreadable', 'm_0')])
        self.assertIn('unpacks to more than', report['findings'][0]['what'])
        self.refused(self.write('named.ko.gz', bomb), 'unpacks to more than', **bounded_memory())

    def test_nested(self):
        data = self.vmlinux
        for _ in range(6):
            data = gzip.compress(data)
        self.refused(self.write('image', data), 'has more than 4 compressed files inside each other')


if __name__ == '__main__':
    run_tests()
