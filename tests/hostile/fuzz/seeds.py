#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Makes the seeds of the fuzz targets, bundles in the format of bundle.h, from the tests' sources.

usage: seeds.py OUT BTF_EMIT BTF_MERGE        fills OUT/emit, OUT/merge, OUT/check, OUT/package, OUT/words

Inputs that once showed a bug are in found/TARGET-NAME.hex; they become seeds, too.
Exit status: 0, or 77 if gcc is not installed.
"""
import gzip
import io
import itertools
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1]
sys.path.insert(0, str(TESTS))
from helpers.compilers import clangs, cross_compiler, installed  # noqa: E402
from helpers.usage import check_arguments  # noqa: E402
CASES = TESTS / 'emit' / 'cases'
# Values of Feature in common/object_btf/features.h. ALL_FEATURES: from var to true_signature.
ALL_FEATURES = 0x3fff & ~1
TRUE_SIGNATURE = 0x2000
# The default features without encode_force, but with global_var.
USUAL_FEATURES = 0x1fe | 0x400
EMIT = {'plain': 0, 'image': 1, 'strip': 2, 'pool': 4, 'complete': 8, 'output': 16, 'detached': 32,
        'merge': 128}
MERGE = {'libbpf': 1, 'object': 2, 'update': 4, 'threads': 8, 'verify': 16, 'own_image': 32,
         'module': 64}

READERS = (0, 2)  # automatic, libdw
CLANG = next(iter(clangs()), 'clang')  # any version will do
# Compilers and flags for further forms of debug information. libdw reads all of them, the fast reader some.
FORMS = [('gcc', '-gdwarf-4', '-fdebug-types-section'), ('gcc', '-gdwarf-5', '-gz'),
         (CLANG, '-gdwarf-5', '-gsplit-dwarf=single'), ('g++', '-x', 'c++', '-std=c++20'),
         ('gcc', '-gdwarf-5', '-fdebug-types-section'), (CLANG, '-gdwarf-4'),
         ('gcc', '-gdwarf-2'), ('gcc', '-gdwarf64'), ('gcc', '-flto', '-ffat-lto-objects')]

# A very small kernel: kfuncs, a per-CPU variable, a function with a weak and a strong definition, two static functions
# of one name.
KERNEL = {
    'core.c': '''
        struct task { struct task *next; int flags : 3; unsigned state : 5; void *stack; };
        struct task init __attribute__((section(".data..percpu")));
        int shared = 2;
        __attribute__((weak)) int either(struct task *t) { return t->flags; }
        static __attribute__((noinline)) int twice(int n) { return n * shared; }
        __attribute__((used)) int kf_one(struct task *t, long n) { return twice(t->state + n); }
        __attribute__((used)) int kf_two(enum { A, B } e) { return twice(e); }
        int start(void) { return kf_one(&init, 3) + either(&init); }
        asm(".pushsection .BTF_ids,\\"a\\"\\n.balign 4\\n"
            ".local __BTF_ID__set8__kfuncs\\n__BTF_ID__set8__kfuncs: .long 2, 1\\n"
            ".local __BTF_ID__func__kf_one__1\\n.type __BTF_ID__func__kf_one__1,@object\\n"
            ".size __BTF_ID__func__kf_one__1, 4\\n__BTF_ID__func__kf_one__1: .long 0, 4\\n"
            ".local __BTF_ID__func__kf_two__2\\n.type __BTF_ID__func__kf_two__2,@object\\n"
            ".size __BTF_ID__func__kf_two__2, 4\\n__BTF_ID__func__kf_two__2: .long 0, 1\\n"
            ".size __BTF_ID__set8__kfuncs, .-__BTF_ID__set8__kfuncs\\n.popsection");
        ''',
    'more.c': '''
        struct task; union both { struct task *t; long l; };
        struct list { struct list *next; union both b; char name[16]; };
        volatile struct list head;
        int either(struct task *t) { return t != 0; }
        static __attribute__((noinline)) long twice(long n) { return n + n; }
        long walk(const struct list *l) { return twice(l->b.l) + (l->next ? 1 : 0); }
        ''',
}

WORDS = [
    "a.o 'b c.o' \"d\\\"e.o\" f\\ g.o\n@h.rsp\n",
    'encode_force,var,float,decl_tag,type_tag,enum64,optimized_func,consistent_func',
    '+global_var,decl_tag_kfuncs', 'default', 'rust,c++,asm', 'c89,c99,c11',
    '-J -j4 --btf_features=encode_force,var --lang_exclude=rust --btf_base vmlinux x.ko',
    '-J --btf_gen_floats --skip_encoding_btf_enum64 --btf_encode_detached=out vmlinux',
    '-g -O2 -c -o a.o a.c -DMODULE -Wp,-MMD,.a.o.d', '-S -o - x.c', '-c a.c b.c @args',
    '--strip-dwarf --features=+global_var gcc', '\0 \1 \2', '\0 \0 \1',
    (TESTS / 'merge' / 'cases' / 'functions.txt').read_text().split('==')[1][7:],
    (TESTS / 'merge' / 'cases' / 'tags.txt').read_text().split('==')[1][7:],
]


def bundle(files, bits=0, features=USUAL_FEATURES, reader=0):
    out = struct.pack('<BBBB', bits, features & 0xff, features >> 8, reader)
    for role, contents in files:
        out += struct.pack('<BI', ord(role), len(contents)) + contents
    return out


class Seeds:
    def __init__(self, out, btf_emit, btf_merge, work):
        self.out, self.work = pathlib.Path(out), pathlib.Path(work)
        self.btf_emit, self.btf_merge = (os.path.abspath(tool) for tool in (btf_emit, btf_merge))

    def put(self, target, name, data):
        folder = self.out / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    def run(self, *command):
        subprocess.run(command, cwd=self.work, check=True, capture_output=True)

    def read(self, name):
        return (self.work / name).read_bytes()

    def compile(self, source, name, compiler, *flags):
        """Compiles; returns the object's bytes, or None if this compiler refuses the source."""
        done = subprocess.run([*compiler.split(), '-g', *flags, '-c', source, '-o', name],
                              cwd=self.work, capture_output=True, check=False)
        return self.read(name) if done.returncode == 0 else None

    def emit_seeds(self):
        ways = list(EMIT.values())
        compilers = [(c, v) for c in ('gcc', CLANG) if shutil.which(c)
                     for v in ('-gdwarf-5', '-gdwarf-4')]
        cross = [c for c in ('gcc -m32', 'aarch64-linux-gnu-gcc') if shutil.which(c.split()[0])]
        for n, source in enumerate(sorted(CASES.glob('*.c'))):
            for k, (compiler, version) in enumerate(compilers):
                if k % 2 != n % 2:
                    continue
                made = self.compile(str(source), 'x.o', compiler, '-O2', version,
                                    *(['-gz'] if n % 6 == 5 else []))
                if made:
                    self.put('emit', f'{source.stem}-{compiler}{version}',
                             bundle([('i', made)], ways[(n + k) % len(ways)]))
            made = cross and self.compile(str(source), 'x.o', cross[n % len(cross)], '-O2')
            if made:
                self.put('emit', f'{source.stem}-cross', bundle([('i', made)], EMIT['merge']))
            form = FORMS[n % len(FORMS)]
            made = shutil.which(form[0]) and self.compile(str(source), 'x.o', *form, '-O2')
            if made:
                self.put('emit', f'{source.stem}-form',
                         bundle([('i', made)], ways[n % len(ways)], reader=READERS[n % 2]))

    def shared_debug_seeds(self):
        """Images; DWARF compressed with zstd, by objcopy; partial units and an alternate file, made by dwz."""
        for name, text in KERNEL.items():
            (self.work / name).write_text(text)
        for name in KERNEL:
            self.compile(name, name[:-2] + '.o', 'gcc', '-O2', '-gdwarf-5')
        self.run('ld', '-e', 'start', '-o', 'one', 'core.o', 'more.o')
        for reader in READERS:
            self.put('emit', f'image-{reader}',
                     bundle([('i', self.read('one'))], EMIT['image'], reader=reader))
        self.run('objcopy', '--compress-debug-sections=zstd', 'core.o', 'packed.o')
        self.put('emit', 'zstd', bundle([('i', self.read('packed.o'))], EMIT['pool']))
        if not shutil.which('dwz'):
            return
        shutil.copy(self.work / 'one', self.work / 'single')
        self.run('dwz', 'single')
        self.put('emit', 'partial', bundle([('i', self.read('single'))], EMIT['image']))
        shutil.copy(self.work / 'one', self.work / 'again')
        self.run('dwz', '-m', 'alternate', '-M', '/usr/lib/debug/.dwz/alternate', 'one', 'again')
        self.put('emit', 'alternate',
                 bundle([('i', self.read('one')), ('i', self.read('alternate'))], EMIT['image']))

    def split_seeds(self):
        """A skeleton with its .dwo, with and without type units; a program with its .dwp."""
        for name, text in KERNEL.items():
            (self.work / name).write_text(text)
        compilers = [c for c in ('gcc', CLANG) if shutil.which(c)]
        for compiler, (version, *flags) in itertools.product(compilers, (
                ('-gdwarf-5',), ('-gdwarf-4', '-fdebug-types-section'))):
            flags = [version, '-O2', '-gsplit-dwarf', *flags]
            if not self.compile('core.c', 'part.o', compiler, *flags):
                continue
            name = f'{compiler}{version}'
            files = ('i', self.read('part.o')), ('w', self.read('part.dwo'))
            self.put('emit', 'split-' + name, bundle(files, EMIT['output']))
            # GNU's dwp does not support DWARF 5, and llvm-dwp hangs on gcc's files.
            tool = 'llvm-dwp-19' if version == '-gdwarf-5' else 'dwp'
            if shutil.which(tool) and (tool, compiler) != ('llvm-dwp-19', 'gcc'):
                self.compile('more.c', 'more.o', compiler, *flags)
                self.run('ld', '-e', 'start', '-o', 'linked', 'part.o', 'more.o')
                self.run(tool, '-e', 'linked', '-o', 'linked.dwp')
                self.put('emit', 'package-' + name,
                         bundle([('i', self.read('linked')), ('p', self.read('linked.dwp'))],
                                EMIT['image'] | EMIT['output']))

    def link_seeds(self):
        for name, text in KERNEL.items():
            (self.work / name).write_text(text)
            self.compile(name, name[:-2] + '.o', 'gcc', '-O2')
            self.put('emit', f'kernel-{name}', bundle([('i', self.read(name[:-2] + '.o'))], 4))
            self.run(self.btf_emit, '--features=+global_var', '--address-pool', '--strip-dwarf',
                     name[:-2] + '.o')
        objects = ['core.o', 'more.o']
        self.run('ld', '-r', '-o', 'both.o', *objects)
        self.run('ld', '-e', 'start', '-o', 'image', *objects)
        self.run('ar', 'rc', 'both.a', *objects)
        core, more, both, image, archive = map(self.read, [*objects, 'both.o', 'image', 'both.a'])
        pair = [('i', core), ('i', more)]
        for name, bits in [('plain', 0), *MERGE.items()]:
            self.put('merge', f'pair-{name}', bundle(pair, bits))
        self.put('merge', 'image', bundle([*pair, ('m', image)], MERGE['update']))
        self.put('merge', 'combined', bundle([('i', both), ('m', image)], MERGE['threads']))
        self.put('merge', 'module', bundle([('i', both)], MERGE['module'], ALL_FEATURES))
        self.put('merge', 'archive', bundle([('i', archive), ('m', image)]))
        self.put('merge', 'modules-image', bundle([('i', both)], MERGE['own_image'], ALL_FEATURES))

        plain = '--features=+global_var'
        self.run(self.btf_merge, plain, '-o', 'core.btf', 'core.o')
        self.run(self.btf_merge, plain, '-o', 'both.btf', *objects)
        self.run(self.btf_merge, plain, '--base=core.btf', '-o', 'split.btf', 'more.o')
        shutil.copy(self.work / 'more.o', self.work / 'module.ko')
        self.run(self.btf_merge, '--features=+global_var,distilled_base', '--base=core.btf',
                 '--update=module.ko', 'module.ko')
        base, whole, split, module = map(self.read,
                                         ['core.btf', 'both.btf', 'split.btf', 'module.ko'])
        self.put('merge', 'base', bundle([('i', more), ('b', base)], MERGE['threads']))
        self.put('merge', 'distilled', bundle([('i', more), ('b', base)], 0, ALL_FEATURES))
        self.put('merge', 'raw', bundle([('i', whole), ('i', base)], MERGE['threads']))
        self.put('merge', 'mixed', bundle([('i', core), ('i', whole), ('m', image)]))
        self.put('check', 'base', bundle([('i', base)]))
        self.put('check', 'whole', bundle([('i', whole)]))
        self.put('check', 'split', bundle([('i', split), ('b', base)]))
        self.put('check', 'split-wrong', bundle([('i', split), ('b', whole)]))
        self.put('check', 'module', bundle([('i', module), ('b', base)]))
        self.put('check', 'module-other', bundle([('i', module), ('b', whole)]))
        self.package_seeds(base, module, image)
        # The object BTF of each C case that gcc compiles.
        for n, source in enumerate(sorted(CASES.glob('*.c'))):
            if not self.compile(str(source), 'x.o', 'gcc', '-O2'):
                continue
            self.run(self.btf_emit, '--strip-dwarf', '--features=+global_var,true_signature',
                     *(['--address-pool'] if n % 2 else []), 'x.o')
            self.put('merge', f'case-{source.stem}',
                     bundle([('i', self.read('x.o')), *pair[:1]], (0, 1, 8)[n % 3],
                            USUAL_FEATURES | TRUE_SIGNATURE))

    def package_seeds(self, base, module, image):
        def packed(mode, *files):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode=mode) as archive:
                for name, data in files:
                    info = tarfile.TarInfo(name)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
            return out.getvalue()
        payload = lzma.compress(image) + bytes(4)
        zboot = struct.pack('<2sH4sII8s32s', b'MZ', 0, b'zimg', 64, len(payload), b'', b'xz')
        zboot = zboot.ljust(64, b'\0') + payload
        setup = bytearray(1024)
        setup[0x1f1] = 1
        setup[0x202:0x206] = b'HdrS'
        struct.pack_into('<H', setup, 0x206, 0x20f)
        struct.pack_into('<II', setup, 0x248, 0, len(payload))
        inside = 'lib/modules/6.12.0/kernel/'
        files = [('boot/vmlinuz-6.12.0', bytes(setup) + payload),
                 ('boot/config-6.12.0', b'CONFIG_DEBUG_INFO_BTF=y\n'), (inside + 'module.ko', module),
                 (inside + 'again.ko.gz', gzip.compress(module))]
        tar = packed('w', *files)
        deb = b'!<arch>\n'
        for name, data in (('debian-binary', b'2.0\n'), ('data.tar.gz', gzip.compress(tar))):
            deb += f'{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n'.encode() + data
            deb += b'\n' * (len(data) % 2)
        flat = bytes(56) + b'ARM\x64' + b'Linux version 6.12.0 (a)' + base
        for name, parts in (('files', [base, module]), ('tar', [tar]), ('deb', [deb]),
                            ('image', [bytes(setup) + payload, module]), ('zboot', [zboot]),
                            ('flat', [flat, module]), ('packed', [gzip.compress(flat)]),
                            ('elf', [image, gzip.compress(module)])):
            for way in (0, 2, 4):
                self.put('package', f'{name}-{way}', bundle([('i', part) for part in parts], way))

    def words_seeds(self):
        for n, text in enumerate(WORDS):
            for way in range(7):
                self.put('words', f'{n}-{way}',
                         bundle([('i', text.encode()), ('i', b'x @y')], way))

    def found_seeds(self):
        for path in sorted((HERE / 'found').glob('*.hex')):
            text = ''.join(line.split('#')[0] for line in path.read_text().splitlines(True))
            self.put(path.name.split('-')[0], path.stem, bytes.fromhex(text))


def main():
    check_arguments(__doc__, 3)
    if not shutil.which('gcc'):
        print('SKIP: gcc is not installed')
        sys.exit(77)
    installed(CLANG, 'g++', 'dwz', 'dwp', 'llvm-dwp-19', 'aarch64-linux-gnu-gcc') # each missing one means fewer seeds
    if not cross_compiler('i386'):
        print('SKIP gcc -m32: gcc is not for x86-64')
    with tempfile.TemporaryDirectory() as work:
        seeds = Seeds(*sys.argv[1:4], work)
        seeds.emit_seeds()
        seeds.shared_debug_seeds()
        seeds.split_seeds()
        seeds.link_seeds()
        seeds.words_seeds()
        seeds.found_seeds()


if __name__ == '__main__':
    main()
