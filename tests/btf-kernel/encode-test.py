#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel encode with kernels in folders and packages.

usage: encode-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
import collections
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import tarfile
import time
from unittest import mock

from helpers.kernel_packages import (PROGRAMS, RELEASE, SOURCE, PackageCase, ar, bounded_memory, bz_image, must, run,
                                     run_tests, tar)

PLACE = f'usr/lib/debug/lib/modules/{RELEASE}'


class Encode(PackageCase):
    def encode(self, *arguments, status=0):
        done = run(PROGRAMS['kernel'], 'encode', *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_encode(self):
        """All results pass the checks of btf-merge and btf-kernel. A second run encodes only what is missing."""
        folder = self.unpacked([('vmlinux', (self.make / 'vmlinux').read_bytes())], 'dwarf')
        (folder / 'drivers').mkdir()
        for n in range(3):
            must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-c', '-o',
                 folder / f'drivers/m-{n}.ko', self.make / f'm-{n}.c')
        out = self.top / 'encoded'
        count = '%d of 3 modules encoded, %d kept from an earlier run, 0 without types to encode, %d failed'
        self.assertIn(count % (3, 0, 0), self.encode(folder, '-o', out))
        files = sorted(str(path.relative_to(out)) for path in out.rglob('*') if path.is_file())
        self.assertEqual(files, [f'{RELEASE}.btf', 'btf-kernel.settings',
                                 *(f'drivers/m-{n}.ko.btf' for n in range(3)), 'vmlinux.btf'])
        self.assertEqual(os.readlink(out / f'{RELEASE}.btf'), 'vmlinux.btf')
        for n in range(3):
            must(PROGRAMS['merge'], f'--check={out}/drivers/m-{n}.ko.btf', f'--base={out}/vmlinux.btf')
        checked = json.loads(must(PROGRAMS['kernel'], 'check', '--json', out))
        self.assertEqual((checked['modules_with_btf'], checked['findings']), (3, []))
        # Files that encode itself wrote are not inputs, wherever they are.
        inside = folder / 'encoded'
        self.assertIn(count % (3, 0, 0), self.encode(folder, '-o', inside))
        self.assertIn(count % (0, 3, 0), self.encode(folder, '-o', inside))
        shutil.rmtree(inside)
        before = (out / 'drivers/m-1.ko.btf').read_bytes()
        self.assertIn(count % (0, 3, 0), self.encode(folder, '-o', out))
        (out / 'drivers/m-1.ko.btf').unlink()
        self.assertIn(count % (1, 2, 0), self.encode(folder, '-o', out))
        self.assertEqual((out / 'drivers/m-1.ko.btf').read_bytes(), before)
        self.assertIn(count % (3, 0, 0), self.encode(folder, '-o', out, '--force', '-j1'))
        self.assertIn(count % (3, 0, 0), self.encode(folder, '-o', out, '--self-contained'))
        must(PROGRAMS['merge'], f'--check={out}/drivers/m-1.ko.btf')
        # A damaged module is named and gets no file; the others get theirs.
        module = folder / 'drivers/m-2.ko'
        module.write_bytes(module.read_bytes()[:3000])
        said = self.encode(folder, '-o', out, '--anew', status=1) # the former name of --force
        self.assertIn(count % (2, 0, 1), said)
        self.assertIn('ERROR: drivers/m-2.ko: ', said)
        self.assertEqual(said.count('m-2.ko'), 1, said)
        self.assertFalse((out / 'drivers/m-2.ko.btf').exists())
        # If a module has nothing to encode any more, its file of an earlier run is removed.
        self.write('empty.S', b'nop\n')
        must('gcc', '-g', '-c', '-o', folder / 'drivers/m-1.ko', self.top / 'empty.S')
        self.encode(folder, '-o', out, status=1)
        self.assertFalse((out / 'drivers/m-1.ko.btf').exists())
        # With --force, files of all modules are removed when vmlinux has been encoded. Here btf-kernel inherits
        # SIGCHLD as ignored, and must still wait for its processes.
        (out / 'drivers/m-1.ko.btf').write_bytes(b'old')
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGCHLD, before)
        said = subprocess.run([PROGRAMS['kernel'], 'encode', folder, '-o', out, '--force'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        signal.signal(signal.SIGCHLD, before)
        self.assertFalse((out / 'drivers/m-1.ko.btf').exists(), said)
        self.encode(folder, status=2)
        self.encode(self.top / 'nothing-there', '-o', out, status=1)
        self.encode(folder, '-o', folder / 'vmlinux', status=1)

    # Archives.

    def members(self):
        """Returns the members of a package of debug information, (path, contents): vmlinux, and the list of modules."""
        modules = []
        for n in range(3):
            must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-c', '-o', f'dwarf-{n}.ko',
                 f'm-{n}.c', cwd=self.make)
            modules.append((f'{PLACE}/kernel/m-{n}.ko', (self.make / f'dwarf-{n}.ko').read_bytes()))
        return (f'usr/lib/debug/boot/vmlinux-{RELEASE}', (self.make / 'vmlinux').read_bytes()), modules

    def made(self, folder):
        """Returns path -> contents of the files in an output folder, without the settings and links."""
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob('*')
                if path.is_file() and not path.is_symlink() and path.name != 'btf-kernel.settings'}

    def test_named_by_its_own_release(self):
        """The symbolic link is named by the release in vmlinux's banner, or else by that in the name of its file. A
        link for another release is removed."""
        folder = self.unpacked([('boot/vmlinux-5.14.21-package.7', (self.make / 'vmlinux').read_bytes())], 'named')
        out = self.top / 'named-out'
        for _ in range(2):
            self.encode(folder, '-o', out, '--force')
            self.assertEqual([path.name for path in out.iterdir() if path.is_symlink()], [f'{RELEASE}.btf'])
            (out / f'{RELEASE}.btf').rename(out / '6.11.btf')
        self.write('other.c', b'struct s { int a; } s; int main(void) { return s.a; }')
        must('gcc', '-g', '-o', folder / 'boot/vmlinux-5.14.21-package.7', self.top / 'other.c')
        self.encode(folder, '-o', out, '--force')
        self.assertEqual([path.name for path in out.iterdir() if path.is_symlink()],
                         ['5.14.21-package.7.btf'])

    def test_packages_of_suse(self):
        """The file with DWARF is called vmlinux.debug. A vmlinux without DWARF, perhaps compressed, is there, too, and
        must not be chosen."""
        vmlinux, modules = self.members()
        name = f'usr/lib/debug/usr/lib/modules/{RELEASE}/vmlinux.debug'
        must('objcopy', '--only-keep-debug', self.make / 'vmlinux', self.top / 'vmlinux.debug')
        must('strip', '-o', self.top / 'stripped', self.make / 'vmlinux')
        stripped = (self.top / 'stripped').read_bytes()
        debug = [(name, (self.top / 'vmlinux.debug').read_bytes()),
                 *((name + '.debug', data) for name, data in modules)]
        files = [(f'boot/vmlinux-{RELEASE}.gz', gzip.compress(stripped)), *debug]
        plain = [(f'boot/vmlinux-{RELEASE}', stripped), *debug] # of SUSE's powerpc64le
        self.report(self.unpacked([vmlinux, *modules], 'usual'), '-o', self.top / 'want-suse')
        want = (self.top / 'want-suse/vmlinux.btf').read_bytes()
        for n, package in enumerate((self.unpacked(files, 'suse'), self.write('suse.tar', tar(files)),
                                     self.unpacked(plain, 'plain'))):
            with self.subTest(n):
                counts = self.report(package, '-o', self.top / f'suse-{n}')
                self.assertEqual((counts['modules'], counts['written'], counts['failed']), (3, 3, []))
                self.assertEqual((self.top / f'suse-{n}/vmlinux.btf').read_bytes(), want)

    def test_image_and_debug_package_in_a_folder(self):
        """If a module and its debug file are there, only the debug file is read."""
        vmlinux, modules = self.members()
        shipped = [(name.removeprefix('usr/lib/debug/'), b'no DWARF') for name, _ in modules]
        self.report(self.unpacked([vmlinux, *modules], 'alone'), '-o', self.top / 'want-alone')
        want = self.made(self.top / 'want-alone')
        self.assertEqual(len(want), 4)
        counts = self.report(self.unpacked([vmlinux, *shipped, *modules], 'both'), '-o', self.top / 'both-out')
        self.assertEqual((counts['modules'], counts['written'], counts['failed']), (3, 3, []))
        self.assertEqual(self.made(self.top / 'both-out'), want)

    def report(self, *arguments, status=0):
        done = run(PROGRAMS['kernel'], 'encode', '--json', *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout) if done.stdout else done.stderr

    def test_archives(self):
        """An archive gives the same results as a folder, in any order of members."""
        vmlinux, modules = self.members()
        want_folder = self.top / 'want'
        self.report(self.unpacked([vmlinux, *modules], 'debug'), '-o', want_folder)
        want = self.made(want_folder)
        self.assertEqual(set(want), {'vmlinux.btf', *(name + '.btf' for name, data in modules)})
        compressed = [(name + '.gz', gzip.compress(data)) for name, data in modules]
        deb = ar([('debian-binary', b'2.0\n'), ('control.tar.xz', tar([('control', b'')], 'w:xz')),
                  ('data.tar.xz', tar([vmlinux, *modules], 'w:xz'))])
        # In RPMs, modules precede vmlinux.
        for n, (data, suffix) in enumerate((
                (deb, ''), (tar([*modules, vmlinux]), ''), (tar([modules[0], vmlinux, *modules[1:]]), ''),
                (tar([vmlinux, *compressed]), '.gz'))):
            with self.subTest(n):
                package, out = self.write(f'package-{n}', data), self.top / f'out-{n}'
                for jobs in ('-j1', '-j3'):
                    counts = self.report(package, '-o', out, '--force', jobs)
                    self.assertEqual((counts['modules'], counts['written'], counts['failed']), (3, 3, []))
                    got = self.made(out)
                    self.assertEqual({name.replace(suffix + '.btf', '.btf'): data
                                      for name, data in got.items()}, want)

    def test_archives_again(self):
        vmlinux, modules = self.members()
        package, out = self.write('package.tar', tar([*modules, vmlinux])), self.top / 'again'
        counts = [{'modules': 3, 'written': 3 - kept, 'kept': kept, 'without': [], 'failed': []}
                  for kept in range(4)]
        self.assertEqual(self.report(package, '-o', out), counts[0])
        before = self.made(out)
        self.assertEqual(self.report(package, '-o', out), counts[3])
        (out / f'{PLACE}/kernel/m-1.ko.btf').unlink()
        self.assertEqual(self.report(package, '-o', out), counts[2])
        self.assertEqual(self.made(out), before)
        # A newer package or other settings cause a new encoding.
        later = time.time() + 100
        os.utime(package, (later, later))
        self.assertEqual(self.report(package, '-o', out), counts[0])
        os.utime(package)
        self.assertEqual(self.report(package, '-o', out, '--self-contained'), counts[0])
        # The package is replaced by one that is older.
        other = self.write('other.tar', tar([vmlinux, *modules]))
        os.utime(other, (1, 1))
        other.rename(package)
        self.assertEqual(self.report(package, '-o', out, '--self-contained'), counts[0])
        self.assertEqual(self.report(package, '-o', out, '--self-contained'), counts[3])

    def test_another_release(self):
        """If --release names another kernel than in the earlier run, no file of that run is kept."""
        self.write('other.c', SOURCE.replace('int pid;', 'int pid; long more;').encode())
        must('gcc', '-g', '-O1', '-ffreestanding', '-nostdlib', '-static', '-o', 'other', 'other.c', cwd=self.top)
        vmlinux, modules = self.members()
        files = [vmlinux, (vmlinux[0].replace(RELEASE, '6.13.0'), (self.top / 'other').read_bytes()),
                 *modules, *((name.replace(RELEASE, '6.13.0'), data) for name, data in modules)]
        want = {}
        for n, package in enumerate((self.unpacked(files, 'two'), self.write('two.tar', tar(files)))):
            for release in (RELEASE, '6.13.0', RELEASE):
                counts = self.report(package, '-o', self.top / f'two-{n}', f'--release={release}')
                self.assertEqual((counts['written'], counts['kept'], counts['failed']), (3, 0, []))
                made = (self.top / f'two-{n}/vmlinux.btf').read_bytes()
                self.assertEqual(made, want.setdefault(release, made))
        self.assertNotEqual(*want.values())

    def test_modules_of_earlier_runs(self):
        """A run that replaces vmlinux.btf removes what earlier runs wrote for modules. The first run removes
        nothing. Links, files with other names and other output folders stay."""
        vmlinux, modules = self.members()
        out = self.top / 'earlier-out'
        own = {'not-of-encode.ko.btf': b'text', 'm.ko': b'text', 'm.btf': b'text', 'config.btf': b'text'}
        self.unpacked(own.items(), 'earlier-out')
        self.report(self.unpacked([vmlinux, *modules], 'earlier'), '-o', out)
        self.assertEqual(set(self.made(out)), {'vmlinux.btf', *own, *(name + '.btf' for name, _ in modules)})
        del own['not-of-encode.ko.btf'] # a later run removes it, because of its name
        self.report(self.unpacked([vmlinux, *modules], 'earlier'), '-o', out / 'another')
        target = self.write('target.ko.btf', b'text')
        (out / 'link.ko.btf').symlink_to(target)
        own |= {f'another/{name}': data for name, data in self.made(out / 'another').items()}
        # The update has another release and one module less.
        update = [(name.replace(RELEASE, '6.13.0'), data) for name, data in (vmlinux, *modules[:2])]
        for package in self.unpacked(update, 'update'), self.write('update.tar', tar(update)):
            self.report(package, '-o', out)
            self.assertEqual(set(self.made(out)), {'vmlinux.btf', *own, *(name + '.btf' for name, _ in update[1:])})
            self.assertTrue((out / 'link.ko.btf').is_symlink() and target.exists())
            self.report(self.unpacked([vmlinux, *modules], 'earlier'), '-o', out)

    def test_vmlinux_of_another_release(self):
        """In a folder, modules get the vmlinux of their own release, even if the path of another vmlinux is shorter."""
        image, modules = self.members()
        own, other = ('below/' + image[0], image[1]), ('vmlinux-6.1.0', b'of another release')
        several, out = 'has several kernels; choose one with --release=NAME', self.top / 'releases-out'
        folder = self.unpacked([other, own, *modules], 'releases')
        counts = self.report(folder, '-o', out)
        self.assertEqual((counts['written'], counts['failed']), (3, []))
        self.assertIn(f'has no vmlinux of {RELEASE}, only of other releases',
                      self.report(self.unpacked([other, *modules], 'none-left'), '-o', out, status=1))
        self.assertIn(f'{several}: 6.1.0, {RELEASE}',
                      self.report(self.unpacked([other, own], 'images'), '-o', out, status=1))
        # In an archive, vmlinux may be encoded before the modules are known, so several releases are an error.
        other = other[0], image[1]
        for n, files in enumerate(([other, *modules], [*modules, other], [other, own])):
            with self.subTest(n):
                self.assertIn(several, self.report(self.write('releases.tar', tar(files)), '-o', out, status=1))
        for package in folder, self.write('releases.tar', tar([other, own, *modules])):
            self.assertIn(f'has no kernel 9.9, but: 6.1.0, {RELEASE}',
                          self.report(package, '-o', out, '--release=9.9', status=1))

    def test_release_in_the_banner(self):
        """If the path of a vmlinux states no release, its banner counts."""
        image, modules = self.members()
        self.write('other.c', SOURCE.replace(RELEASE, '6.1.0').encode())
        must('gcc', '-g', '-O1', '-ffreestanding', '-nostdlib', '-static', '-o', 'other', 'other.c', cwd=self.top)
        other, want = ('vmlinux', (self.top / 'other').read_bytes()), None
        files = [other, image, *modules]
        for n, package in enumerate((self.unpacked(files, 'banner'), self.write('first.tar', tar(files)),
                                     self.write('last.tar', tar([image, *modules, other])))):
            with self.subTest(n):
                out = self.top / f'banner-{n}'
                counts = self.report(package, '-o', out, f'--release={RELEASE}')
                self.assertEqual((counts['written'], counts['failed']), (3, []))
                self.assertEqual([path.name for path in out.iterdir() if path.is_symlink()], [f'{RELEASE}.btf'])
                want = want or self.made(out)
                self.assertEqual(self.made(out), want)
        # Without --release, the archive is refused. In the folder, the modules show which kernel is meant.
        self.assertIn('has several kernels; choose one with --release=NAME',
                      self.report(self.top / 'first.tar', '-o', self.top / 'refused', status=1))
        self.report(self.top / 'banner', '-o', self.top / 'banner-4')
        self.assertEqual(self.made(self.top / 'banner-4'), want)
        # Packages whose only vmlinux is of another release than --release names. Modules are of the named release.
        for n, (files, words) in enumerate((([other], f'has no kernel {RELEASE}, but: 6.1.0'),
                                            ([other, *modules], f'has no vmlinux of {RELEASE}, only of other'),
                                            ([('boot/vmlinux-6.1.0', other[1]), *modules],
                                             f'has no vmlinux of {RELEASE}, only of other'))):
            for package in self.unpacked(files, f'lone-{n}'), self.write('lone.tar', tar(files)):
                with self.subTest(str(package)):
                    self.assertIn(words, self.report(package, '-o', self.top / 'lone-out', f'--release={RELEASE}',
                                                     status=1))

    def test_archives_that_end_early(self):
        """Everything before the damage is encoded; no file is half-written."""
        vmlinux, modules = self.members()
        last = f'{PLACE}/kernel/last.ko', random.Random(1).randbytes(50000)
        for order, members in enumerate(([vmlinux, *modules], [*modules, vmlinux])):
            package = self.write('early.tar.gz', tar([*members, last], 'w:gz')[:-9000])
            for jobs in ('-j1', '-j2'):
                out = self.top / f'early{order}{jobs}'
                self.assertIn('cannot be unpacked', self.report(package, '-o', out, jobs, status=1))
                self.assertEqual(set(self.made(out)),
                                 {'vmlinux.btf', *(name + '.btf' for name, data in modules)})

    def test_process_that_cannot_be_started(self):
        """If no process can be started for a module in the first reading of an archive, the second reading encodes
        the module."""
        self.write('fork.c', b'''
            #define _GNU_SOURCE
            #include <dlfcn.h>
            int fork(void)
            {
                static int calls;
                return ++calls == 2 ? -1 : ((int (*)(void))dlsym(RTLD_NEXT, "fork"))();
            }''')
        must('gcc', '-shared', '-fPIC', '-o', 'fork.so', 'fork.c', cwd=self.top)
        vmlinux, modules = self.members()
        early = modules[0][0], b'damaged'
        package = self.write('fork.tar', tar([early, vmlinux, *modules[1:]]))
        with mock.patch.dict(os.environ, LD_PRELOAD=str(self.top / 'fork.so')):
            if run(PROGRAMS['kernel'], '--help').returncode:
                self.skipTest('the program does not start with a library before its own (a sanitizer?)')
            report = self.report(package, '-o', self.top / 'fork-out', '-j1', status=1)
        self.assertEqual((report['modules'], report['written'], [f['module'] for f in report['failed']]),
                         (3, 2, [early[0]]))

    def test_malicious_archives(self):
        vmlinux, modules = self.members()
        hard, device, link, folder = (tarfile.TarInfo(f'{PLACE}/kernel/{n}.ko') for n in 'hdlf')
        hard.type, hard.linkname = tarfile.LNKTYPE, '/etc/passwd'
        device.type, link.type, link.linkname = tarfile.CHRTYPE, tarfile.SYMTYPE, '/etc'
        folder.type = tarfile.DIRTYPE
        data = modules[0][1]
        members = [vmlinux, ('../../outside.ko', data), ('/absolute/a.ko', data), *modules[:2],
                   (modules[0][0], modules[2][1]), (f'{PLACE}/cut.ko', data[:3000]),
                   (f'{PLACE}/kernel/l.ko/below.ko', data)]
        out = self.top / 'lies' / 'out'
        out.parent.mkdir()
        package = self.write('lies.tar', tar(members, extra=(hard, device, link, folder)))
        report = self.report(package, '-o', out, status=1)
        self.assertEqual(sorted(f['module'].split('(')[-1] for f in report['failed']),
                         ['../../outside.ko)', f'{PLACE}/cut.ko', f'{PLACE}/kernel/d.ko)',
                          f'{PLACE}/kernel/h.ko)'])
        self.assertEqual([path.name for path in (self.top / 'lies').iterdir()], ['out'])
        # Of two modules with one name, the first is encoded; no file is half-written.
        first = self.report(self.write('first.tar', tar([vmlinux, modules[0]])), '-o', self.top / 'first')
        self.assertEqual(first['written'], 1)
        name = modules[0][0] + '.btf'
        self.assertEqual(self.made(out)[name], self.made(self.top / 'first')[name])
        self.assertEqual(set(self.made(out)), {
            'vmlinux.btf', 'absolute/a.ko.btf', name, modules[1][0] + '.btf',
            f'{PLACE}/kernel/l.ko/below.ko.btf'})
        self.assertEqual([path.name for path in out.rglob('*') if path.is_symlink()], [f'{RELEASE}.btf'])

    def test_archives_with_random_changes(self):
        """Archives with random changes are encoded or refused. No process crashes. Each file that is written,
        except the settings, begins like BTF. BTFLINK_MUTATIONS is the number of archives."""
        vmlinux, modules = self.members()
        whole = {'tar': tar([vmlinux, *modules]), 'tar.gz': tar([vmlinux, *modules], 'w:gz'),
                 'deb': ar([('debian-binary', b'2.0\n'), ('data.tar', tar([vmlinux, *modules]))])}
        bounded = bounded_memory()
        top = self.top / 'mutations'
        top.mkdir()
        ends = collections.Counter()
        for number in range(int(os.environ.get('BTFLINK_MUTATIONS', '40'))):
            chance = random.Random(number)
            data = bytearray(whole[chance.choice(list(whole))])
            for _ in range(chance.randint(1, 5)):
                at = chance.randrange(len(data))
                if chance.random() < 0.3:
                    del data[at:at + chance.randint(1, 2000)]
                else:
                    data[at] = chance.randrange(256)
            done = run(PROGRAMS['kernel'], 'encode', self.write('any', data), '-o', top / 'out', '-j2',
                       timeout=600, **bounded)
            self.assertIn(done.returncode, (0, 1), f'{number}: {done.stderr}')
            self.assertNotIn('its process ', done.stderr, number)
            self.assertEqual([path.name for path in top.iterdir()], ['out'], number)
            for path in (top / 'out').rglob('*'):
                if path.is_file() and path.name != 'btf-kernel.settings':
                    self.assertEqual(path.read_bytes()[:2], b'\x9f\xeb', f'{number}: {path}')
            shutil.rmtree(top / 'out')
            ends[done.returncode] += 1
        print(f'{ends[0]} changed archives were encoded, {ends[1]} refused or encoded in part')
        self.assertEqual(len(ends), 2, ends)

    def test_wrong_archives(self):
        vmlinux, modules = self.members()
        out = self.top / 'none'
        for n, (data, words) in enumerate((
                (tar(modules), 'has no vmlinux'), (gzip.compress(vmlinux[1]), 'is a single file'),
                (vmlinux[1], 'is a single file'), (b'', 'ERROR: '),
                (b'no archive', 'is neither a kernel nor a package of one'),
                (bz_image(self.vmlinux, 'gz'), 'is a boot image, which has no DWARF; packages with debug'),
                (tar([vmlinux, *modules], 'w:gz')[:-3000], 'cannot be unpacked'),
                (tar([('boot/vmlinux', vmlinux[1][:5000]), *modules]), '(boot/vmlinux)'),
                (tar([vmlinux, *modules, ('lib/modules/6.13.0/x.ko', modules[0][1])]),
                 'has several kernels'))):
            with self.subTest(words):
                error = self.report(self.write(f'none-{n}', data), '-o', out, status=1)
                self.assertIn(words, error)
                self.assertIn(f'none-{n}', error)
                self.assertNotIn('/proc/', error)
        self.assertIn('nothing-there', self.report(self.top / 'nothing-there', '-o', out, status=1))
        hard = tarfile.TarInfo(f'boot/vmlinux-{RELEASE}')
        hard.type, hard.linkname = tarfile.LNKTYPE, 'boot/other'
        said = self.report(self.write('hard.tar', tar(modules, extra=[hard])), '-o', out, status=1)
        self.assertIn(f'hard.tar(boot/vmlinux-{RELEASE}): is a hard link\n', said)
        self.assertIn('hard.tar: has no vmlinux; ', said)

    def test_earlier_result_outlives_errors(self):
        """An unsuitable package does not change what an earlier run wrote."""
        vmlinux, modules = self.members()
        out = self.top / 'outlives'
        self.report(self.write('earlier.tar', tar([vmlinux, *modules])), '-o', out)
        earlier = self.made(out)
        self.assertEqual(len(earlier), 4)
        must('strip', '-o', self.top / 'no-dwarf', self.make / 'vmlinux')
        no_dwarf = vmlinux[0], (self.top / 'no-dwarf').read_bytes()
        for n, (data, words) in enumerate((
                (tar(modules), 'has no vmlinux'), (vmlinux[1], 'is a single file'),
                (gzip.compress(vmlinux[1]), 'is a single file'), (b'no archive', 'is neither a kernel'),
                (tar([vmlinux], 'w:gz')[:1000], 'cannot be unpacked'),
                (tar([vmlinux, (modules[0][0].replace(RELEASE, '6.13.0'), modules[0][1])]),
                 f'has several kernels; choose one with --release=NAME: {RELEASE}, 6.13.0'),
                (tar([('vmlinux', vmlinux[1]), (modules[0][0].replace(RELEASE, '6.13.0'), modules[0][1])]),
                 f'has several kernels; choose one with --release=NAME: {RELEASE}, 6.13.0'),
                (tar([no_dwarf, *modules]), 'has no DWARF'))):
            with self.subTest(words):
                package = self.write(f'unsuitable-{n}', data)
                self.assertIn(words, self.report(package, '-o', out, status=1))
                self.assertEqual(self.made(out), earlier)
                self.assertEqual(os.readlink(out / f'{RELEASE}.btf'), 'vmlinux.btf')
        # The same holds if such a package replaces the earlier one. The next run with a good package keeps nothing.
        self.report(package.rename(self.top / 'earlier.tar'), '-o', out, status=1)
        self.assertEqual(self.made(out), earlier)
        again = self.report(self.write('earlier.tar', tar([vmlinux, *modules])), '-o', out)
        self.assertEqual((again['written'], again['kept']), (3, 0))

    def test_list_of_files(self):
        """If the list of files in a Debian package has no vmlinux, the files are not unpacked."""
        vmlinux, modules = self.members()
        whole = tar([vmlinux, *modules], 'w:gz')

        def control(*paths):
            sums = ''.join(f'{0:032x}  {path}\n' for path in paths).encode()
            return tar([('./control', b'')] + ([('./md5sums', sums)] if paths else []), 'w:xz')
        listed = control(vmlinux[0], *(name for name, _ in modules))
        for n, (member, data, words) in enumerate((
                (listed, whole, None), (control(), whole, None),
                (listed[:100], whole, None), (b'damaged' * 99, whole, None), # the list is not required
                (control(f'boot/vmlinuz-{RELEASE}', modules[0][0]), b'damaged', 'has no vmlinux; '),
                (control(vmlinux[0]), b'damaged', 'cannot be unpacked'),
                (control(), b'damaged', 'cannot be unpacked'))):
            with self.subTest(n):
                deb = ar([('debian-binary', b'2.0\n'), ('control.tar.xz', member), ('data.tar.gz', data)])
                said = self.report(self.write('listed.deb', deb), '-o', self.top / 'listed', '--force',
                                   status=1 if words else 0)
                if words:
                    self.assertIn(words, said)
                else:
                    self.assertEqual(said['written'], 3)


if __name__ == '__main__':
    run_tests()
