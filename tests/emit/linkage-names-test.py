#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the feature linkage_names with functions of C++ and Rust, from the compiler to the merged BTF.

usage: linkage-names-test.py BTF-EMIT BTF-LINES BTF-MERGE [TEST...]
"""
import os
import re
import shutil

from helpers.cli_case import CliCase, run
from helpers.compilers import clangs

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'linkage')
FEATURE = '--features=+linkage_names'


def cxx():
    """Returns the installed C++ compilers: g++, g++-16, and the clang++ of each installed clang."""
    names = ['g++', 'g++-16'] + [name.replace('clang', 'clang++') for name in clangs()]
    return [name for name in names if shutil.which(name)]


class LinkageNames(CliCase):
    btf_merge = None  # set by run()

    def link(self, *objects, features=FEATURE):
        """Adds BTF to the objects, and links them to `image`; returns the objects."""
        for name in objects:
            self.emit('-q', '--address-pool', features, name)
        self.must('ld', '-e', '0', '--unresolved-symbols=ignore-all', '-o', 'image', *objects)
        return list(objects)

    def merge(self, *words, features=FEATURE):
        self.must(self.btf_merge, features, '--image=image', '-o', 'out.btf', *words)
        self.must(self.btf_merge, '--check=out.btf', '--kernel=7.3')
        return self.lines('out.btf')

    def pairs(self, lines):
        """Returns symbol -> function name, from the linkage tags in `lines`. Fails if a tag has an unexpected form or
        language, if `lines` has no such FUNC or `image` no such symbol, or if two tags have one symbol."""
        found = {}
        names = {line.split(':')[0][5:] for line in lines if line.startswith('FUNC ')}
        symbols = set(re.findall(r' [tTwW] (\S+)', self.must('nm', 'image')))
        for line in lines:
            match = re.fullmatch(r'DECL_TAG (\S+?):linkage:(\S+) on FUNC (\w+)', line)
            if not match:
                self.assertNotIn('linkage', line)
                continue
            self.assertIn(match[1], self.languages)
            self.assertIn(match[2], symbols)
            self.assertNotIn(match[2], found, 'two tags')
            self.assertIn(match[3], names)
            found[match[2]] = match[3]
        return found

    def expect(self, lines, functions):
        """Checks how many FUNCs match each pattern: `functions` maps patterns of "NAME: PROTOTYPE" to these numbers."""
        found = [line for line in lines if line.startswith('FUNC ')]
        for pattern, count in functions.items():
            hits = [line for line in found if re.fullmatch('FUNC ' + pattern, line)]
            self.assertEqual(len(hits), count, f'{pattern}: {found}')

    def test_parameter_packs(self):
        """g++ gives the parameters of a pack no names, so the function is left out. clang repeats the pack's name."""
        if not cxx():
            self.skipTest('there is no C++ compiler')
        self.languages = ('c++14', 'c++')
        self.write('pack.cc', 'template<class... T> long sum(long a, T... rest) { return (a + ... + rest); }\n'
                   'template long sum(long a, int b, char c);\nlong plain(long a) { return a; }\n')
        for compiler in cxx():
            with self.subTest(compiler=compiler):
                self.must(compiler, '-std=c++17', '-g', '-c', 'pack.cc')
                by_clang = 'clang' in compiler
                self.expect(self.merge(*self.link('pack.o')), {
                    r'plain: .*': 1, r'sum\w*: .*': int(by_clang),
                    r'sum\w*: long( int)? \(long( int)? a, int rest, char rest\)': int(by_clang)})

    def test_cxx(self):
        if not cxx():
            self.skipTest('there is no C++ compiler')
        self.languages = ('c++14', 'c++')  # DWARF 4 has one code for all of C++
        for compiler in cxx():
            for flags in (['-O0'], ['-O2'], ['-O2', '-gdwarf-4'], ['-Os', '-fdebug-types-section']):
                with self.subTest(compiler=compiler, flags=flags):
                    self.must(compiler, '-std=c++14', '-g', *flags, '-c', f'{SOURCES}/names.cc', '-o',
                              'names.o')
                    lines = self.merge(*self.link('names.o'))
                    self.expect(lines, {
                        r'add: int \(int a, int b\)': 1, r'add: long( int)? \(long( int)? a\)': 1,
                        r'area: int \(.* this, int scale\)': 1, r'count: int \(int first\)': 1,
                        r'inlined: int \(.* this, int by\)': 1, r'header: int \(int value\)': 1,
                        r'same: int \(int value\)': 2, r'shape: void \(.* this, int n\)': 1,
                        r'twice_int_: int \(int value\)': 1, r'twice_long\w*: long.*': 1,
                        r'plain: int \(int value\)': 1, r'user: int \(int value\)': 1})
                    pairs = self.pairs(lines)
                    self.assertEqual({symbol: pairs.pop(symbol, None) for symbol in (
                        '_Z3addii', '_Z3addl', '_ZN3one4sameEi', '_ZN3two4sameEi',
                        '_ZNK5shape4areaEi', '_ZN5shapeC2Ei', '_Z5twiceIiET_S0_')},
                                     {'_Z3addii': 'add', '_Z3addl': 'add', '_ZN3one4sameEi': 'same',
                                      '_ZN3two4sameEi': 'same', '_ZNK5shape4areaEi': 'area',
                                      '_ZN5shapeC2Ei': 'shape', '_Z5twiceIiET_S0_': 'twice_int_'})
                    self.assertEqual(len(pairs), 5, pairs)  # count, header, inlined, twice<long>, user

    def test_rust(self):
        if not shutil.which('rustc'):
            self.skipTest('rustc is not installed')
        self.languages = ('rust',)
        for flags in ([], ['-C', 'opt-level=2'], ['-C', 'symbol-mangling-version=v0'],
                      ['-C', 'opt-level=2', '-C', 'symbol-mangling-version=v0']):
            with self.subTest(flags=flags):
                self.must('rustc', '-C', 'debuginfo=2', '--emit=obj', *flags, '-o', 'names.o',
                          f'{SOURCES}/names.rs')
                lines = self.merge(*self.link('names.o'))
                self.expect(lines, {
                    r'area: u32 \(\*struct Shape self, u32 scale\)': 1,
                    r'number: u32 \(\*struct Kind self\)': 1,
                    r'grow: u32 \(\*struct Shape self, u32 by\)': 1,
                    r'grow: u32 \(\*u64 self, u32 by\)': 1, r'twice_u32_: u32 \(u32 value\)': 1,
                    r'twice_u64_: u64 \(u64 value\)': 1, r'apply: u32 \(.*': 1,
                    r'plain: u32 \(u32 value\)': 1, r'user: u32 \(u32 value\)': 1})
                pairs = self.pairs(lines)
                self.assertNotIn('plain', pairs)
                names = list(pairs.values())
                self.assertEqual([names.count(name) for name in ('grow', 'area', 'twice_u32_', 'user')],
                                 [2, 1, 1, 1], pairs)
                if not flags:
                    self.assertIn('_closure_0_', names)

    def test_only_if_asked_for(self):
        """Tags need the feature linkage_names in both btf-emit and btf-merge, and decl_tag in btf-merge. `all` lacks
        linkage_names. Without tags, only functions whose symbols are their names get FUNCs."""
        if not cxx():
            self.skipTest('there is no C++ compiler')
        self.must(cxx()[0], '-std=c++14', '-g', '-c', f'{SOURCES}/names.cc', '-o', 'names.o')
        self.write('c.c', 'int mine(int value) { return value; }\n')
        self.must('gcc', '-g', '-c', 'c.c', '-o', 'c.o')
        for of_emit, of_merge in (('default', '+linkage_names'), ('+linkage_names', 'default'),
                                  ('default', 'default'), ('all', 'all'), ('+linkage_names', 'linkage_names')):
            objects = self.link('names.o', 'c.o', features='--features=' + of_emit)
            lines = self.merge(*objects, features='--features=' + of_merge)
            self.expect(lines, {'plain:.*': 1, 'mine:.*': 1, '(add|same|user|shape).*': 0})
            self.assertNotIn('linkage', '\n'.join(lines))


if __name__ == '__main__':
    run(__name__, LinkageNames, ('btf_emit', 'btf_lines', 'btf_merge'))
