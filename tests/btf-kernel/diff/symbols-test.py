#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-kernel diff --symbols with kernels compiled from C.

usage: symbols-test.py BTF-KERNEL BTF-EMIT BTF-MERGE [TEST...]
"""
import json
import os
import shutil

from diff_case import TOOLS, DiffCase
from helpers.cli_case import run


class Symbols(DiffCase):
    def test_symbols(self):
        kernels = self.kernels()
        self.write('list', '[a_list]\n# none\n\tstays\n0x12345678\tleaves\tvmlinux\tEXPORT_SYMBOL\n'
                   'grows\nkfunc_changes\nnowhere\n')
        said = json.loads(self.diff(*kernels, '--symbols=list', '--json'))['symbols']
        self.assertEqual({s['name']: s['status'] for s in said},
                         {'stays': 'reaches what changed', 'leaves': 'gone',
                          'grows': 'another signature', 'kfunc_changes': 'another signature',
                          'nowhere': 'no BTF'})
        self.assertEqual(said[0]['reached'],
                         [{'name': 'struct task', 'path': 'struct task', 'pointers': 1},
                          {'name': 'enum state', 'path': 'struct task > enum state', 'pointers': 1}])
        self.assertIn('1 gone, 2 with another', self.diff(*kernels, '--symbols=list'))
        self.diff('old', 'old', '--symbols=list', status=0)
        self.write('none', '# nothing\n')
        self.diff(*kernels, '--symbols=none', status=1)

    def symbols(self, old, new, *names):
        """Returns symbol -> (status, paths to changes)."""
        self.write('list', '\n'.join(names))
        done = self.call(self.btf_kernel, 'diff', '-q', old, new, '--symbols=list', '--json')
        said = json.loads(done.stdout)['symbols']
        return {s['name']: (s['status'], [r['path'] for r in s['reached']]) for s in said}

    def test_symbols_that_moved(self):
        """A symbol that moved between vmlinux and a module is compared."""
        stays, moves = 'int stays(long a) { return a; }', 'int moves(int a) { return a; }'
        changes, of_module = 'int changes(%s a) { return a; }', 'int of_module(void) { return 1; }'
        old = self.folder_with('moved-old', vmlinux=stays + moves + changes % 'int', m=of_module)
        new = self.folder_with('moved-new', vmlinux=stays, m=of_module + moves + changes % 'long')
        names = 'stays', 'moves', 'changes'
        for kernels, types in (((old, new), 'int -> long int'), ((new, old), 'long int -> int')):
            self.assertEqual(self.symbols(*kernels, *names), {
                'stays': ('same', []), 'moves': ('same', []), 'changes': ('another signature', ['changes'])})
            self.assertIn(f'changes changed\n        parameter 1 (a): {types}\n',
                          self.diff(*kernels, '--symbols=list'))
        # What moved from the module to vmlinux does not count as removed: it is compared with vmlinux's definition.
        changes_of_module = {c['name']: c['what'] for c in json.loads(self.diff(new, old, '--json'))['changes']
                             if 'm' in c['in']}
        self.assertEqual(changes_of_module, {'changes': 'changed'})
        # The kernel to compare with no longer has the module.
        os.remove(self.path('moved-old/m.ko.btf'))
        self.assertEqual(self.symbols(new, old, *names, 'of_module'), {
            'stays': ('same', []), 'moves': ('same', []), 'changes': ('another signature', []),
            'of_module': ('gone', [])})
        # The module already had its own function `moves`, so vmlinux's `moves` has not moved: it is gone.
        other = 'int moves(long a) { return a; }'
        self.assertEqual(self.symbols(self.folder_with('in-both', vmlinux=stays + moves, m=other),
                                      self.folder_with('in-module', vmlinux=stays, m=other), 'moves', 'of_module'),
                         {'moves': ('gone', ['moves']), 'of_module': ('no BTF', [])})

    def test_symbols_of_a_module_without_btf(self):
        """The module may still have the symbol."""
        vmlinux = 'int stays(long a) { return a; }'
        old = self.folder_with('has-btf', vmlinux=vmlinux, m='int of_module(void) { return 1; }')
        new = self.folder_with('lacks-btf', vmlinux=vmlinux)
        self.must('gcc', '-c', 'm.c', '-o', f'{new}/m.ko')
        self.assertEqual(self.symbols(old, new, 'stays', 'of_module'),
                         {'stays': ('same', []), 'of_module': ('no BTF', [])})
        self.diff(old, new, '--symbols=list', status=0)

    def test_symbols_that_reach_a_type_of_a_module(self):
        """If a module gets its own definition of a type of vmlinux, this matters only to the module. In a module
        without a base ("whole"), ids stand for other types than in vmlinux."""
        text = 'struct %s { %s a; }; int %s(struct %s *p) { return p->a; }\n'
        vmlinux, user = text % ('s', 'int', 'of_vmlinux', 's'), text % ('s', '%s', 'in_module', 's')
        other = text % ('other', 'int', 'of_module', 'other')
        split = [self.folder_with(f'split-{n}', vmlinux=vmlinux, m=user % member)
                 for n, member in enumerate(('int', 'long'))]
        self.assertEqual(self.symbols(*split, 'of_vmlinux', 'in_module'), {
            'of_vmlinux': ('same', []), 'in_module': ('reaches what changed', ['struct s'])})
        whole = [self.folder_with(f'whole-{n}', vmlinux=vmlinux, whole=other + more)
                 for n, more in enumerate(('', user % 'long'))]
        self.assertEqual(self.symbols(*whole, 'of_vmlinux', 'of_module'),
                         {'of_vmlinux': ('same', []), 'of_module': ('same', [])})

    def test_paths_leave_out_type_tags(self):
        if not shutil.which('clang'):
            self.skipTest('clang is not installed')
        for name, member in ('old', 'int'), ('new', 'long'):
            self.write('tag.c', 'struct b { %s x; };\n'
                       'struct a { struct b __attribute__((btf_type_tag("rcu"))) *p; };\n'
                       'int f(struct a *q) { return q->p->x; }\n' % member)
            self.must('clang', '-g', '-c', 'tag.c')
            self.must(self.btf_emit, 'tag.o')
            self.must(self.btf_merge, '-o', name, 'tag.o')
            self.assertIn(b'rcu', self.read(name))
        self.assertEqual(self.symbols('old', 'new', 'f'), {'f': ('reaches what changed', ['struct a > struct b'])})


if __name__ == '__main__':
    run(__name__, Symbols, TOOLS)
