#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests DWARF that is not in the unit or file that needs it: in type units, in .dwo or .dwp files, in clang's compiled
modules and headers, or nowhere yet, because link-time optimisation makes it at the link.

usage: separate-dwarf-test.py BTF-EMIT BTF-LINES [TEST...]
"""
import itertools
import os
import re
import shutil

from helpers.cli_case import CliCase, run
from helpers.compilers import installed, target_of

UNREFERENCED = '''enum color { RED = 3, GREEN = 5 };
enum { UNNAMED = 7 };
struct used_in_cast { int a; };
int number(void *p) { return RED + UNNAMED + ((struct used_in_cast *)p)->a + sizeof(enum color); }
'''
UNREFERENCED_CXX = '''template <typename T> struct box { T value; };
namespace space { struct hidden { int b; }; }
enum shade { DARK = 2 };
extern "C" int number(void *p) { return DARK + ((box<char> *)p)->value + ((space::hidden *)p)->b; }
'''
MAIN = 'int number(void *p);\nint main(int count, char **words) { return number(words) + count; }\n'


class SeparateDwarf(CliCase):
    def btf_of(self, name, *options):
        self.emit('-q', *options, name)
        return sorted(self.lines(name))

    def test_types_to_which_nothing_refers(self):
        self.write('a.c', UNREFERENCED)
        for version, flags in itertools.product(('-gdwarf-4', '-gdwarf-5'), ((), ('-gsplit-dwarf',))):
            with self.subTest(version=version, flags=flags):
                self.must('gcc', '-g', '-O1', version, *flags, '-c', 'a.c')
                expected = self.btf_of('a.o')
                self.assertIn('STRUCT used_in_cast size 4; int a@0', expected)
                self.must('gcc', '-g', '-O1', version, *flags, '-fdebug-types-section', '-c', 'a.c')
                self.assertEqual(self.btf_of('a.o'), expected)

    def test_types_of_two_languages(self):
        """--lang-exclude also leaves out the type units of a language."""
        if not shutil.which('g++'):
            self.skipTest('g++ is not installed')
        self.write('main.c', MAIN + UNREFERENCED.replace('number', 'other'))
        self.write('x.cc', UNREFERENCED_CXX)
        in_package = ('-gdwarf-4', '-gsplit-dwarf')
        for flags in ('-gdwarf-4',), ('-gdwarf-5',), *[in_package] * bool(installed('dwp')):
            self.program_of_two_languages('plain', *flags)
            self.program_of_two_languages('types', '-fdebug-types-section', *flags)
            for excluded, one_left in ('rust', 'box_char_'), ('c11', 'hidden'), ('c++14', 'used_in_cast'):
                with self.subTest(flags=flags, excluded=excluded):
                    expected = self.skips_and_types('plain', '--lang-exclude=' + excluded)
                    self.assertIn('STRUCT ' + one_left, expected)
                    self.assertEqual(self.skips_and_types('types', '--lang-exclude=' + excluded), expected)

    def test_split_types_in_a_file_that_needs_libdw(self):
        """Type units of split DWARF, in a file that also has type units of its own."""
        self.write('a.c', UNREFERENCED)
        self.write('main.c', 'struct in_main { int c; } object;\n' + MAIN)
        expected = '\n'.join(['ENUM color size 4; RED=3; GREEN=5', 'ENUM size 4; UNNAMED=7',
                              'STRUCT in_main size 4; int c@0', 'STRUCT used_in_cast size 4; int a@0'])
        for version in '-gdwarf-5', '-gdwarf-4':
            with self.subTest(version=version):
                flags = ('-g', '-O1', version, '-fdebug-types-section', '-c')
                self.must('gcc', *flags, 'main.c')
                self.must('gcc', *flags, '-gsplit-dwarf', 'a.c')
                self.must('gcc', 'main.o', 'a.o', '-o', 'program')
                self.assertEqual(self.skips_and_types('program'), expected)
                self.must('ld', '-r', '-o', 'all.o', 'main.o', 'a.o')
                self.assertIn('STRUCT used_in_cast size 4; int a@0', self.btf_of('all.o', '--strip-dwarf'))
        if installed('dwp'): # dwp does not read DWARF 5; this program has DWARF 4
            self.must('dwp', '-e', 'program', '-o', 'program.dwp')
            os.remove(self.path('a.dwo'))
            self.assertEqual(self.skips_and_types('program'), expected)

    def program_of_two_languages(self, name, *flags):
        self.must('gcc', '-g', '-O1', '-std=c11', *flags, '-c', 'main.c')
        self.must('g++', '-g', '-O1', '-std=c++14', *flags, '-c', 'x.cc')
        self.must('gcc', 'main.o', 'x.o', '-o', name)
        if '-gsplit-dwarf' in flags:
            self.must('dwp', '-e', name)

    def skips_and_types(self, program, *options):
        said = self.emit('-v', '--image', *options, '--detached=btf', program, made=['btf'])
        types = sorted(line for line in self.lines('btf') if line.startswith(('STRUCT', 'ENUM')))
        os.remove(self.path('btf'))
        return '\n'.join(re.findall('skipped .*', said) + types)

    def test_package_of_a_stripped_program(self):
        if not shutil.which('dwp'):
            self.skipTest('dwp is not installed')
        self.write('a.c', UNREFERENCED)
        self.write('b.c', MAIN)
        self.must('gcc', '-g', '-gdwarf-4', '-gsplit-dwarf', '-c', 'a.c', 'b.c')
        self.must('gcc', 'a.o', 'b.o', '-o', 'program')
        self.must('dwp', '-e', 'program', '-o', 'program.dwp')
        self.emit('-q', '--image', '--detached=whole', 'program', made=['whole'])
        self.must('objcopy', '--only-keep-debug', 'program', 'program.debug')
        self.must('objcopy', '--strip-debug', '--add-gnu-debuglink=program.debug', 'program')
        split = {name: self.read(name) for name in ('a.dwo', 'b.dwo')}
        for name in split:
            os.remove(self.path(name))
        self.emit('-q', '--image', '--detached=by_package', 'program', made=['by_package'])
        self.assertEqual(self.read('by_package'), self.read('whole'))
        # .dwo files next to the program; the debug file is in another folder.
        os.remove(self.path('program.dwp'))
        os.mkdir(self.path('.debug'))
        os.rename(self.path('program.debug'), self.path('.debug/program.debug'))
        os.mkdir(self.path('moved'))
        for name in ('program', '.debug'):
            os.rename(self.path(name), self.path('moved/' + name))
        for name, contents in split.items():
            self.write('moved/' + name, contents)
        self.emit('-q', '--image', '--detached=by_folder', 'moved/program', made=['by_folder'])
        self.assertEqual(self.read('by_folder'), self.read('whole'))

    def test_clang_modules(self):
        clang = 'clang-19'
        if not target_of(clang):
            self.skipTest('clang-19 is not installed')
        self.write('h.h', 'struct in_module { int a; long b; };\n')
        self.write('module.modulemap', 'module H { header "h.h" export * }\n')
        self.write('a.c', '#include "h.h"\nstruct in_module object;\nint get(void) { return object.a; }\n')
        self.must(clang, '-g', '-fmodules', '-gmodules', '-fmodule-map-file=module.modulemap',
                  '-fmodules-cache-path=cache', '-c', 'a.c')
        said = self.emit('a.o')
        self.assertIn('WARNING: a.o: 1 clang-module is not read, so types of the module are missing: compile '
                      'without -gmodules\n', said)

    def test_precompiled_headers_of_clang(self):
        clang = 'clang-19'
        if not target_of(clang):
            self.skipTest('clang-19 is not installed')
        self.write('h.h', 'struct in_header { int a; long b; };\n')
        self.write('a.c', 'struct in_header object;\nint get(void) { return object.a; }\n')
        warning = 'WARNING: a.o: 1 clang-module is not read, so types of the module are missing: '
        for version in '-gdwarf-4', '-gdwarf-5':
            with self.subTest(version=version):
                flags = ('-g', version, '-gmodules')
                self.must(clang, *flags, '-x', 'c-header', 'h.h', '-o', 'any.name')
                self.must(clang, *flags, '-include-pch', 'any.name', '-c', 'a.c')
                self.assertIn(warning, self.emit('a.o'))
                os.remove(self.path('any.name')) # libdw takes it for split DWARF
                self.assertIn(warning, self.emit('--reader=libdw', 'a.o'))

    def test_objects_of_link_time_optimisation(self):
        self.write('a.c', 'int a(void) { return 1; }\n')
        for flags in ((), ('-ffat-lto-objects',)):
            self.must('gcc', '-flto', *flags, '-c', 'a.c')
            self.assertEqual(self.emit('a.o'), '')
        self.must('gcc', '-g', '-flto', '-c', 'a.c')
        self.assertIn('encode the linked file with --image', self.emit('a.o'))


if __name__ == '__main__':
    run(__name__, SeparateDwarf, ('btf_emit', 'btf_lines'))
