#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel diff --bpf with programs that call kfuncs.

usage: kfunc-test.py BTF-KERNEL BTF-EMIT BTF-MERGE [TEST...]
"""
import shutil

from diff_case import TOOLS, DiffCase
from helpers.cli_case import run


class Kfuncs(DiffCase):
    def test_kfuncs_with_tags(self):
        """If the kernel tags kfuncs, a function without the tag is perhaps not a kfunc. Tags, and suffixes of
        parameters such as __sz, do not matter to programs that attach to a function."""
        if not shutil.which('clang'):
            self.skipTest('clang is not installed')
        for kernel, suffix, tag in (('old', '__sz', 'KFUNC'), ('new', '', '')):
            self.write('k.c', '#define KFUNC __attribute__((btf_decl_tag("bpf_kfunc")))\n'
                       f'KFUNC int kfunc(int a) {{ return a; }} int plain(int a{suffix}) {{ return 0; }}\n'
                       f'int flavoured(int a) {{ return a; }} {tag} int tagged(int a) {{ return a; }}\n')
            self.must('clang', '-g', '-c', 'k.c')
            self.must(self.btf_emit, 'k.o')
            self.must(self.btf_merge, '--features=+decl_tag', '-o', kernel, 'k.o')
        names = 'kfunc', 'tagged', 'plain', 'flavoured'
        program = (''.join(f'extern int {name}(int a) SEC(".ksyms");\n' for name in names) +
                   'extern int flavoured___v2(int a, int b) SEC(".ksyms");\n' # broken counts more than unknown
                   'SEC("tc") int f(void *p) { return kfunc(1) + tagged(2) + plain(3) + flavoured___v2(4, 5) +'
                   ' flavoured(6); }\n' +
                   ''.join(f'SEC("fentry/{name}") int on_{name}(void *p) {{ return 0; }}\n' for name in names))
        attach = {f'fentry/{name}': 'holds' for name in names}
        for new, tagged, plain in (('old', 'holds', 'unknown'), ('new', 'unknown', 'broken')):
            self.assertEqual(self.verdicts(program, 'old', new),
                             {'kfunc': 'holds', 'tagged': tagged, 'plain': plain, 'flavoured': 'broken', **attach})

    def test_kfuncs_with_another_signature(self):
        """The verifier refuses a pointer to another struct, and reads suffixes of parameters such as __sz. libbpf does
        neither. A program whose declaration fits only the new kernel counts as compiled for the new kernel."""
        for kernel, taken, suffix, more in (('old', 'a', '', ', int m'), ('new', 'b', '__sz', '')):
            self.write('k.c', 'struct a { int x; } a; struct b { int x; } b;\n'
                       f'int points(struct {taken} *p) {{ return p->x; }} int sized(int n{suffix}) {{ return 0; }}\n'
                       f'int stays(struct a *p) {{ return p->x; }} int loses(struct {taken} *p{more}) {{ return 0; }}\n')
            self.kernel(kernel, source='k.c')
        names = 'points', 'sized', 'stays', 'loses'
        program = ('struct a { int x; };\n' + ''.join(f'extern int {name}(struct a *p) SEC(".ksyms");\n' for name in names)
                   ).replace('sized(struct a *p)', 'sized(int n)')
        program += 'SEC("tc") int f(void *p) { return points(p) + sized(1) + stays(p) + loses(p); }\n'
        self.assertEqual(self.verdicts(program, 'old', 'new'),
                         {'points': 'broken', 'sized': 'broken', 'stays': 'holds', 'loses': 'holds'})
        self.assertIn('kfunc points: broken (has another signature: int points(struct b *p)); before: holds',
                      self.diff('old', 'new', '--bpf=p.o'))

    def test_kfuncs_with_other_numbers(self):
        """libbpf and the verifier accept numbers that differ in size (up to 8 bytes) or sign, and other enums."""
        changes = {  # the prototype in the old kernel, that in the new one, the verdict
            'sign': ('int %s(int n)', 'int %s(unsigned n)', 'unknown'),
            'size': ('int %s(int n)', 'int %s(long n)', 'unknown'),
            'result': ('int %s(int n)', 'long %s(int n)', 'unknown'),
            'enums': ('int %s(enum e1 n)', 'int %s(enum e2 n)', 'unknown'),
            'named': ('int %s(int n)', 'int %s(int other)', 'holds'),
            'huge': ('int %s(int n)', 'int %s(__int128 n)', 'broken'),
            'sized': ('int %s(char *p, int n)', 'int %s(char *p, long n__sz)', 'broken'),
            'points': ('int %s(struct a *p, int n)', 'int %s(struct b *p, long n)', 'broken')}
        types = 'struct a { int x; } a; struct b { int x; } b; enum e1 { A }; enum e2 { B };\n'
        for side, kernel in enumerate(('old', 'new')):
            self.write('k.c', types + ''.join(f'{change[side] % name} {{ return 0; }}\n'
                                              for name, change in changes.items()))
            self.kernel(kernel, source='k.c')
        calls = {'sized': '0, 0', 'points': '0, 0'}
        self.assertEqual(self.verdicts(
            types.replace('} a;', '};').replace('} b;', '};') +
            ''.join(f'extern {change[0] % name} SEC(".ksyms");\n' for name, change in changes.items()) +
            'SEC("tc") int f(void *p) { return ' +
            ' + '.join(f'{name}({calls.get(name, "0")})' for name in changes) + '; }\n', 'old', 'new', what='kfunc'),
            {name: change[2] for name, change in changes.items()})
        self.assertIn('kfunc size: unknown (has another signature: int size(long int n); works if the numbers fit)',
                      self.diff('old', 'new', '--bpf=p.o'))


if __name__ == '__main__':
    run(__name__, Kfuncs, TOOLS)
