# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Builds a small kernel, and packs it in formats in which kernels are distributed."""
import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zlib

from helpers.usage import check_arguments, run_and_exit

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
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors='surrogateescape', check=False, **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        raise AssertionError(f'{command}: {done.stdout}{done.stderr}')
    return done.stdout


def zstd(data):
    return subprocess.run(['zstd', '-q', '-c'], input=data, capture_output=True, check=True).stdout


def lz4(data):
    """Packs into a legacy frame of lz4, the format that kernels use. The blocks have only literals, so nothing gets
    shorter."""
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
    """Appends the unpacked size to compressed data, as Kbuild does. gzip data end with it anyway."""
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


def flat_image(btf, behind=bytes(1000)):
    """arm64's Image: a memory image that contains BTF. `behind`: what follows the BTF, such as .BTF_ids. Before the BTF
    are bytes that only begin like BTF."""
    head = bytearray(64)
    head[56:60] = b'ARM\x64'
    return (bytes(head) + b'Linux version 6.12.0-test (a@b)\0' + b'\x9f\xeb\x01\0' + b'\xff' * 60 + btf +
            behind)


def ar(members):
    out = b'!<arch>\n'
    for name, data in members:
        out += f'{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n'.encode() + data
        out += b'\n' * (len(data) % 2)
    return out


def tar(files, mode='w', extra=()):
    """A tar archive. Its first entry is ./, as `tar -c .` and dpkg-deb write it for the packed folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        folder = tarfile.TarInfo('./')
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in extra:
            archive.addfile(info)
    return out.getvalue()


class Apk3Tree:
    """The first block of an apk package in format 3: the tree of the package's folders and files, without owners,
    modes, times and hashes. Each method returns the word that stands for a value. If the word cannot contain the value,
    the method adds the value to the tree, and the word contains the value's position."""

    def __init__(self):
        self.bytes = bytearray(8)  # the versions, then the word that stands for the root

    def _put(self, kind, data, align):
        self.bytes += bytes(-len(self.bytes) % align)
        value = kind << 28 | len(self.bytes)
        self.bytes += data
        return value

    def text(self, data):
        if len(data) < 256:
            return self._put(8, bytes([len(data)]) + data, 1)
        return self._put(9, struct.pack('<H', len(data)) + data, 2)

    def number(self, value):
        if value < 1000: # the format allows this also for larger numbers
            return 1 << 28 | value
        return self._put(*((2, struct.pack('<I', value)) if value < 1 << 32 else
                           (3, struct.pack('<Q', value))), 4)

    def list(self, kind, members):
        return self._put(kind, struct.pack(f'<{len(members) + 1}I', len(members) + 1, *members), 4)

    ARRAY, OBJECT = 0xd, 0xe


def apk3_block(kind, data, long):
    size = len(data) + (16 if long else 4)
    head = struct.pack('<IIQ', 3 << 30 | kind, 0, size) if long else struct.pack('<I', kind << 30 | size)
    return head + data + bytes(-size % 8)


APK3_PACKINGS = {
    'none': lambda data: data,
    'deflate': lambda data: b'ADBd' + zlib.compress(data, wbits=-15),
    'deflate with a level': lambda data: b'ADBc\x01\x09' + zlib.compress(data, 9, wbits=-15),
    'zstd': lambda data: b'ADBc\x02\x03' + zstd(data)}


def apk3(files, targets=(), long=False, kind=b'pckg'):
    """An apk package in format 3, not compressed. `targets` has names and targets of links; a target is a mode of two
    bytes and a path. With `long`, the blocks of the files' contents have the header of large blocks. `kind`: what the
    file is; b'pckg' is a package."""
    tree, folders, data = Apk3Tree(), {}, b''
    for name, content in files:
        folder, _, file = name.rpartition('/')
        folders.setdefault(folder, []).append((file, content, None))
    for name, target in targets:
        folder, _, file = name.rpartition('/')
        folders.setdefault(folder, []).append((file, b'', target))
    heads = []
    for folder, members in folders.items():
        listed = []
        for file, content, target in members:
            if content:
                data += apk3_block(2, struct.pack('<II', len(heads) + 1, len(listed) + 1) + content, long)
            fields = [tree.text(file.encode()), 0, tree.number(len(content))]
            if target:
                fields += [0, 0, tree.text(target)]
            listed.append(tree.list(tree.OBJECT, fields))
        heads.append(tree.list(tree.OBJECT, [tree.text(folder.encode()), 0, tree.list(tree.ARRAY, listed)]))
    root = tree.list(tree.OBJECT, [0, tree.list(tree.ARRAY, heads)])
    struct.pack_into('<I', tree.bytes, 4, root)
    return b'ADB.' + kind + apk3_block(0, bytes(tree.bytes), False) + apk3_block(1, b'signature', False) + data


class PackageCase(unittest.TestCase):
    """Builds a vmlinux and three modules. `self.vmlinux` (without DWARF), `self.btf` (of vmlinux) and `self.modules`
    are the bytes of the files. The folder `self.make` has the sources, objects and results."""

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
        """Names and contents of the files in a package."""
        compress = compress or (lambda data: data)
        base = f'lib/modules/{RELEASE}/kernel'
        return [(f'boot/config-{RELEASE}', b'CONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n'),
                (image_name, image or bz_image(self.vmlinux, 'gz')),
                *((f'{base}/drivers/m-{n}.ko{suffix}', compress(data))
                  for n, data in enumerate(self.modules))]

    def check(self, *paths, options=(), status=0, **more):
        """Runs btf-kernel check. Returns the report, or the error message if there is no report."""
        done = run(PROGRAMS['kernel'], 'check', '--json', *options, *paths, **more)
        self.assertEqual(done.returncode, status, f'{paths}: {done.stdout[:3000]}{done.stderr}')
        return json.loads(done.stdout) if done.stdout else done.stderr

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


def bounded_memory():
    """Returns arguments of run() that limit the address space of btf-kernel to 4 GB; none if it does not start then."""
    bounded = {'preexec_fn': lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))}
    if run(PROGRAMS['kernel'], '--help', **bounded).returncode == 0:
        return bounded
    print('SKIP bound of memory: the program does not even start in 4 GB (a sanitizer?)')
    return {}


def run_tests():
    """usage of the test: TEST.py BTF-KERNEL BTF-EMIT BTF-MERGE [unittest's arguments]"""
    check_arguments(sys.modules['__main__'].__doc__ + run_tests.__doc__, 3)
    PROGRAMS.update(zip(('kernel', 'emit', 'merge'), map(os.path.abspath, sys.argv[1:4])))
    if not shutil.which('zstd'):
        print('skipped: zstd is not installed')
        sys.exit(77)
    run_and_exit('__main__', sys.argv[4:])
