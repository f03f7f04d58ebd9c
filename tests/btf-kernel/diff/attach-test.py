#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel diff --bpf with attach points and with variables of the kernel.

usage: attach-test.py BTF-KERNEL BTF-EMIT BTF-MERGE [TEST...]
"""
from diff_case import TOOLS, DiffCase
from helpers.cli_case import run


class Attach(DiffCase):
    def test_attach_points(self):
        """A program may name the module of its function. Programs of kind .multi load without their function."""
        function = 'int %s(long a) { return a; }\n'
        functions = ''.join(function % name for name in ('here', '__riscv_sys_openat', '__ia32_sys_close'))
        kernel = self.folder_with('k', vmlinux=functions, m=function % 'there')
        expected = {'ksyscall/openat': 'holds', 'ksyscall/close': 'holds',
                    'fentry/here': 'holds', 'fentry/there': 'holds', 'fentry/m:there': 'holds',
                    'fexit.s/vmlinux:here': 'holds', 'fentry/m:here': 'broken', 'fentry/vmlinux:there': 'broken',
                    'fentry/none:there': 'broken', 'kprobe.multi/here': 'holds', 'kprobe.multi/gone': 'unknown',
                    'kprobe.session/gone': 'unknown', 'fentry.multi/gone': 'unknown', 'fexit.multi.s/here': 'holds'}
        sections = *expected, 'kprobe.multi/h*', 'freplace/f'  # these two are not checked
        program = ''.join(f'SEC("{section}") int f{n}(void *p) {{ return 0; }}\n' for n, section in enumerate(sections))
        self.assertEqual(self.verdicts(program, kernel), expected)

    def test_attach_points_that_are_gone(self):
        function = 'int %s(long a) { return a; }\n'
        old = self.folder_with('old', vmlinux=function % 'here', m=function % 'there')
        new = self.folder_with('new', vmlinux=function % 'there', m=function % 'here')
        self.assertEqual(self.verdicts('SEC("fentry/m:there") int f(void *p) { return 0; }\n'
                                       'SEC("kprobe.multi/here") int g(void *p) { return 0; }\n', old, new),
                         {'fentry/m:there': 'broken', 'kprobe.multi/here': 'holds'})

    def test_attach_points_in_modules_without_btf(self):
        """A kprobe does not need BTF: its function may still be in the module without BTF."""
        here, there = ('int %s(long a) { return a; }\n' % name for name in ('here', 'there'))
        old = self.folder_with('has-btf', vmlinux=here, m=there)
        new = self.folder_with('lacks-btf', vmlinux=here)
        self.must('gcc', '-c', 'm.c', '-o', f'{new}/m.ko')
        self.assertEqual(self.verdicts(''.join(
            f'SEC("{section}") int f{n}(void *p) {{ return 0; }}\n'
            for n, section in enumerate(('kprobe/there', 'fentry/there', 'kprobe/here'))), old, new),
            {'kprobe/there': 'unknown', 'fentry/there': 'broken', 'kprobe/here': 'holds'})
        self.assertIn('kprobe/there: unknown (the new module has no readable BTF)', self.diff(old, new, '--bpf=p.o'))

    def test_variables(self):
        """libbpf refuses a weak variable of another type, too. Names of variables have no flavours."""
        self.write('k.c', 'int number; int other; struct { int a; } pair, weak_pair;\n')
        self.must('gcc', '-g', '-c', 'k.c')
        self.must(self.btf_emit, '--features=+global_var', 'k.o')
        self.must(self.btf_merge, '--features=+global_var', '-o', 'k', 'k.o')
        names = {'number': 'holds', 'pair': 'broken', 'gone': 'broken', 'other___v2': 'broken'}
        weak = {'weak_pair': 'broken', 'weak_gone': 'absent'}
        self.assertEqual(self.verdicts(
            ''.join(f'extern const int {name} SEC(".ksyms");\n' for name in names) +
            ''.join(f'extern const int {name} SEC(".ksyms") __attribute__((weak));\n' for name in weak) +
            'extern const void untyped SEC(".ksyms");\n'
            'SEC("socket") long f(void) { return (long)&untyped + ' +
            ' + '.join(f'(long)&{name}' for name in (*names, *weak)) + '; }\n', 'k'),
            {**names, **weak, 'untyped': 'unknown'})

    def test_variables_that_changed(self):
        """libbpf accepts any struct for a struct, and any integer for an integer."""
        for name, source in (('old', 'struct a { int x; } v; int n, same;\n'),
                             ('new', 'struct b { long p; int x; } v; long n; int same;\n')):
            self.write(name + '.c', source)
            self.must('gcc', '-g', '-c', name + '.c')
            self.must(self.btf_emit, '--features=+global_var', name + '.o')
            self.must(self.btf_merge, '--features=+global_var', '-o', name, name + '.o')
        self.assertEqual(self.verdicts(
            'struct a { int x; };\n'
            'extern const struct a v SEC(".ksyms"); extern const int n SEC(".ksyms"), same SEC(".ksyms");\n'
            'SEC("socket") long f(void) { return (long)&v + (long)&n + (long)&same; }\n', 'old', 'new'),
            {'v': 'broken', 'n': 'unknown', 'same': 'holds'})


if __name__ == '__main__':
    run(__name__, Attach, TOOLS)
