#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that a message about damaged DWARF names the damaged file: a .dwo file or an alternate file, not the file to
encode.

usage: damaged-files-test.py BTF-EMIT [TEST...]
"""
import shutil

from helpers.cli_case import CliCase, run

PLACE = r': \.debug_info\+0x[0-9a-f]+: '


class DamagedFiles(CliCase):
    def damage(self, file, section):
        """Overwrites the last bytes of each unit with 0x7f, the code of an abbreviation that does not exist."""
        self.must('objcopy', '--dump-section', section + '=units', file)
        units = bytearray(self.read('units'))
        end = 0
        while end < len(units):
            end += 4 + int.from_bytes(units[end:end + 4], 'little')
            units[end - 20:end] = b'\x7f' * 20
        self.write('units', bytes(units))
        self.must('objcopy', '--update-section', section + '=units', file)

    def test_alternate(self):
        if not shutil.which('dwz'):
            self.skipTest('dwz is not installed')
        objects = self.compile_all()
        for name in 'small', 'small2':
            self.must('ld', '--build-id', '-e', '0', '--unresolved-symbols=ignore-all', *objects, '-o', name)
        self.must('dwz', '-m', 'common.debug', '-r', 'small', 'small2')
        self.damage('common.debug', '.debug_info')
        self.bad(r'\S*common\.debug' + PLACE + 'cannot read entry.*', '--image', '-o', 'out', 'small')

    def test_split(self):
        for version in '-gdwarf-4', '-gdwarf-5':
            self.compile('add.c', version, '-gsplit-dwarf')
            self.damage('add.dwo', '.debug_info.dwo')
            for reader in 'fast', 'libdw':
                self.bad(r'\S*add\.dwo' + PLACE + '.*', '--reader=' + reader, '-o', 'out', 'add.o')


if __name__ == '__main__':
    run(__name__, tools=('btf_emit',))
