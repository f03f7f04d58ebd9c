#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests wrong section headers of relocations. Such a header must cause an error; no relocation may be ignored.
Also tests that an object of MIPS n32 causes an error.

usage: relocations-test.py BTF-EMIT [TEST...]
"""
import struct

from helpers.btf_reader import Elf
from helpers.cli_case import CliCase, run

READERS = ('fast', 'libdw')
HEADER = struct.Struct('<IIQQQQIIQQ')
SIZE, LINK, ENTRY_SIZE = 5, 6, 9  # indexes of fields in a section header
RELA = 24  # bytes of a relocation


class Relocations(CliCase):
    def damage(self, section, field, value):
        """Writes bad.o: add.o with a changed field in a section header."""
        whole = bytearray(self.read('add.o'))
        names = [s.name for s in Elf(self.path('add.o')).sections]
        at = struct.unpack_from('<Q', whole, 40)[0] + HEADER.size * names.index(section)
        fields = list(HEADER.unpack_from(whole, at))
        fields[field] = value(fields[field])
        HEADER.pack_into(whole, at, *fields)
        self.write('bad.o', bytes(whole))

    def refused(self, section, why, *arguments):
        self.bad(f'bad.o: {section}: {why}', *arguments, 'bad.o', same=['bad.o'])

    def test_a_table_that_is_cut_off(self):
        self.compile()
        for missing in (1, RELA - 1, RELA + 5):
            self.damage('.rela.debug_info', SIZE, lambda size, less=missing: size - less)
            for reader in READERS:
                self.refused('.rela.debug_info', r'\d+ bytes, in entries of \d+, are not relocations of 24 bytes each',
                             f'--reader={reader}')

    def test_entries_of_another_size(self):
        self.compile()
        for size in (0, 1, 8, 100, 2 ** 20):
            self.damage('.rela.debug_info', ENTRY_SIZE, lambda _, other=size: other)
            for reader in READERS:
                self.refused('.rela.debug_info', r'\d+ bytes, in entries of \d+, are not relocations of 24 bytes each',
                             f'--reader={reader}')

    def test_no_symbol_table(self):
        """Without a symbol table, the symbols in relocations cannot be renumbered when sections are dropped."""
        self.compile()
        self.damage('.rela.text', LINK, lambda _: 0)
        self.refused('.rela.text', 'the relocations are not linked to the symbol table', '--strip-dwarf')

    def test_mips_n32(self):
        """MIPS n32 has pointers as in o32, and relocations as in n64."""
        self.compile('add.c', '--target=mips64el-linux-gnuabin32', compiler='clang', output='bad.o')
        self.bad(r'bad.o: unsupported ABI \(MIPS n32\)', 'bad.o', same=['bad.o'])


if __name__ == '__main__':
    run(__name__, tools=('btf_emit',))
