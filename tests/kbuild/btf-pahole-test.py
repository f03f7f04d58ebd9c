#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-pahole's command line: options that kernels pass, exit status, features, output files, and the calls
that are passed to a real pahole.

usage: btf-pahole-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import os
import pty
import re
import resource
import shutil
import stat
import struct
import subprocess

from helpers.compilers import clangs, knows_tags
from helpers.inputs_case import PER_CPU
from helpers.kbuild_case import Elf, KbuildCase, run

SOURCE = '''#define TAG(text) __attribute__((btf_decl_tag(text)))
#define PER_CPU __attribute__((section(".data..percpu")))
enum wide { SMALL = 1, LARGE = 0x100000000000ULL };
struct tagged { int a; double d; } TAG("of a struct");
int global_variable = 3;
PER_CPU int per_cpu_variable = 1;
int __attribute__((btf_type_tag("of a type"))) *pointer;
__attribute__((noinline)) enum wide use(enum wide w, float f, struct tagged *t)
{ return w + (int)f + t->a + (pointer ? *pointer : 0); }
int main(void)
{ struct tagged t = { 1, 2 }; return use(SMALL, 1, &t) + global_variable + per_cpu_variable; }
'''
LINK = ['-Wl,-T,percpu.lds', '-no-pie']
ALL = {'per-CPU', 'float', 'decl_tag', 'type_tag', 'enum64'}
LEGACY = ALL - {'float'}  # without a list of features
FAKE = '''#!/bin/sh
printf '%s\\0' "$0" "$@" > argv
cat
echo to stderr >&2
exit 43
'''


class Command(KbuildCase):
    def program(self):
        """Compiles SOURCE to `prog`, if possible by a compiler that knows the attributes of tags. Returns whether there
        is such a compiler."""
        self.write('prog.c', SOURCE)
        self.write('percpu.lds', PER_CPU)
        compiler = next(filter(knows_tags, [*clangs(), 'gcc']), None)
        self.must(compiler or 'gcc', '-w', '-g', '-O1', *LINK, 'prog.c', '-o', 'prog')
        return bool(compiler)

    def found(self, name='prog'):
        """Returns the features that are visible in the BTF of `name`."""
        lines = self.dump(name)
        heads = {word for line in lines for word in line.split()}
        text = '\n'.join(lines)
        found = {'decl_tag': 'DECL_TAG' in heads, 'type_tag': 'TYPE_TAG' in heads,
                 'enum64': 'ENUM64' in heads, 'float': 'FLOAT' in heads,
                 'per-CPU': 'per_cpu_variable' in text, 'global': 'global_variable' in text}
        self.assertIn('main', text)
        return {name for name, there in found.items() if there}


class Answers(Command):
    def test_versions(self):
        self.assertEqual(self.pahole('--version'), (0, 'v1.32\n', ''))
        self.assertEqual(self.pahole('--numeric_version'), (0, '132\n', ''))
        devel = self.pahole('--devel_version')[1]
        self.assertRegex(devel, r'^v1\.32\nbtflink [0-9.]+( \([0-9a-f]+(-dirty)?\))?\n$')
        terminal, there = pty.openpty()
        subprocess.run([self.btf_pahole, '--version'], stdout=there, check=True)
        os.close(there)
        self.assertEqual(os.read(terminal, 1000).decode().split(), devel.split())
        os.close(terminal)

    def test_version_as_kernels_read_it(self):
        """The command by which kernels turn the version into a number (in 6.12 and 7.3: scripts/pahole-version.sh)."""
        script = self.script('pahole-version.sh', """#!/bin/sh
"$@" --version | sed -E 's/v([0-9]+)\\.([0-9]+)/\\1\\2/'
""")
        self.assertEqual(self.must(script, self.btf_pahole), '132\n')

    def test_help(self):
        for word in '--help', '-?':
            status, out, error = self.pahole(word)
            self.assertEqual((status, error), (0, ''))
            self.assertRegex(out, '^usage: btf-pahole -J ')
            self.assertIn('BTF_PAHOLE_REAL', out)

    def test_supported_features(self):
        status, out, error = self.pahole('--supported_btf_features')
        self.assertEqual((status, error), (0, ''))
        names = out.strip().split(',')
        self.assertLessEqual({'encode_force', 'var', 'float', 'decl_tag', 'type_tag', 'enum64',
                              'optimized_func', 'consistent_func', 'decl_tag_kfuncs',
                              'reproducible_build', 'global_var'}, set(names))
        self.program()
        for name in names:
            self.encode('--btf_features_strict=' + name, '--btf_encode_detached=out', 'prog')

    def test_wrong_usage(self):
        self.program()
        for pattern, words in (
                ('option --nonsense is not known', ['--nonsense', 'prog']),
                ('option -o is not known', ['-o', 'prog']),
                ('option --btf_base needs a value', ['prog', '--btf_base']),
                ('option --btf_encode_detached needs a value', ['--btf_encode_detached=', 'prog']),
                ('option --verbose=1 takes no value', ['--verbose=1', 'prog']),
                ('one file is encoded at a time, 0 were named', []),
                ('one file is encoded at a time, 2 were named', ['prog', 'prog'])):
            self.refuse(pattern, '-J', *words, status=64, same=['prog'])
        self.refuse('the name of the file to encode is empty', '-J', '')
        self.refuse('feature distilled_base needs --btf_base', '-J', '--btf_features=distilled_base', 'prog',
                    same=['prog'])
        self.refuse("feature 'nonsense' is not known", '-J', '--btf_features_strict=var,nonsense',
                    'prog', same=['prog'])
        self.refuse("unknown language 'klingon'; known are ada.*", '-J',
                    '--lang_exclude=rust,klingon', 'prog', same=['prog'])
        self.refuse("PAHOLE_LANG_EXCLUDE: unknown language 'klingon'; .*", '-J', 'prog',
                    same=['prog'], settings={'PAHOLE_LANG_EXCLUDE': 'klingon'})
        for word in '-jx', '--jobs=x':
            self.refuse("--jobs: 'x' is not a number of threads", '-J', word, 'prog', same=['prog'])

    def test_options_of_kernels(self):
        listed = 'encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func'
        self.program()
        self.encode('--btf_features=default', '--btf_encode_detached=default', 'prog')
        for words in (['-j', f'--btf_features={listed}', '--lang_exclude=rust'],
                      ['-j4', f'--btf_features={listed},decl_tag_kfuncs', '--lang_exclude=rust'],
                      [f'--btf_features={listed},decl_tag_kfuncs', '--btf_features=attributes'],
                      ['-j', f'--btf_features={listed}', '-j',
                       '--btf_features=+reproducible_build'],
                      ['--jobs=4', '--btf_features', 'default', '-F', 'dwarf'],
                      ['--jobs', '--btf_features=+distilled_base,force_cu_merging', '-Fdwarf'],
                      ['--btf_gen_floats', '-j', '--lang_exclude', 'rust',
                       '--skip_encoding_btf_inconsistent_proto', '--btf_gen_optimized'],
                      ['--btf_gen_floats', '--kabi_prefix=__kabi_', '--skip_missing',
                       '--reproducible_build', '--btf_encode_force', '--btf_attributes']):
            self.encode(*words, '--btf_encode_detached=out', 'prog')
            self.assertEqual(self.read('out'), self.read('default'), words)
        # The options of Linux 7.3.
        self.encode('-j', f'--btf_features={listed}', '--btf_features=layout',
                    '--lang_exclude=rust', '--btf_encode_detached=out', 'prog')
        self.encode('--btf_features=+layout', '--btf_encode_detached=layout', 'prog')
        self.assertEqual(self.read('out'), self.read('layout'))

    def test_options_that_change_nothing(self):
        self.program()
        self.encode('--btf_encode_detached=default', 'prog')
        for words in (['--skip_emitting_atomic_typedefs'], ['--hashbits=12'], ['--quiet'], ['-q'],
                      ['--suppress_force_paddings', '--with_flexible_array'],
                      ['--fixup_silly_bitfields', '-Cpoint', '-sE', '--lang=c99,c11,c'],
                      ['-X', 'other', '--class_name', '-V']):
            self.encode(*words, '--btf_encode_detached=out', 'prog')
            self.assertEqual(self.read('out'), self.read('default'), words)

    def test_verbose_names_unknown_features(self):
        self.program()
        for words in (['-V'], ['--verbose']):
            status, _, error = self.pahole('-J', '--btf_features=var,nonsense', *words, 'prog')
            self.assertEqual(status, 0)
            self.assertIn("btf-pahole: feature 'nonsense' is not known\n", error)
            self.assertIn('prog: units without object BTF are encoded from DWARF\n', error)
        self.encode('--btf_features=var,nonsense', 'prog')


class Features(Command):
    def expect(self, want, *options):
        self.encode(*options, '--btf_encode_detached=out', 'prog')
        self.assertEqual(self.found('out'), want if self.tags else want - {'decl_tag', 'type_tag'},
                         options)

    def test_lists(self):
        """The expected features are those of pahole 1.32 with the same options."""
        self.tags = self.program()
        if not self.tags:
            print('SKIP tags: no compiler that knows btf_decl_tag')
        for want, *options in (
                (LEGACY,), (ALL, '--btf_gen_floats'), (ALL, '--btf_features=default'),
                (ALL | {'global'}, '--btf_features=+global_var'),
                (ALL | {'global'}, '--btf_features=default,global_var'),
                ({'per-CPU', 'float'}, '--btf_features=var,float'),
                ({'per-CPU'}, '--btf_features=var,+float'),
                ({'per-CPU', 'float'}, '--btf_features=,var,,float,'),
                (set(), '--btf_features='), (set(), '--btf_features=nonsense'),
                (ALL | {'global'}, '--btf_features=all'),
                (ALL | {'global'}, '--btf_features_strict=all'),
                (ALL | {'global'}, '--btf_gen_all'),
                ({'float'}, '--features=float'),
                ({'enum64', 'decl_tag'}, '--btf_features=enum64', '--btf_features=decl_tag'),
                ({'enum64'}, '--btf_gen_floats', '--btf_features=enum64'),
                ({'enum64', 'float'}, '--btf_features=enum64', '--btf_gen_floats'),
                (ALL, '--skip_encoding_btf_enum64', '--btf_features=default'),
                (ALL - {'enum64'}, '--btf_features=default', '--skip_encoding_btf_enum64'),
                (LEGACY - {'per-CPU'}, '--skip_encoding_btf_vars'),
                (LEGACY - {'decl_tag'}, '--skip_encoding_btf_decl_tag'),
                (LEGACY - {'type_tag'}, '--skip_encoding_btf_type_tag'),
                (ALL | {'global'}, '--btf_features=+global_var', '--btf_features=var')):
            self.expect(want, *options)

    def test_languages(self):
        self.program()
        only = 'c89,c99,c11,c'
        said = 'btf-pahole: WARNING: prog: has nothing for BTF in its DWARF, so it gets no BTF\n'
        before = self.read('prog')
        for arguments, settings in ((['--lang_exclude=' + only], {}), (['--lang=rust'], {}),
                                    (['-Xprog'], {}), (['--cu_exclude=prog.c'], {}),
                                    (['--lang_exclude', only], {'PAHOLE_LANG_EXCLUDE': 'rust'}),
                                    ([], {'PAHOLE_LANG_EXCLUDE': only})):
            for output in ([], ['--btf_encode_detached=out']):
                self.assertEqual(self.pahole('-J', *output, *arguments, 'prog', settings=settings),
                                 (0, '', said))
            self.assertNotIn('out', self.names())
            self.assertEqual(self.read('prog'), before)
            # The output of an earlier run is removed, so that it is not taken for a result.
            self.write('out', b'stale')
            os.symlink('out', self.path('link'))
            self.pahole('-J', '--btf_encode_detached=link', *arguments, 'prog', settings=settings)
            self.assertIn('link', self.names())
            self.assertNotIn('out', self.names())
            self.write('out', b'base')
            self.assertEqual((self.pahole('-J', '--btf_base=out', '--btf_encode_detached=out', *arguments,
                                          'prog', settings=settings)[0], self.read('out')), (1, b'base'))
            self.pahole('-J', '--btf_encode_detached=out', *arguments, 'prog', settings=settings)
            self.assertNotIn('out', self.names())
            os.unlink(self.path('link'))
        self.assertEqual(self.pahole('-J', '--lang_exclude=rust', 'prog',
                                     settings={'PAHOLE_LANG_EXCLUDE': only}), (0, '', ''))
        self.assertIn('.BTF', self.section_names('prog'))


class Verbose(Command):
    """With -V, standard output lists skipped functions and all types in the form of pahole's lists."""

    def test_functions_left_out(self):
        self.write('a.c', """#define NOINLINE __attribute__((noinline))
static NOINLINE int same(int a) { return a; }
static NOINLINE int gone(int a, int b, int c) { return a * b - a - b; }
int other(void);
int main(int argc, char **argv)
{ return same(argc) + gone(argc, argv[0][0], argc + 2) + other(); }
""")
        self.write('b.c', """static __attribute__((noinline)) int same(int a) { return a + 1; }
int other(void) { return same(2); }
""")
        self.must('gcc', '-g', '-O2', 'a.c', 'b.c', '-o', 'two')
        status, out, _ = self.pahole('-J', '-V', '--btf_features=default', 'two')
        self.assertEqual(status, 0)
        for line in ('same : skipping BTF encoding of function due to ambiguous address',
                     'gone : skipping BTF encoding of function due to optimized parameters'):
            self.assertIn(line + '\n', out)
        self.assertNotIn(' FUNC gone ', out)

    def listed(self, file, *options):
        """Encodes prog. Checks that the list of types names `file`, which gets the BTF. Returns standard output."""
        status, out, _ = self.pahole('-J', '-V', *options, 'prog')
        self.assertEqual(status, 0)
        self.assertIn(f'File {file}:\n', out)
        return out

    def test_types(self):
        self.program()
        out = self.listed('prog')
        self.assertRegex(out, r'(?m)^\[\d+\] INT int size=4 nr_bits=32 encoding=SIGNED$')
        self.assertRegex(out, r'(?m)^\[\d+\] STRUCT tagged size=16\n\ta type_id=\d+ bits_offset=0$')
        self.assertRegex(out, r'(?m)^\[\d+\] ENUM64 wide size=8\n\tSMALL val=1\n\tLARGE val=17592186044416$')
        self.assertRegex(out, r'(?m)^\[\d+\] FUNC main type_id=\d+$')
        self.assertRegex(out, r'(?m)^\[\d+\] VAR per_cpu_variable type=\d+ linkage=1$')
        self.encode('--btf_encode_detached=base', '--btf_features=+global_var', 'prog')
        self.write('prog2.c', SOURCE + 'struct more { struct tagged t; } more;\n')
        self.must('gcc', '-w', '-g', '-c', 'prog2.c', '-o', 'prog')
        self.listed('out', '--btf_base=base', '--btf_encode_detached=out')
        self.listed('prog', '--btf_base=base', '--btf_features=+distilled_base')
        self.assertEqual(self.pahole('-J', '-V', '--btf_encode_detached=/dev/null', 'prog')[0], 0)

    def test_ids_are_those_of_the_file(self):
        self.program()
        listed = re.findall(r'(?m)^\[(\d+)\] (\S+)', self.listed('prog'))
        dumped = re.findall(r'(?m)^\[(\d+)\] (\S+)', '\n'.join(self.dump('prog')))
        self.assertEqual(listed, dumped)


class Names(Command):
    def test_variable_without_name(self):
        """clang 19 describes string literals as variables without names. Like pahole, btf-pahole ignores them."""
        self.write('a.c', 'int fine = 1; int xbad = 2;\n')
        self.must('gcc', '-g', '-c', 'a.c', '-o', 'good.o')
        self.write('a.o', self.read('good.o').replace(b'xbad', b'\0bad'))
        self.assertEqual(self.pahole('-J', '--btf_features=global_var', 'a.o'), (0, '', ''))
        self.assertIn("VAR 'fine'", '\n'.join(self.dump('a.o')))

    def test_variable_whose_name_btf_does_not_allow(self):
        """The message is pahole's, but the exit status is 1, where pahole has 0."""
        self.write('a.c', 'int fine = 1; int xbad = 2;\n')
        self.must('gcc', '-g', '-c', 'a.c', '-o', 'good.o')
        self.write('a.o', self.read('good.o').replace(b'xbad', b'0bad'))
        name = "Found invalid variable name when encoding btf"
        hint = "PAHOLE: Error: Use '--btf_encode_force' to ignore such symbols"
        before = self.read('a.o')
        status, out, error = self.pahole('-J', '--btf_features=global_var', 'a.o')
        self.assertEqual((status, out), (1, ''))
        self.assertIn(f"PAHOLE: Error: {name} (sym: '0bad').\n{hint}", error)
        self.assertIn("btf-pahole: ERROR: a.o: .debug_info+0x", error)
        self.assertEqual(self.read('a.o'), before)
        forced = ['-J', '--btf_features=global_var', '--btf_encode_force']
        self.assertEqual(self.pahole(*forced, 'a.o'), (0, '', ''))
        text = '\n'.join(self.dump('a.o'))
        self.assertIn("VAR 'fine'", text)
        self.assertNotIn('0bad', text)
        self.write('b.o', before)
        status, out, error = self.pahole(*forced, '-V', 'b.o')
        self.assertEqual(status, 0)
        self.assertIn(f"PAHOLE: Warning: {name}, ignored (sym: '0bad').\n", error)
        self.assertNotIn('Error', error)


class Unread(Command):
    def test_units_that_are_not_read(self):
        self.compile('main.c')
        self.compile('add.c', '-gsplit-dwarf')
        self.must('gcc', '-o', 'mixed', 'main.o', 'add.o')
        self.assertEqual(self.pahole('-J', 'mixed'), (0, '', ''))
        os.remove(self.path('add.dwo'))
        status, out, said = self.pahole('-J', 'mixed')
        self.assertEqual((status, out), (0, ''))
        self.assertRegex(said, '^btf-pahole: WARNING: mixed: 1 split-dwarf-unit is not read, .*\n$')
        self.assertIn('STRUCT', '\n'.join(self.dump('mixed')))
        self.assertEqual(self.pahole('-J', '-q', 'mixed'), (0, '', ''))
        # btf-pahole skips the DWARF of objects with BTF. This does not count as unread.
        self.must(self.btf_emit, '--address-pool', 'main.o')
        self.must('ld', '-r', '-o', 'module.ko', 'main.o')
        self.assertEqual(self.pahole('-J', '--btf_features=default', 'module.ko'), (0, '', ''))


    def test_type_units_of_an_object_without_btf(self):
        """The types of a type unit are encoded although an object with BTF comes first."""
        self.compile('main.c', '-fdebug-types-section')
        self.must(self.btf_emit, '--address-pool', 'main.o')
        self.write('types.c', '''enum shade { DARK = 2 };
struct in_cast { int a; };
int types(void *p) { return DARK + ((struct in_cast *)p)->a; }
''')
        self.must('gcc', '-g', '-fdebug-types-section', '-c', 'types.c')
        self.must('ld', '-r', '-o', 'module.ko', 'main.o', 'types.o')
        self.assertEqual(self.pahole('-J', '--btf_features=default', 'module.ko'), (0, '', ''))
        text = '\n'.join(self.dump('module.ko'))
        for name in "ENUM 'shade'", "STRUCT 'in_cast'", "STRUCT 'point'":
            self.assertIn(name, text)


class Output(Command):
    def test_in_place(self):
        self.program()
        os.chmod(self.path('prog'), 0o750)
        os.symlink('prog', self.path('link'))
        plain = {s.name: s.data for s in self.sections('prog')}
        self.encode('--btf_encode_detached=out', 'prog')
        self.encode('link')
        self.assertEqual(self.section('prog').data, self.read('out'))
        self.assertTrue(os.path.islink(self.path('link')))
        self.assertEqual(stat.S_IMODE(os.stat(self.path('prog')).st_mode), 0o750)
        now = {s.name: s.data for s in self.sections('prog') if s.name not in ('.BTF', '.shstrtab')}
        self.assertEqual({name: plain[name] for name in now}, now)
        status = self.run_tool(self.path('prog')).returncode
        self.assertEqual(status, 1 + 1 + 1 + 3 + 1)

    def sections(self, name):
        return Elf(self.path(name)).sections

    def test_twice_is_once(self):
        self.program()
        self.encode('prog')
        once = self.read('prog')
        self.encode('prog')
        self.assertEqual(self.read('prog'), once)

    def test_functions_without_types(self):
        """Some units have functions but no types. Tests a file of only such units, and a program with some."""
        for n in range(3):
            self.write(f'{n}.c', f'void f{n}(void) {{}}\n')
        self.must('gcc', '-g', '-shared', '-nostdlib', '-o', 'none.so', '0.c', '1.c', '2.c')
        self.program()
        self.must('gcc', '-g', *LINK, '-w', 'prog.c', '0.c', '1.c', '2.c', '-o', 'some')
        for name in ('none.so', 'some'):
            for words in (['-j1'], ['-j8']):
                self.encode('--btf_encode_detached=out', *words, name)
                text = '\n'.join(self.dump('out'))
                for n in range(3):
                    self.assertIn(f'f{n}', text)

    def test_detached(self):
        """--btf_encode_detached implies -J, replaces an older and longer file, and does not change the program."""
        self.program()
        before = self.read('prog')
        self.write('out', b'x' * 100000)
        self.assertEqual(self.pahole('--btf_encode_detached', 'out', 'prog'), (0, '', ''))
        self.assertLess(len(self.read('out')), 10000)
        self.assertEqual(self.read('prog'), before)
        self.must(self.btf_dump, '--check', 'out')
        self.refuse('no/out: .*No such file or directory', '-J', '--btf_encode_detached=no/out',
                    'prog', same=['prog'])

    def test_detached_onto_itself(self):
        self.program()
        self.must('ln', 'prog', 'link')
        self.write('module.c', 'struct s { int a; } s;\n')
        self.must('gcc', '-g', '-c', 'module.c', '-o', 'module.ko')
        for name, other in ('prog', 'link'), ('module.ko', './module.ko'):
            self.refuse(f'{other}: is an input, too; it would be overwritten', '-J',
                        f'--btf_encode_detached={other}', name, same=[name])

    def test_threads_change_nothing(self):
        self.program()
        self.must('gcc', '-g', '-O1', self.compile('main.c'), self.compile('add.c'), '-o', 'two')
        for name in ('prog', 'two'):
            self.encode('--btf_encode_detached=one', '--btf_features=+global_var', name)
            for words in (['-j'], ['-j2'], ['-j64'], ['--jobs=3']):
                self.encode('--btf_encode_detached=out', *words, '--btf_features=+global_var', name)
                self.assertEqual(self.read('out'), self.read('one'))

    def test_base(self):
        """The base is raw BTF, or the section .BTF of an ELF file, with or without the flag SHF_ALLOC. Types of the
        base are not repeated."""
        self.program()
        self.encode('prog')
        self.encode('--btf_encode_detached=raw', 'prog')
        self.must('objcopy', '--add-section=.BTF=raw', '--set-section-flags=.BTF=alloc,readonly',
                  self.compile('add.c'), 'kernel.o')
        self.must('gcc', '-g', '-O1', self.compile('main.c'), self.compile('add.c'), '-o', 'two')
        for base in ('raw', 'prog', 'kernel.o'):
            for words in ([f'--btf_base={base}'], ['--btf_base', base]):
                self.encode(*words, f'--btf_encode_detached=out-{base}', 'two')
        self.assertEqual(self.read('out-raw'), self.read('out-prog'))
        self.assertEqual(self.read('out-raw'), self.read('out-kernel.o'))
        text = '\n'.join(self.dump('out-raw', base='raw'))
        self.assertIn('point', text)
        self.assertNotRegex(text, r"INT '?int'? ")
        self.encode('--btf_base=raw', 'two')
        self.assertEqual(self.section('two').data, self.read('out-raw'))

    def test_bad_base(self):
        self.program()
        self.write('text', 'no BTF at all, but longer than any header\n')
        self.write('empty', '')
        self.encode('--btf_encode_detached=raw', 'prog')
        self.write('cut', self.read('raw')[:-5])
        self.compile('add.c')
        self.must(self.btf_emit, 'add.o')
        for base in ('missing', 'text', 'empty', 'cut', 'prog', 'add.o', '.'):
            self.refuse('.+', '-J', f'--btf_base={base}', 'prog', same=['prog'])

    def test_limit_of_file_sizes(self):
        """At the limit of `ulimit -f`, btf-pahole fails and does not change the file. It does not die of SIGXFSZ."""
        self.program()
        size = len(self.read('prog')) + 64
        self.refuse('prog: .*File too large', '-J', 'prog', same=['prog'],
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        # A file in memory reaches the limit. Its path would say nothing, so the message names the input.
        self.must('gcc', '-g', '-c', 'prog.c', '-o', 'prog.o')
        for name, settings in ('prog.o', {}), ('prog', {'BTF_PAHOLE_STRICT': '1'}):
            self.refuse(name + ': cannot write: File too large', '-J', name, same=[name], settings=settings,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))

    def test_read_only_folder(self):
        if os.geteuid() == 0:
            self.skipTest('root writes everywhere')
        self.program()
        os.chmod(self.folder, 0o555)
        try:
            self.refuse('.*Permission denied', '-J', '--btf_encode_detached=out', 'prog',
                        same=['prog'])
        finally:
            os.chmod(self.folder, 0o755)


class HandOver(Command):
    def setUp(self):
        super().setUp()
        for name in ('first', 'second', 'third'):
            os.mkdir(self.path(name))

    def path_of(self, *folders):
        """Returns a PATH of `folders` and of a folder with cat and sh, which the fake pahole needs. The system's pahole
        is not in this PATH."""
        os.makedirs(self.path('tools'), exist_ok=True)
        for tool in ('cat', 'sh'):
            if not os.path.exists(self.path('tools/' + tool)):
                os.symlink(shutil.which(tool), self.path('tools/' + tool))
        return ':'.join([*folders, self.path('tools')])

    def real(self, name, *arguments, **settings):
        """Checks that the fake pahole `name` gets exactly these arguments and the input, and that
        btf-pahole passes on the output and exit status of the fake."""
        done = self.pahole(*arguments, settings=settings, input='some input')
        self.assertEqual(done, (43, 'some input', 'to stderr\n'))
        argv = self.read('argv').decode().split('\0')[:-1]
        self.assertEqual(argv, [name, *arguments])
        os.remove(self.path('argv'))

    def none(self, pattern='pahole itself must run, but PATH has none; .*',
             **settings):
        self.refuse(pattern, '-C', 'task_struct', 'prog', settings=settings)

    def test_first_in_path(self):
        for folder in ('first', 'second'):
            self.script(folder + '/pahole', FAKE)
        first = self.path('first/pahole')
        path = self.path_of(self.path('first'), self.path('second'))
        for arguments in (['-C', 'task_struct', 'vmlinux'], ['vmlinux'], [], ['--usage'],
                          ['-CJob'], ['-J', '--contains_enumerator=ON', 'vmlinux'],
                          ['-E', 'a b', '', '*', '"', "'", '-F', 'btf', '--nonsense', '\n', '--',
                           '-J'],
                          ['--class_name', '-J', 'x']):
            self.real(first, *arguments, PATH=path)
        self.script('pahole', FAKE)
        self.real('./pahole', '-C', 'x', PATH=':' + path)

    def test_first_program_in_path(self):
        os.mkdir(self.path('first/pahole'))
        self.write('second/pahole', FAKE)  # not executable
        self.script('third/pahole', FAKE)
        self.real(self.path('third/pahole'), 'x', PATH=self.path_of(
            self.path('missing'), self.path('first'), self.path('second'), self.path('third')))

    def test_named(self):
        real = self.script('first/real', FAKE)
        self.script('second/pahole', FAKE)
        path = self.path_of(self.path('second'))
        self.real(real, 'x', PATH=path, BTF_PAHOLE_REAL=real)
        self.real('first/real', 'x', PATH=path, BTF_PAHOLE_REAL='first/real')
        self.real(real, 'x', PATH=self.path_of(self.path('first')), BTF_PAHOLE_REAL='real')
        self.real(self.path('second/pahole'), 'x', PATH=path, BTF_PAHOLE_REAL='')
        self.none('no/such: No such file or directory', BTF_PAHOLE_REAL='no/such')
        self.none('/: Permission denied', BTF_PAHOLE_REAL='/')
        self.none('.*BTF_PAHOLE_REAL=nowhere names no other pahole', BTF_PAHOLE_REAL='nowhere')

    def test_none(self):
        for path in (self.path_of(), '', None, '/no/such', ':'):
            self.none(PATH=path)

    def test_encoding_is_never_handed_over(self):
        self.script('first/pahole', FAKE)
        self.program()
        path = self.path_of(self.path('first'))
        self.assertEqual(self.pahole('-J', 'prog', settings={'PATH': path}), (0, '', ''))
        self.refuse('missing: .*', '-J', 'missing', settings={'PATH': path})
        for word in ('--version', '--numeric_version', '--supported_btf_features'):
            self.assertEqual(self.pahole(word, settings={'PATH': path})[0], 0)
        self.assertNotIn('argv', self.names())

    def itself(self, run_as=None, **settings):
        """Checks that btf-pahole fails instead of running itself. An endless loop would exceed the time limit of
        call()."""
        done = self.run_tool(run_as or self.btf_pahole, '-C', 'x', settings=settings, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertRegex(done.stderr, '^btf-pahole: ERROR: pahole itself must run, .*\n$')

    def test_itself_in_path(self):
        os.symlink(self.btf_pahole, self.path('first/pahole'))
        shutil.copy(self.btf_pahole, self.path('second/pahole'))
        shutil.copy(self.btf_pahole, self.path('third/pahole'))
        folders = [self.path(name) for name in ('first', 'second', 'third')]
        for chosen in (folders[:1], folders[1:2], folders[:2], folders[1:], folders, folders[::-1]):
            self.itself(PATH=self.path_of(*chosen))
            for folder in chosen:
                self.itself(folder + '/pahole', PATH=self.path_of(*chosen))
            self.assertEqual(self.pahole('--version', settings={'PATH': self.path_of(*chosen)}),
                             (0, 'v1.32\n', ''))

    def test_itself_before_a_real_one(self):
        os.symlink(self.btf_pahole, self.path('first/pahole'))
        shutil.copy(self.btf_pahole, self.path('second/pahole'))
        real = self.script('third/pahole', FAKE)
        folders = [self.path(name) for name in ('first', 'second', 'third')]
        self.real(real, '-C', 'x', PATH=self.path_of(*folders))
        self.real(real, '-C', 'x', PATH=self.path_of(folders[1], folders[0], folders[2]))

    def test_itself_named(self):
        os.symlink(self.btf_pahole, self.path('first/pahole'))
        shutil.copy(self.btf_pahole, self.path('second/pahole'))
        for name in ('first/pahole', 'second/pahole', self.btf_pahole):
            self.itself(PATH=self.path_of(), BTF_PAHOLE_REAL=name)
            self.itself(self.path('second/pahole'), PATH=self.path_of(), BTF_PAHOLE_REAL=name)

    def test_script_around_itself(self):
        """A pahole in PATH or in BTF_PAHOLE_REAL may be a script that runs btf-pahole."""
        for folder in ('first', 'second'):
            self.script(folder + '/pahole', f'#!/bin/sh\nexec {self.btf_pahole} "$@"\n')
        folders = [self.path(name) for name in ('first', 'second', 'third')]
        self.itself(PATH=self.path_of(*folders))
        self.itself(PATH=self.path_of(*folders), BTF_PAHOLE_REAL='first/pahole')
        real = self.script('third/pahole', FAKE)
        self.real(real, '-C', 'x', PATH=self.path_of(*folders))


if __name__ == '__main__':
    run(__name__)
