#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests links of objects with BTF, and btf-emit on linked files.

usage: link-test.py BTF-EMIT BTF-LINES [TEST...]
"""
import os
import shutil
import struct

from helpers.btf_reader import Elf, SHT_BTF
from helpers.cli_case import PROGRAM, CliCase, run
from helpers.compilers import assembler_for, installed
from helpers.dwarf_writer import Die, Raw, Unit, assembly, expr, form, ref

OBJECTS = [source[:-2] + '.o' for source in PROGRAM]
ALL = ['--features=+global_var']
STRUCT_LINE = 'STRUCT point size 8; int x@0; int y@32'


def relocated(path):
    """Returns (offset, name, addend) of each relocation of .BTF. The name is that of the symbol or, if the symbol has
    none, of its section."""
    elf = Elf(path)
    rela, symtab = elf.get('.rela.BTF'), elf.get('.symtab')
    names = elf.sections[symtab.link].data
    found = []
    for at in range(0, rela.size, 24):
        offset, info, addend = struct.unpack_from('<QQq', rela.data, at)
        name, _, _, section = struct.unpack_from('<IBBH', symtab.data, (info >> 32) * 24)
        text = names[name:names.index(b'\0', name)].decode()
        found.append((offset, text or elf.sections[section].name, addend))
    return found


class Linked(CliCase):
    def link(self, *inputs, output='program', flags=(), linker='bfd'):
        self.must('gcc', f'-fuse-ld={linker}', *flags, *inputs, '-o', output)
        return Elf(self.path(output))

    def runs(self, name='program'):
        self.assertEqual(self.call(self.path(name)).returncode, 0)

    def test_final_link_drops_btf(self):
        self.compile_all()
        self.good(*OBJECTS, *ALL)
        self.assertTrue(all(Elf(self.path(name)).get('.BTF') for name in OBJECTS))
        for linker in self.linkers():
            elf = self.link(*OBJECTS, linker=linker)
            self.assertIsNone(elf.get('.BTF'), linker)
            self.assertIsNone(elf.get('.rela.BTF'), linker)
            self.runs()

    def test_strip_dwarf(self):
        self.compile_all()
        self.good('--strip-dwarf', *OBJECTS)
        for name in OBJECTS:
            names = {s.name for s in Elf(self.path(name)).sections}
            self.assertFalse([n for n in names if '.debug' in n], name)
            self.assertIn('.BTF', names)
        for linker in self.linkers():
            self.link(*OBJECTS, linker=linker, flags=['-nostdlib', '-r'], output='all.o')
            self.assertIn(STRUCT_LINE, self.lines('all.o'))
            self.assertIsNone(Elf(self.path('all.o')).get('.debug_info'))
            self.link(*OBJECTS, linker=linker)
            self.runs()

    def test_strip_dwarf_later(self):
        """Objects with many kinds of sections are the same whether --strip-dwarf is given in the only run or in
        the second one."""
        flags = ['-ffunction-sections', '-fdata-sections', '-g3', '-gz']
        self.compile_all(*flags)
        self.good(*OBJECTS)
        self.good(*OBJECTS, '--strip-dwarf', '--address-pool', *ALL)
        for name in OBJECTS:
            elf = Elf(self.path(name))
            self.assertEqual([s.name for s in elf.sections if '.debug' in s.name],
                             ['.debug', '.rela.debug'], name)
            self.assertEqual(len(elf.all('.BTF')), 1)
        self.link(*OBJECTS)
        self.runs()
        twice = [self.read(name) for name in OBJECTS]
        self.compile_all(*flags)
        self.good(*OBJECTS, '--strip-dwarf', '--address-pool', *ALL)
        self.assertEqual([self.read(name) for name in OBJECTS], twice)

    def partial_link(self, compiler, linker):
        self.compile_all(compiler=compiler)
        self.good(*OBJECTS, *ALL)
        apart = [relocated(self.path(name)) for name in OBJECTS]
        parts = [Elf(self.path(name)).get('.BTF') for name in OBJECTS]
        self.must(compiler, f'-fuse-ld={linker}', '-nostdlib', '-r', *OBJECTS, '-o', 'all.o')
        whole = Elf(self.path('all.o')).get('.BTF')
        self.assertEqual(whole.type, SHT_BTF)
        self.assertEqual(len(Elf(self.path('all.o')).all('.BTF')), 1)
        joined, want = b'', []
        for part, relocs in zip(parts, apart):
            want += [(len(joined) + offset, name) for offset, name, _ in relocs]
            joined += part.data
        self.assertEqual(whole.data, joined)
        found = relocated(self.path('all.o'))
        self.assertEqual([(offset, name) for offset, name, _ in found], want)
        self.assertEqual(len(found), 4)

    def test_partial_link_keeps_btf_and_relocations(self):
        for linker in self.linkers():
            with self.subTest(linker=linker):
                self.partial_link('gcc', linker)

    def test_partial_link_aarch64(self):
        self.partial_link('aarch64-linux-gnu-gcc', 'bfd')

    def test_partial_link_twice(self):
        self.compile_all()
        self.good(*OBJECTS, *ALL)
        self.link(*OBJECTS[:2], flags=['-nostdlib', '-r'], output='two.o')
        self.link('two.o', OBJECTS[2], flags=['-nostdlib', '-r'], output='three.o')
        self.link(*OBJECTS, flags=['-nostdlib', '-r'], output='once.o')
        self.assertEqual(Elf(self.path('three.o')).get('.BTF').data,
                         Elf(self.path('once.o')).get('.BTF').data)
        self.assertEqual(self.lines('three.o'), self.lines('once.o'))

    def test_plain_variant_ends_up_in_the_image(self):
        self.compile_all()
        self.good(*OBJECTS, *ALL, '--section-type=progbits', '--no-exclude')
        parts = [Elf(self.path(name)).get('.BTF').data for name in OBJECTS]
        for linker in self.linkers():
            whole = self.link(*OBJECTS, linker=linker).get('.BTF').data
            self.assertEqual(len(whole), sum(len(part) for part in parts), linker)
            self.assertEqual(self.lines('program').count(STRUCT_LINE), 2, linker)
            self.runs()

    def test_pool_has_final_addresses(self):
        self.compile_all()
        self.good(*OBJECTS, *ALL, '--address-pool')
        for linker in self.linkers():
            elf = self.link(*OBJECTS, linker=linker, flags=['-no-pie'])
            pool = elf.get('.debug').data
            words = struct.unpack_from(f'<{len(pool) // 8}Q', pool)
            symbols = {line.split()[0]: int(line.split()[2], 16) for line in
                       self.must('nm', '--format=posix', 'program').splitlines()
                       if len(line.split()) > 2 and line.split()[1] in 'TtDdBbRr'}
            for name in ('main', 'add', 'color_of', 'count', 'table'):
                self.assertIn(symbols[name], words, f'{linker}: {name}')

    def test_strip_and_objcopy_keep_btf(self):
        for tool in installed('strip', 'llvm-strip', 'llvm-strip-19', 'llvm-strip-14',
                              'objcopy', 'llvm-objcopy', 'llvm-objcopy-19', 'llvm-objcopy-14'):
            self.good(*ALL, self.compile())
            before = self.lines('add.o')
            self.must(tool, '--strip-debug', 'add.o')
            self.assertIsNone(Elf(self.path('add.o')).get('.debug_info'))
            self.assertEqual(self.lines('add.o'), before)
            self.assertEqual(len(relocated(self.path('add.o'))), 2)

    def test_emit_again_after_a_tool_moved_sections(self):
        """objcopy and ld -r move sections. The old BTF is found and replaced."""
        self.compile()
        self.good('-o', 'want.o', *ALL, 'add.o', made=['want.o'])
        self.good('--address-pool', 'add.o')
        self.must('objcopy', 'add.o', 'moved.o')
        self.link('add.o', flags=['-nostdlib', '-r'], output='linked.o')
        for name in ('moved.o', 'linked.o'):
            self.good(*ALL, name)
            self.assertEqual(len(Elf(self.path(name)).all('.BTF')), 1)
            self.assertEqual(len(Elf(self.path(name)).all('.rela.BTF')), 1)
            self.assertEqual(self.lines(name), self.lines('want.o'), name)
            once = self.read(name)
            self.good(*ALL, name)
            self.assertEqual(self.read(name), once)

    def test_partial_link_of_several_units(self):
        """Without --image each unit becomes a contribution, as if btf-emit had run before ld -r."""
        self.compile_all()
        self.link(*OBJECTS, flags=['-nostdlib', '-r'], output='late.o')
        self.good(*OBJECTS, *ALL)
        self.link(*OBJECTS, flags=['-nostdlib', '-r'], output='early.o')
        self.good('late.o', *ALL)
        self.assertEqual(self.lines('late.o').count(STRUCT_LINE), 2)
        # In early.o, offsets in DATASECs are those before ld -r.
        late, early = ([line for line in self.lines(name) if not line.startswith('DATASEC')]
                       for name in ('late.o', 'early.o'))
        self.assertEqual(late, early)
        self.link('late.o')
        self.runs()


class Image(CliCase):
    def setUp(self):
        super().setUp()
        self.compile_all('-fno-pie')
        self.must('gcc', '-no-pie', *OBJECTS, '-o', 'program')

    def test_linked_file_needs_the_option(self):
        self.bad('program: is a linked file; use --image.*', 'program', same=['program'])
        self.bad('program: is a linked file; .*address pool', '--image', '--address-pool',
                 'program', same=['program'])

    def test_threads(self):
        done = {}
        for threads in (1, 2, 4, 64):
            shutil.copy(self.path('program'), self.path('copy'))
            self.good('--image', f'--threads={threads}', 'copy', *ALL)
            done[threads] = self.read('copy')
            self.assertEqual(self.call(self.path('copy')).returncode, 0)
        self.assertEqual(len(set(done.values())), 1)
        self.good('--image', '--threads=3', 'copy', *ALL)
        self.assertEqual(self.read('copy'), done[1])
        lines = self.lines('copy')
        self.assertEqual(lines.count(STRUCT_LINE), 2)
        self.assertEqual(sum(line.startswith('FUNC ') for line in lines), 3)
        self.assertIn('VAR table: [4 by int]int global', lines)

    def test_threads_of_an_object(self):
        self.must('gcc', '-nostdlib', '-r', *OBJECTS, '-o', 'all.o')
        self.good('all.o', '-o', 'plain.o', *ALL, made=['plain.o'])
        for threads in (1, 4):
            self.good('--image', f'--threads={threads}', '-o', 'image.o', 'all.o', *ALL,
                      made=['image.o'])
            self.assertEqual(self.read('image.o'), self.read('plain.o'))
            os.remove(self.path('image.o'))

    def test_threads_and_an_error(self):
        """A bad unit causes one error, with one thread and with several."""
        bad = Unit([Die('typedef', name='t', type=ref('t'), label='t'), Raw('\t.uleb128 77')])
        good = [Unit([Die('base_type', name=f'int{i}', byte_size=4, encoding=5)])
                for i in range(20)]
        self.write('bad.s', assembly(good[:10] + [bad] + good[10:]))
        self.must(*assembler_for('x86_64') or self.skipTest('no assembler'), '-c', 'bad.s')
        for threads in (1, 4):
            self.bad(r"bad\.o: \.debug_info\+0x[0-9a-f]+: .+", '--image',
                     f'--threads={threads}', 'bad.o', same=['bad.o'])

    def test_detached_image(self):
        before = self.read('program')
        self.good('--image', '--detached=out.btf', 'program', made=['out.btf'])
        self.assertEqual(self.read('program'), before)
        self.assertEqual(self.lines('out.btf').count(STRUCT_LINE), 2)

    def test_strip_dwarf_of_an_image(self):
        self.good('--image', '--strip-dwarf', 'program')
        self.assertIsNone(Elf(self.path('program')).get('.debug_info'))
        self.assertEqual(self.lines('program').count(STRUCT_LINE), 2)
        self.assertEqual(self.call(self.path('program')).returncode, 0)

    def test_final_offsets_of_variables(self):
        self.good('--image', *ALL, 'program')
        data = Elf(self.path('program')).get('.data')
        symbols = self.must('nm', 'program')
        address = next(int(line.split()[0], 16) for line in symbols.splitlines()
                       if line.endswith(' table'))
        self.assertIn(f'DATASEC .data size {address - data.address + 16}; '
                      f'table@{address - data.address}+16', self.lines('program'))


class ManySections(CliCase):
    COUNT = 66000

    def test_many_sections(self):
        """An object has more sections than ELF's 16-bit section numbers can name. One variable is in one of the first
        sections; another variable and a function are in the last ones."""
        command = assembler_for('x86_64')
        if not command:
            self.skipTest('no assembler for x86_64')
        int_ = Die('base_type', name='int', byte_size=4, encoding=5, label='int')
        variables = [Die('variable', name=name, type=ref('int'), external=True,
                         location=expr(('addr', name))) for name in ('first', 'last')]
        function = Die('subprogram', name='_start', low_pc=form('addr', '_start'))
        text = [assembly([Unit([int_, *variables, function])]),
                '\t.section .data.first,"aw"\n\t.globl first\nfirst:\t.4byte 1\n']
        text += [f'\t.section .text.f{i},"ax"\n\tnop\n' for i in range(self.COUNT)]
        text.append('\t.section .data.last,"aw"\n\t.globl last\nlast:\t.4byte 2\n'
                    '\t.section .text.start,"ax"\n\t.globl _start\n_start:\tnop\n')
        self.write('many.s', ''.join(text))
        self.must(*command, '-c', 'many.s')
        for options in ([], ['--strip-dwarf']):
            self.good(*ALL, '--address-pool', *options, 'many.o')
            elf = Elf(self.path('many.o'))
            self.assertGreater(len(elf.sections), self.COUNT)
            self.assertEqual([name for _, name, _ in relocated(self.path('many.o'))],
                             ['first', 'last'])
            lines = self.lines('many.o')
            self.assertIn('FUNCTION _start address pool', lines)
            for name in ('first', 'last'):
                self.assertIn(f'DATASEC .data.{name} size 4; {name}@0+4', lines)
                self.assertIn(f'VARIABLE {name} in .data.{name} size 4 external pool', lines)
            once = self.read('many.o')
            self.good(*ALL, '--address-pool', *options, 'many.o')
            self.assertEqual(self.read('many.o'), once)
            self.must('ld', '-o', 'program', 'many.o')
            self.assertIsNone(Elf(self.path('program')).get('.BTF'))
        self.assertIsNone(elf.get('.debug_info'))


if __name__ == '__main__':
    run(__name__)
