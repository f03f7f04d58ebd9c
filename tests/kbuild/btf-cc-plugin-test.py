#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests btf-cc --plugin and --build-plugin: which compiles use the gcc plugin, which plugin is chosen, and that
the plugin affects only the object's BTF. tests/emit/plugin tests the contents of this BTF.

usage: btf-cc-plugin-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from helpers.btf_reader import Elf
from helpers.cache_tools import Ccache, Sccache, missing
from helpers.kbuild_case import HERE, PROGRAM, KbuildCase, run, target_of
from helpers.usage import check_arguments

COMPILE = ['-g', '-O2', '-c', 'add.c', '-o', 'add.o']
BTF = ('.BTF', '.rela.BTF', '.debug', '.rela.debug')


def headers_of(gcc):
    """True if the compiler's plugin headers are installed."""
    if not shutil.which(gcc):
        return False
    folder = subprocess.run([gcc, '-print-file-name=plugin'], capture_output=True, text=True).stdout
    return os.path.exists(os.path.join(folder.strip(), 'include/gcc-plugin.h'))


class PluginCase(KbuildCase):
    def setUp(self):
        super().setUp()
        for name, text in PROGRAM.items():
            self.write(name, text)

    def plugin(self, *arguments, said='', status=0, settings=None):
        """Runs btf-cc --plugin. Checks its exit status, and that it prints `said` on standard error. Returns standard
        output."""
        done = self.cc('--plugin', *arguments, settings=settings)
        self.assertEqual((done[0], done[2].decode()), (status, said), arguments)
        return done[1]

    def way(self, *arguments, settings=None):
        """Compiles; returns "plugin", or the reason why the plugin was not used."""
        done = self.cc('--plugin', '-v', *arguments, settings=settings)
        self.assertEqual(done[0], 0, done)
        first = done[2].decode().splitlines()[0]
        return first.split(': ', 2)[-1].removeprefix('object BTF by the ').removeprefix(
            'not by the plugin: ')

    def sections(self, name):
        """The contents of an object's sections by name, except those of object BTF, the symbol table and its names, and
        the names of sections."""
        return {s.name: bytes(s.data or b'') for s in Elf(self.path(name)).sections
                if s.name not in (*BTF, '.symtab', '.strtab', '.shstrtab')}


class Compiles(PluginCase):
    def test_object(self):
        self.plugin('gcc', *COMPILE)
        self.assertTrue(self.has_object_btf('add.o'))
        self.assertFalse([n for n in self.section_names('add.o') if n.startswith('.debug_')])
        self.assertEqual(self.names(), {'add.c', 'main.c', 'other.c', 'add.o'})
        types = {line.split('] ')[1].split(' size')[0] for line in self.dump('add.o') if line[0] == '['}
        self.assertLessEqual({"STRUCT 'point'", "INT 'int'"}, types)

    def test_true_signatures(self):
        """With the feature true_signature, clones are left out that take a parameter in another register than programs
        expect: `real` in a floating-point register, `behind` after a new parameter. BTF from DWARF lacks them."""
        self.write('clones.c', """
            #define apart __attribute__((noinline))
            struct pair { long a, b; };
            static apart int real(double d, int unused) { return (int)d; }
            static apart int behind(struct pair *p, int b) { return (int)p->a + b; }
            static apart int last(int a, int unused) { return a * 3; }
            int use(struct pair *p, int x)
            { return real(x, x) + behind(p, x) + behind(p + 1, 1) + last(x, x); }
            int main(void) { struct pair p = {1, 2}; return use(&p, 3); }
        """)
        for way in '--plugin', '--strict':
            done = self.cc(way, '--features=+true_signature', 'gcc', '-g', '-O2', '-c', 'clones.c')
            self.assertEqual(done, (0, b'', b''))
            self.must('gcc', '-o', 'program', 'clones.o')
            self.must(self.btf_merge, '--features=+true_signature', '--image=program', '-o', 'out', 'clones.o')
            functions = {line.split("'")[1].split('.')[0] for line in self.dump('out') if ' FUNC ' in line}
            self.assertEqual(functions, {'last', 'use', 'main'}, way)

    def test_parts_do_not_count(self):
        """A part that gcc split off a function ("parted.part.0") takes `p` in another register, and the function keeps
        its FUNC."""
        self.write('part.c', """
            struct pair { double a, b; };
            static __attribute__((noinline)) void sink(double n) { asm volatile("" : : "g"(n)); }
            int parted(int b, struct pair *p)
            {
                if (b < 3)
                    return 0;
                const double a = p->a;
                for (int i = 0; i < b; ++i) {
                    sink(a + i); sink(a * i); sink(a - b); sink(a / b); sink(a + b);
                }
                return 1;
            }
            int main(int n, char **v)
            { struct pair p = {n, n}; return parted(n, &p) + parted(n + (v != 0), &p); }
        """)
        self.plugin('--features=+true_signature', 'gcc', '-g', '-O2', '-c', 'part.c')
        if ' parted.part.' not in self.must('nm', 'part.o'):
            self.skipTest('gcc splits off no part of `parted`')
        self.must('gcc', '-o', 'program', 'part.o')
        self.must(self.btf_merge, '--features=+true_signature', '--image=program', '-o', 'out', 'part.o')
        self.assertIn("FUNC 'parted'", '\n'.join(self.dump('out')))

    def test_link(self):
        """Objects with BTF from the plugin and from DWARF can be linked and merged together, without a warning."""
        for way, name in ((['--plugin'], 'add'), ([], 'main'), (['--plugin'], 'other')):
            self.assertEqual(self.cc(*way, 'gcc', '-g', '-O1', '-c', f'{name}.c')[0::2], (0, b''))
        self.must('ld', '-r', '-o', 'all.o', 'add.o', 'main.o', 'other.o')
        self.must('gcc', '-o', 'program', 'add.o', 'main.o', 'other.o')
        done = self.call(self.btf_merge, 'all.o', '--image=program', '-o', 'all.btf', '--stats')
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn('WARNING', done.stderr)
        self.assertIn('objects_by_compiler: 2\n', done.stderr)
        self.assertIn("FUNC 'add'", '\n'.join(self.dump('all.btf')))

    def test_module(self):
        """One object has BTF from the plugin, the other only DWARF; btf-pahole merges both. In the plugin's object
        the assembler, not btf-emit, made the relocations of .BTF."""
        self.write('cpu.c', 'int cpu __attribute__((section(".data..percpu"), used)) = 4;\n')
        self.plugin('gcc', '-g', '-O2', '-c', 'cpu.c')
        self.must('gcc', '-g', '-O2', '-c', 'main.c')
        self.must('ld', '-r', '-o', 'x.ko', 'cpu.o', 'main.o')
        self.plugin('gcc', *COMPILE)
        self.must(self.btf_merge, '-o', 'base', 'add.o')
        self.must(self.btf_pahole, '-J', '--btf_base=base', 'x.ko')
        dump = '\n'.join(self.dump('x.ko', 'base'))
        for text in ("VAR 'cpu'", "DATASEC '.data..percpu'", "FUNC 'main'"):
            self.assertIn(text, dump)

    def test_in_the_same_process(self):
        """btf-cc finds the plugin, then replaces itself by the compiler: both have the same process id."""
        self.script('gcc-13', '#!/bin/sh\necho $$ "$@"\n')
        key = self.key_of('./gcc-13')
        self.write_plugin(key)
        with subprocess.Popen([self.btf_cc, '--plugin', './gcc-13', *COMPILE], cwd=self.folder, text=True,
                              env=self.environment({'BTF_CC_PLUGIN_DIR': self.path('plugins')}),
                              stdout=subprocess.PIPE) as process:
            words = process.communicate()[0].split()
        self.assertEqual(words, [str(process.pid), *COMPILE, '-g0',
                                 f'-fplugin={self.path("plugins")}/{key}/btflink.so',
                                 '-fplugin-arg-btflink-features=0x1ff'])

    def key_of(self, gcc):
        """Returns the compiler's hash, the name of its plugin's folder, from the message that there is no plugin."""
        done = self.cc('--plugin', gcc, *COMPILE, settings={'BTF_CC_PLUGIN_DIR': self.path('nothing')})
        self.assertEqual(done[0], 2)
        return done[2].decode().split(')')[0].split()[-1]

    def write_plugin(self, key):
        os.makedirs(self.path(f'plugins/{key}'))
        self.write(f'plugins/{key}/btflink.so', '')

    def test_features(self):
        self.script('gcc-13', '#!/bin/sh\necho "$@"\n')
        self.write_plugin(self.key_of('./gcc-13'))
        settings = {'BTF_CC_PLUGIN_DIR': self.path('plugins'),
                    'PAHOLE_FLAGS': '--btf_features=float,var --lang_exclude=rust'}
        said = self.plugin('./gcc-13', *COMPILE, settings=settings)
        self.assertIn(b'-features=0x6\n', said)

    def test_no_plugin(self):
        """A missing plugin is an error for a compile that would use it; the compiler is not run. Other calls work."""
        none = {'BTF_CC_PLUGIN_DIR': self.path('nothing')}
        done = self.cc('--plugin', 'gcc', *COMPILE, settings=none)
        self.assertEqual(done[0], 2)
        self.assertRegex(done[2].decode(),
                         r'^btf-cc: ERROR: gcc: no plugin for exactly this compiler \(/.*gcc.*, [0-9a-f]+\); '
                         'build one by: btf-cc --build-plugin gcc\n$')
        self.assertNotIn('add.o', self.names())
        self.write('empty.S', '.globl x\nx:\n')
        real_mode = [['-g', '-m16', '-ffreestanding', '-c', 'add.c']] if target_of('gcc') == 'x86_64' else []
        for words in (['--version'], ['-E', 'add.c'], ['-S', 'add.c', '-o', '-'], ['-M', 'add.c'],
                      ['-print-file-name=plugin'], ['-c', '-x', 'c', '/dev/null', '-o', '/dev/null'],
                      ['-g', '-c', '-x', 'assembler', '/dev/null', '-o', 'tmp.o'],
                      ['-g', '-c', 'empty.S'], ['-fsyntax-only', 'add.c'], ['-O2', '-c', 'add.c'],
                      ['-g', 'add.c', 'main.c', '-o', 'program'],
                      ['-g', '-DBUILD_VDSO', '-c', 'add.c'], *real_mode):
            plain = self.run_tool('gcc', *words)
            self.assertEqual(self.cc('--plugin', 'gcc', *words, settings=none),
                             (0, plain.stdout, b''), words)

    def test_program_with_options_before_the_compiler(self):
        """btf-cc does not know the options of programs such as nice, so it does not find the compiler after them. It
        must be put directly in front of the compiler."""
        for program, *options in ['nice', '-n', '1'], ['env', '-u', 'X'], ['ionice', '-c', '3']:
            for gcc in 'gcc', 'cc':
                self.plugin(program, *options, gcc, *COMPILE, status=2,
                            said=f'btf-cc: ERROR: --plugin: cannot tell whether {program} or {gcc} is the compiler; '
                                 'put btf-cc directly in front of the compiler\n')
            done = self.run_tool(program, *options, self.btf_cc, '--plugin', 'gcc', *COMPILE)
            self.assertEqual((done.returncode, done.stderr), (0, b''))

    def test_words_that_look_like_a_second_compiler(self):
        """The message about a missing plugin names the compiler, even if a later word is the name of another one."""
        self.script('mycc', '#!/bin/sh\nexec gcc "$@"\n')
        for words in ['-I', 'gcc'], ['-include', 'gcc'], ['-MMD', '-MF', 'gcc'], ['-o', 'gcc'], ['-Wall', 'gcc']:
            done = self.cc('--plugin', './mycc', *words, '-g', '-c', 'add.c')
            self.assertEqual(done[0], 2, words)
            self.assertRegex(done[2], rb'^btf-cc: ERROR: \./mycc: no plugin for exactly this compiler ', words)
        self.plugin('nosuch', '-n', '1', 'gcc', '-g', '-c', 'add.c', status=2,
                    said='btf-cc: ERROR: nosuch: no such compiler\n')

    def test_clang(self):
        """clang with --plugin is an error."""
        for name in ('clang', 'clang-19'):
            self.plugin(name, *COMPILE, status=2, said='btf-cc: ERROR: the plugin is for gcc; for clang, leave '
                        'out --plugin or BTF_CC_PLUGIN\n')

    def test_upgraded_compiler(self):
        """A hash of gcc's driver program selects the plugin, so a gcc with another build id needs another plugin."""
        driver = pathlib.Path(shutil.which('gcc')).resolve()
        contents = bytearray(driver.read_bytes())
        note = contents.index(b'GNU\0', contents.index(b'\x14\0\0\0\x03\0\0\0GNU\0'))
        contents[note + 4] ^= 1
        self.script('gcc', bytes(contents))
        done = self.cc('--plugin', './gcc', *COMPILE)
        self.assertEqual(done[0], 2)
        self.assertIn(b'no plugin for exactly this compiler', done[2])

    def test_names_of_one_compiler(self):
        """Symbolic links to the compiler are followed. If the named file is a link to ccache, the compiler is another
        program of this name in PATH."""
        driver = pathlib.Path(shutil.which('gcc')).resolve()
        os.mkdir(self.path('bin'))
        os.symlink(driver, self.path('bin/my-gcc'))
        self.assertEqual(self.way(self.path('bin/my-gcc'), *COMPILE), 'plugin')
        if ccache := shutil.which('ccache'):
            os.symlink(ccache, self.path('bin/gcc'))
            with_path = {'PATH': f'{self.path("bin")}:{os.environ["PATH"]}', 'CCACHE_DISABLE': '1'}
            self.assertEqual(self.way('gcc', *COMPILE, settings=with_path), 'plugin')
            self.assertEqual(self.way(self.path('bin/gcc'), *COMPILE, settings=with_path), 'plugin')
            self.assertEqual(self.way(self.path('bin/gcc'), *COMPILE, settings={'CCACHE_DISABLE': '1'}), 'plugin')
        else:
            print('SKIP links to ccache: ccache is not installed')
        self.assertTrue(self.has_object_btf('add.o'))

    def test_languages_and_options(self):
        self.write('code.S', '.text\n.globl f\n.type f,@function\nf: ret\n.size f,.-f\n')
        for name in ('add.cc', 'add.h', 'odd'):
            shutil.copy(self.path('other.c'), self.path(name))
        c = ['gcc', '-g', '-O2', '-c']
        for expected, words in {
                'plugin': [[*c, 'add.c'], [*c, '-x', 'c', 'odd'], [*c, '-xc', 'odd', '-o', 'odd.o'],
                           [*c, '-fno-lto', 'add.c'], [*c, '-flto', '-ffat-lto-objects', 'add.c'],
                           [*c, '-gdwarf-4', '-ggdb', 'add.c'], [*c, '-g0', '-g1', 'add.c']],
                'not C': [[*c, 'code.S'], [*c, '-x', 'c', 'odd', '-x', 'none', 'code.S']],
                'the command does not ask for debug information (-g)': [[*c, '-g0', 'add.c']],
                '-flto without -ffat-lto-objects': [[*c, '-flto', 'add.c'], [*c, '-flto=2', 'add.c']]}.items():
            for command in words:
                self.assertEqual(self.way(*command), expected, command)
        header = [*c, '-x', 'c-header', 'add.h', '-o', 'add.h.gch']
        self.assertEqual(self.cc('--plugin', '-v', *header), (0, b'', b''))
        if compiler := shutil.which('g++'):
            os.symlink(compiler, self.path('g++-12'))
            for name in ('g++', './g++-12'):
                self.assertEqual(self.way(name, '-g', '-c', 'add.c'), 'a compiler for C++')
            self.assertEqual(self.way('gcc', '-g', '-c', 'add.cc'), 'not C')
        else:
            print('SKIP C++: g++ is not installed')
        for flags in ('--lang_exclude=c', '--lang=rust', '--btf_features=var --lang_exclude=c99,c11'):
            self.assertEqual(self.way(*c, 'add.c', settings={'PAHOLE_FLAGS': flags}),
                             'PAHOLE_FLAGS or PAHOLE_LANG_EXCLUDE leaves out a version of C, or units by name')
        os.makedirs(self.path('include/config'))
        self.write('include/config/auto.conf',
                   '\nCONFIG_DEBUG_INFO_BTF=y\nCONFIG_GENDWARFKSYMS=y\n')
        tree = {'objtree': '.', 'PAHOLE': 'btf-pahole'}
        self.assertEqual(self.way(*c, 'add.c', settings=tree), 'CONFIG_GENDWARFKSYMS reads DWARF')
        self.assertTrue(self.section('add.o', '.debug_info'))

    def test_other_outputs(self):
        """Preprocessed text, assembler code and dependencies are the same as from gcc alone."""
        for words in (['-E', 'add.c'], ['-S', '-O2', 'add.c', '-o', '-'], ['-M', 'add.c'],
                      ['-MM', '-MG', 'add.c'], ['-g', '-S', 'add.c', '-o', '-']):
            plain = self.run_tool('gcc', *words)
            self.assertEqual(self.plugin('gcc', *words), plain.stdout, words)
        self.plugin('gcc', *COMPILE, '-MD', '-MF', 'deps')
        ours = self.read('deps')
        self.must('gcc', *COMPILE, '-MD', '-MF', 'deps')
        self.assertEqual(ours, self.read('deps'))

    def test_names_of_files(self):
        for name in ('with blank.c', "quo'te.c", 'do$lar.c', 'a,b=c.c', 'ü.c', 'new\nline.c', '-dash.c'):
            shutil.copy(self.path('add.c'), self.path('./' + name))
            self.plugin('gcc', '-g', '-c', './' + name)
            self.assertTrue(self.has_object_btf(name[:-2] + '.o'), name)
        folder = self.path('plug ins,=')
        driver = self.plugin_file()
        os.makedirs(f'{folder}/{driver.parent.name}')
        shutil.copy(driver, f'{folder}/{driver.parent.name}')
        self.plugin('gcc', *COMPILE, settings={'BTF_CC_PLUGIN_DIR': folder})
        self.assertTrue(self.has_object_btf('add.o'))

    def plugin_file(self):
        return pathlib.Path(self.btf_cc).parent / 'gcc-plugins' / self.key_of('gcc') / 'btflink.so'

    def test_several_sources(self):
        self.plugin('gcc', '-g', '-O1', '-c', 'add.c', 'main.c', 'other.c')
        for name in ('add.o', 'main.o', 'other.o'):
            self.assertTrue(self.has_object_btf(name))
        self.write('words', '-g -c "add.c"')
        self.plugin('gcc', '@words')
        self.assertTrue(self.has_object_btf('add.o'))

    def test_nothing_to_strip(self):
        self.plugin('--strip-dwarf', '--strict', 'gcc', *COMPILE)
        self.assertTrue(self.has_object_btf('add.o'))

    def test_strict(self):
        """With --strict the compile fails if the object gets no BTF, but not if a part of the BTF is missing."""
        why = "btflink: no object BTF: .*'odd\\$name'.*\n"
        part = "btflink: long.c: .*'m65535' is left out.*\n"
        self.write('odd.c', 'int odd$name;\nint fine;\n')
        self.write('long.c', f"struct {{ {' '.join(f'int m{i};' for i in range(65536))} }} all;\n")
        for name, options, status, said in (
                ('odd', [], 0, f'cc1: note: {why}'), ('odd', ['--quiet'], 0, ''),
                ('odd', ['--strict'], 1, f'cc1: error: {why}'),
                ('odd', ['--strict', '-q'], 1, f'cc1: error: {why}'),
                ('long', ['--strict'], 0, f'cc1: note: {part}'), ('long', ['-q'], 0, '')):
            done = self.cc('--plugin', '--features=var,global_var', *options, 'gcc', '-g', '-c', f'{name}.c')
            self.assertEqual(done[0], status, (options, done))
            self.assertRegex(done[2].decode(), f'^{said}$')
            self.assertEqual(f'{name}.o' in self.names(), status == 0)
            if status == 0:
                self.assertEqual(self.has_object_btf(f'{name}.o'), name == 'long')
                os.remove(self.path(f'{name}.o'))

    def test_unsupported_architecture(self):
        """x32, which btf-emit does not support either."""
        if target_of('gcc') != 'x86_64':
            self.skipTest('gcc -mx32 is for x86-64')
        self.write('x32.c', 'int f(int a) { return a; }\n')
        why = 'btflink: no object BTF: unsupported architecture\n'
        for options, status, said in (([], 0, f'cc1: note: {why}'), (['--strict'], 1, f'cc1: error: {why}')):
            self.plugin(*options, 'gcc', '-g', '-mx32', '-c', 'x32.c', said=said, status=status)
            self.assertEqual('x32.o' in self.names(), status == 0)
            if status == 0:
                self.assertFalse(self.has_object_btf('x32.o'))
                os.remove(self.path('x32.o'))

    def test_compiler_errors(self):
        self.write('bad.c', 'int f(void) { return nothing; }\n')
        plain = self.run_tool('gcc', '-g', '-c', 'bad.c')
        self.assertEqual(self.cc('--plugin', 'gcc', '-g', '-c', 'bad.c'),
                         (1, plain.stdout, plain.stderr))
        self.assertNotIn('bad.o', self.names())

    def test_precompiled_header(self):
        """The plugin makes gcc read headers instead of precompiled ones, whose declarations gcc's debug hooks do not
        report."""
        self.write('types.h', 'typedef int number; typedef int number;\n')
        self.write('use.c', '#include "types.h"\nnumber add(number *a, number b) { return *a + b; }\n')
        for use in (['gcc', '-g', '-c', 'use.c'], ['gcc', '-g', '-save-temps', '-c', 'use.c']):
            self.plugin(*use)
            expected = self.dump('use.o')
            self.assertIn("TYPEDEF 'number'", '\n'.join(expected))
            for flags in (['-g'], ['-g0']):
                self.plugin('gcc', *flags, '-c', 'types.h', '-o', 'types.h.gch')
                self.plugin(*use)
                self.assertEqual(self.dump('use.o'), expected, (use, flags))
            os.remove(self.path('types.h.gch'))

    def test_prefix_map(self):
        """With -ffile-prefix-map, the object does not depend on the build folder."""
        objects = []
        for folder in ('one', 'another'):
            os.mkdir(self.path(folder))
            self.write(f'{folder}/a.c', 'int a(void) { return 1; }\n')
            path = self.path(folder)
            self.plugin('gcc', '-g', '-c', f'-ffile-prefix-map={path}=.', f'{path}/a.c', '-o', f'{folder}/a.o')
            objects.append(self.read(f'{folder}/a.o'))
        self.assertEqual(objects[0], objects[1])

    def test_code(self):
        """With the plugin, all sections but those of BTF, symbols and names are the same as without -g."""
        tests = pathlib.Path(HERE).parent
        cases = [*tests.glob('emit/cases/*.c'), *tests.glob('emit/plugin/cases/*.c')]
        compared = 0
        for case in cases:
            words = ['-w', '-O2', '-c', str(case), '-o', 'case.o']
            if self.call('gcc', *words).returncode:
                continue  # because the case is for other compilers
            expected = self.sections('case.o')
            self.plugin('gcc', '-g', *words)
            self.assertEqual(self.sections('case.o'), expected, case)
            compared += 1
        self.assertGreater(compared, 10)

    def test_settings_line(self):
        lines = {self.cc(*options, '--settings', 'gcc', settings=settings)[1]
                 for options, settings in (([], {}), (['--plugin'], {}),
                                           (['--plugin'], {'BTF_CC_PLUGIN_DIR': self.path('none')}))}
        self.assertEqual(len(lines), 3)
        self.assertEqual(self.cc('--plugin', '--settings', 'gcc')[1],
                         self.cc('--settings', 'gcc', settings={'BTF_CC_PLUGIN': '1'})[1])


class Caches(PluginCase):
    def setUp(self):
        super().setUp()
        if reason := missing('ccache'):
            self.skipTest(reason)
        self.cache = Ccache(self.path('cache'))

    def compile_cached(self, *front, hit, **settings):
        settings = self.cache.environment(**settings)
        self.plugin(*front, 'ccache', 'gcc', *COMPILE, settings=settings)
        counters = self.cache.statistics()
        self.assertEqual((counters['hit'], counters['cache_miss']), (int(hit), int(not hit)), counters)
        return self.read('add.o')

    def test_ccache(self):
        folder = pathlib.Path(shutil.copytree(pathlib.Path(self.btf_cc).parent / 'gcc-plugins',
                                              self.path('plugins')))
        place = {'BTF_CC_PLUGIN_DIR': str(folder)}
        first = self.compile_cached(hit=False, **place)
        os.remove(self.path('add.o'))
        self.assertEqual(self.compile_cached(hit=True, **place), first)
        self.assertTrue(self.has_object_btf('add.o'))
        self.compile_cached('--features=float', hit=False, **place)
        for plugin in folder.glob('*/btflink.so'):  # replaced by another build
            with open(plugin, 'ab') as file:
                file.write(b'\0')
        self.compile_cached(hit=False, **place)

    def test_sccache(self):
        """sccache's key depends on the command, but not on the plugin's file, so btf-cc puts a hash of this file into
        the command."""
        if reason := missing('sccache'):
            self.skipTest(reason)
        folder = pathlib.Path(shutil.copytree(pathlib.Path(self.btf_cc).parent / 'gcc-plugins',
                                              self.path('plugins')))
        with Sccache(self.path('sccache')) as server:
            settings = {**server.settings(), 'BTF_CC_PLUGIN_DIR': str(folder)}
            for change, counts in ((b'', (0, 1)), (b'', (1, 1)), (b'\0', (1, 2))):
                for plugin in folder.glob('*/btflink.so'):
                    with open(plugin, 'ab') as file:
                        file.write(change)
                self.plugin('sccache', 'gcc', *COMPILE, settings=settings)
                self.assertTrue(self.has_object_btf('add.o'))
                self.assertEqual(server.counts(), counts)

    def test_plain_objects_stay_apart(self):
        self.call('ccache', 'gcc', *COMPILE, env=self.environment(self.cache.environment()))
        self.cache.statistics()
        self.compile_cached(hit=False)
        self.assertTrue(self.has_object_btf('add.o'))

    def test_distributed(self):
        """Compile servers have no plugin, so the object gets its BTF from DWARF."""
        os.mkdir(self.path('bin'))
        for name in ('distcc', 'icecc'):
            self.script(f'bin/{name}', '#!/bin/sh\nexec "$@"\n')
        with_path = {'PATH': f'{self.path("bin")}:{os.environ["PATH"]}'}
        for words, more in ((['distcc', 'gcc'], {}), (['icecc', 'gcc'], {}),
                            (['gcc'], {'CCACHE_PREFIX': 'distcc'})):
            self.assertEqual(self.way(*words, *COMPILE, settings={**with_path, **more}),
                             'compiled on another machine')
            self.assertTrue(self.has_object_btf('add.o'))

    def test_variables_for_env(self):
        """The value of a variable may look like a compiler, or like a program that runs one."""
        os.mkdir(self.path('bin'))
        self.script('bin/distcc', '#!/bin/sh\nexec "$@"\n')
        self.script('bin/sccache', '#!/bin/sh\necho "$@"\n')
        with_path = {'PATH': f'{self.path("bin")}:{os.environ["PATH"]}'}
        for words, way in ((['X=/opt/gcc', 'distcc', 'gcc'], 'compiled on another machine'),
                           (['X=/opt/distcc', 'gcc'], 'plugin')):
            self.assertEqual(self.way('env', *words, *COMPILE, settings=with_path), way)
        said = self.plugin('env', 'SCCACHE_DIR=/cache/gcc', 'sccache', 'gcc', *COMPILE, settings=with_path)
        self.assertIn(b' -fplugin-arg-btflink-id=', said)


class Builds(PluginCase):
    """Tests btf-cc --build-plugin."""

    def build(self, *gccs, **settings):
        settings = {'BTF_CC_PLUGIN_DIR': self.path('plugins'), 'CXX': None, **settings}
        return self.cc('--build-plugin', *gccs, settings=settings, timeout=600)

    def test_two_compilers(self):
        names = [name for name in ('gcc', 'gcc-11', 'gcc-13', 'gcc-14') if headers_of(name)]
        # `gcc` may be a link to one of the others: on Debian 13 to gcc-14.
        gccs = list({os.path.realpath(shutil.which(name)): name for name in names}.values())
        done = self.build(*gccs)
        self.assertEqual((done[0], done[2]), (0, b''))
        paths = done[1].decode().splitlines()
        self.assertEqual(len(set(paths)), len(gccs))
        self.assertEqual({str(p) for p in pathlib.Path(self.path('plugins')).rglob('*') if p.is_file()},
                         set(paths))
        for gcc in gccs:
            self.plugin(gcc, *COMPILE, settings={'BTF_CC_PLUGIN_DIR': self.path('plugins')})
            self.assertTrue(self.has_object_btf('add.o'))
        if len(gccs) < 2:
            self.skipTest('the plugin headers of only one gcc are installed')

    def test_wrong_plugin(self):
        """gcc refuses a plugin that was built for another gcc."""
        if not headers_of('gcc-11'):
            self.skipTest('the plugin headers of gcc-11 are not installed')
        done = self.build('gcc', 'gcc-11')
        ours, other = done[1].decode().splitlines()
        shutil.copy(ours, other)
        done = self.cc('--plugin', 'gcc-11', *COMPILE,
                       settings={'BTF_CC_PLUGIN_DIR': self.path('plugins')})
        self.assertNotEqual(done[0], 0)
        self.assertNotIn('add.o', self.names())

    def test_thumb_functions(self):
        """The plugin's pools have odd addresses for Thumb functions (32-bit arm). btf-merge finds the symbols of these
        functions, so one that lost a parameter gets no FUNC."""
        gcc = 'arm-linux-gnueabihf-gcc'
        if not headers_of(gcc):
            self.skipTest(f'the plugin headers of {gcc} are not installed')
        self.write('thumb.c', 'static __attribute__((noinline)) int last(int a, int unused) { return a * 3; }\n'
                   'int use(int x) { return last(x, x); }\nint main(void) { return use(2); }\n')
        self.assertEqual(self.build(gcc)[0], 0)
        self.plugin(gcc, '-g', '-O2', '-mthumb', '-c', 'thumb.c', settings={'BTF_CC_PLUGIN_DIR': self.path('plugins')})
        self.assertRegex(self.must('nm', 'thumb.o'), r' last\.(isra|constprop)\.')
        self.must(gcc, '-nostdlib', '-static', '-Wl,-e,main', '-o', 'program', 'thumb.o')
        self.must(self.btf_merge, '--image=program', '-o', 'out', 'thumb.o')
        functions = {line.split("'")[1] for line in self.dump('out') if ' FUNC ' in line}
        self.assertEqual(functions, {'use', 'main'})

    def test_user_folder(self):
        """Without BTF_CC_PLUGIN_DIR, --build-plugin writes to the user's folder, unless root runs it."""
        if os.geteuid() == 0:
            self.skipTest('root builds for the whole system')
        home = {'XDG_DATA_HOME': self.path('data'), 'BTF_CC_PLUGIN_DIR': None}
        done = self.build('gcc', **home)
        self.assertTrue(done[1].decode().startswith(self.path('data/btflink/gcc-plugins/')), done)

    def test_signal(self):
        """btf-cc dies of a signal that arrives during a build, and does not try the next compiler."""
        # The parent of CXX is build-plugin, whose parent is btf-cc.
        self.script('stop', '#!/bin/sh\nread -r pid name state parent rest < /proc/$PPID/stat\nkill $parent\nexit 1\n')
        done = self.build('gcc', 'no-such-gcc', CXX=self.path('stop'))
        self.assertEqual(done[:2], (-signal.SIGTERM, b''), done)
        self.assertNotIn(b'no-such-gcc', done[2])

    def test_errors(self):
        self.assertEqual(self.build()[0], 2)
        self.script('stop', '#!/bin/sh\nkill $PPID\n')
        self.script('ccache', '')
        for arguments, settings, pattern in (
                (['no-such-gcc'], {}, 'no-such-gcc: no such compiler'),
                (['clang'], {}, 'clang(: no such compiler| is clang; the plugin is for gcc)'),
                (['g++'], {}, 'g.. is a compiler for C..; the plugin is for C, so give gcc instead'),
                (['true'], {}, '/.*/true is not gcc: it does not print a version for -dumpversion'),
                (['./ccache'], {}, './ccache: no such compiler'),
                (['gcc'], {'CXX': 'false'}, '.*false failed'),
                (['gcc'], {'CXX': self.path('stop')}, 'stopped by a signal'),
                (['gcc'], {'BTF_CC_PLUGIN_DIR': '/dev/null/x'}, '/dev/null/x: Not a directory')):
            done = self.build(*arguments, **settings)
            self.assertEqual(done[:2], (1, b''), done)
            self.assertRegex(done[2].decode(), f'^btf-cc: ERROR: {pattern}\n$')
            self.assertEqual([*pathlib.Path(self.path('plugins')).glob('**/.new*')] if
                             os.path.exists(self.path('plugins')) else [], [])


if __name__ == '__main__':
    check_arguments(__doc__, 5)
    if not headers_of('gcc'):
        print('skipped: the headers of gcc for plugins are not installed (tests/ci/install-packages build)')
        sys.exit(77)
    if not os.path.isdir(os.path.join(os.path.dirname(sys.argv[1]), 'gcc-plugins')):
        print('skipped: this build has no plugins (meson setup says why)')
        sys.exit(77)
    run('__main__')
