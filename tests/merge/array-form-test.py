#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests modules over bases whose multidimensional arrays are chained (ARRAYs of ARRAYs, as from pahole 1.32) or
flat (one ARRAY, as from pahole up to 1.31). The modules must use the base's form and share the base's types.

A flat base is compiled from the same source as a chained one, with a[2 * 3] instead of a[2][3].

usage: array-form-test.py BTF-EMIT BTF-MERGE BTF-PAHOLE BTF-DUMP [TEST...]
"""
import ctypes
import itertools
import re

from helpers.cli_case import CliCase, run
from helpers.compilers import installed

HEADER = '''#ifdef FLAT
#define D2(a, b) [(a) * (b)]
#define D3(a, b, c) [(a) * (b) * (c)]
#else
#define D2(a, b) [a][b]
#define D3(a, b, c) [a][b][c]
#endif
typedef int grid D2(2, 3);
typedef int row[4];
struct task;
struct shared {
    int matrix D2(2, 3);
    const char names D3(2, 3, 16);
    struct task *owner;
    grid of_typedef[2][2];
    int rest D2(0, 4);
};
struct task { struct shared *shared; int (*pointer) D2(4, 5); int line[3]; grid *to_grid; };
'''
# `grid of_typedef[2][2]` is an array of a typedef that is an array. Its flat form depends on the compiler: clang keeps
# the typedef, gcc replaces it by the array.
BASE = HEADER.replace('grid of_typedef[2][2]', '''
#if defined(FLAT) && defined(__clang__)
    grid of_typedef[4];
#elif defined(FLAT)
    int of_typedef[24];
#else
    grid of_typedef[2][2];
#endif
''') + 'int base_function(struct task *t) { return t->line[0]; }\n'
OWN = '''
struct own { struct task *task; short own D2(5, 7); short line[7]; row rows[3]; grid *to_grid; };
int own_function(struct own *o, short (*p) D2(5, 7)) { return o->line[1] + (p != 0); }
'''


class ArrayForm(CliCase):
    btf_merge = btf_pahole = btf_dump = None  # set by run()

    @classmethod
    def setUpClass(cls):
        # libbpf 1.7 repeats typedefs of the base (docs/limits.md), so its result differs from the others.
        libbpf = ctypes.CDLL('libbpf.so.1')
        cls.with_libbpf = (libbpf.libbpf_major_version(), libbpf.libbpf_minor_version()) != (1, 7)
        if not cls.with_libbpf:
            print('SKIP --dedup=libbpf: libbpf 1.7 repeats typedefs of the base')

    def make(self, name, text, compiler, version, *flags):
        """Makes NAME.o without BTF and NAME.emitted.o with BTF; returns the latter's name."""
        self.write(name + '.c', text)
        self.must(compiler, '-w', '-O1', '-gdwarf-' + version, *flags, '-c', name + '.c', '-o', name + '.o')
        self.must(self.btf_emit, '-o', name + '.emitted.o', name + '.o')
        return name + '.emitted.o'

    def base(self, compiler, version, *flags):
        base = self.make('base', BASE, compiler, version, *flags)
        self.must(self.btf_merge, '-o', 'base.btf', base)

    def results(self, module):
        """Returns the module's own types as text, once for each way to make the module's BTF."""
        texts = []
        indexed = ['--base-index=index'] # the first run makes the index
        for how in (['--dedup=hash'], ['--threads=4'], indexed, indexed,
                    *([['--dedup=libbpf']] if self.with_libbpf else [])):
            self.must(self.btf_merge, *how, '--base=base.btf', '-o', 'own.btf', module)
            texts.append(self.must(self.btf_dump, 'raw', '--base=base.btf', 'own.btf'))
        for given in ('module.o', module): # without object BTF, and with it
            self.must('cp', given, 'kbuild.o')
            self.must(self.btf_pahole, '-J', '--btf_features=default', '--btf_base=base.btf',
                      '--btf_encode_detached=own.btf', 'kbuild.o')
            texts.append(self.must(self.btf_dump, 'raw', '--base=base.btf', 'own.btf'))
        return texts

    def arrays(self, text):
        """Returns the numbers of elements of all arrays in `text`, and how many of these arrays have elements that are
        also arrays in `text`. An array whose elements are arrays of the base does not count."""
        found = dict(re.findall(r"^\[(\d+)\] ARRAY .* type_id=(\d+) ", text, re.M))
        counts = sorted(map(int, re.findall(r' nr_elems=(\d+)', text)))
        return counts, sum(element in found for element in found.values())

    def check(self, flat, gcc, clang):
        """Checks a module over a flat or chained base. `gcc`, `clang`: what arrays() must return for this compiler."""
        for compiler, version in itertools.product(installed('gcc', 'clang-14', 'clang-19'), ('4', '5')):
            with self.subTest(compiler=compiler, version=version):
                self.base(compiler, version, *(['-DFLAT'] if flat else []))
                module = self.make('module', HEADER + OWN, compiler, version)
                for text in self.results(module):
                    names = re.findall(r"(?:STRUCT|TYPEDEF|FUNC) '(\w+)'", text)
                    # clang writes the typedef `row`, but gcc writes the array in its place.
                    self.assertEqual(set(names) - {'row'}, {'own', 'own_function'}, text)
                    self.assertEqual(self.arrays(text), gcc if compiler == 'gcc' else clang, text)

    def test_over_a_chained_base(self):
        self.check(False, ([3, 5, 7], 1), ([3, 5, 7], 1))

    def test_over_a_flat_base(self):
        self.check(True, ([7, 12, 35], 0), ([3, 4, 7, 35], 0))

    def test_structs_alone_show_the_form(self):
        """A single struct shows that a base is flat; the merge finds it in the index. Chained is the default."""
        shared = HEADER[:HEADER.index('typedef')] + 'struct s { int line[3], matrix D2(2, 3); };\n'
        for flags in [], ['-DFLAT']:
            base = self.make('base', shared + 'struct s s;', 'gcc', '5', *flags)
            self.must(self.btf_merge, '-o', 'base.btf', base)
            module = self.make('module', shared + 'struct own { struct s *s; } own;', 'gcc', '5')
            for text in self.results(module):
                self.assertEqual(re.findall(r"STRUCT '(\w+)'", text), ['own'], flags)

    def test_distilled(self):
        """With a distilled base, the module's arrays have the form of the original base."""
        for flags, chained in (([], 3), (['-DFLAT'], 0)): # arrays of base.btf that the module repeats count, too
            self.base('gcc', '5', *flags)
            module = self.make('module', HEADER + OWN, 'gcc', '5')
            self.must(self.btf_merge, '--base=base.btf', '--distilled-base', '-o', 'own.btf', module)
            text = self.must(self.btf_dump, 'raw', '--base=own.btf.base', 'own.btf')
            self.assertEqual(self.arrays(text)[1], chained, text)
            self.assertEqual(re.findall(r"STRUCT '(\w+)'", text), ['own'])

    def test_base_shows_no_form(self):
        """Over a base that does not show its form, arrays are chained, as without a base."""
        base = self.make('base', 'struct s { int line[7]; } *s;', 'gcc', '5')
        self.must(self.btf_merge, '-o', 'base.btf', base)
        module = self.make('module', HEADER + OWN, 'gcc', '5')
        for text in self.results(module):
            self.assertIn('nr_elems=5', text)
            self.assertNotIn('nr_elems=35', text)

    def test_many_unchained_arrays_show_a_flat_base(self):
        """A base with hundreds of arrays, none of which is chained, counts as flat."""
        lines = ''.join(f'struct s{n} {{ char line[{n}]; }} *s{n};' for n in range(1, 251))
        base = self.make('base', lines, 'gcc', '5')
        self.must(self.btf_merge, '-o', 'base.btf', base)
        module = self.make('module', HEADER + OWN, 'gcc', '5')
        for text in self.results(module):
            self.assertIn('nr_elems=35', text)
            self.assertEqual(self.arrays(text)[1], 0, text)

    def test_why_dup_and_check(self):
        """Messages name the difference in the struct, not the form of the arrays."""
        self.base('gcc', '5', '-DFLAT')
        changed = HEADER.replace('line[3]', 'line[4]')
        module = self.make('module', changed + OWN, 'gcc', '5')
        said = self.must(self.btf_merge, '--base=base.btf', '--why-dup', module)
        self.assertIn('line[4]', said)
        self.assertNotIn('[2][3]', said)
        self.must(self.btf_merge, '--base=base.btf', '-o', 'own.btf', module)
        self.must(self.btf_merge, '--check=own.btf', '--base=base.btf')


if __name__ == '__main__':
    run(__name__, ArrayForm, ('btf_emit', 'btf_merge', 'btf_pahole', 'btf_dump'))
