#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the command line of btf-compare, the program with which other tests compare BTF.

usage: compare-test.py BTF-COMPARE BTF-EMIT BTF-MERGE [TEST...]
"""
import struct

from helpers.cli_case import CliCase, run

INT, PTR, STRUCT = 1 << 24, 2 << 24, 4 << 24  # the second word of types
STRINGS = b'\0s\0t\0u\0'


class Compare(CliCase):
    btf_compare = None  # set by run()
    btf_merge = None

    def compare(self, *arguments, status):
        done = self.call(self.btf_compare, *arguments)
        self.assertEqual(done.returncode, status, f'{arguments}: {done.stdout}{done.stderr}')
        return done.stdout

    def btf(self, name, *types):
        """Writes raw BTF; each type is a list of words."""
        words = [word for words in types for word in words]
        self.write(name, struct.pack(f'<HBBIIIII{len(words)}I', 0xEB9F, 1, 0, 24, 0, 4 * len(words), 4 * len(words),
                                     len(STRINGS), *words) + STRINGS)

    def setUp(self):
        super().setUp()
        self.emit(self.compile())
        self.must(self.btf_merge, '-o', 'a', 'add.o')

    def test_digest(self):
        self.write('digest', self.compare('a', '--digest', status=0))
        for options in ((), ('--kinds=FUNC',), ('--ignore=FUNC,FUNC/deep',)):
            self.assertEqual(self.compare('a', '--against=digest', *options, status=0), 'equal\n')
        self.write('digest', self.read('digest').replace(b'\nFUNC ', b'\nFUNC 1'))
        self.compare('a', '--against=digest', status=1)
        self.compare('a', '--against=digest', '--ignore=FUNC', status=0)

    def test_repeated_types(self):
        """It matters how often a type occurs, even if both inputs have the same number of types. With flat arrays, it
        matters only for kinds that do not refer to types."""
        for name, encodings in (('aab', (0, 0, 1)), ('abb', (0, 1, 1)), ('ab', (0, 1))):
            self.btf(name, *([0, INT, 4, encoding << 24 | 32] for encoding in encodings))
        self.compare('aab', 'aab', status=0)
        for options in ((), ('--flat-arrays',)):
            self.assertRegex(self.compare('aab', 'abb', *options, status=1), r'\n +more A: .*\n +more B: ')
            self.compare('aab', 'ab', *options, status=1)
        self.btf('one', [0, INT, 4, 32], [0, PTR, 1])
        self.btf('two', [0, INT, 4, 32], [0, PTR, 1], [0, PTR, 1])
        self.compare('one', 'two', status=1)
        self.compare('one', 'two', '--flat-arrays', status=0)

    def test_deep(self):
        """Each input has two structs s. In one input, t points to the first s and u to the second; in the other
        input, it is the reverse."""
        structs = [[1, STRUCT, size] for size in (4, 8)]
        for name, first, second in (('12', 1, 2), ('21', 2, 1)):
            self.btf(name, *structs, [0, PTR, first], [0, PTR, second],
                     [3, STRUCT | 1, 8, 0, 3, 0], [5, STRUCT | 1, 8, 0, 4, 0])
        self.compare('12', '21', status=0)
        self.assertRegex(self.compare('12', '21', '--deep', status=1), r'\nSTRUCT/deep +(4 +){4}2 +2\n')
        self.compare('12', '12', '--deep', status=0)

    def test_several_contributions(self):
        """Several contributions or sections .BTF are an error, because only one would be compared."""
        self.emit(self.compile('other.c'))
        self.must('ld', '-r', 'add.o', 'other.o', '-o', 'both.o')
        for arguments in (('both.o', 'a'), ('a', 'both.o'), ('a', 'a', '--base-a=both.o')):
            self.compare(*arguments, status=2)
        self.must('objcopy', '--add-section', '.BT_=a', 'add.o', 'two.o')
        self.write('two.o', self.read('two.o').replace(b'.BT_', b'.BTF'))
        self.compare('two.o', 'a', status=2)

    def test_full_device(self):
        """If the output cannot be written, this is an error."""
        self.btf('a', *([0, INT, 4, 32 - n % 32] for n in range(1000)))
        for command in ('--digest a', 'a a', 'a add.o --show=1000'):
            done = self.call('sh', '-c', f'{self.btf_compare} {command} > /dev/full')
            self.assertEqual((done.returncode, done.stderr), (2, 'btf-compare: the output cannot be written\n'))

    def test_options_without_effect(self):
        self.compare('a', status=2)
        self.compare('a', 'a', '--show=1', '--deep', '--flat-arrays', '--ignore=PTR', status=0)
        ineffective = ['a', '--base-b=a', '--show=1', '--deep', '--flat-arrays']
        for option in (*ineffective, '--ignore=PTR', '--kinds=PTR', '--against=digest'):
            self.compare('a', '--digest', option, status=2)
        for option in ('--kinds=FUNC/deep', '--ignore=PTR,FUNC/deep', '--kinds=INT,VAR/deep'):
            self.compare('a', 'a', option, status=2)
            self.compare('a', 'a', option, '--deep', status=0)
        self.compare('a', 'a', '--kinds=INT', '--ignore=INT,PTR', status=2)
        self.write('digest', self.compare('a', '--digest', status=0))
        for option in ineffective:
            self.compare('a', '--against=digest', option, status=2)


if __name__ == '__main__':
    run(__name__, Compare, ('btf_compare', 'btf_emit', 'btf_merge'))
