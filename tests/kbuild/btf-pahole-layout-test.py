#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the feature layout of btf-pahole: which BTF gets a layout section, and which BTF gets the longer header.

usage: btf-pahole-layout-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import re
import struct

from helpers.btf_reader import KINDS
from helpers.kbuild_case import KbuildCase, run

SOURCE = '''struct tagged { int a; double d; };
int main(void) { struct tagged t = { 1, 2 }; return t.a; }
'''


class Layout(KbuildCase):
    """With the feature layout the header has 32 bytes instead of 24. The last 8 give position and size of the layout
    section."""

    def program(self):
        self.write('prog.c', SOURCE)
        self.must('gcc', '-g', 'prog.c', '-o', 'prog')

    def header(self, blob):
        return struct.unpack_from('<8I', blob.ljust(32, b'\0'))[1:]

    def test_program(self):
        self.program()
        self.encode('--btf_features=+layout', 'prog')
        once = self.section('prog').data
        length, types_at, types, strings_at, strings, layout_at, layout = self.header(once)
        self.assertEqual((length, types_at, layout_at, strings_at),
                         (32, 0, types, types + layout))
        self.assertEqual(len(once), 32 + strings_at + strings)
        self.assertEqual(layout, 4 * len(KINDS))
        self.encode('--btf_features=default', '--btf_encode_detached=plain', 'prog')
        plain = self.read('plain')
        self.assertEqual(self.header(plain)[0], 24)
        self.assertEqual(plain[24:24 + types], once[32:32 + types])
        self.must(self.btf_merge, '--check=prog')
        self.assertTrue(self.must(self.btf_dump, 'c', 'prog'))  # libbpf can read it

    def test_split(self):
        """As with pahole, split BTF and a distilled base have the longer header but no layout section."""
        self.program()
        self.encode('--btf_features=+layout', 'prog')
        self.encode('--btf_features=+layout', '--btf_encode_detached=raw', 'prog')
        self.write('module.c', 'struct tagged { int a; double d; };\n'
                               'struct mine { struct tagged t; } mine;\n')
        for base in 'prog', 'raw':
            self.must('gcc', '-g', '-c', 'module.c', '-o', 'm.ko')
            self.encode('--btf_features=+layout', f'--btf_base={base}', 'm.ko')
            data = self.section('m.ko').data
            length, types_at, types, strings_at, strings, *layout = self.header(data)
            self.assertEqual((length, types_at, strings_at, layout), (32, 0, types, [0, 0]))
            self.assertEqual(len(data), 32 + strings_at + strings)
            self.must(self.btf_merge, '--check=m.ko', f'--base={base}')
            self.assertNotIn('tagged', re.findall(r"STRUCT '(\w+)'",
                                                  '\n'.join(self.dump('m.ko', base))))
        self.must('gcc', '-g', '-c', 'module.c', '-o', 'm.ko')
        self.encode('--btf_features=+layout,distilled_base', '--btf_base=raw', 'm.ko')
        for name in '.BTF', '.BTF.base':
            length, *_, layout_at, layout = self.header(self.section('m.ko', name).data)
            self.assertEqual((length, layout_at, layout), (32, 0, 0))
        self.must(self.btf_merge, '--check=m.ko', '--base=raw')

    def test_older_kernel(self):
        """A kernel without struct btf_layout would refuse a layout section, so its BTF gets none. BTF is taken for a
        kernel's if it has struct btf_verifier_env. A struct of <linux/btf.h> does not suffice, because programs may
        have it, too."""
        self.write('old.c', 'struct btf_verifier_env { short s; } env;\n')
        self.must('gcc', '-g', '-c', 'old.c')
        self.encode('--btf_features=+layout', 'old.o',
                    said='btf-pahole: WARNING: feature layout is left out: .*btf_layout.*\n')
        self.assertEqual(self.header(self.section('old.o').data)[0], 24)
        self.write('new.c', 'struct btf_verifier_env { short s; } env;\n'
                            'struct btf_layout { char info_sz; } layout;\n')
        self.write('program.c', 'struct btf_header { short magic; } header;\n')
        for name in 'new', 'program':
            self.must('gcc', '-g', '-c', name + '.c')
            self.encode('--btf_features=+layout', name + '.o')
            self.assertEqual(self.header(self.section(name + '.o').data)[6], 4 * len(KINDS))

    def test_unwanted(self):
        """BTF_PAHOLE_NO_LAYOUT=1 overrides the option --btf_features=layout. The variable may be 0, 1 or empty."""
        self.program()
        flags = ['--btf_features=default', '--btf_features=layout']
        self.encode('--btf_features=default', '--btf_encode_detached=plain', 'prog')
        for value, bytes_of_header in (('1', 24), ('0', 32), ('', 32)):
            done = self.pahole('-J', *flags, '--btf_encode_detached=out', 'prog',
                               settings={'BTF_PAHOLE_NO_LAYOUT': value})
            self.assertEqual(done, (0, '', ''))
            self.assertEqual(self.header(self.read('out'))[0], bytes_of_header)
            self.assertEqual(self.read('out') == self.read('plain'), value == '1')
        self.refuse('BTF_PAHOLE_NO_LAYOUT=yes: must be 0 or 1', '-J', *flags, 'prog', same=['prog'],
                    settings={'BTF_PAHOLE_NO_LAYOUT': 'yes'})


if __name__ == '__main__':
    run(__name__)
