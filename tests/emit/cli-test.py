#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the command line of btf-emit: options, exit status, output files, bad files.

usage: cli-test.py BTF-EMIT BTF-LINES [TEST...]
BTFLINK_PLACES (default: 25) is about the number of bytes that are damaged, one at a time, in each of these: the ELF
header, the section headers, each debug section, its relocations, and the symbol table. Files are cut off at about four
times as many places.
"""
import json
import os
import pty
import re
import resource
import stat
import struct
import subprocess

from helpers.btf_reader import Elf, SHT_BTF, SHF_EXCLUDE, type_heads
from helpers.cli_case import PROGRAM, CliCase, option_names, run

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = int(os.environ.get('BTFLINK_PLACES', '25'))
MANUAL = os.path.join(HERE, '..', '..', 'emit', 'btf-emit.1')
STEPS = ['read', 'sections', 'units', 'entries', 'types', 'variables', 'functions', 'hashes',
         'duplicates', 'assemble', 'write']
HEADER_OFFSETS = {'e_ident class': 4, 'e_ident data': 5, 'e_machine': 18, 'e_shoff': 40,
                  'e_shentsize': 58, 'e_shnum': 60, 'e_shstrndx': 62}


class Usage(CliCase):
    def usage(self, pattern, *arguments):
        """Checks that btf-emit refuses `arguments` with exit status 2 and a message that matches `pattern`, and does
        not change add.o."""
        before = self.read('add.o')
        said = self.emit(*arguments, 'add.o', status=2)
        self.assertRegex(said, f"^btf-emit: ERROR: {pattern}\nTry 'btf-emit --help'\\.\n$")
        self.assertEqual(self.read('add.o'), before, f'{arguments}: changed')

    def test_wrong_usage(self):
        self.compile()
        self.usage('.*--nonsense.*', '--nonsense')
        self.usage('.*--threads.*', '--image', '--threads=0')
        self.usage('.*--threads.*', '--image', '--threads=many')
        self.usage('.*--section-type.*', '--section-type=note')
        self.usage(".*feature.*'nonsense'.*", '--features=nonsense')
        self.usage(".*feature.*'nonsense'.*", '--features=default', '--features=+var,nonsense')
        for wrong in ('klingon', 'c++15', 'c+', '+'):
            self.usage(rf"unknown language '{re.escape(wrong)}'; known are ada\[83\|95.*, asm, .*"
                       r'c\+\+\[03\|11\|14\|17\|20\|23\], .*rust.*', f'--lang-exclude=rust,{wrong}')
        self.usage('.*one input file.*', '-o', 'out.o', 'add.o')
        self.usage('.*one input file.*', '--detached=out.btf', 'add.o')
        self.usage('.*exclude each other.*', '-o', 'out.o', '--detached=out.btf')
        self.usage('.*cannot be combined with --strip-dwarf', '--detached=out.btf', '--strip-dwarf')
        self.usage('.*--threads needs --image', '--threads=2')
        self.usage('.*name the same file', '-o', '-', '--time-trace=-')
        self.usage('.*--stats.* no value', '--stats=yes')
        self.usage('.*--starts', '--starts')
        self.usage('--t=3 is ambiguous', '--t=3') # could be --threads or --time-trace
        self.usage('there is no option --bogus', 'main.o', '--bogus')
        self.usage('.*-x', '-vx')
        self.usage('.*-o.* twice', '-o', 'out.o', '-oother.o')
        for arguments in (['--output='], ['--output', ''], ['-o', '']):
            self.usage('.*-o.* needs a value', *arguments)
        self.usage('.*name of a file is empty', '')
        self.assertRegex(self.emit('add.o', '--output', status=2), '.*--output needs a value')
        self.assertRegex(self.emit('add.o', '-vo', status=2), '.*-o needs a value')

    def test_no_file(self):
        said = self.emit(status=2)
        self.assertRegex(said, r"^btf-emit: ERROR: FILE.*\nTry 'btf-emit --help'\.\n$")

    def test_version(self):
        done = self.call(self.btf_emit, '--version')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertRegex(done.stdout, r'^btf-emit [0-9]+(\.[0-9]+)+( \(.+\))?\n$')

    def test_help_and_manual_agree(self):
        done = self.call(self.btf_emit, '--help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(self.call(self.btf_emit, '-h').stdout, done.stdout)
        with open(MANUAL, encoding='utf-8') as file:
            manual = file.read().replace('Fl Fl ', '--')
        documented = option_names(line for line in manual.splitlines() if line.startswith('.It'))
        self.assertEqual(option_names(re.findall(r'^ +(-[^ ]+)', done.stdout, re.M)), documented)

    def test_verbose(self):
        self.compile()
        self.assertRegex(self.emit('-v', 'add.o'), r'^add\.o: object BTF written: [1-9][0-9]* types'
                         r', [1-9][0-9]* functions, 0 variables\n$')
        self.assertRegex(self.emit('-v', 'add.o'), r'^add\.o: object BTF is up to date: .*\n$')

    def test_stats(self):
        size = len(self.read(self.compile()))
        said = self.emit('--stats', '--features=+global_var', 'add.o').splitlines()
        self.assertIn(f'add.o: input bytes: {size}', said)
        self.assertIn('add.o: units: 1', said)
        self.assertIn('add.o: variables: 2', said)
        self.assertTrue(all(line.startswith('add.o: ') for line in said))

    def test_time_trace(self):
        self.compile_all()
        self.good('--time-trace=trace.json', 'add.o', 'main.o', made=['trace.json'])
        with open(self.path('trace.json'), encoding='utf-8') as file:
            events = json.load(file)['traceEvents']
        phases = [event for event in events if event['ph'] == 'X']
        files = [event for event in phases if event['name'] == 'file']
        self.assertEqual([event['args']['detail'] for event in files], ['add.o', 'main.o'])
        for event in files:
            inside = [e['name'] for e in phases if e is not event and
                      event['ts'] <= e['ts'] <= event['ts'] + event['dur']]
            self.assertEqual(inside, STEPS)

    def test_time_trace_that_cannot_be_written(self):
        before = self.read(self.compile())
        said = self.emit('--time-trace=nowhere/trace.json', 'add.o', status=1)
        self.assertRegex(said, r'^btf-emit: ERROR: nowhere/trace\.json: .*\n$')
        self.assertEqual(self.read('add.o'), before)

    def test_outputs_that_are_inputs(self):
        """Neither --time-trace nor --detached may name an input, by whatever path or link."""
        before = self.read(self.compile())
        os.symlink('add.o', self.path('link.o'))
        os.link(self.path('add.o'), self.path('hard.o'))
        for name in ('add.o', './add.o', 'link.o', 'hard.o'):
            for option in ('--detached', '--time-trace'):
                said = self.emit(f'{option}={name}', 'add.o', status=2)
                self.assertRegex(said, rf"^btf-emit: ERROR: add.o: {option} .*\nTry 'btf-emit --help'")
        self.assertEqual(self.read('add.o'), before)

    def test_trace_and_result_by_two_names(self):
        """If the options for trace and result name the same new file in two ways, the error comes after the result
        is written."""
        self.compile()
        for option in '--detached', '--output':
            said = self.emit('--time-trace=one', f'{option}=./one', 'add.o', status=1, made=['one'])
            self.assertIn('one: is named for both the result and the trace\n', said)
            os.remove(self.path('one'))

    def test_features_add_up(self):
        self.compile()
        self.good('--features=global_var', '--features=decl_tag', 'add.o')
        self.assertIn('VAR count: int global', self.lines('add.o'))
        self.good('--features=+reproducible_build', 'add.o')
        self.assertNotIn('VAR count: int global', self.lines('add.o'))

    def test_ways_to_give_a_value(self):
        self.compile()
        want = None
        for arguments in (['-o', 'out', 'add.o'], ['-oout', 'add.o'], ['--output=out', 'add.o'],
                          ['--output', 'out', 'add.o'], ['add.o', '-o', 'out'], ['-o', '-v', 'add.o']):
            name = '-v' if '-v' in arguments else 'out'
            self.good(*arguments, made=[name])
            want = want or self.read(name)
            self.assertEqual(self.read(name), want, arguments)
            os.remove(self.path(name))
        self.assertRegex(self.emit('-vo', 'out', 'add.o', made=['out']),
                         '^add.o: object BTF written')
        self.assertEqual(self.read('out'), want)

    def test_lists_before_several_files(self):
        """--features and --lang-exclude take one argument, not all that follow."""
        self.compile_all()
        for option in ('--features=+global_var', '--lang-exclude=rust'):
            self.good(option, 'main.o', 'add.o')
            for name in ('main.o', 'add.o'):
                self.assertIsNotNone(Elf(self.path(name)).get('.BTF'))
        self.good('--features', '+global_var', '--lang-exclude', 'rust', 'main.o', 'add.o')

    def test_double_dash(self):
        os.rename(self.path(self.compile()), self.path('--x.o'))
        self.good('--', '--x.o')
        self.assertIsNotNone(Elf(self.path('--x.o')).get('.BTF'))


class Output(CliCase):
    def test_section(self):
        self.good(self.compile())
        section = Elf(self.path('add.o')).get('.BTF')
        self.assertEqual((section.type, section.flags, section.align), (SHT_BTF, SHF_EXCLUDE, 8))

    def test_plain_section(self):
        self.good('--section-type=progbits', '--no-exclude', self.compile())
        section = Elf(self.path('add.o')).get('.BTF')
        self.assertEqual((section.type, section.flags), (1, 0))

    def test_output(self):
        before = self.read(self.compile())
        self.good('-o', 'out.o', 'add.o', made=['out.o'])
        self.assertEqual(self.read('add.o'), before)
        self.good('--output=again.o', 'add.o', made=['again.o'])
        self.good('add.o')
        self.assertNotEqual(self.read('add.o'), before)
        self.assertEqual(self.read('out.o'), self.read('add.o'))
        self.assertEqual(self.read('again.o'), self.read('add.o'))

    def test_output_is_replaced(self):
        self.compile()
        self.write('out.o', b'x' * 100000)
        self.good('-o', 'out.o', 'add.o')
        self.assertIn('STRUCT point size 8; int x@0; int y@32', self.lines('out.o'))

    def test_output_onto_itself(self):
        self.compile()
        self.good('-o', 'out.o', 'add.o', made=['out.o'])
        self.good('-o', 'add.o', 'add.o')
        self.assertEqual(self.read('out.o'), self.read('add.o'))

    def test_output_to_a_device(self):
        before = self.read(self.compile())
        self.good('-o', '/dev/null', 'add.o')
        self.good('--detached=/dev/null', 'add.o')
        self.assertTrue(stat.S_ISCHR(os.stat('/dev/null').st_mode))
        self.assertEqual(self.read('add.o'), before)

    def test_detached(self):
        before = self.read(self.compile())
        self.good('--detached=out.btf', 'add.o', made=['out.btf'])
        self.assertEqual(self.read('add.o'), before)
        blob = self.read('out.btf')
        self.assertIn('STRUCT point', type_heads(blob))
        self.good('add.o')
        self.assertEqual(Elf(self.path('add.o')).get('.BTF').data[:len(blob)], blob)

    def test_detached_file_is_replaced(self):
        self.compile()
        self.write('out.btf', b'x' * 100000)
        self.good('--detached=out.btf', 'add.o')
        type_heads(self.read('out.btf'))

    def test_output_cannot_be_written(self):
        self.compile()
        self.bad('no/such/out.o: .*: No such file or directory', '-o', 'no/such/out.o', 'add.o',
                 same=['add.o'])
        self.bad('no/out.btf: .*: No such file or directory', '--detached=no/out.btf', 'add.o',
                 same=['add.o'])
        os.mkdir(self.path('folder'))
        self.bad('folder: .*directory', '-o', 'folder', 'add.o', same=['add.o'])

    def test_full_device(self):
        if not os.path.exists('/dev/full'):
            self.skipTest('there is no /dev/full')
        self.compile()
        self.bad('/dev/full: .*: No space left on device', '--detached=/dev/full', 'add.o',
                 same=['add.o'])
        self.bad('/dev/full: .*: No space left on device', '-o', '/dev/full', 'add.o',
                 same=['add.o'])

    def test_full_disk_in_place(self):
        """A limit on the size of files stands for a full disk. Writing fails, and add.o is unchanged."""
        size = len(self.read(self.compile()))
        for more in (0, 1, 100, 1000):
            self.bad('add.o: .*: File too large', 'add.o', same=['add.o'],
                     preexec_fn=lambda room=size + more: limit_file_size(room))
        for option in ('--strip-dwarf', '-oout.o', '--detached=out.btf'):
            self.bad('.*: File too large', option, 'add.o', same=['add.o'],
                     preexec_fn=lambda: limit_file_size(100))

    def test_several_files(self):
        self.compile_all()
        self.write('bad.o', 'no object')
        before = self.read('bad.o')
        said = self.emit('main.o', 'bad.o', 'missing.o', 'add.o', status=1)
        self.assertRegex(said, '^btf-emit: ERROR: bad.o: not an ELF file\n'
                         'btf-emit: ERROR: missing.o: .*: No such file or directory\n$')
        self.assertEqual(self.read('bad.o'), before)
        for name in ('main.o', 'add.o'):
            self.assertIn('STRUCT point size 8; int x@0; int y@32', self.lines(name))

    def test_twice_is_once(self):
        for options in ([], ['--address-pool'], ['--features=+global_var'], ['--strip-dwarf'],
                        ['--section-type=progbits', '--no-exclude']):
            with self.subTest(options=options):
                self.compile()
                self.good(*options, 'add.o')
                once, stamp = self.read('add.o'), os.stat(self.path('add.o'))
                self.assertIsNotNone(Elf(self.path('add.o')).get('.BTF'))
                self.good(*options, 'add.o')
                self.assertEqual(self.read('add.o'), once)
                self.assertEqual(os.stat(self.path('add.o')).st_mtime_ns, stamp.st_mtime_ns)

    def test_other_options_replace(self):
        """A run with --features or --address-pool removes everything that earlier runs added."""
        self.compile()
        self.good('-o', 'want.o', 'add.o', made=['want.o'])
        for options in (['--address-pool'], ['--features=+global_var', '--address-pool'],
                        ['--section-type=progbits', '--features=default']):
            self.good(*options, 'add.o')
            self.assertNotEqual(self.read('add.o'), self.read('want.o'))
        self.good('--features=default', 'add.o')
        self.assertEqual(self.read('add.o'), self.read('want.o'))

    def test_settings_stay(self):
        """A run without --features and --address-pool takes the features from the existing object BTF, and adds a pool
        if there was one."""
        for options in (['--features=+global_var'], ['--features=var,float', '--address-pool'],
                        ['--address-pool']):
            self.good(*options, self.compile())
            before = self.read('add.o')
            self.emit('--stats', 'add.o')
            self.assertEqual(self.read('add.o'), before, options)
        self.good('--features=+global_var', self.compile('main.c'))
        self.must('ld', '-r', '-o', 'both.o', 'main.o', 'add.o') # one object with a pool, one with global_var
        self.good('both.o')
        self.assertIsNotNone(Elf(self.path('both.o')).get('.debug'))
        self.assertIn('VAR mine: volatile int static', self.lines('both.o'))
        # Unreadable object BTF is replaced.
        self.compile('add.c', output='plain.o')
        self.write('text', 'no BTF')
        self.must('objcopy', '--add-section', '.BTF=text', 'plain.o', 'other.o')
        self.good('plain.o', 'other.o')
        self.assertEqual(self.lines('other.o'), self.lines('plain.o'))

    def test_dry_run(self):
        before = self.read(self.compile())
        said = self.emit('--dry-run', '-v', '--stats', 'add.o')
        self.assertIn('add.o: object BTF would be written: ', said)
        self.assertIn('add.o: units: 1\n', said)
        self.good('--dry-run', '-o', 'out.o', 'add.o')
        self.good('--dry-run', '--strip-dwarf', 'add.o')
        self.write('out.btf', 'as it was')
        self.good('--dry-run', '--detached=out.btf', 'add.o')
        self.compile('main.c', '-g0')
        self.good('--dry-run', '-q', '--detached=out.btf', 'main.o')
        self.assertEqual((self.read('add.o'), self.read('out.btf')), (before, b'as it was'))
        self.good('add.o')
        self.assertRegex(self.emit('--dry-run', '-v', 'add.o'), 'add.o: object BTF is up to date')
        self.write('bad.o', 'no object')
        self.bad('bad.o: not an ELF file', '--dry-run', 'bad.o', same=['bad.o'])

    def test_standard_output(self):
        self.compile()
        self.good('-o', 'want.o', 'add.o', made=['want.o'])
        self.good('--detached=want.btf', 'add.o', made=['want.btf'])
        for option, want in (('-o-', 'want.o'), ('--output=-', 'want.o'),
                             ('--output=/dev/stdout', 'want.o'), ('--detached=-', 'want.btf')):
            done = self.call(self.btf_emit, option, 'add.o', text=False)
            self.assertEqual((done.returncode, done.stderr), (0, b''))
            self.assertEqual(done.stdout, self.read(want), option)
            self.write('out', 'before ')
            with open(self.path('out'), 'ab') as out:
                subprocess.run([self.btf_emit, option, 'add.o'], cwd=self.folder, stdout=out,
                               check=True)
            self.assertEqual(self.read('out'), b'before ' + self.read(want), option)
        self.assertNotIn('-', self.names())
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([self.btf_emit, '-o-', 'add.o'], cwd=self.folder, stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, '^btf-emit: ERROR: standard output: .*No space left.*\n$')
        ours, theirs = pty.openpty()
        done = subprocess.run([self.btf_emit, '-o-', 'add.o'], cwd=self.folder, stdout=theirs,
                              stderr=subprocess.PIPE, text=True, check=False)
        os.close(ours)
        os.close(theirs)
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'btf-emit: ERROR: standard output: is a terminal\n'))

    def test_without_dwarf(self):
        before = self.read(self.compile('add.c', '-g0'))
        stamp = os.stat(self.path('add.o')).st_mtime_ns
        self.good('add.o')
        self.assertEqual(self.emit('-v', 'add.o'), 'add.o: no DWARF, left alone\n')
        self.assertEqual(self.read('add.o'), before)
        self.assertEqual(os.stat(self.path('add.o')).st_mtime_ns, stamp)
        self.good('-o', 'out.o', 'add.o', made=['out.o'])
        self.assertEqual(self.read('out.o'), before)

    def warned(self, pattern, *arguments, **options):
        """Checks that a run succeeds and prints only warnings that match `pattern`, or nothing with -q or --quiet."""
        self.assertRegex(self.emit(*arguments, **options), f'^btf-emit: WARNING: {pattern}\n$')
        self.good('-q', *arguments)
        self.good('--quiet', *arguments)

    def test_detached_of_nothing(self):
        """If the object has nothing for BTF, --detached empties the file of an earlier run."""
        for source, text, flags in (('add.c', PROGRAM['add.c'], ['-g0']), ('empty.s', '\t.text\n\tnop\n', [])):
            self.write('out.btf', 'BTF of an earlier run')
            self.must('gcc', '-c', '-g', *flags, self.write(source, text), '-o', 'nothing.o')
            self.warned('nothing.o: has nothing for BTF, so out.btf is empty',
                        '--detached=out.btf', 'nothing.o')
            self.assertEqual(self.read('out.btf'), b'')

    def test_places_in_split_type_units(self):
        """Both readers report places in .debug_types.dwo as if this section followed .debug_info.dwo."""
        self.write('far.c', 'struct far { char a[0x300000]; int b : 3; } far;\n')
        self.must('gcc', '-g', '-gdwarf-4', '-fdebug-types-section', '-gsplit-dwarf', '-c', 'far.c')
        fast, libdw = (re.findall(r'\.debug_info\+0x\w+', self.emit('--reader=' + reader, '--dry-run', 'far.o'))
                       for reader in ('fast', 'libdw'))
        self.assertTrue(fast)
        self.assertEqual(libdw, fast)

    def test_split_dwarf(self):
        """btf-emit reads the .dwo file. If this file is gone, btf-emit warns, and does not change the object."""
        self.compile('add.c', '-gsplit-dwarf')
        self.good('add.o')
        self.compile('add.c', '-gsplit-dwarf')
        os.remove(self.path('add.dwo'))
        before = self.read('add.o')
        self.warned('add.o: 1 split-dwarf-unit is not read, .*: no .dwo or .dwp file has them', 'add.o')
        self.assertEqual(self.read('add.o'), before)

    def test_type_units(self):
        self.compile('add.c', '-fdebug-types-section')
        self.warned('add.o: 1 type-unit is not read, so types are lost: use --reader=auto\n'
                    'btf-emit: WARNING: add.o: [1-9] type-unit-references? .* not read, .*',
                    '--reader=fast', 'add.o')
        self.good('add.o')

    def test_pipe(self):
        """A pipe is refused at once: reading it would wait for a writer."""
        os.mkfifo(self.path('pipe'))
        for flags in [], ['--image']:
            self.bad('pipe: is not a regular file', *flags, 'pipe')

    def test_link_time_optimisation(self):
        self.compile('add.c', '-flto')
        before = self.read('add.o')
        self.warned('add.o: no DWARF, as link-time .*; encode the linked file with --image',
                    'add.o')
        self.good(self.compile('fat.c', '-flto', '-ffat-lto-objects'))
        self.assertEqual(self.read('add.o'), before)
        for magic in (b'BC\xc0\xde', b'\xde\xc0\x17\x0b'):
            self.write('bitcode.o', magic + bytes(100))
            self.bad('bitcode.o: is bitcode, .*; encode the linked file with --image', '-q',
                     'bitcode.o', same=['bitcode.o'])

    def test_what_cannot_be_expressed(self):
        self.write('big.c', 'struct big { int a; char room[2 << 20]; int b : 3, c : 4; } big;\n'
                            'int get(struct big *p) { return p->a; }\n')
        self.must('gcc', '-g', '-c', 'big.c')
        self.warned(r"big.o: .debug_info\+0x[0-9a-f]+: 'big': member 'b' is left out, as BTF cannot "
                    r'express a bitfield beyond 2 MB \(and 1 more\)', 'big.o')
        said = self.emit('-v', '--dry-run', 'big.o')
        for member in 'bc':
            self.assertRegex(said, rf"'big': member '{member}' is left out, .*2 MB\n")
        self.assertIn('STRUCT big size 2097160; int a@0; [2097152 by int]char room@32',
                      self.lines('big.o'))

    def test_compressed(self):
        self.compile('add.c', output='plain.o')
        for kind in ('zlib', 'zlib-gnu'):
            self.compile('add.c', f'-gz={kind}', output='packed.o')
            self.good('packed.o', 'plain.o', '--features=+global_var')
            packed, plain = Elf(self.path('packed.o')), Elf(self.path('plain.o'))
            self.assertEqual(packed.get('.BTF').data, plain.get('.BTF').data)
            self.assertEqual(packed.get('.rela.BTF').data, plain.get('.rela.BTF').data)

    def test_names_of_files(self):
        for name in ('with space.o', 'quo"te\'s.o', 'new\nline.o', '$(x);`y`.o', 'ü.o', 'no-suffix'):
            os.rename(self.path(self.compile()), self.path(name))
            self.good(name)
            self.assertIsNotNone(Elf(self.path(name)).get('.BTF'), name)
            self.good(f'--detached={name}.btf', name, made=[f'{name}.btf'])
            type_heads(self.read(f'{name}.btf'))

    def test_links_and_mode(self):
        """Object BTF is added in place, so hard links show it. A rewritten file keeps its mode. A symbolic link stays a
        link, and its target is changed."""
        self.compile()
        os.chmod(self.path('add.o'), 0o640)
        os.link(self.path('add.o'), self.path('hard.o'))
        os.symlink('add.o', self.path('soft.o'))
        self.good('soft.o')
        self.assertEqual(self.read('hard.o'), self.read('add.o'))
        for options in ([], ['--address-pool'], ['--features=+global_var'], ['--strip-dwarf']):
            self.good(*options, 'soft.o')
            self.assertTrue(os.path.islink(self.path('soft.o')))
            self.assertEqual(stat.S_IMODE(os.stat(self.path('add.o')).st_mode), 0o640)
            self.assertIsNotNone(Elf(self.path('add.o')).get('.BTF'))
        self.assertIsNone(Elf(self.path('add.o')).get('.debug_info'))

    def test_mode_of_new_files(self):
        self.compile()
        for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
            for option, name in (('-oout.o', 'out.o'), ('--detached=out.btf', 'out.btf')):
                self.good(option, 'add.o', made=[name], umask=mask)
                self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), mode)
                os.remove(self.path(name))

    def test_writing_to_a_link(self):
        self.compile()
        os.mkdir(self.path('sub'))
        os.symlink('sub/new.o', self.path('dangling.o'))
        self.good('-o', 'dangling.o', 'add.o')
        self.assertTrue(os.path.islink(self.path('dangling.o')))
        self.assertEqual(os.listdir(self.path('sub')), ['new.o'])


def limit_file_size(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class BadFiles(CliCase):
    def test_no_file(self):
        self.bad('missing.o: .*: No such file or directory', 'missing.o')
        self.bad('no/missing.o: .*: No such file or directory', 'no/missing.o')

    def test_folder(self):
        os.mkdir(self.path('folder.o'))
        self.bad('folder.o: .*directory', 'folder.o')

    def test_unreadable(self):
        if os.geteuid() == 0:
            self.skipTest('root reads everything')
        os.chmod(self.path(self.compile()), 0)
        self.bad('add.o: .*: Permission denied', 'add.o')

    def test_not_elf(self):
        self.write('empty.o', '')
        self.write('text.o', 'no object at all\n' * 100)
        self.write('short.o', b'\x7fELF')
        self.write('magic.o', b'\x7fELF' + b'\0' * 500)
        for name in ('empty.o', 'text.o', 'short.o', 'magic.o'):
            self.bad(f'{name}(\\+0x[0-9a-f]+)?: .+', name, same=[name])
        self.bad('/dev/null: .+', '/dev/null')

    def test_archive(self):
        self.compile()
        self.must('ar', 'rcs', 'lib.a', 'add.o')
        self.bad('lib.a: not an ELF file', 'lib.a', same=['lib.a'])

    def truncated(self, whole):
        self.assertGreater(len(whole), 1500)
        for size in range(0, len(whole) - 1, len(whole) // (4 * PLACES) | 1):
            with self.subTest(size=size):
                self.write('cut.o', whole[:size])
                self.bad(r'cut\.o(\+0x[0-9a-f]+)?: .+', 'cut.o', same=['cut.o'])

    def test_truncated(self):
        self.truncated(self.read(self.compile('add.c', '-gdwarf-5')))

    def test_truncated_compressed(self):
        self.truncated(self.read(self.compile('add.c', '-gdwarf-4', '-gz')))

    def test_truncated_with_object_btf(self):
        self.good('--features=+global_var', '--address-pool', self.compile())
        self.truncated(self.read('add.o'))

    def test_truncated_clang(self):
        self.truncated(self.read(self.compile(compiler='clang-14')))

    def test_truncated_aarch64(self):
        self.truncated(self.read(self.compile(compiler='aarch64-linux-gnu-gcc')))

    def damaged(self, *flags):
        """Changes one byte at a time: in the ELF header, the section headers, a debug section or its relocations, or
        the symbol table. No signal kills btf-emit: it succeeds, with one warning at most, or it reports one error and
        leaves the file unchanged."""
        whole = bytearray(self.read(self.compile('add.c', *flags)))
        elf = Elf(self.path('add.o'))
        places = [(0, 64), (struct.unpack_from('<Q', whole, 40)[0], 64 * len(elf.sections))]
        places += [(s.offset, s.size) for s in elf.sections
                   if s.name.startswith(('.debug', '.rela.debug', '.symtab'))]
        for begin, size in places:
            for at in range(begin, begin + size, max(1, size // PLACES)):
                for value in (0, 0xff, whole[at] ^ 0x80):
                    damaged = bytes(whole[:at]) + bytes([value]) + bytes(whole[at + 1:])
                    self.write('bad.o', damaged)
                    done = self.call(self.btf_emit, '--features=+global_var', 'bad.o')
                    place = f'byte {at} is {value}: {done.stderr}'
                    self.assertIn(done.returncode, (0, 1), place)
                    if done.returncode:
                        self.assertRegex(done.stderr, '^btf-emit: ERROR: bad.o.*\n$', place)
                        self.assertEqual(self.read('bad.o'), damaged, place)
                    else:
                        self.assertRegex(done.stderr, '^(btf-emit: WARNING: bad.o.*\n)?$', place)

    def test_damaged_dwarf_5(self):
        self.damaged('-gdwarf-5')

    def test_damaged_dwarf_4(self):
        self.damaged('-gdwarf-4')

    def patched(self, field, value, pattern):
        whole = bytearray(self.read('add.o'))
        at = HEADER_OFFSETS[field]
        whole[at:at + len(value)] = value
        self.write('bad.o', bytes(whole))
        self.bad(f'bad.o{pattern}', 'bad.o', same=['bad.o'])

    def test_lying_header(self):
        self.compile()
        self.patched('e_machine', b'\x34\x12', r': unsupported architecture \(ELF machine 4660.*')
        self.patched('e_machine', b'\x03\x00', r': unsupported architecture \(ELF machine 3, 64.*')
        self.patched('e_ident class', b'\x01', '.*: .+')
        self.patched('e_ident class', b'\x07', '.*: .+')
        self.patched('e_ident data', b'\x02', '.*: .+')
        self.patched('e_ident data', b'\x00', '.*: .+')
        self.patched('e_shoff', b'\xff' * 8, '.*: .+')
        self.patched('e_shoff', struct.pack('<Q', 2 ** 63), '.*: .+')
        self.patched('e_shentsize', b'\x28\x00', '.*: .+')
        self.patched('e_shentsize', b'\x00\x00', '.*: .+')
        self.patched('e_shnum', b'\xff\xfe', '.*: .+')
        self.patched('e_shstrndx', b'\xf0\xf0', '.*: .+')


if __name__ == '__main__':
    run(__name__)
