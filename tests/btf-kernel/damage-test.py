#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel check on packages with damage that occurred in real packages. The program must report the
damage and nothing else. Kernel and module are compiled ELF files with kfuncs and per-CPU variables.
check_test.cc and check_ids_test.cc test the same rules without files.

usage: damage-test.py BTF-KERNEL BTF-EMIT BTF-MERGE
"""
import json
import shutil
import struct

from helpers.btf_reader import Elf, type_heads
from helpers.kernel_packages import PROGRAMS, RELEASE, PackageCase, must, run, run_tests

TYPES = '''
struct files_struct { int count; };
struct task_struct { int pid; struct files_struct *files; };
struct bpf_prog_aux { int x; };
'''
PER_CPU = '__attribute__((section(".data..percpu"))) '
VMLINUX = TYPES + f'''
{PER_CPU}long first = 1;
{PER_CPU}int counter = 2;
const char banner[] = "Linux version {RELEASE} (a@b) #1";
int bpf_take(struct task_struct *task) {{ return task->pid; }}
int bpf_hide(struct task_struct *task) {{ return task->pid + 1; }}
int bpf_hide_impl(struct task_struct *task, struct bpf_prog_aux *aux) {{ return task->pid + aux->x; }}
int _start(void) {{ return bpf_take(0) + bpf_hide(0) + bpf_hide_impl(0, 0) + first + counter; }}
'''
MODULE = TYPES + f'''
{PER_CPU}int mine_counter = 3;
struct mine {{ struct task_struct *task; struct files_struct files; }};
int bpf_mine(struct mine *mine, struct task_struct *task) {{ return mine->task->pid + task->pid + mine_counter; }}
'''
FLAGS = {'bpf_hide': 1 << 16} # KF_IMPLICIT_ARGS
# Without this script, the linker puts per-CPU variables into .data.
LINKER_SCRIPT = 'SECTIONS { .data..percpu : { *(.data..percpu) } } INSERT BEFORE .data;'
WITH_TAGS, WITHOUT_TAGS = '+decl_tag_kfuncs', 'var,float,decl_tag,type_tag,enum64,optimized_func,consistent_func'


def ids_of(name, *kfuncs):
    """Returns C code that makes a set of kfuncs in .BTF_ids, as the macros of include/linux/btf_ids.h do."""
    lines = ['.pushsection .BTF_ids,"a"', '.balign 4', f'__BTF_ID__set8__{name}: .long {len(kfuncs)}, 1']
    lines += [f'__BTF_ID__func__{kfunc}__{n}: .long 0, {FLAGS.get(kfunc, 0)}'
              for n, kfunc in enumerate(kfuncs)]
    lines += [f'.size __BTF_ID__set8__{name}, . - __BTF_ID__set8__{name}', '.popsection']
    return 'asm("' + '\\n"\n    "'.join(lines).replace('"a"', '\\"a\\"') + '\\n");\n'


class Damage(PackageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sound = cls.top / 'sound'
        cls.sound.mkdir()
        cls.build(cls.sound)

    @classmethod
    def build(cls, folder, vmlinux=VMLINUX, kfuncs=('bpf_hide', 'bpf_take'), features=WITH_TAGS):
        gcc = ['gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-fno-inline']
        (folder / 'percpu.lds').write_text(LINKER_SCRIPT)
        (folder / 'vmlinux.c').write_text(vmlinux + ids_of('kfuncs', *kfuncs))
        must(*gcc, '-c', 'vmlinux.c', cwd=folder)
        must(PROGRAMS['emit'], '--address-pool', 'vmlinux.o', cwd=folder)
        must(*gcc, '-nostdlib', '-static', '-Wl,-T,percpu.lds', '-o', 'vmlinux', 'vmlinux.o', cwd=folder)
        must(PROGRAMS['merge'], '--features=' + features, '--image=vmlinux', '--update=vmlinux', '-o',
             'vmlinux.btf', 'vmlinux.o', cwd=folder)
        cls.fill_ids(folder / 'vmlinux', [(folder / 'vmlinux.btf').read_bytes()])

    @classmethod
    def module(cls, folder, source=MODULE, kfuncs=('bpf_mine',), options=(), features=WITH_TAGS):
        """Builds a module over the vmlinux in `folder`."""
        name = 'mine.ko'
        (folder / 'mine.c').write_text(source + ids_of('mine_kfuncs', *kfuncs))
        must('gcc', '-g', '-O1', '-gdwarf-5', '-ffreestanding', '-c', '-o', name, 'mine.c', cwd=folder)
        must(PROGRAMS['emit'], name, cwd=folder)
        must(PROGRAMS['merge'], '--features=' + features, '--base=vmlinux', *options, f'--update={name}', name,
             cwd=folder)
        btf = section(folder / name, '.BTF')
        base = section(folder / name, '.BTF.base') or (folder / 'vmlinux.btf').read_bytes()
        cls.fill_ids(folder / name, [base, btf])
        return folder / name

    @staticmethod
    def fill_ids(path, blobs):
        """Fills in the ids of the only set in .BTF_ids, and sorts the set by id, as resolve_btfids does. `blobs`:
        the BTF of the file; before it the base, if it has one."""
        heads = heads_of(blobs)
        elf = Elf(path)
        ids = next(s for s in elf.sections if s.name == '.BTF_ids')
        names = [s for s in symbols_of(path) if s[1].startswith('__BTF_ID__func__')]
        entries = sorted((heads.get('FUNC ' + name[len('__BTF_ID__func__'):name.rindex('__')], 0),
                          struct.unpack_from('<I', ids.data, at - ids.address + 4)[0])
                         for at, name in names)
        data = bytearray(path.read_bytes())
        for n, entry in enumerate(entries):
            struct.pack_into('<II', data, ids.offset + 8 + n * 8, *entry)
        path.write_bytes(data)

    # Most tests damage a copy of the sound kernel, or replace the copy by a kernel that was built with damage.

    def copy(self, name):
        folder = self.top / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.sound, folder)
        return folder

    def package(self, folder, module=None, config='CONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n'
                'CONFIG_PAHOLE_VERSION=130\n'):
        files = [(f'boot/config-{RELEASE}', config.encode()),
                 (f'boot/vmlinux-{RELEASE}', (folder / 'vmlinux').read_bytes())]
        if module:
            files.append((f'lib/modules/{RELEASE}/mine.ko', module.read_bytes()))
        return self.unpacked(files, 'package')

    def findings(self, *package):
        """Checks the package that package() makes of the arguments. Returns (rule, binary) of each finding, the
        texts of all findings, and the report."""
        done = run(PROGRAMS['kernel'], 'check', '--json', self.package(*package))
        report = json.loads(done.stdout)
        errors = [f for f in report['findings'] if f['degree'] == 'error']
        self.assertEqual(done.returncode, 1 if errors else 0, done.stderr)
        return ([(f['rule'], f['binary']) for f in report['findings']],
                '\n'.join(f['what'] for f in report['findings']), report)

    def expect(self, wanted, words, *package):
        rules, text, report = self.findings(*package)
        self.assertEqual(sorted(set(rules)), sorted(wanted), text)
        for word in words:
            self.assertIn(word, text)
        return report

    def test_sound(self):
        report = self.expect([], [], self.sound, self.module(self.sound))
        self.assertEqual((report['kfuncs'], report['kfuncs_tagged'], report['unchecked']), (3, 3, []))

    def test_tags_lost(self):
        """All tags of vmlinux are missing, or have another text, or all tags of a module are missing."""
        folder = self.copy('tags')
        self.build(folder, features=WITHOUT_TAGS)
        self.expect([('kfunc-tag', 'vmlinux')],
                    [f'kfunc {name} has no tag bpf_kfunc' for name in ('bpf_take', 'bpf_hide')], folder)
        tag = (self.sound / 'vmlinux').read_bytes().replace(b'\0bpf_kfunc\0', b'\0bpf_other\0')
        (folder / 'vmlinux').write_bytes(tag)
        self.expect([('kfunc-tag', 'vmlinux')], [], folder)
        module = self.module(self.copy('tags'), features=WITHOUT_TAGS)
        self.expect([('kfunc-tag', 'mine')], ['kfunc bpf_mine has no tag bpf_kfunc'], self.sound, module)

    def test_func_lost(self):
        folder = self.copy('func')
        self.build(folder, kfuncs=('bpf_hide', 'bpf_take', 'bpf_gone'))
        self.expect([('kfunc-func', 'vmlinux')], ['kfunc bpf_gone of kfuncs has no FUNC'], folder)

    def test_redefined_base_type(self):
        # The module defines files_struct differently, so its task_struct differs from the kernel's.
        folder = self.copy('redefined')
        source = MODULE.replace('{ int count; }', '{ int count; long more; }')
        module = self.module(folder, source)
        self.expect([('kfunc-type', 'mine'), ('redefined', 'mine')],
                    ['defines 1 type of vmlinux again, because of struct files_struct (vmlinux -> here: '
                     'size 4 -> 16): task_struct',
                     "kfunc bpf_mine, argument 1: task_struct is the module's own"], folder, module)

    def test_per_cpu_variable_elsewhere(self):
        folder = self.copy('percpu')
        must('objcopy', '--redefine-sym', 'first=other', folder / 'vmlinux')
        self.expect([('per-cpu', 'vmlinux')], ['per-CPU variable first at offset ', 'the symbol other is there'],
                    folder)
        # vmlinux was linked again after its BTF was made, and the per-CPU variables are at other offsets.
        folder = self.copy('percpu')
        (folder / 'percpu.lds').write_text(LINKER_SCRIPT.replace('{ *(', '{ . = . + 64; *('))
        must('gcc', '-nostdlib', '-static', '-Wl,-T,percpu.lds', '-o', 'vmlinux', 'vmlinux.o', cwd=folder)
        must('objcopy', '--add-section=.BTF=vmlinux.btf', 'vmlinux', cwd=folder)
        self.fill_ids(folder / 'vmlinux', [(folder / 'vmlinux.btf').read_bytes()])
        self.expect([('per-cpu', 'vmlinux')], ['per-CPU variable ', ' at offset 0: the symbol is at 64'], folder)
        # A file without section .data..percpu.
        must('objcopy', '--rename-section=.data..percpu=.data.other', 'vmlinux', cwd=folder)
        self.expect([('per-cpu', 'vmlinux')], ['but there is no section .data..percpu'], folder)
        # Without symbols, per-CPU variables and most ids are not checked, and the report says so.
        folder = self.copy('percpu')
        must('strip', folder / 'vmlinux')
        report = self.expect([], [], folder)
        self.assertEqual([(u['rule'], u['binaries']) for u in report['unchecked']],
                         [('ids', ['vmlinux']), ('per-cpu', ['vmlinux'])])

    def distilled(self, name, source, module=MODULE):
        """Builds a vmlinux from `source`, and a module with a distilled base over it. Returns the module's path."""
        folder = self.copy(name)
        self.build(folder, source)
        return self.module(folder, module, options=['--distilled-base'])

    def test_base_that_does_not_relocate(self):
        report = self.expect([], [], self.sound, self.distilled('same', VMLINUX))
        self.assertEqual([(u['rule'], u['binaries']) for u in report['unchecked']], [('redefined', ['mine'])])
        bigger = TYPES.replace('int count;', 'int count, more;')
        module = self.distilled('bigger', VMLINUX.replace(TYPES, bigger), MODULE.replace(TYPES, bigger))
        self.expect([('base', 'mine')], ["(STRUCT 'files_struct'): no type of this name in vmlinux has the "
                                         'right kind, size and encoding'], self.sound, module)
        # The distilled base has a struct that vmlinux does not have.
        other = [text.replace('files_struct', 'gone_struct') for text in (VMLINUX, MODULE)]
        self.expect([('base', 'mine')], ["(STRUCT 'gone_struct')"], self.sound, self.distilled('gone', *other))

    def test_base_of_ambiguous_names(self):
        """Two types of vmlinux have the name and size of a type of the distilled base: the kernel uses neither."""
        module = self.distilled('one', VMLINUX)
        folder = self.copy('two')
        (folder / 'more.c').write_text('struct files_struct { unsigned other; };\n'
                                       'int more(struct files_struct *files) { return files->other; }\n')
        must('gcc', '-g', '-c', 'more.c', cwd=folder)
        must(PROGRAMS['emit'], '--address-pool', 'more.o', cwd=folder)
        must('gcc', '-nostdlib', '-static', '-Wl,-T,percpu.lds', '-o', 'vmlinux', 'vmlinux.o', 'more.o', cwd=folder)
        must(PROGRAMS['merge'], '--features=' + WITH_TAGS, '--image=vmlinux', '--update=vmlinux', '-o',
             'vmlinux.btf', 'vmlinux.o', 'more.o', cwd=folder)
        self.fill_ids(folder / 'vmlinux', [(folder / 'vmlinux.btf').read_bytes()])
        self.expect([('base', 'mine')], ["(STRUCT 'files_struct'): types ", 'both match, so the kernel '
                                         "refuses the module's BTF"], folder, module)

    def test_truncated_base(self):
        module = self.distilled('cut', VMLINUX)
        short = self.write('short-base', section(module, '.BTF.base')[:-8])
        must('objcopy', f'--update-section=.BTF.base={short}', module)
        self.expect([('verifier', 'mine')], [], self.sound, module)

    def test_no_btf(self):
        folder = self.copy('none')
        module = self.module(folder)
        must('objcopy', '--remove-section=.BTF', module)
        self.expect([('no-btf', 'mine')], ['CONFIG_DEBUG_INFO_BTF_MODULES=y'], folder, module)
        must('objcopy', '--remove-section=.BTF', folder / 'vmlinux')
        self.expect([('no-btf', 'vmlinux')], ['CONFIG_DEBUG_INFO_BTF=y'], folder)

    def test_header_only(self):
        folder = self.copy('header')
        module = self.module(folder)
        must('objcopy', '--remove-section=.BTF_ids', module)
        header = self.write('header-alone', section(module, '.BTF')[:8] + struct.pack('<IIII', 0, 0, 0, 0))
        must('objcopy', f'--update-section=.BTF={header}', module)
        self.expect([('empty', 'mine')], ['has a header and no types'], folder, module)

    def test_implicit_arguments(self):
        folder = self.copy('impl')
        self.build(folder, VMLINUX.replace('bpf_hide_impl', 'bpf_hide_imp'))
        self.expect([('kfunc-impl', 'vmlinux')], ['kfunc bpf_hide has implicit arguments, and there is no FUNC '
                                                  'bpf_hide_impl'], folder)
        self.build(folder, VMLINUX.replace('bpf_hide(struct task_struct *task)',
                                           'bpf_hide(struct task_struct *task, struct bpf_prog_aux *aux)')
                   .replace('bpf_hide(0)', 'bpf_hide(0, 0)'))
        self.expect([('kfunc-impl', 'vmlinux')], ['kfunc bpf_hide shows its implicit arguments'], folder)

    def test_another_base(self):
        folder = self.copy('another')
        self.build(folder, VMLINUX.replace('bpf_prog_aux', 'bpf_prog_other'))
        rules, text, _ = self.findings(folder, self.module(self.copy('right')))
        self.assertIn(('base', 'mine'), rules, text)
        self.assertEqual({binary for rule, binary in rules}, {'mine'})


def section(path, name):
    return next((s.data for s in Elf(path).sections if s.name == name), b'')


def symbols_of(path):
    """Returns (address, name) of each symbol that the file defines."""
    lines = must('nm', path).splitlines()
    return [(int(line.split()[0], 16), line.split()[2]) for line in lines if len(line.split()) == 3]


def heads_of(blobs):
    """Returns 'KIND name' -> id. `blobs`: BTF without a base, or a base and the BTF over it."""
    base = blobs[0]
    heads = type_heads(base)
    if len(blobs) > 1:
        heads = heads + split_heads(blobs[1], base)
    return {head: n + 1 for n, head in enumerate(heads)}


def strings_of(blob):
    header, = struct.unpack_from('<I', blob, 4)
    begin, size = struct.unpack_from('<II', blob, 16)
    return blob[header + begin:header + begin + size]


def split_heads(blob, base):
    """Returns 'KIND name' of each type in `blob`, which is split BTF over `base`. Joins the strings of both, because
    type_heads() reads only BTF without a base."""
    own, before = strings_of(blob), strings_of(base)
    header, _, types_size = struct.unpack_from('<III', blob, 4)
    types = blob[header:header + types_size]
    whole = struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, types_size, types_size, len(before + own))
    return type_heads(whole + types + before + own)


if __name__ == '__main__':
    run_tests()
