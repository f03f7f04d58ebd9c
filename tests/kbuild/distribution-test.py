#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests how tests/kernel/distribution classifies differences, on a small package.

usage: distribution-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]

In place of pahole's results, tests/kernel/distribution gets btf-pahole's results for changed sources, so that the
differences are known.
"""
import os
import pathlib
import re

from helpers.kbuild_case import HERE, KbuildCase, run

SCRIPT = os.path.join(HERE, '..', 'kernel', 'distribution')
TYPES = 'struct shared { int a; };\n'
VMLINUX = TYPES + 'struct shared s;\nint main(void) { return s.a; }\n'
KEPT = 'int kept(struct shared *s) { return s->a; }\n'
GONE = 'int gone(struct shared *s) { return s->a; }\n'
# Assembler code for a function symbol that has no function in the debug information.
SYMBOL = '__asm__(".section .text.{0}\\n .type {0},@function\\n {0}: .byte 0\\n .previous");\n'
AGAIN = 'struct shared { long b; };\nlong kept(struct shared *s) { return s->b; }\n'
# Module -> its source, and the source of the reference.
MODULES = {
    'equal': (TYPES + KEPT, TYPES + KEPT),
    'one': (TYPES + KEPT + SYMBOL.format('gone'), TYPES + KEPT + GONE),
    'clone': (TYPES + KEPT + SYMBOL.format('gone.isra.0'), TYPES + KEPT + GONE),
    'none': (TYPES + KEPT + SYMBOL.format('goner'), TYPES + KEPT + GONE),
    'again': (AGAIN, TYPES + 'long kept(struct shared *s) { return s->a; }\n'),
    'again_both': (AGAIN, AGAIN),
    'type': (TYPES + KEPT, TYPES + KEPT + 'struct more { long x; } more;\n'),
}


class Distribution(KbuildCase):
    def setUp(self):
        super().setUp()
        for folder in ('package/kernel/net', 'reference', 'results'):
            os.makedirs(self.path(folder))
        self.compile_text('package/vmlinux', VMLINUX, '-no-pie')
        self.must(self.btf_pahole, '-J', 'package/vmlinux', '--btf_encode_detached=reference/vmlinux.btf')

    def compile_text(self, output, text, *flags):
        self.write('source.c', text)
        self.must('gcc', '-g', '-O1', *flags, 'source.c', '-o', output)

    def module(self, name, ours, theirs):
        self.compile_text('other.ko', theirs, '-c')
        self.must(self.btf_pahole, '-J', 'other.ko', '--btf_base=reference/vmlinux.btf',
                    f'--btf_encode_detached=reference/net__{name}.ko.btf')
        self.compile_text(f'package/kernel/net/{name}.ko', ours, '-c')

    def run_script(self, *names, status):
        """Makes the modules `names` and runs the script. Returns its output, and from its table: title -> (number of
        modules, number of cases in them)."""
        for name in names:
            self.module(name, *MODULES[name])
        tools = pathlib.Path(self.btf_compare).parents[2]
        done = self.call(SCRIPT, f'--tools={tools}', f'--pahole={self.btf_pahole}',
                         '--reference=reference', '--results=results', 'package')
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        rows = re.findall(r'^\| (.*?) *\| *([0-9,]+) \| *([0-9]*) \|$', done.stdout, re.M)
        return done.stdout, {title: (modules, found) for title, modules, found in rows}

    def test_equal(self):
        said, rows = self.run_script('equal', 'again_both', status=0)
        self.assertEqual(rows['equal by meaning'][0], '2')
        self.assertNotIn('FAIL', said)
        self.assertIn('net/again_both.ko: pahole too: struct shared\n', said)
        self.assertTrue(os.path.exists(self.path('results/modules.tsv')))

    def test_functions_by_symbol(self):
        said, rows = self.run_script('one', 'clone', 'none', status=1)
        self.assertEqual(rows['differ'][0], '3')
        found = {title: row for title, row in rows.items() if title.startswith('functions left')}
        self.assertEqual(sorted(found.values()), [('0', '0'), *[('1', '1')] * 3])
        self.assertEqual(rows['functions left out that have one symbol'], ('1', '1'))
        self.assertRegex(said, 'FAIL: no function .*\nnet/one.ko: 1\n')
        self.assertEqual(said.count('FAIL'), 1)

    def test_types(self):
        said, rows = self.run_script('again', 'type', status=1)
        self.assertIn('net/again.ko: btflink only: struct shared\n', said)
        self.assertEqual(rows['names of vmlinux defined again, by btflink only'], ('1', '1'))
        self.assertEqual(rows['other types that pahole\'s result has more often'][0], '1')
        self.assertEqual(said.count('FAIL'), 2)

    def test_reference_is_completed(self):
        self.module('equal', *MODULES['equal'])
        result = self.path('reference/net__equal.ko.btf')
        os.unlink(result)
        _, rows = self.run_script(status=0)
        self.assertEqual(rows['equal by meaning'][0], '1')
        self.assertTrue(os.path.exists(result))


if __name__ == '__main__':
    run('__main__')
