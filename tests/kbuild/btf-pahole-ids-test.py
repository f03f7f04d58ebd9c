#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests BTF_PAHOLE_FILL_IDS, with which btf-pahole, not resolve_btfids, fills in .BTF_ids of a module.

usage: btf-pahole-ids-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import re
import shutil
import struct

from helpers.kbuild_case import KbuildCase, run

KERNEL = 'struct task { int pid; }; int alpha(struct task *t) { return t->pid; }\n'
MODULE = '''struct task { int pid; };
struct mine { struct task *who; int n; };
typedef struct mine mine_t;
int alpha(struct mine *m) { return m->n; }
int middle(mine_t *m) { return m->n; }
int zeta(struct task *t) { return t->pid; }
'''


# The following functions write .BTF_ids as the macros of include/linux/btf_ids.h do.
def symbol(name, content, size=None):
    return (f'.type {name}, STT_OBJECT\\n {name}: {content}\\n'
            f'.size {name}, {size or ".-" + name}\\n')


def word(kind, name, number, more=''):
    return symbol(f'__BTF_ID__{kind}__{name}__{number}', '.zero 4', 4) + more


def section(text):
    return f'asm(".pushsection .BTF_ids,\\"a\\"\\n.balign 4\\n{text}.popsection\\n");\n'


def kfuncs(*names, flags=0, size=None):
    pairs = ''.join(word('func', name, n, f'.long {flags + n}\\n') for n, name in enumerate(names))
    return symbol('__BTF_ID__set8__kfuncs', '.long 0, 1\\n' + pairs, size)


class FillIds(KbuildCase):
    ON = {'BTF_PAHOLE_FILL_IDS': '1'}

    def setUp(self):
        super().setUp()
        self.write('kernel.c', KERNEL)
        self.must('gcc', '-g', '-c', 'kernel.c')
        self.encode('--btf_encode_detached=base', 'kernel.o')

    def module(self, text, compiler='gcc'):
        self.write('module.c', MODULE + section(text))
        self.must(compiler, '-g', '-c', 'module.c', '-o', 'x.ko')

    def fill(self, *options, said=''):
        done = self.pahole('-J', *options, '--btf_base=base', 'x.ko', settings=self.ON)
        self.assertEqual(done, (0, '', said))

    def words(self, order='<'):
        data = self.section('x.ko', '.BTF_ids').data
        return struct.unpack(f'{order}{len(data) // 4}I', data)

    def ids(self, base='base'):
        """Returns (kind, name) -> id of types and functions; for duplicates the last id."""
        lines = '\n'.join(self.dump('x.ko', base))
        return {(kind, name): int(number)
                for number, kind, name in re.findall(r"^\[(\d+)\] (\w+) '(\w+)'", lines, re.M)}

    def test_sets_and_single_ids(self):
        self.module(kfuncs('zeta', 'alpha', 'middle') +
                    symbol('__BTF_ID__set__plain', '.long 0\\n' + word('func', 'zeta', 11) +
                           word('func', 'alpha', 12)) +
                    word('struct', 'task', 21) + word('struct', 'mine', 22) + word('typedef', 'mine_t', 23))
        self.fill()
        ids = self.ids()
        alpha, middle, zeta = (ids['FUNC', name] for name in ('alpha', 'middle', 'zeta'))
        self.assertTrue(alpha < middle < zeta)
        task, = (int(line[1:line.index(']')]) for line in self.dump('base') if "STRUCT 'task'" in line)
        self.assertEqual(self.words(), (3, 1, alpha, 1, middle, 2, zeta, 0, 2, alpha, zeta, task,
                                        ids['STRUCT', 'mine'], ids['TYPEDEF', 'mine_t']))

    def test_again(self):
        """A set of kfuncs with different flags cannot be filled in twice: the first run sorts the flags together with
        the ids, so the flags are no longer next to the symbols of their kfuncs. In other cases the second result is
        the same as the first."""
        self.module(kfuncs('zeta', 'alpha'))
        self.fill()
        self.refuse(r'x\.ko: \.BTF_ids\+0x0: __BTF_ID__set8__kfuncs: was filled in before, .*', '-J',
                    '--btf_base=base', 'x.ko', same=['x.ko'], settings=self.ON)
        for text in (symbol('__BTF_ID__set__plain', '.long 0\\n' + word('func', 'zeta', 11) +
                            word('func', 'alpha', 12)), kfuncs('zeta')):
            self.module(text)
            self.fill()
            once = self.read('x.ko')
            self.fill()
            self.assertEqual(self.read('x.ko'), once)

    def test_distilled_base(self):
        """The ids are those of the BTF over the module's distilled base."""
        self.module(kfuncs('zeta', 'alpha'))
        self.fill('--btf_features=default,distilled_base')
        self.must('objcopy', '-O', 'binary', '--only-section=.BTF.base', '--set-section-flags',
                  '.BTF.base=alloc', 'x.ko', 'own')
        ids = self.ids('own')
        self.assertEqual(self.words(), (2, 1, ids['FUNC', 'alpha'], 1, ids['FUNC', 'zeta'], 0))

    def test_big_endian(self):
        if not shutil.which('s390x-linux-gnu-gcc'):
            self.skipTest('s390x-linux-gnu-gcc: not installed')
        self.must('s390x-linux-gnu-gcc', '-g', '-c', 'kernel.c')
        self.encode('--btf_encode_detached=base', 'kernel.o')
        self.module(kfuncs('zeta', 'alpha'), 's390x-linux-gnu-gcc')
        self.fill()
        ids = self.ids()
        self.assertEqual(self.words('>'), (2, 1, ids['FUNC', 'alpha'], 1, ids['FUNC', 'zeta'], 0))

    def test_without_the_setting(self):
        self.module(kfuncs('zeta'))
        self.encode('--btf_base=base', 'x.ko')
        self.assertEqual(self.words(), (0, 1, 0, 0))

    def test_missing_names(self):
        self.module(word('struct', 'nobody', 1) + kfuncs('zeta'))
        self.fill(said='btf-pahole: WARNING: x.ko: .BTF_ids asks for the id of struct nobody, which the BTF '
                       'lacks; the id stays 0\n')
        self.assertEqual(self.words()[0], 0)

    def test_refused(self):
        for text, why in ((kfuncs('nobody'), 'this kfunc has no FUNC in the BTF'),
                          (kfuncs('zeta', flags=1 << 16), r'has implicit arguments \(KF_IMPLICIT_ARGS\); .*'),
                          (kfuncs('zeta', size=20), 'its size does not fit a set in the section'),
                          (kfuncs('zeta', size=4), 'its size does not fit a set in the section'),
                          (kfuncs('zeta', size=1 << 20), 'its size does not fit a set in the section'),
                          # Two sets begin at one place; the last set begins before another one, and ends in it.
                          (symbol('__BTF_ID__set8__other', '', 16) + kfuncs('zeta'), 'overlaps another set'),
                          ('.zero 8\\n' + kfuncs('zeta') + '__BTF_ID__set8__last = . - 24\\n'
                           '.size __BTF_ID__set8__last, 16\\n', 'overlaps another set')):
            self.module(text)
            self.refuse(r'x\.ko: \.BTF_ids\+0x[0-9a-f]+: __BTF_ID__\w+: ' + why, '-J', '--btf_base=base',
                        'x.ko', same=['x.ko'], settings=self.ON)
        self.module(word('struct', 'task', 1) + '.popsection\\n.pushsection .more\\n.zero 4\\n')
        self.must('objcopy', '--rename-section=.more=.BTF_ids', 'x.ko')
        self.refuse(r'x\.ko: \.BTF_ids: is a second section of this name', '-J', '--btf_base=base', 'x.ko',
                    same=['x.ko'], settings=self.ON)
        self.module('__BTF_ID__func__zeta__1 = 0x1000\\n' + '.zero 4\\n')
        done = self.pahole('-J', '--btf_base=base', 'x.ko', settings=self.ON)
        self.assertEqual(done[0], 0) # the symbol is absolute, and so not in the section
        self.refuse('BTF_PAHOLE_FILL_IDS=yes: must be 0 or 1', '-J', 'x.ko', same=['x.ko'],
                    settings={'BTF_PAHOLE_FILL_IDS': 'yes'})


if __name__ == '__main__':
    run(__name__)
