#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-pahole on files linked from bitcode, as with CONFIG_LTO_CLANG_THIN and _FULL.

usage: btf-pahole-lto-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import itertools
import shutil

from helpers.inputs_case import InputsCase, KERNEL, MODULE, PER_CPU, VARIABLES
from helpers.kbuild_case import clangs, has_lld, run


class LinkTimeOptimisation(InputsCase):
    def setUp(self):
        super().setUp()
        self.clang = next((name for name in clangs() if has_lld(name)), None)
        if not self.clang:
            self.skipTest('no clang with an lld of its version')
        self.linker = self.must(self.clang, '-print-prog-name=ld.lld').strip()

    def compile_all(self, sources, kind, with_btf, *flags):
        """Compiles the sources in `with_btf` to objects with BTF, and the others to bitcode, which btf-cc does not
        change."""
        for name, text in sources.items():
            self.write(name + '.c', text)
            how = [] if name in with_btf else [kind]
            self.assertEqual(self.cc(self.clang, '-g', '-O2', *flags, *how, '-c', name + '.c',
                                     settings={'BTF_CC_FEATURES': self.features})[0], 0)

    def test_vmlinux(self):
        self.write('percpu.lds', PER_CPU)
        for kind, with_btf in itertools.product(('-flto', '-flto=thin'), self.subsets(KERNEL)[:-1]):
            with self.subTest(kind=kind, with_btf=with_btf):
                self.compile_all(KERNEL, kind, with_btf, '-fno-pie')
                self.must(self.linker, '-r', '-o', 'vmlinux.o', *(name + '.o' for name in KERNEL))
                self.must('gcc', '-no-pie', '-Wl,-T,percpu.lds', 'vmlinux.o', '-o', 'vmlinux')
                shutil.copyfile(self.path('vmlinux'), self.path('plain'))
                self.encode(VARIABLES, '--btf_encode_detached=want', 'plain')
                self.assertTrue(any("FUNC 'print'" in line for line in self.dump('want')))
                self.encode(VARIABLES, 'vmlinux')
                self.same_meaning('vmlinux', 'want')
                self.final('vmlinux')

    def test_module(self):
        """Links as Kbuild does: whole.o, which the linker made from bitcode (and perhaps an object with BTF), and
        card.mod.o, which is still bitcode."""
        for kind, with_btf in itertools.product(('-flto', '-flto=thin'), ([], ['pins'])):
            with self.subTest(kind=kind, with_btf=with_btf):
                self.compile_all(MODULE, kind, with_btf)
                self.must(self.linker, '-r', '-o', 'whole.o', 'card.o', 'pins.o')
                self.assertEqual(self.has_object_btf('whole.o'), bool(with_btf))
                self.must(self.linker, '-r', '-o', 'card.ko', 'whole.o', 'card.mod.o')
                self.write('.card.ko.cmd', 'savedcmd_card.ko := ld.lld -r -T scripts/module.lds '
                           '-o card.ko whole.o card.mod.o ; :\n')
                self.must('objcopy', '-R', '.BTF', '-R', '.rela.BTF', 'card.ko', 'plain.ko')
                self.encode(VARIABLES, 'plain.ko')
                text = '\n'.join(self.dump('plain.ko'))
                for name in ("FUNC 'probe'", "STRUCT 'card'", "STRUCT 'module'", "VAR 'uses'"):
                    self.assertIn(name, text)
                self.encode(VARIABLES, 'card.ko')
                for _ in range(2): # Kbuild makes the BTF again for a new vmlinux
                    self.same_meaning('card.ko', 'plain.ko')
                    self.final('card.ko')
                    self.encode(VARIABLES, 'card.ko')

    def test_late_objects(self):
        """One of the two objects of vmlinux.o has BTF. The other is bitcode, and so is .vmlinux.export.o (here a copy
        of print.o), which Kbuild compiles after the link of vmlinux.o."""
        self.write('percpu.lds', PER_CPU)
        self.compile_all(KERNEL, '-flto=thin', ['sched'], '-fno-pie')
        self.must(self.linker, '-r', '-o', 'vmlinux.o', 'start.o', 'sched.o')
        self.must(self.linker, '-r', '-o', 'late.o', 'print.o')
        self.must('gcc', '-no-pie', '-Wl,-T,percpu.lds', 'vmlinux.o', 'late.o', '-o', 'vmlinux')
        shutil.copyfile(self.path('print.o'), self.path('.vmlinux.export.o'))
        shutil.copyfile(self.path('vmlinux'), self.path('plain'))
        self.encode(VARIABLES, 'plain')
        self.encode(VARIABLES, 'vmlinux')
        self.same_meaning('vmlinux', 'plain')


if __name__ == '__main__':
    run(__name__)
