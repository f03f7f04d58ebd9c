#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that other tools read files with and without an address pool in the same way.

usage: readers-of-pools-test.py BTF-EMIT BTF-LINES [TEST...]

Tools that are not installed are named and skipped.
"""
import os
import re
import shutil

from helpers.cli_case import PROGRAM, CliCase, run
from helpers.compilers import clangs

OBJECTS = [source[:-2] + '.o' for source in PROGRAM]
GDB = ['gdb', '-nx', '-batch', '-ex', 'ptype struct point', '-ex', 'info line add', '-ex',
       'info scope add', '-ex', 'list add']
LLDB = ['lldb', '--no-lldbinit', '--batch', '-o', 'type lookup point', '-o',
        'image lookup --verbose --name add']
# drgn is a library of the system's own python. From version 0.0.31 on, drgn must be told the module of a file.
DRGN = ['/usr/bin/python3', '-c', '''import sys, drgn
program = drgn.Program()
if hasattr(program, "extra_module"):
    program.extra_module("program", create=True).try_file(sys.argv[1], force=True)
else:
    program.load_debug_info([sys.argv[1]])
add = program.function("add")
print(program.type("struct point"), add.type_.type, hex(add.address_))
print([parameter.name for parameter in add.type_.parameters], program.variable("count").type_)
''']
PERF = [['sh', '-c', f'exec perf probe -x "$1" {option} add', 'sh'] for option in ('-V', '-D')]
# Commands whose output must be the same for files with and without pools.
TOOLS = [GDB, LLDB, ['objdump', '-W'], ['objdump', '-dl'], ['readelf', '-w'], ['eu-readelf', '-w'],
         ['llvm-dwarfdump', '--all'], ['llvm-dwarfdump-19', '--all'], ['llvm-objdump', '-dl'],
         ['addr2line', '-e'], ['pahole', '-F', 'dwarf']]


class Readers(CliCase):
    def both(self, compiler, version):
        """Makes the folders `without` and `with`, or makes them again, each with objects, `program` and `module`. In
        `with`, all of these have pools, and the objects and `module` also have object BTF."""
        for kind in ('without', 'with'):
            shutil.rmtree(self.path(kind), ignore_errors=True)
            os.mkdir(self.path(kind))
        self.compile_all('-gdwarf-' + version, '-ffile-prefix-map=' + self.folder + '=.',
                         compiler=compiler)
        for name in OBJECTS:
            shutil.copy(self.path(name), self.path('without'))
            shutil.copy(self.path(name), self.path('with'))
        self.good('--address-pool', '--features=+global_var',
                  *['with/' + name for name in OBJECTS])
        for kind in ('without', 'with'):
            objects = [f'{kind}/{name}' for name in OBJECTS]
            self.must('gcc', '-no-pie', '-Wl,--build-id=none', *objects, '-o', kind + '/program')
            self.must('ld', '-r', *objects, '-o', kind + '/module')

    def said(self, tool, kind, name):
        """Runs a command on a file in folder `kind`. Returns the exit status, standard error, and the lines of standard
        output without the folder's path, positions of sections and numbers of symbols."""
        words = [*tool, name]
        if tool[0] == 'addr2line':
            symbols = self.must('nm', f'{kind}/{name}').splitlines()
            words += [line.split()[0] for line in symbols if line.split()[-1] in ('add', '_start')]
        done = self.call(*words, cwd_below=kind)
        return (done.returncode, done.stderr,
                # lldb numbers symbols, and `ld -r` adds a symbol for each section.
                [re.sub(r'Symbol: id = \S+', '', line).replace(self.path(kind), '')
                 for line in done.stdout.splitlines()
                 if ' at offset 0x' not in line])

    def call(self, *command, cwd_below='', **options):
        if not cwd_below:
            return super().call(*command, **options)
        return super().call('env', '-C', cwd_below, *command, **options)

    def test_tools(self):
        compilers = [('gcc', '4'), ('gcc', '5')]
        compilers += [(clang, '4' if clang == 'clang-14' else '5') for clang in clangs()]
        for tool in TOOLS:
            if not shutil.which(tool[0]):
                print(f'SKIP {tool[0]}: not installed')
        for compiler, version in compilers:
            self.both(compiler, version)
            for tool in (tool for tool in TOOLS if shutil.which(tool[0])):
                for name in ('add.o', 'program', 'module'):
                    with self.subTest(tool=tool[0], compiler=compiler, version=version, name=name):
                        want = self.said(tool, 'without', name)
                        self.assertEqual(self.said(tool, 'with', name), want)
                        if name == 'add.o':
                            self.assertRegex('\n'.join(want[2]), 'add|point')

    def test_tools_for_programs(self):
        """Compares the output of tools that read programs but not objects."""
        tools = PERF[:] if shutil.which('perf') else []
        if not tools:
            print('SKIP perf: not installed')
        if os.path.exists(DRGN[0]) and self.call(DRGN[0], '-c', 'import drgn').returncode == 0:
            tools.append(DRGN)
        else:
            print('SKIP drgn: not installed')
        if not tools:
            self.skipTest('neither perf nor drgn is installed')
        for version in ('4', '5'):
            self.both('gcc', version)
            for tool in tools:
                with self.subTest(tool=tool, version=version):
                    want = self.said(tool, 'without', './program')
                    self.assertEqual(self.said(tool, 'with', './program'), want)
                    self.assertEqual(want[0], 0, want)
                    self.assertRegex('\n'.join(want[2]), 'point|add', want)

    def test_dwz(self):
        """dwz accepts the program, and objdump reads the same from dwz's result as without pools."""
        if not shutil.which('dwz'):
            self.skipTest('dwz is not installed')
        for version in ('4', '5'):
            self.both('gcc', version)
            for kind in ('without', 'with'):
                done = self.call('dwz', kind + '/program')
                self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertEqual(self.must('objdump', '-Wi', 'with/program').splitlines()[3:],
                             self.must('objdump', '-Wi', 'without/program').splitlines()[3:])


if __name__ == '__main__':
    run(__name__)
