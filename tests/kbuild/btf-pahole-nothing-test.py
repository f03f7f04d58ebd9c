#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-pahole on files that are empty, or have no symbol table, or neither object BTF nor DWARF. As with pahole
this is not an error, unless BTF_PAHOLE_STRICT is 1 or BTF is due. BTF is due for a vmlinux. It is due for a module if
Kbuild's saved commands show that the module should have contents or DWARF, or name an object that is gone.

usage: btf-pahole-nothing-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import os
import re
import shutil

from helpers.kbuild_case import KbuildCase, run

SOURCE = 'struct s { int a; };\nint first(struct s *s) { return s->a; }\n'
NEITHER = 'has neither object BTF nor DWARF'
NO_SYMBOLS = 'has no symbol table (its debug file may have one)'


class Nothing(KbuildCase):
    def setUp(self):
        super().setUp()
        self.write('a.c', SOURCE)
        self.must('gcc', '-g', '-c', 'a.c', '-o', 'a.o')
        self.encode('--btf_encode_detached=base', 'a.o')

    def gets_none(self, name, why):
        """Checks that the file gets no BTF: exit status 0, a warning of one line, an unchanged file, and no output
        file, even if an earlier run left one. With BTF_PAHOLE_STRICT=1 there is an error instead."""
        before, names = self.read(name), self.names()
        said = f'btf-pahole: WARNING: {name}: {why}, so it gets no BTF\n'
        for options in ([], ['--btf_base=base']):
            self.assertEqual(self.pahole('-J', *options, name), (0, '', said))
            self.write('out', 'of an earlier run')
            self.assertEqual(self.pahole('-J', *options, '--btf_encode_detached=out', name),
                             (0, '', said))
            self.assertEqual((self.read(name), self.names()), (before, names))
        self.assertEqual(self.pahole('-J', '-q', name), (0, '', ''))
        self.refuse(re.escape(f'{name}: {why}'), '-J', name, same=[name],
                    settings={'BTF_PAHOLE_STRICT': '1'})

    def is_due(self, name, why):
        """Checks that there is an error, and that the file is unchanged."""
        for options in ([], ['--btf_encode_detached=out'], ['--btf_base=base']):
            self.refuse(re.escape(f'{name}: {why}'), '-J', *options, name, same=[name])

    def test_empty(self):
        self.write('empty', '')
        self.gets_none('empty', 'is empty')
        self.write('x.ko', '')
        self.gets_none('x.ko', 'is empty')
        self.write('.x.ko.cmd', 'savedcmd_x.ko := ld -r -o x.ko a.o\n')
        self.is_due('x.ko', 'is empty, but Kbuild linked it')
        for name in ('vmlinux', '.tmp_vmlinux1', 'vmlinux.unstripped'):
            self.write(name, '')
            self.is_due(name, 'is empty, but it is a vmlinux')

    def test_assembler(self):
        self.write('text.S', '.globl start\nstart: nop\n')
        self.must('gcc', '-c', 'text.S')
        self.must('ld', '-r', '-o', 'text.ko', 'text.o')
        self.gets_none('text.ko', NEITHER)
        self.write('.text.ko.cmd', 'savedcmd_text.ko := ld -r -o text.ko text.o\n')
        self.write('.text.o.cmd', 'savedcmd_text.o := gcc -g -c -o text.o text.S\n')
        self.gets_none('text.ko', NEITHER)

    def test_stripped(self):
        """DWARF in another file does not help without a symbol table."""
        self.must('gcc', '-g', '-shared', '-fPIC', 'a.c', '-o', 'lib.so')
        self.must('objcopy', '--only-keep-debug', 'lib.so', 'lib.debug')
        self.must('strip', 'lib.so')
        self.must('objcopy', '--add-gnu-debuglink=lib.debug', 'lib.so')
        self.gets_none('lib.so', NO_SYMBOLS)
        shutil.copy(self.path('lib.so'), self.path('vmlinux'))
        self.is_due('vmlinux', NO_SYMBOLS + ', but it is a vmlinux')

    def test_without_dwarf(self):
        self.write('main.c', 'int main(void) { return 0; }\n')
        self.must('gcc', 'main.c', '-o', 'main')
        self.gets_none('main', NEITHER)
        shutil.copy(self.path('main'), self.path('vmlinux'))
        self.is_due('vmlinux', NEITHER + ', but it is a vmlinux')

    def test_module(self):
        """Kbuild's saved commands show whether there should be DWARF."""
        self.must('gcc', '-c', 'a.c', '-o', 'a.o')
        self.must('ld', '-r', '-o', 'x.ko', 'a.o')
        self.gets_none('x.ko', NEITHER)
        self.write('.x.ko.cmd', 'savedcmd_x.ko := ld -r -o x.ko a.o\n')
        self.gets_none('x.ko', NEITHER)
        for flags, due in (('-g0', False), ('-g -g0', False), ('-g', True), ('-gdwarf-5', True)):
            self.write('.a.o.cmd', f'savedcmd_a.o := btf-cc gcc {flags} -DMODULE -c -o a.o a.c ; '
                                   './tools/objtool/objtool a.o\n\nsource_a.o := a.c\n')
            if due:
                self.is_due('x.ko', NEITHER + ', but a.o was compiled with -g')
            else:
                self.gets_none('x.ko', NEITHER)
        os.remove(self.path('a.o'))
        self.is_due('x.ko', NEITHER + ', but its object a.o is gone')

    def test_commands_of_kbuild(self):
        """The commands of Linux 6.12 for a module, and the call of pahole in gen-btf.sh of later kernels, succeed."""
        self.must('gcc', '-c', 'a.c', '-o', 'x.ko')
        tool = self.script('resolve_btfids', '#!/bin/sh\necho "$@" > asked\n')
        script = self.script('commands', f'''#!/bin/sh
set -e
"$PAHOLE" -J $PAHOLE_FLAGS --btf_base base x.ko; "{tool}" -b base x.ko
"$PAHOLE" -J $PAHOLE_FLAGS --btf_base base --btf_encode_detached=x.ko.BTF.1 x.ko
''')
        flags = '--btf_features=encode_force,var,float --lang_exclude=rust'
        done = self.run_tool(script, settings={'PAHOLE': self.btf_pahole, 'PAHOLE_FLAGS': flags})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read('asked'), b'-b base x.ko\n')
        self.assertNotIn('x.ko.BTF.1', self.names())


if __name__ == '__main__':
    run(__name__)
