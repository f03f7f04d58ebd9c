#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A small kernel in everything that kernels are packed in, and packages that lie.

usage: package-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zlib

PROGRAMS = {}
RELEASE = '6.12.0-test'
SOURCE = r'''
const char banner[] = "Linux version 6.12.0-test (a@b) #1";
struct files_struct { int count; };
struct task_struct { int pid; struct files_struct *files; };
struct list { struct list *next; };
int use(struct task_struct *task, struct list *list) { return task->pid + !list; }
int _start(void) { return use(0, 0); }
'''
MODULE = r'''
struct files_struct { int count; };
struct task_struct { int pid; struct files_struct *files; };
struct mine%(n)d { struct task_struct *task; int number; };
int start%(n)d(struct mine%(n)d *mine) { return mine->number + mine->task->pid; }
'''


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        raise AssertionError(f'{command}: {done.stdout}{done.stderr}')
    return done.stdout


def zstd(data):
    return subprocess.run(['zstd', '-q', '-c'], input=data, capture_output=True, check=True).stdout


def lz4(data):
    """The kernel's form: legacy frames; a block of literals only."""
    out = b'\x02\x21\x4c\x18'
    for at in range(0, len(data), 1 << 20):
        part = data[at:at + (1 << 20)]
        size = len(part)
        block = bytes([0xf0 if size >= 15 else size << 4])
        if size >= 15:
            rest = size - 15
            block += b'\xff' * (rest // 255) + bytes([rest % 255])
        block += part
        out += struct.pack('<I', len(block)) + block
    return out


COMPRESSIONS = {'gz': gzip.compress, 'xz': lzma.compress, 'zst': zstd, 'lz4': lz4,
                'bz2': bz2.compress, 'lzma': lambda d: lzma.compress(d, lzma.FORMAT_ALONE)}


def with_size(payload, data, kind):
    """As Kbuild appends it."""
    return payload if kind == 'gz' else payload + struct.pack('<I', len(data))


def bz_image(vmlinux, kind):
    payload = with_size(COMPRESSIONS[kind](vmlinux), vmlinux, kind)
    head = bytearray(1024)
    head[0x1f1] = 1
    head[0x202:0x206] = b'HdrS'
    struct.pack_into('<HI', head, 0x206, 0x20f, 0)
    struct.pack_into('<H', head, 0x20e, 0x300 - 0x200)
    head[0x300:0x300 + len(RELEASE) + 6] = RELEASE.encode() + b' (a@b)'
    struct.pack_into('<II', head, 0x248, 16, len(payload))
    return bytes(head) + bytes(16) + payload + bytes(64)


def zboot(image, kind):
    payload = with_size(COMPRESSIONS[kind](image), image, kind)
    head = struct.pack('<2sH4sII8s32s', b'MZ', 0, b'zimg', 512, len(payload), b'', kind.encode())
    return head.ljust(512, b'\0') + payload + bytes(512)


def flat_image(btf):
    """arm64's Image: memory, with BTF somewhere in it."""
    head = bytearray(64)
    head[56:60] = b'ARM\x64'
    return (bytes(head) + b'Linux version 6.12.0-test (a@b)\0' + b'\x9f\xeb\x01\0' + b'\xff' * 60 + btf +
            bytes(1000))


def ar(members):
    out = b'!<arch>\n'
    for name, data in members:
        out += f'{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n'.encode() + data
        out += b'\n' * (len(data) % 2)
    return out


def tar(files, mode='w', extra=()):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in extra:
            archive.addfile(info)
    return out.getvalue()


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.folder.name)
        make = cls.top / 'make'
        make.mkdir()
        (make / 'vmlinux.c').write_text(SOURCE)
        gcc = ['gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding']
        must(*gcc, '-c', 'vmlinux.c', cwd=make)
        must(PROGRAMS['emit'], '--address-pool', 'vmlinux.o', cwd=make)
        must(*gcc, '-nostdlib', '-static', '-o', 'vmlinux', 'vmlinux.o', cwd=make)
        must(PROGRAMS['merge'], '--image=vmlinux', '--update=vmlinux', '-o', 'vmlinux.btf', 'vmlinux.o',
             cwd=make)
        for n in range(3):
            (make / f'm-{n}.c').write_text(MODULE % {'n': n})
            must(*gcc, '-c', '-o', f'm-{n}.ko', f'm-{n}.c', cwd=make)
            must(PROGRAMS['emit'], f'm-{n}.ko', cwd=make)
            must(PROGRAMS['merge'], '--base=vmlinux', f'--update=m-{n}.ko', f'm-{n}.ko', cwd=make)
        must('strip', '--strip-debug', '-o', 'stripped', 'vmlinux', cwd=make)
        cls.vmlinux = (make / 'stripped').read_bytes()
        cls.btf = (make / 'vmlinux.btf').read_bytes()
        cls.modules = [(make / f'm-{n}.ko').read_bytes() for n in range(3)]
        cls.make = make

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def files(self, image=None, image_name=f'boot/vmlinuz-{RELEASE}', compress=None, suffix=''):
        """Of a package: names and contents."""
        compress = compress or (lambda data: data)
        base = f'lib/modules/{RELEASE}/kernel'
        return [(f'boot/config-{RELEASE}', b'CONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n'),
                (image_name, image or bz_image(self.vmlinux, 'gz')),
                *((f'{base}/drivers/m-{n}.ko{suffix}', compress(data))
                  for n, data in enumerate(self.modules))]

    def unpacked(self, files, name='folder'):
        folder = self.top / name
        shutil.rmtree(folder, ignore_errors=True)
        for path, data in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return folder

    def write(self, name, data):
        (self.top / name).write_bytes(data)
        return self.top / name

    def check(self, *paths, options=(), status=0, **more):
        done = run(PROGRAMS['kernel'], 'check', '--json', *options, *paths, **more)
        self.assertEqual(done.returncode, status, f'{paths}: {done.stdout[:3000]}{done.stderr}')
        return json.loads(done.stdout) if done.stdout else done.stderr

    def good(self, *paths, modules=3, release=RELEASE):
        report = self.check(*paths)
        self.assertEqual((report['release'], report['modules'], report['modules_with_btf']),
                         (release, modules, modules), paths)

    def refused(self, path, words, **more):
        error = self.check(path, status=1, **more)
        self.assertIsInstance(error, str)
        self.assertIn(words, error)
        self.assertNotIn('Traceback', error)

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

    def test_build(self):
        files = [('include/config/kernel.release', RELEASE.encode() + b'\n'),
                 ('.config', b'CONFIG_DEBUG_INFO_BTF=y\n'), ('vmlinux', self.vmlinux),
                 ('arch/x86/boot/bzImage', bz_image(self.vmlinux, 'gz')),
                 ('arch/x86/boot/compressed/vmlinux', b'\177ELF none'),
                 *((f'drivers/m-{n}.ko', data) for n, data in enumerate(self.modules)),
                 *((f'debian/linux/m-{n}.ko', data) for n, data in enumerate(self.modules))]
        self.good(self.unpacked(files, 'build'))

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

    def test_tar_and_several_packages(self):
        files = self.files()
        self.good(self.write('package.tar.gz', tar(files, 'w:gz')))
        # Fedora has vmlinuz and modules in packages of their own; modules may come first.
        parts = (self.write('modules.tar', tar(files[2:])), self.write('core.tar', tar(files[:2])))
        self.good(*parts)
        report = self.check(parts[0], status=1)
        self.assertEqual(self.found(report), [('no-btf', 'vmlinux')])

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
        self.refused(folder, 'has several kernels, of which --release=NAME chooses one: '
                             f'{RELEASE}, 6.13.0')
        self.check(folder, options=[f'--release={RELEASE}'])
        self.refused(folder, f'has no kernel 6.14.0, but: {RELEASE}, 6.13.0',
                     options=['--release=6.14.0'])

    def test_what_cannot_be_read_is_no_good_kernel(self):
        """As another user than root, who may read everything."""
        folder = self.unpacked(self.files(), 'closed')
        closed = next(path.parent for path in folder.rglob('*.ko*'))
        closed.chmod(0)
        self.addCleanup(closed.chmod, 0o755)
        self.top.chmod(0o755)
        other = {'user': 65534, 'group': 65534, 'extra_groups': ()} if os.getuid() == 0 else {}
        self.refused(folder, 'cannot be read: Permission denied', **other)

    def test_a_report_is_no_input(self):
        image = self.write('own', (self.make / 'vmlinux').read_bytes())
        done = run(PROGRAMS['kernel'], 'report', '-o', image, image)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('is an input, too; it would be overwritten', done.stderr)
        self.assertEqual(image.read_bytes(), (self.make / 'vmlinux').read_bytes())

    def test_findings_have_a_status(self):
        files = self.files()
        files[3] = (files[3][0], self.modules[1][:200])
        files[4] = (files[4][0], lzma.compress(self.modules[2]).replace(b'7zXZ', b'8zXZ'))
        folder = self.unpacked(files, 'damaged')
        report = self.check(folder, status=1)
        self.assertEqual(self.found(report), [('unreadable', 'm_1'), ('unreadable', 'm_2')])
        self.check(folder, options=['--ignore=unreadable'])
        done = run(PROGRAMS['kernel'], 'check', '--ignore=unread', folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("'unread' is no rule; they are unreadable, ", done.stderr)

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

    def against(self, name, source, *features):
        """What the vmlinux of another build has otherwise."""
        folder = self.top / name
        folder.mkdir()
        (folder / 'vmlinux.c').write_text(source)
        must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-c', 'vmlinux.c', cwd=folder)
        must(PROGRAMS['emit'], '--address-pool', 'vmlinux.o', cwd=folder)
        must('gcc', '-nostdlib', '-static', '-o', 'vmlinux', 'vmlinux.o', cwd=folder)
        must(PROGRAMS['merge'], *features, '--image=vmlinux', '--update=vmlinux', 'vmlinux.o', cwd=folder)
        report = self.check(self.make / 'vmlinux', options=[f'--against={folder}/vmlinux'],
                            status=0 if name == 'same' else 1)
        self.assertTrue(all(f['rule'] == 'against' for f in report['findings']))
        return [f['what'] for f in report['findings']]

    def test_against(self):
        self.assertEqual(self.against('same', SOURCE), [])
        form, = self.against('form', SOURCE, '--features=+layout')
        self.assertEqual(form, 'header form: 24 bytes here, 32 there')
        types, = self.against('types', SOURCE.replace('int count;', 'int count, more;'))
        self.assertIn("only here (STRUCT 'files_struct' of 4 bytes, 1 elements)", types)
        self.assertIn("only there (STRUCT 'files_struct' of 8 bytes, 2 elements)", types)
        lines = SOURCE.splitlines()
        lines[2], lines[4] = lines[4], lines[2]
        lines[3:5] = [lines[4], lines[3]]
        moved, = self.against('moved', '\n'.join(lines).replace(
            'int use(struct task_struct *task, struct list *list)',
            'static struct list *first; int use(struct task_struct *task, struct list *list)'))
        self.assertTrue(moved.startswith(('order: the same types, but type ', 'strings: ')), moved)

    def encode(self, *arguments, status=0):
        done = run(PROGRAMS['kernel'], 'encode', *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_encode(self):
        """What comes out is what btf-emit and btf-merge make; a second run does what is left."""
        folder = self.unpacked([('vmlinux', (self.make / 'vmlinux').read_bytes())], 'dwarf')
        (folder / 'drivers').mkdir()
        for n in range(3):
            must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-c', '-o',
                 folder / f'drivers/m-{n}.ko', self.make / f'm-{n}.c')
        out = self.top / 'encoded'
        count = '%d of 3 modules encoded, %d were there, 0 have nothing for BTF, %d failed'
        self.assertIn(count % (3, 0, 0), self.encode(folder, '-o', out))
        files = sorted(str(path.relative_to(out)) for path in out.rglob('*') if path.is_file())
        self.assertEqual(files, ['btf-kernel.settings', *(f'drivers/m-{n}.ko.btf' for n in range(3)),
                                 'vmlinux.btf'])
        for n in range(3):
            must(PROGRAMS['merge'], f'--check={out}/drivers/m-{n}.ko.btf', f'--base={out}/vmlinux.btf')
        before = (out / 'drivers/m-1.ko.btf').read_bytes()
        self.assertIn(count % (0, 3, 0), self.encode(folder, '-o', out))
        (out / 'drivers/m-1.ko.btf').unlink()
        self.assertIn(count % (1, 2, 0), self.encode(folder, '-o', out))
        self.assertEqual((out / 'drivers/m-1.ko.btf').read_bytes(), before)
        self.assertIn(count % (3, 0, 0), self.encode(folder, '-o', out, '--anew', '-j1'))
        self.assertIn(count % (3, 0, 0), self.encode(folder, '-o', out, '--self-contained'))
        must(PROGRAMS['merge'], f'--check={out}/drivers/m-1.ko.btf')
        # One that is damaged is named, and has no file; the others have theirs.
        module = folder / 'drivers/m-2.ko'
        module.write_bytes(module.read_bytes()[:3000])
        said = self.encode(folder, '-o', out, '--anew', status=1)
        self.assertIn(count % (2, 0, 1), said)
        self.assertIn('ERROR: drivers/m-2.ko: ', said)
        # What has nothing for BTF any more has no file of an earlier run. Who runs it may ignore SIGCHLD.
        self.write('empty.S', b'nop\n')
        must('gcc', '-g', '-c', '-o', folder / 'drivers/m-1.ko', self.top / 'empty.S')
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGCHLD, before)
        said = subprocess.run([PROGRAMS['kernel'], 'encode', folder, '-o', out, '--anew'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        signal.signal(signal.SIGCHLD, before)
        self.assertFalse((out / 'drivers/m-1.ko.btf').exists(), said)
        self.encode(folder, status=2)
        self.encode(self.top / 'nothing-there', '-o', out, status=1)
        self.encode(folder, '-o', folder / 'vmlinux', status=1)

    # Packages that lie.

    def test_paths_and_links(self):
        files = self.files()
        hard, device, link = (tarfile.TarInfo(f'lib/modules/{RELEASE}/{n}.ko') for n in 'hdl')
        hard.type, hard.linkname = tarfile.LNKTYPE, '/etc/passwd'
        device.type, link.type, link.linkname = tarfile.CHRTYPE, tarfile.SYMTYPE, '/etc/passwd'
        files.append(('../../outside/m-9.ko', self.modules[0]))
        files.append(('/absolute/m-8.ko', self.modules[0])) # its path is as good as any
        report = self.check(self.write('lies.tar', tar(files, extra=(hard, device, link))), status=1)
        self.assertEqual(report['modules'], 4)
        self.assertEqual(sorted((f['rule'], f['file'].split('(')[1], f['what'])
                                for f in report['findings']),
                         [('unreadable', '../../outside/m-9.ko)', "its path has '..'"),
                          ('unreadable', f'lib/modules/{RELEASE}/d.ko)', 'is no regular file'),
                          ('unreadable', f'lib/modules/{RELEASE}/h.ko)', 'is a hard link')])
        folder = self.unpacked(self.files(), 'linked')
        (folder / f'lib/modules/{RELEASE}/build').symlink_to('/')
        (folder / f'lib/modules/{RELEASE}/endless').symlink_to('..')
        self.good(folder)

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

    def test_bomb(self):
        packer = zlib.compressobj(wbits=31)
        bomb = b''.join(packer.compress(bytes(1 << 20)) for _ in range(1025)) + packer.flush()
        files = self.files()
        files[2] = (files[2][0] + '.gz', bomb)
        bounded = {'preexec_fn': lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))}
        if run(PROGRAMS['kernel'], '--help', **bounded).returncode:
            print('SKIP bound of memory: the program does not even start in 4 GB (a sanitizer?)')
            bounded = {}
        report = self.check(self.unpacked(files, 'bomb'), status=1, options=['--threads=2'], **bounded)
        self.assertEqual(self.found(report), [('unreadable', 'm_0')])
        self.assertIn('unpacks to more than', report['findings'][0]['what'])

    def test_nested(self):
        data = self.vmlinux
        for _ in range(6):
            data = gzip.compress(data)
        self.refused(self.write('image', data), 'has more than 4 compressed files inside each other')


if __name__ == '__main__':
    PROGRAMS.update(zip(('kernel', 'emit', 'merge'), map(os.path.abspath, sys.argv[1:4])))
    if not shutil.which('zstd'):
        print('skipped: zstd is not installed')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
