#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel diff, mainly --bpf, with kernels compiled from C and BPF programs compiled by clang.

usage: program-test.py BTF-KERNEL BTF-EMIT BTF-MERGE [TEST...]
"""
import json
import os
import re
import shutil
import struct

from diff_case import HERE, KERNEL, TOOLS, DiffCase
from helpers.cli_case import run

PROGRAM = os.path.join(HERE, 'program.bpf.c')
# The verdict on each relocation, kfunc, attach point and struct_ops map of PROGRAM: on the old kernel, on the
# new one. Comments say what differs in the new kernel, or what is special.
EXPECTED = {
    ('CO-RE offset', 'struct task.pid'): ('holds', 'holds'),
    ('CO-RE offset', 'struct task.flags'): ('holds', 'holds'),  # moved
    ('CO-RE offset', 'struct task.grown'): ('holds', 'holds'),  # unsigned, so libbpf adjusts the load
    ('CO-RE offset', 'struct task.signed_grown'): ('holds', 'broken'),
    ('CO-RE offset', 'struct task.in_struct'): ('holds', 'broken'),  # now inside another struct
    ('CO-RE offset', 'struct task.gone'): ('holds', 'broken'),
    ('CO-RE offset', 'struct task.number'): ('holds', 'broken'),  # another kind
    ('CO-RE offset', 'struct task.in.second'): ('holds', 'holds'),
    ('CO-RE offset', 'struct task.high'): ('holds', 'holds'),  # a bitfield
    ('CO-RE offset', 'struct task.list[1]'): ('holds', 'holds'),
    ('CO-RE offset', 'struct task.list[3]'): ('holds', 'broken'),  # fewer elements
    ('CO-RE offset', 'struct task.tail[3]'): ('holds', 'holds'),  # flexible
    ('CO-RE offset', 'struct task.unnamed_b'): ('holds', 'holds'),
    ('CO-RE offset', 'struct task___old.gone'): ('holds', 'absent'),  # the program tests for it
    ('CO-RE exists', 'struct task___old.gone'): ('holds', 'absent'),
    ('CO-RE offset', 'struct task___new.added'): ('absent', 'holds'),
    ('CO-RE exists', 'struct task___new.added'): ('absent', 'holds'),
    ('CO-RE exists', 'struct nowhere'): ('absent', 'absent'),
    ('CO-RE exists', 'struct inner'): ('holds', 'holds'),
    ('CO-RE exists', 'enum state.DEAD'): ('holds', 'absent'),
    ('CO-RE value', 'enum state.DEAD'): ('holds', 'absent'),  # the program tests for it
    ('CO-RE value', 'enum state.LAST'): ('holds', 'holds'),
    ('CO-RE size', 'struct task'): ('holds', 'holds'),
    ('CO-RE size', 'struct task.grown'): ('holds', 'holds'),
    ('CO-RE type id', 'struct task'): ('holds', 'holds'),
    ('CO-RE matches', 'struct inner___match'): ('holds', 'holds'),
    ('CO-RE matches', 'struct inner___other'): ('absent', 'absent'),
    ('attach', 'fentry/stays'): ('holds', 'holds'),
    ('attach', '?fentry/stays'): ('holds', 'holds'),
    ('attach', 'fexit/grows'): ('holds', 'broken'),  # another signature
    ('attach', 'fentry.s/leaves'): ('holds', 'broken'),
    ('attach', 'fentry/kfunc_stays'): ('holds', 'holds'),
    ('attach', 'lsm/hook'): ('holds', 'holds'),
    ('attach', 'lsm/no_hook'): ('broken', 'broken'),
    ('attach', 'iter/task'): ('holds', 'holds'),
    ('attach', 'tp_btf/event'): ('holds', 'broken'),  # one more argument
    ('attach', 'raw_tp/stays'): ('holds', 'holds'),
    ('attach', 'raw_tp/event'): ('holds', 'unknown'),  # one more argument, which the program perhaps does not read
    ('attach', 'tp/any/event'): ('holds', 'holds'),  # the program gets a struct instead
    ('attach', 'kprobe/grows'): ('holds', 'unknown'),
    ('attach', 'kprobe.multi/grows'): ('holds', 'unknown'),
    ('attach', 'kprobe/leaves'): ('holds', 'unknown'),
    ('attach', 'kprobe/unknown'): ('unknown', 'unknown'),  # perhaps a symbol without BTF
    ('kfunc', 'kfunc_stays'): ('holds', 'holds'),  # also as kfunc_stays___v1
    ('kfunc', 'kfunc_changes'): ('holds', 'broken'),
    ('kfunc', 'kfunc_flavoured'): ('absent', 'absent'),  # weak
    ('struct_ops', 'struct ops (my_ops)'): ('holds', 'unknown'),
    ('struct_ops', 'struct ops (optional_ops)'): ('holds', 'unknown'),
}
# For test_matching: the only member of a struct in the program, and whether the program's struct matches the
# kernel's (bpf_core_type_matches()).
MATCHES = [
    ('int list[3]', 'holds'), ('int list[2]', 'absent'), ('long list[3]', 'absent'),
    ('enum colour___few colour', 'holds'), ('enum colour___more colour', 'absent'),
    ('int (*call)(struct far *, int)', 'holds'), ('int (*call)(struct far *)', 'absent'),
    ('int (*call)(struct far *, long)', 'absent'), ('long (*call)(struct far *, int)', 'absent'),
    ('char *name', 'holds'), ('int *name', 'absent'), ('struct far *far', 'holds'), ('union other *far', 'absent'),
]


class Diff(DiffCase):
    def program(self, clang):
        if not shutil.which(clang):
            return None
        self.must(clang, '-target', 'bpf', '-g', '-O2', '-c', PROGRAM, '-o', clang + '.o')
        return clang + '.o'

    def test_equal(self):
        old, _ = self.kernels()
        self.assertIn('0 modules compared', self.diff(old, old, status=0))

    def test_json(self):
        said = json.loads(self.diff(*self.kernels(), '--json'))
        changes = {c['name']: c for c in said['changes']}
        task = changes['struct task']
        self.assertTrue(task['breaks'])
        details = {(d['what'], d.get('place')): d for d in task['details']}
        moved = details['member_moved', 'flags']
        self.assertEqual((moved['old'], moved['new']), (32, 128))
        self.assertIn(('member_removed', 'gone'), details)
        self.assertIn(('member_added', 'added'), details)
        self.assertFalse(details['member_type', 'number']['core_compatible'])
        self.assertNotIn('struct inner', changes)
        self.assertEqual(changes['leaves']['what'], 'removed')
        self.assertEqual([e['kind'] for e in changes['btf_trace_event']['effects']],
                         ['tracepoint'])
        self.assertEqual([e['kind'] for e in changes['struct ops']['effects']],
                         ['core', 'struct_ops', 'relocated'])
        self.assertEqual(said['summary']['functions'],
                         {'added': 0, 'removed': 1, 'changed': 2, 'breaking': 3})

    def test_markdown(self):
        said = self.diff(*self.kernels(), '--markdown')
        self.assertIn('| functions | 0 | 1 | 2 | 3 |', said)
        self.assertIn('CO-RE does not find it: in_struct, gone', said)
        self.write('list', 'stays\nleaves\nin_no_kernel\n')
        said = self.diff('old', 'new', '--markdown', '--symbols=list')
        self.assertRegex(said, r'(?s)### Symbols\n\n3 symbols: 1 gone, .* 1 without BTF\n\n```\n.*leaves.*stays.*```\n')
        self.assertNotIn('in_no_kernel', said) # only counted
        if not self.program('clang'):
            print('SKIP --markdown with --bpf: clang is not installed')
        else:
            said = self.diff('old', 'new', '--markdown', '--bpf=clang.o')
            self.assertRegex(said, r'(?m)^### clang\.o$')
            self.assertRegex(said, r'(?m)^- kfunc `kfunc_changes`: \*\*broken .*\*\*$')
            self.assertNotIn('kfunc_stays', said)

    def test_names_of_any_bytes(self):
        """Names in a damaged kernel cannot control the terminal, break lines or add markup."""
        self.kernels()
        self.write('bad', self.read('old').replace(b'\0signed_grown\0', b'\0a\x1b[31m\n\\<b>*\0'))
        said = self.diff('bad', 'new')
        self.assertIn(r'a\x1b[31m\x0a\<b>*', said)
        why = self.call(self.btf_merge, '--why-dup', 'bad', 'new').stdout
        self.assertIn(r'a\x1b[31m\x0a\<b>*;', why)
        marked = self.diff('bad', 'new', '--markdown')
        self.assertIn(r'- `- int a\x1b[31m\x0a\<b>* at 12`', marked)
        self.assertIn(r'a\\x1b\[31m\\x0a\\\<b\>\*', marked)
        self.write('list', 'stays\n')
        for text in (said, why, marked, self.diff('bad', 'new', '--symbols=list')):
            self.assertNotIn('\x1b', text)

    def test_breaking_and_summary(self):
        old, new = self.kernels()
        self.assertNotIn('struct bpf_struct_ops_ops changed', self.diff(old, new, '--breaking'))
        self.assertNotIn('struct task', self.diff(old, new, '--summary'))
        # With --breaking, an added struct does not count for the exit status.
        self.write('more.c', f'#include "{KERNEL}"\nstruct added {{ int a; }} *added;\n')
        more = self.kernel('more', source='more.c')
        self.assertIn('struct added added', self.diff(old, more))
        self.assertNotIn('struct added', self.diff(old, more, '--breaking', status=0))

    def test_program(self):
        kernels = self.kernels()
        programs = []
        for clang in 'clang', 'clang-14', 'clang-19':
            if program := self.program(clang):
                programs.append(program)
            elif clang != 'clang-14':  # only Debian 12 has it
                print(f'SKIP {clang}: is not installed')
        if not programs:
            self.skipTest('clang is not installed')
        for program in programs:
            said = json.loads(self.diff(*kernels, '--json', '--bpf=' + program))
            found = {(r['what'], r['name']): (r['old']['status'], r['new']['status'])
                     for r in said['programs'][0]['requirements']}
            for key, verdicts in EXPECTED.items():
                if key[0] == 'CO-RE matches' and key not in found:
                    continue  # because clang 14 does not support bpf_core_type_matches()
                self.assertEqual(found.pop(key, None), verdicts, f'{program}: {key}')
            self.assertEqual(found, {}, program)

    def test_program_that_holds(self):
        old, _ = self.kernels()
        self.write('p.c', 'struct task { int pid; } __attribute__((preserve_access_index));\n'
                   '__attribute__((section("fentry/stays"))) int f(struct task *p)'
                   ' { return p->pid; }\n')
        if not shutil.which('clang'):
            self.skipTest('clang is not installed')
        self.must('clang', '-target', 'bpf', '-g', '-O2', '-c', 'p.c', '-o', 'p.o')
        self.assertIn('2 hold, 0 absent', self.diff(old, old, '--bpf=p.o', status=0))
        self.must('clang', '-target', 'bpf', '-O2', '-c', 'p.c', '-o', 'p.o')
        done = self.call(self.btf_kernel, 'diff', old, old, '--bpf=p.o')
        self.assertEqual(done.returncode, 1)
        self.assertIn('compile it with -g', done.stderr)

    def test_matching(self):
        """bpf_core_type_matches() compares members by libbpf's rules."""
        if not shutil.which('clang-19'):
            self.skipTest('clang-19 is not installed')
        self.write('k.c', 'struct far; struct shapes { int list[3]; enum colour { RED, GREEN } colour;'
                   ' int (*call)(struct far *, int); const char *name; struct far *far; } shapes;\n')
        self.kernel('k', source='k.c')
        self.write('p.c', 'struct far; union other; enum colour___few { GREEN___few };'
                   ' enum colour___more { BLUE___more };\n' +
                   ''.join(f'struct shapes___{i} {{ {member}; }};\n' for i, (member, _) in enumerate(MATCHES)) +
                   'long f(void) { return ' + ' + '.join(
                       f'__builtin_preserve_type_info(*(struct shapes___{i} *)0, 2)'
                       for i in range(len(MATCHES))) + '; }\n')
        self.must('clang-19', '-target', 'bpf', '-g', '-O2', '-c', 'p.c', '-o', 'p.o')
        said = json.loads(self.diff('k', 'k', '--json', '--bpf=p.o', status=0))
        found = {r['name']: r['new']['status'] for r in said['programs'][0]['requirements']}
        for i, (member, verdict) in enumerate(MATCHES):
            self.assertEqual(found[f'struct shapes___{i}'], verdict, member)

    def test_flavours_in_the_kernel(self):
        """CO-RE ignores flavours (___v2) also in names of the kernel's types and enumerators."""
        if not shutil.which('clang'):
            self.skipTest('clang is not installed')
        self.write('k.c', 'struct s___v2 { long pad; int x; } s; typedef long t___v2; t___v2 t;'
                   ' enum e___v2 { A = 1, B___v2 = 7 } e; struct u___v2 { int y; } u; struct u { long p; } v;\n')
        self.kernel('k', source='k.c')
        self.write('p.c', 'struct s { int x; } __attribute__((preserve_access_index)); typedef long t;'
                   ' enum e { B = 2 }; struct u { int y; } __attribute__((preserve_access_index));\n'
                   'long f(struct s *s, struct u *u) { return s->x + u->y +'
                   ' __builtin_preserve_type_info(*(t *)0, 0) +'
                   ' __builtin_preserve_enum_value(*(enum e *)B, 1); }\n')
        self.must('clang', '-target', 'bpf', '-g', '-O2', '-c', 'p.c', '-o', 'p.o')
        said = self.diff('k', 'k', '--bpf=p.o', status=0)
        for line in ('offset struct s.x: holds (at 8)', 'offset struct u.y: holds (at 0)', 'exists t: holds',
                     'value enum e.B: holds (7)'):
            self.assertIn('CO-RE ' + line, said)

    def two_adapters(self, *members):
        """Makes a kernel with two structs `adapter`, and returns its path. `members` has the members of each struct; by
        default, one struct has x, the other o and y."""
        for number, text in enumerate(members or ('char pad[600]; long x;', 'char pad[12000]; long o, y;')):
            self.write(f'{number}.c', f'struct adapter {{ {text} }} *a{number};\n')
            self.must('gcc', '-g', '-c', f'{number}.c')
            self.must(self.btf_emit, f'{number}.o')
        self.must(self.btf_merge, '-o', 'two', '0.o', '1.o')
        return 'two'

    def adapters_program(self, body, target='bpf'):
        if not shutil.which('clang'):
            self.skipTest('clang is not installed')
        self.write('p.c', 'struct adapter { long o; long x; long y; }'
                   ' __attribute__((preserve_access_index));\n'
                   f'long f(struct adapter *a) {{ {body} }}\n')
        self.must('clang', '-target', target, '-g', '-O2', '-c', 'p.c', '-o', 'p.o')

    def test_candidates_with_different_sizes(self):
        """libbpf refuses a relocation for the size of a field if the size differs between structs of one name.
        Relocations for the sign and the existence of the field hold, because both structs give the same value."""
        kernel = self.two_adapters('long o; int x;', 'long o; long x; long y;')
        self.adapters_program('return __builtin_preserve_field_info(a->x, 1);')
        self.assertIn('size struct adapter.x: broken (several types of that name',
                      self.diff(kernel, kernel, '--bpf=p.o'))
        self.adapters_program('return __builtin_preserve_field_info(a->x, 3) +'
                              ' __builtin_preserve_field_info(a->x, 2);')
        self.assertIn('2 hold, 0 absent', self.diff(kernel, kernel, '--bpf=p.o', status=0))

    def test_id_of_a_type_that_exists_twice(self):
        """Both structs look the same, but refer to different types."""
        kernel = self.two_adapters('struct in0 { int i; } *p;', 'struct in0 { long i; } *p;')
        self.adapters_program('return __builtin_btf_type_id(*a, 1);')
        self.assertIn('type id struct adapter: broken (several types have that name)',
                      self.diff(kernel, kernel, '--bpf=p.o'))

    def test_bitfield_that_no_load_covers(self):
        self.write('k.c', 'struct __attribute__((packed)) adapter { unsigned long a : 4, x : 61, o : 60; } a;\n')
        kernel = self.kernel('k', source='k.c')
        self.adapters_program('return __builtin_preserve_field_info(a->x, 0);')
        self.assertIn('offset struct adapter.x: broken (is a bitfield', self.diff(kernel, kernel, '--bpf=p.o'))
        self.adapters_program('return __builtin_preserve_field_info(a->o, 0);')
        self.assertIn('0 broken, 1 unknown', self.diff(kernel, kernel, '--bpf=p.o', status=0))

    def test_candidates_are_of_one_type(self):
        """If one of several structs of a name lacks a field, libbpf excludes the struct from all later relocations
        of the program's type."""
        kernel = self.two_adapters()
        self.adapters_program('return a->x + a->y;')
        said = self.diff(kernel, kernel, '--bpf=p.o')
        self.assertIn('struct adapter.x: holds (at 600)', said)
        self.assertIn('struct adapter.y: broken (no single struct adapter has both this and '
                      'struct adapter.x)', said)
        self.adapters_program('return a->o + a->y;')
        self.assertIn('2 hold, 0 absent', self.diff(kernel, kernel, '--bpf=p.o', status=0))

    def test_existence_needs_one_place(self):
        """If several structs of one name have the field at different offsets, libbpf refuses the relocation, even if
        the program only asks whether the field exists."""
        self.write('2.c', 'struct adapter { long x; } *a2;\n')
        self.must('gcc', '-g', '-c', '2.c')
        self.must(self.btf_emit, '2.o')
        self.two_adapters()
        self.must(self.btf_merge, '-o', 'three', '0.o', '1.o', '2.o')
        self.adapters_program('return __builtin_preserve_field_info(a->x, 2);')
        self.assertIn('CO-RE exists struct adapter.x: broken',
                      self.diff('three', 'three', '--bpf=p.o'))
        self.diff('two', 'two', '--bpf=p.o', status=0)

    def test_ambiguity_is_not_excused(self):
        """libbpf refuses the whole object file, so a test for another field does not help."""
        kernel = self.two_adapters('long x;', 'long o; long x;')
        self.assertEqual(self.verdicts(
            'struct adapter___v2 { long x; } CORE; struct far { int y; } CORE;\n'
            'SEC("tc") long f(struct adapter___v2 *a, struct far *b) {'
            ' return __builtin_preserve_field_info(b->y, 2) ? a->x : 0; }\n', kernel, what='CO-RE offset'),
            {'struct adapter___v2.x': 'broken'})

    def test_byte_order(self):
        kernel = self.two_adapters()
        self.adapters_program('return a->x;', target='bpfeb')
        self.assertEqual(self.diff(kernel, kernel, '--bpf=p.o').splitlines()[1].strip(),
                         'byte order big-endian: broken (the kernel is little-endian: '
                         'it cannot load the program)')
        if not shutil.which('s390x-linux-gnu-gcc'):
            self.skipTest('s390x-linux-gnu-gcc is not installed')
        self.must('s390x-linux-gnu-gcc', '-g', '-c', '0.c', '-o', 's390x.o')
        self.must(self.btf_emit, 's390x.o')
        self.must(self.btf_merge, '-o', 's390x', 's390x.o')
        self.assertIn('holds (at 600)', self.diff('s390x', 's390x', '--bpf=p.o', status=0))
        said = self.diff(kernel, 's390x', '--bpf=p.o', status=0)
        self.assertIn('byte order big-endian: holds; before: broken', said)

    def test_modules_without_btf(self):
        """A module whose BTF is gone is not called removed."""
        source = 'struct mine { int a; }; int f(struct mine *m) { return m->a; }\n'
        has = self.folder_with('has-btf', vmlinux='struct s { int a; } s;\n', m=source)
        lacks = self.folder_with('lacks-btf', vmlinux='struct s { int a; } s;\n')
        self.must('gcc', '-c', 'm.c', '-o', f'{lacks}/m.ko')
        for kernels, which, status in ((has, lacks), 'new', 1), ((lacks, has), 'old', 0):
            said = self.diff(*kernels, '--breaking', status=status)
            self.assertIn(f'\nmodules without readable BTF in the {which} kernel: m\n', said)
            self.assertRegex(said, r'\nmodules +0 +0 +1 +0\n')
            self.assertNotIn('modules removed', said)
            self.assertNotIn('modules added', said)
            self.assertEqual(json.loads(self.diff(*kernels, '--json'))['modules'], [
                {'name': 'm', 'what': 'changed', 'lost_btf': which == 'new', 'built_in': False}])
            self.assertIn(f'\n\nmodules without readable BTF in the {which} kernel: m\n\n',
                          self.diff(*kernels, '--markdown'))
        self.assertIn('0 modules compared', self.diff(lacks, lacks, status=0))
        self.write(f'{lacks}/m.ko', self.read(f'{lacks}/m.ko')[:300])
        done = self.call(self.btf_kernel, 'diff', '-q', has, lacks)
        self.assertIn(f'ERROR: {lacks}/m.ko', done.stderr)
        self.assertIn('\nmodules without readable BTF in the new kernel: m\n', done.stdout)
        self.assertNotIn('modules removed', done.stdout)

    def test_ksyms_of_another_kind(self):
        """A type in .ksyms that is neither a FUNC nor a VAR is ignored. Its third word may be a size, not an id."""
        self.verdicts('extern const int number SEC(".ksyms");\nSEC("tc") long f(void) { return (long)&number; }\n',
                      self.two_adapters())
        program, var = self.read('p.o'), struct.pack('<I', 0x0e000000)
        self.assertEqual(program.count(var), 1)
        at = program.index(var)
        self.write('p.o', program[:at] + struct.pack('<II', 0x01000000, 0x7fffff00) + program[at + 8:])
        self.assertIn('0 hold, 0 absent (programs load nevertheless), 0 broken',
                      self.diff('two', 'two', '--bpf=p.o', status=0))

    def test_cut_header_of_btf_ext(self):
        """A header must have all of the fields for CO-RE relocations, or end right before them, as headers of old
        compilers do. Any other header is an error."""
        self.adapters_program('return a->x;')
        program, kernel = self.read('p.o'), self.two_adapters()
        head = struct.pack('<HBBI', 0xeb9f, 1, 0, 32)
        self.assertEqual(program.count(head), 1)
        for size, status, words in ((32, 0, '1 hold'), (24, 0, '0 hold'), (28, 1, 'header of 28 bytes is cut off'),
                                    (8, 1, 'header of 8 bytes is cut off')):
            self.write('p.o', program.replace(head, head[:4] + struct.pack('<I', size)))
            done = self.call(self.btf_kernel, 'diff', '-q', kernel, kernel, '--bpf=p.o')
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(words, done.stdout + done.stderr)

    def test_malformed_access_string(self):
        """libbpf refuses a colon without an index on each side, other characters than digits and colons, and for a type
        any string but "0"."""
        self.write('k.c', 'struct s { int a; struct { int b, c, d; } in; } s;\n')
        kernel = self.kernel('k', source='k.c')
        self.assertEqual(self.verdicts('struct s { int a; struct { int b, c, d; } in; } CORE;\n'
                                       'SEC("tc") int f(struct s *s) { return s->in.d; }\n', kernel),
                         {'struct s.in.d': 'holds'})
        program = self.read('p.o')
        self.assertEqual(program.count(b'\x000:1:2\0'), 1)
        for text in b'0:1:\0', b'0:1::', b'0:1x2', b':0:1\0':
            self.write('p.o', program.replace(b'\x000:1:2\0', b'\0' + text + b'\0'))
            self.assertIn('broken (has a malformed access string)', self.diff(kernel, kernel, '--bpf=p.o'), text)
        self.verdicts('struct s { int a; } CORE;\n'
                      'SEC("tc") int f(void *p) { return __builtin_preserve_type_info(*(struct s *)p, 0); }\n', kernel)
        program = self.read('p.o')
        self.assertEqual(program.count(b'\0a\x000\0'), 1)
        self.write('p.o', program.replace(b'\0a\x000\0', b'\0a\x001\0'))
        self.assertIn('broken (has a malformed access string)', self.diff(kernel, kernel, '--bpf=p.o'))

    def test_existence_excuses_only_what_does_not_exist(self):
        """A program that tests for a field reads it if it exists, perhaps with the wrong size."""
        self.write('k.c', 'struct s { long wide; struct { int b; } *other; } s;\n')
        self.kernel('k', source='k.c')
        self.assertEqual(self.verdicts(
            'struct in { int b; } CORE; struct s { int wide; int gone; struct in in; } CORE;\n'
            '#define HAS(field) __builtin_preserve_field_info(field, 2)\n'
            'SEC("tc") int f(struct s *s) { return (HAS(s->wide) ? s->wide : 0) + (HAS(s->gone) ? s->gone : 0) +'
            ' (HAS(s->in) ? s->in.b : 0); }\n', 'k', what='CO-RE offset'),
            {'struct s.wide': 'broken', 'struct s.gone': 'absent', 'struct s.in.b': 'absent'})

    def test_existence_excuses_only_programs_that_test(self):
        """A test in one program does not guard another program, even if both are in the same section."""
        self.write('k.c', 'struct s { int stay; } s;\n')
        self.kernel('k', source='k.c')
        for first, second, tests, reads in (('fentry/f', 'fentry/g', 'fentry/f', 'fentry/g'),
                                            ('tc', 'tc', 'tc (f)', 'tc (g)')):
            self.assertEqual(self.verdicts(
                'struct s { int gone, both; } CORE;\n'
                '#define READ(field) (__builtin_preserve_field_info(field, 2) ? field : 0)\n'
                f'SEC("{first}") int f(struct s *s) {{ return READ(s->gone) + READ(s->both); }}\n'
                f'SEC("{second}") int g(struct s *s) {{ return s->gone + READ(s->both); }}\n', 'k',
                what='CO-RE offset'), {'struct s.gone': 'broken', 'struct s.both': 'absent'})
            said = self.diff('k', 'k', '--bpf=p.o')
            self.assertIn(f"(has no member 'gone'; only {tests} tests for it)\n", said)
            self.assertIn(f'        in {reads}\n', said)
            self.assertNotIn(f'        in {tests}\n', said)

    def test_only_broken_programs_are_named(self):
        """A signed member has grown. A program that copies as many bytes as it declares still works, but a program that
        loads the member is broken."""
        self.write('k.c', 'struct s { long grown; } s;\n')
        self.kernel('k', source='k.c')
        copy = '{ int n; ((long (*)(void *, int, const void *))113)(&n, 4, &s->grown); return n; }\n'
        self.assertEqual(self.verdicts('struct s { int grown; } CORE;\n'
                                       f'SEC("fentry/a") int f(struct s *s) {copy}'
                                       'SEC("fentry/b") int g(struct s *s) { return s->grown; }\n'
                                       f'SEC("fentry/c") int h(struct s *s) {copy}', 'k', what='CO-RE'),
                         {'struct s.grown': 'broken'})
        said = self.diff('k', 'k', '--bpf=p.o')
        self.assertEqual(re.findall('(?m)^        in (.*)', said), ['fentry/b'])

    def test_existence_in_subprograms(self):
        """A test in a caller may guard a subprogram (in .text), and a test in a subprogram its caller."""
        self.write('k.c', 'struct s { int stay; } s;\n')
        self.kernel('k', source='k.c')
        program = ('struct s { int gone; }; struct s___v2 { int gone; };\n'
                   '#define TEST(type) __builtin_preserve_field_info(((struct type *)0)->gone, 2)\n'
                   '#define READ(type) __builtin_preserve_access_index(((struct type *)s)->gone)\n'
                   '%s int f(void *s) { return %s; }\n%s int g(void *s) { return %s; }\n')
        entry, text = 'SEC("tc")', '__attribute__((used))'
        for of_f, does_f, of_g, does_g, verdict in (
                (entry, 'TEST(s)', text, 'READ(s)', 'unknown'), (text, 'TEST(s)', entry, 'READ(s)', 'unknown'),
                (text, 'TEST(s)', text, 'READ(s)', 'unknown'), (entry, 'TEST(s)', entry, 'READ(s)', 'broken'),
                (text, '0', entry, 'READ(s)', 'broken'), (entry, 'TEST(s___v2)', text, 'READ(s___v2)', 'unknown')):
            self.assertEqual(self.verdicts(program % (of_f, does_f, of_g, does_g), 'k', what='CO-RE offset'),
                             {'struct s.gone' if 'v2' not in does_g else 'struct s___v2.gone': verdict})

    def test_loads(self):
        """A program that loads a member directly breaks if a bitfield would need other shifts, or if the offset exceeds
        32767: libbpf changes neither the shifts nor the width of the offset. libbpf also refuses a relocation for the
        sign of an array element."""
        self.write('k.c', 'struct s { int pad; unsigned same : 3, moved : 5, now : 4, : 4; int was;'
                   ' char far[40000]; int x, list[2]; } s;\n')
        self.kernel('k', source='k.c')
        program = ('struct s { unsigned same : 3; unsigned : 2; unsigned moved : 5; int now; unsigned was : 4; int x;'
                   ' int list[2]; }'
                   ' CORE;\nSEC("tc") %s\n')
        expected = dict.fromkeys(('struct s.moved', 'struct s.now', 'struct s.was', 'struct s.x'), 'broken')
        self.assertEqual(self.verdicts(
            program % 'long f(struct s *s) { return s->same + s->moved + s->now + s->was + s->x; }', 'k'),
            {'struct s.same': 'holds', **expected})
        self.assertEqual(self.verdicts(
            program % 'long f(struct s *s) { return __builtin_preserve_field_info(s->moved, 0) +'
            ' __builtin_preserve_field_info(s->x, 0) + __builtin_preserve_field_info(s->now, 0); }', 'k'),
            {'struct s.moved': 'holds', 'struct s.x': 'holds', 'struct s.now': 'unknown'})
        self.assertEqual(self.verdicts(
            program % 'long f(struct s *s) { return __builtin_preserve_field_info(s->list[1], 1) +'
            ' __builtin_preserve_field_info(s->list[1], 3); }', 'k'),
            {'struct s.list[1]': 'holds', 'struct s': 'broken'})

    def test_loads_of_a_part(self):
        """If an unsigned field has another size in the kernel, libbpf changes the width of a load. In this case it
        refuses the object file if the load is not as wide as the program's field, or if no load is as wide as the
        kernel's field."""
        self.write('k.c', 'struct s { unsigned char a; unsigned long all, part; unsigned __int128 large;'
                   ' unsigned same; char name[8]; } __attribute__((packed)) s;'
                   ' struct t { int wide[8]; char flexible[]; } t;\n')
        self.kernel('k', source='k.c')
        self.assertEqual(self.verdicts(
            'struct s { unsigned all, part; unsigned long large; unsigned same; } CORE;\n'
            'SEC("tc") long f(struct s *s) { return s->all + *(unsigned char *)&s->part + s->large +'
            ' *(unsigned char *)&s->same + __builtin_preserve_field_info(s->all, 0); }\n', 'k'),
            {'struct s.all': 'holds', 'struct s.part': 'broken', 'struct s.large': 'broken', 'struct s.same': 'holds'})
        self.assertIn('(has 8 bytes there, 4 in the program, but the instruction accesses 1: libbpf refuses the whole '
                      'object file)', self.diff('k', 'k', '--bpf=p.o'))
        self.assertIn('(has 16 bytes there, 8 in the program, but no instruction accesses 16: libbpf refuses the whole '
                      'object file)', self.diff('k', 'k', '--bpf=p.o'))
        self.assertEqual(self.verdicts(
            'struct s { unsigned long same; char name[16]; } CORE;\n'
            'SEC("tc") long f(struct s *s) { return __builtin_preserve_field_info(s->same, 0) +'
            ' __builtin_preserve_field_info(s->name, 0); }\n', 'k'),
            {'struct s.same': 'unknown', 'struct s.name': 'unknown'})  # BPF_CORE_READ() would copy too much
        self.assertEqual(self.verdicts(
            'struct t { long wide[4]; char flexible[1]; } CORE;\n'
            'SEC("tc") long f(struct t *t) { return __builtin_preserve_field_info(t->wide, 0) +'
            ' __builtin_preserve_field_info(t->flexible, 0); }\n', 'k'),
            {'struct t.wide': 'unknown', 'struct t.flexible': 'holds'})

    def test_types_of_several_modules(self):
        """Whether structs of modules are ambiguous depends on which modules are loaded."""
        text = 'struct adapter { %s x; } *a; int %s(void) { return a->x; }\n'
        kernel = self.folder_with('k', vmlinux='int here(void) { return 0; }\n', m=text % ('long pad; int', 'm'),
                                  n=text % ('int', 'n'))
        self.assertEqual(self.verdicts('struct adapter { int x; } CORE;\n'
                                       'SEC("tc") int f(struct adapter *a) { return a->x; }\n', kernel),
                         {'struct adapter.x': 'unknown'})

    def test_types_in_a_distilled_base(self):
        """Members of vmlinux's structs are found in vmlinux, because a distilled base has only the structs' sizes."""
        shared = 'struct list { struct list *next; %s n; } list;\n'
        module = shared + 'struct mine { int a; struct list l[2]; } mine;\n'
        for n, member in enumerate(('int', 'long', 'char *')):
            folder = self.folder_with(f'k{n}', vmlinux=shared % member)
            self.write('m.c', module % member)
            self.must('gcc', '-g', '-c', 'm.c', '-o', f'{folder}/m.ko')
            self.must(self.btf_emit, f'{folder}/m.ko')
            self.must(self.btf_merge, f'--base={folder}/vmlinux.btf', '--distilled-base', f'--update={folder}/m.ko',
                      f'{folder}/m.ko')
        program = ('struct list { struct list *next; int n; } CORE; struct mine { int a; struct list l[2]; } CORE;\n'
                   'SEC("tc") int f(struct mine *m) { return m->l[1].n; }\n')
        for n, verdict in enumerate(('holds', 'broken', 'broken')):
            self.assertEqual(self.verdicts(program, 'k0', f'k{n}'), {'struct mine.l[1].n': verdict})
        self.assertIn('holds (at 32)', self.diff('k0', 'k0', '--bpf=p.o', status=0))
        self.assertIn("'n' is char * there, of another kind", self.diff('k0', 'k2', '--bpf=p.o'))

    def test_struct_ops(self):
        """libbpf refuses members of another kind or size, even if they are zero. Members with another prototype work
        only while they are zero."""
        self.write('k.c', 'struct ops { int (*call)(int); long flags; char name[8]; int in_use; };\n'
                   'struct bpf_struct_ops_ops { int common; struct ops data; } use;\n')
        self.kernel('k', source='k.c')
        members = ('int (*call)(int)', 'holds'), ('int (*call)(int, int)', 'unknown'), ('long flags', 'holds'), (
            'int flags', 'broken'), ('char *name', 'broken'), ('char name[16]', 'broken'), ('int in_use : 3', 'broken')
        self.assertEqual(self.verdicts(''.join(
            f'struct ops___{n} {{ {member}; }}; SEC(".struct_ops") struct ops___{n} ops{n};\n'
            for n, (member, _) in enumerate(members)), 'k'),
            {f'struct ops (ops{n})': verdict for n, (_, verdict) in enumerate(members)})
        self.assertIn("'in_use' is a bitfield: libbpf refuses it", self.diff('k', 'k', '--bpf=p.o'))

    def test_struct_ops_and_enum(self):
        """An enum with the name of the struct has no members, and does not hide the struct."""
        ops, enum, wrapper = ('struct ops { int (*call)(int); };\n', 'enum ops { call } ops;\n',
                              'struct bpf_struct_ops_ops { int common; %s ops data; } use;\n')
        for name, source in ('alone', enum + wrapper % 'enum'), ('enum', enum), ('struct', ops + wrapper % 'struct'):
            self.write(f'{name}.c', source)
            self.kernel(name, source=f'{name}.c')
        self.must(self.btf_merge, '-o', 'both', 'enum.o', 'struct.o')
        for kernel, verdict in ('alone', 'broken'), ('struct', 'holds'), ('both', 'holds'):
            self.assertEqual(self.verdicts(ops + 'SEC(".struct_ops") struct ops ops;\n', kernel),
                             {'struct ops (ops)': verdict})

    def test_bad_usage(self):
        old, new = self.kernels()
        self.diff(old, status=2)
        self.diff(old, new, '--json', '--markdown', status=2)
        self.diff(old, new, '--nothing', status=2)
        self.diff(old, 'is-not-there', status=1)
        self.diff(old, new, '--bpf=' + old, status=1)


if __name__ == '__main__':
    run(__name__, Diff, TOOLS)
