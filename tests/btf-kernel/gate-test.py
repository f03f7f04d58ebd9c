#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests what package builds use of btf-kernel check: causes, degrees, exit status, a file of known findings.
vmlinux and each module have an enum whose values were cut to 32 bits: a finding of rule enum64, whose degree depends
on the kernel's version.

usage: gate-test.py BTF-KERNEL BTF-EMIT BTF-MERGE [TEST...]
"""
import json

from helpers.cli_case import CliCase, run

OLD = '--features=encode_force,var,float,decl_tag,type_tag'  # without enum64


class Gate(CliCase):
    btf_kernel = None  # set by run()
    btf_emit = None
    btf_merge = None

    def setUp(self):
        super().setUp()
        self.object('vmlinux', 'int number; enum shared { A = 1ULL << 40 } s;')
        self.must(self.btf_merge, OLD, '-o', 'vmlinux.btf', 'vmlinux.o')
        for module in 'ab':
            self.object(module, f'enum queue {{ {module} = 0x8000000000000002ULL }} q;')
            self.must(self.btf_merge, OLD, '--base=vmlinux.btf', '-o', f'{module}.ko.btf', f'{module}.o')

    def object(self, name, source):
        self.write(f'{name}.c', source)
        self.must('gcc', '-g', '-c', f'{name}.c')
        self.must(self.btf_emit, OLD, f'{name}.o')

    def check(self, *options, status=0):
        done = self.call(self.btf_kernel, 'check', *options, 'vmlinux.btf', 'a.ko.btf', 'b.ko.btf')
        self.assertEqual(done.returncode, status, f'{options}: {done.stdout}{done.stderr}')
        return done

    def found(self, *options, status=0):
        return self.check('-q', *options, status=status).stdout.splitlines()

    def test_one_line_for_a_cause(self):
        self.assertEqual(self.found('--kernel=6.12', status=1),
                         ['error: enum64: values of enums with 8 bytes are cut to 32 bits: made without ENUM64: '
                          'enum queue, enum shared, in vmlinux, a, b'])
        lines = self.found('--kernel=6.12', '-v', status=1)
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[3], '    enum64: b: b.ko.btf+0x0: enum queue has 8 bytes and is not an ENUM64: '
                         'its values are cut to 32 bits')

    def test_degrees(self):
        self.assertTrue(self.found()[0].startswith('suspicious: enum64: '))
        self.found('--fail-on=suspicious', status=1)
        self.assertEqual(self.found('--kernel=5.19', '--fail-on=suspicious'), [])
        self.assertIn('0 errors, 0 suspicious, 3 harmless', self.check('--kernel=5.19').stdout)
        for options, status in (('--fail-on=harmless',), 1), (('-v',), 0):
            self.assertTrue(self.found('--kernel=5.19', *options, status=status)[0]
                            .startswith('harmless: enum64: '))
        self.assertIn("'bad' is not a degree", self.check('--fail-on=bad', status=2).stderr)

    def test_known(self):
        self.write('known', '# of the vendor\nenum64 * enum queue\n\nenum64 vmlinux # any\nredefined a\n')
        said = self.check('--kernel=6.12', '--known=known').stdout
        self.assertIn('0 errors, 0 suspicious, 0 harmless, 3 known', said)
        self.assertIn('known: known, line 5: matches no finding\n', said)
        unmatched = json.loads(self.check('--json', '--kernel=6.12', '--known=known').stdout)['unmatched']
        self.assertEqual(unmatched, [{'rule': 'redefined', 'binary': 'a', 'subject': '*', 'place': 'known, line 5'}])
        # Lines for an ignored rule are never called unmatched.
        options = ['--kernel=6.12', '--known=known', '--ignore=redefined']
        self.assertNotIn('matches no finding', self.check(*options).stdout)
        self.assertEqual(json.loads(self.check('--json', *options).stdout)['unmatched'], [])
        options[-1] = '--ignore=enum64,redefined'
        self.assertNotIn('matches no finding', self.check(*options).stdout)
        self.write('known', 'enum64 a\n')
        self.assertEqual(self.found('--kernel=6.12', '--known=known', status=1),
                         ['error: enum64: values of enums with 8 bytes are cut to 32 bits: made without ENUM64: '
                          'enum shared, enum queue, in vmlinux, b'])
        for line, error in ('nothing a', "'nothing' is not a rule"), ('enum64', 'RULE BINARY'):
            self.write('known', line + '\n')
            self.assertIn(error, self.check('--known=known', status=2).stderr)
        self.check('--known=is-not-there', status=2)

    def test_json(self):
        said = json.loads(self.check('--json', '--kernel=6.12', status=1).stdout)
        self.assertEqual([(f['degree'], f['rule'], f['binary'], f['subject']) for f in said['findings']],
                         [('error', 'enum64', 'vmlinux', 'enum shared'), ('error', 'enum64', 'a', 'enum queue'),
                          ('error', 'enum64', 'b', 'enum queue')])
        self.assertEqual({f['cause'] for f in said['findings']},
                         {'values of enums with 8 bytes are cut to 32 bits: made without ENUM64'})
        self.assertEqual(json.loads(self.check('--json', '--kernel=5.19').stdout)['notes'][0]['degree'],
                         'harmless')


if __name__ == '__main__':
    run(__name__, Gate, ('btf_kernel', 'btf_emit', 'btf_merge'))
