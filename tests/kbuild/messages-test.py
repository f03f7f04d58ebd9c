#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that btf-cc and btf-pahole print each message that docs/messages.md lists for them, in the same words.

In the document, `...` stands for any text, and FILE, N, M, NAME, X, GCC, FEATURE and RULE stand for a name or number.
A message in the plural, such as "objects are", may be printed in the singular.

usage: messages-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import os
import pathlib
import re

from helpers.inputs_case import KERNEL, InputsCase
from helpers.kbuild_case import run, target_of

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / 'docs/messages.md'
PLACES = r'\.\.\.|\b(?:FILE|N|M|NAME|X|GCC|FEATURE|RULE)\b'
PLURALS = (('objects were', 'objects? (?:was|were)'), ('objects are', 'objects? (?:is|are)'),
           ('objects that are', 'objects? that (?:is|are)'), ('units are', 'units? (?:is|are)'),
           ('others', 'others?'))
KFUNC = ('asm(".pushsection .BTF_ids,\\"a\\"\\n.local __BTF_ID__set8__k\\n__BTF_ID__set8__k: .long 1, 1\\n"'
         '".local __BTF_ID__func__kf__7\\n__BTF_ID__func__kf__7: .long 0, 0x8000\\n"'
         '".size __BTF_ID__set8__k, . - __BTF_ID__set8__k\\n.popsection\\n");\n')


def listed(program):
    """The messages in the first column of a program's table. Single words there, such as `with`, do not count."""
    table = re.search(rf'^\| message of {program} \|.*?\n\n', DOCUMENT.read_text() + '\n', re.M | re.S)[0]
    return [message for row in table.splitlines()[2:]
            for message in re.findall('`([^`]+)`', row.split(' | ')[0]) if ' ' in message]


def pattern(message):
    """A regular expression for a message of the document."""
    text = re.sub(r'(?<=[^.])\.\.\.$', '', message.replace('\\|', '|'))
    parts = [re.escape(part).replace('\\ ', ' ') for part in re.split(PLACES, text)]
    text = '.+'.join(parts)
    for plural, any_number in PLURALS:
        text = text.replace(plural, any_number)
    return text


class Messages(InputsCase):
    def printed(self, program, message, said):
        """Checks that the document lists `message`, and that the output `said` contains it. Adds it to self.seen."""
        self.assertIn(message, listed(program))
        self.assertRegex(said, pattern(message))
        self.seen.add(message)

    def setUp(self):
        super().setUp()
        self.seen = set()
        self.write('add.c', 'int add(int a) { return a + 1; }\n')

    def all_seen(self, program):
        self.assertEqual([m for m in listed(program) if m not in self.seen], [])

    def broken(self):
        """Makes ./broken, a compiler that writes DWARF of an unknown version."""
        self.must('gcc', '-g', '-c', 'add.c', '-o', 'broken.o')
        section = self.section('broken.o', '.debug_info')
        data = bytearray(self.read('broken.o'))
        data[section.offset + 4:section.offset + 6] = b'\x63\x00'
        self.write('broken.o', bytes(data))
        self.script('broken', '#!/bin/sh\ncp broken.o add.o\n')

    def test_btf_cc(self):
        compile_it = ('-g', '-O2', '-c', 'add.c')

        def said(message, *arguments, settings=None):
            self.printed('btf-cc', message, self.cc(*arguments, settings=settings)[2].decode())

        self.broken()
        said('WARNING: no object BTF: FILE: ...', './broken', *compile_it)
        said('ERROR: no object BTF: ...', '--strict', './broken', *compile_it)
        self.assertNotIn('add.o', self.names())
        self.script('loses', '#!/bin/sh\ngcc "$@" && rm *.dwo\n')
        said('WARNING: FILE: N ...-units are not read, ...', './loses', *compile_it, '-gsplit-dwarf')
        self.script('strips', '#!/bin/sh\ngcc "$@" && objcopy --strip-debug add.o\n')
        said('WARNING: FILE: no DWARF although -g was given, ...', './strips', *compile_it)
        said('WARNING: FILE: does not exist after the compile, ...', 'true', *compile_it, '-o', 'nowhere.o')
        self.write('far.c', 'struct far { char a[0x20000000]; int b; int c : 3; } *far;\n')
        said("WARNING: FILE: ... 'NAME': member 'M' is left out, ...", 'gcc', '-g', '-c', 'far.c')
        self.write('name.c', 'struct s { int a$b; } *s;\n')
        said('WARNING: FILE: ... type N (...): RULE: ...', 'gcc', '-g', '-c', 'name.c')
        os.makedirs(self.path('tree/include/config'))
        os.makedirs(self.path('scripts/mod'))
        self.write('tree/include/config/auto.conf', 'CONFIG_DEBUG_INFO_BTF=y\n')
        said('WARNING: PAHOLE=X is not btf-pahole, ...', 'gcc', *compile_it,
             settings={'objtree': 'tree', 'PAHOLE': 'true'})
        self.write('tree/include/config/auto.conf', 'CONFIG_BPF=y\n')
        said('WARNING: this kernel gets no BTF, ...', 'gcc', *compile_it, '-o', 'scripts/mod/empty.o',
             settings={'objtree': 'tree', 'PAHOLE': 'btf-pahole'})
        said('ERROR: GCC: no plugin for exactly this compiler ...', '--plugin', 'gcc', *compile_it,
             settings={'BTF_CC_PLUGIN_DIR': self.path('nothing')})
        said('ERROR: --plugin: cannot tell whether X or GCC is the compiler; ...', '--plugin', 'nice', '-n', '1', 'gcc',
             *compile_it)
        said('ERROR: there is no option ...', '--bogus', 'gcc', *compile_it)
        said('... must be 0 or 1', 'gcc', *compile_it, settings={'BTF_CC_STRICT': 'yes'})
        if not target_of('clang'):
            self.skipTest('clang is not installed')
        said('ERROR: the plugin is for gcc; ...', '--plugin', 'clang', *compile_it)
        if self.cc('--plugin', 'gcc', *compile_it)[0]:
            self.skipTest('there is no plugin for gcc')
        self.write('odd.c', 'int odd$name;\nint fine;\n')
        odd = '--plugin', '--features=var,global_var'
        said('cc1: note: btflink: no object BTF: ...', *odd, 'gcc', '-g', '-c', 'odd.c')
        said('cc1: note: btflink: ...', '--plugin', 'gcc', '-g', '-c', 'far.c')
        said('cc1: error: btflink: no object BTF: ...', *odd, '--strict', 'gcc', '-g', '-c', 'odd.c')
        self.all_seen('btf-cc')

    def test_btf_pahole(self):
        def said(message, *arguments, settings=None):
            self.printed('btf-pahole', message, self.pahole(*arguments, settings=settings)[2])

        asked = '--btf_features=var,float,enum64,decl_tag,type_tag'
        objects = self.objects(KERNEL, KERNEL)
        self.must(self.btf_emit, '--features=var', '--address-pool', *objects[:1])
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        self.link('vmlinux', *objects)
        said('WARNING: N objects were emitted ..., unlike M others: ...', '-J', asked, 'vmlinux')
        self.must(self.btf_emit, '--features=var', '--address-pool', *objects)
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        self.link('vmlinux', *objects)
        said('WARNING: objects were emitted without FEATURE, which the link asks for: ...', '-J', asked, 'vmlinux')
        self.must(self.btf_emit, '--address-pool', *objects)
        said('does not ask for', '-J', '--btf_features=var', *objects[:1])

        self.kernel(KERNEL)
        for name in ('sched', 'print'):
            self.write(name + '.c', KERNEL[name] + f'int more_of_{name};\n')
            self.must(self.btf_cc, 'gcc', '-g', '-O2', '-fno-pie', '-c', name + '.c')
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        said('WARNING: N objects are not in FILE ...', '-J', 'vmlinux')

        self.kernel(KERNEL, strip=True)
        for name in KERNEL:
            self.write(name + '.c', KERNEL[name] + f'int more_of_{name};\n')
            self.must(self.btf_cc, '--strip-dwarf', 'gcc', '-g', '-O2', '-fno-pie', '-c', name + '.c')
        self.must('ld', '-r', '-o', 'vmlinux.o', *objects)
        said('ERROR: ... its objects give it no BTF, but ...', '-J', 'vmlinux')

        self.kernel(KERNEL, strip=True)
        self.must('ld', '-r', '-o', 'vmlinux.o', 'start.o')
        said('WARNING: FILE has N objects that are not among the inputs, ...', '-J', 'vmlinux')
        for strip, message in (('--strip-debug', "has none of the objects' address pools; ..."),
                               ('--strip-all', 'WARNING: FILE: has no symbol table, ...')):
            self.kernel(KERNEL, strip=True)
            self.must('strip', strip, 'vmlinux')
            said(message, '-J', 'vmlinux')

        self.write('bad.cc', 'template <class T> struct pair { T a; }; pair<int> p;\n')
        self.must(self.btf_cc, 'g++', '-g', '-c', 'bad.cc')
        self.write('bad.o', self.read('bad.o').replace(b'\0pair_int_\0', b'\0pair<int>\0'))
        said('WARNING: type N (...): RULE: ...', '-J', 'bad.o')
        self.write('value.c', 'struct s; void (*f)(struct s);\n')
        self.must(self.btf_cc, 'gcc', '-g', '-c', 'value.c')
        said('WARNING: struct NAME is passed or returned by value ...', '-J', 'value.o')
        self.must('gcc', '-c', 'add.c', '-o', 'add.ko')
        said('WARNING: FILE: ..., so it gets no BTF', '-J', 'add.ko')
        os.remove(self.path('vmlinux.o'))
        self.write('main.c', 'int main(void) { return 0; }\n')
        self.must('gcc', 'main.c', '-o', 'vmlinux')
        said('ERROR: ... has neither object BTF nor DWARF, but ...', '-J', 'vmlinux')
        self.write('vmlinux', '')
        said('ERROR: ... is empty, but ...', '-J', 'vmlinux')

        self.write('kfunc.c', 'void kf(int *p) { *p = 1; }\n' + KFUNC)
        self.must(self.btf_cc, 'gcc', '-g', '-c', 'kfunc.c')
        said('WARNING: kfunc NAME: its flags name an arena pointer ...', '-J',
             '--btf_features=default,decl_tag_kfuncs,attributes', 'kfunc.o')
        self.write('nobody.c', 'int a;\nasm(".pushsection .BTF_ids,\\"a\\"\\n.local __BTF_ID__struct__nobody__1\\n"'
                   '"__BTF_ID__struct__nobody__1: .zero 4\\n.size __BTF_ID__struct__nobody__1, 4\\n.popsection\\n");\n')
        self.must('gcc', '-g', '-c', 'nobody.c', '-o', 'nobody.ko')
        said('WARNING: FILE: .BTF_ids asks for the id of NAME, ...', '-J', 'nobody.ko',
             settings={'BTF_PAHOLE_FILL_IDS': '1'})
        self.write('old.c', 'struct btf_verifier_env { short s; } env;\n')
        self.must('gcc', '-g', '-c', 'old.c')
        said('WARNING: feature layout is left out: ...', '-J', '--btf_features=+layout', 'old.o')
        self.write('name.c', 'int fine = 1; int xbad = 2;\n')
        self.must('gcc', '-g', '-c', 'name.c')
        self.write('name.o', self.read('name.o').replace(b'xbad', b'0bad'))
        said('PAHOLE: Error: Found invalid variable name ...', '-J', '--btf_features=global_var', 'name.o')
        said('ERROR: pahole itself must run, ...', '-C', 's', 'vmlinux', settings={'PATH': ''})
        self.all_seen('btf-pahole')


if __name__ == '__main__':
    run(__name__)
