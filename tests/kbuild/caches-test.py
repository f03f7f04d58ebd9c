#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that objects from compiler caches and remote compilers have the same BTF as objects compiled without them.

usage: caches-test.py BTF-CC [TEST...]

Most tests build a small project with make. The class OtherOrders and DistccTest.test_emission_on_the_server show what
docs/caches.md says about orders to avoid: commands in which btf-cc is not the first word.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from helpers.btf_reader import Elf
from helpers.cache_tools import Ccache, Distccd, Redis, Sccache, missing
from helpers.usage import check_arguments, run_and_exit

PROJECT = {
    'Makefile': '''
CC := gcc
FLAGS := -g -O2
all: add.o main.o sub/other.o
%.o: %.c
\t@$(CC) $(FLAGS) -Wp,-MMD,$*.d -c -o $@ $<
''',
    'point.h': 'struct point { int x; long y; };\nint add(struct point *p);\n',
    'add.c': '#include "point.h"\nint add(struct point *p) { return p->x + (int)p->y; }\n',
    'main.c': '''#include "point.h"
static int percpu __attribute__((section(".data..percpu"), used)) = 4;
int main(void) { struct point p = { 1, percpu }; return add(&p); }
''',
    'sub/other.c': 'enum color { RED, GREEN };\n'
                   'enum color color_of(long n) { return n ? RED : GREEN; }\n',
}
OBJECTS = ['add.o', 'main.o', 'sub/other.o']
COUNT = len(OBJECTS)
LONG_AGO = 1_000_000_000  # ccache's direct mode does not accept headers that have just been written


class CacheCase(unittest.TestCase):
    btf_cc = None  # the program; set by main
    needs = []     # other programs that the tests need

    def setUp(self):
        if reason := missing('gcc', 'make', *self.needs):
            self.skipTest(reason)
        self.top = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        self.tools = self.top / 'tools'
        self.tools.mkdir()
        shutil.copy2(self.btf_cc, self.tools / 'btf-cc')
        self.project = self.new_project('project')
        self.cache = Ccache(self.top / 'cache')

    # Files.

    def new_project(self, name):
        folder = self.top / name
        for path, text in PROJECT.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            os.utime(folder / path, (LONG_AGO, LONG_AGO))
        return folder

    def script(self, name, text):
        """Writes a program into a folder of PATH; returns its path."""
        path = self.tools / name
        path.write_text('#!/bin/sh\n' + text)
        path.chmod(0o755)
        os.utime(path, (LONG_AGO, LONG_AGO))
        return path

    def contents(self, objects=OBJECTS, project=None):
        return {name: ((project or self.project) / name).read_bytes() for name in objects}

    def section(self, name, section='.BTF', project=None):
        elf = Elf((project or self.project) / name)
        return next((s.data for s in elf.sections if s.name == section), None)

    def with_btf(self, objects=OBJECTS, project=None):
        return [name for name in objects if self.section(name, project=project) is not None]

    # Runs.

    def call(self, *command, project=None, path='', **settings):
        search = f'{path}:{self.tools}:{os.environ["PATH"]}'.lstrip(':')
        return subprocess.run([str(word) for word in command], cwd=project or self.project,
                              env=self.cache.environment(PATH=search, **settings), text=True,
                              capture_output=True, check=False, timeout=120)

    def build(self, cc, *variables, status=0, **settings):
        """Builds from scratch. Returns the messages, and what ccache counted since the last call (None if ccache is not
        installed)."""
        folder = settings.get('project') or self.project
        for path in [*folder.rglob('*.o'), *folder.rglob('*.d')]:
            path.unlink()
        done = self.call('make', f'CC={cc}', *variables, **settings)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, said)
        return said, self.cache.statistics() if shutil.which('ccache') else None

    def counts(self, counters, hits=0, misses=0):
        self.assertEqual((counters['hit'], counters['cache_miss']), (hits, misses), counters)

    def direct(self, **settings):
        """Builds without a cache, checks that all objects have BTF, and returns their contents."""
        self.build('btf-cc gcc', **settings)
        self.assertEqual(self.with_btf(), OBJECTS)
        return self.contents()


class CcacheTest(CacheCase):
    needs = ['ccache']
    cc = 'btf-cc ccache gcc'

    def test_second_build_takes_objects_with_btf(self):
        expected = self.direct()
        said, counters = self.build(self.cc)
        self.counts(counters, misses=COUNT)
        self.assertEqual((said, self.contents()), ('', expected))
        # A hit repeats the messages of the first compile, which printed none. Because of BTF_CC_VERBOSE there would be
        # a message if btf-cc made BTF again.
        said, counters = self.build(self.cc, BTF_CC_VERBOSE='1')
        self.counts(counters, hits=COUNT)
        self.assertEqual((said, self.contents()), ('', expected))

    def test_every_mode(self):
        expected = self.direct()
        btf = {name: self.section(name) for name in OBJECTS}
        for mode in ({'CCACHE_NODIRECT': '1'}, {'CCACHE_DEPEND': '1'}, {'CCACHE_NOCPP2': '1'},
                     {'CCACHE_HARDLINK': '1'}):
            with self.subTest(mode):
                self.cache.clear()
                self.counts(self.build(self.cc, **mode)[1], misses=COUNT)
                # With NOCPP2 gcc counts columns after preprocessing: line tables differ, BTF does not.
                first = self.contents()
                if 'CCACHE_NOCPP2' not in mode:
                    self.assertEqual(first, expected)
                self.assertEqual({name: self.section(name) for name in OBJECTS}, btf)
                said, counters = self.build(self.cc, BTF_CC_VERBOSE='1', **mode)
                self.counts(counters, hits=COUNT)
                self.assertEqual((said, self.contents()), ('', first))

    def test_no_cache_is_no_change(self):
        expected = self.direct()
        for mode in ({'CCACHE_DISABLE': '1'}, {'CCACHE_READONLY': '1'}):
            self.build(self.cc, **mode)
            self.assertEqual(self.contents(), expected, mode)

    def test_plain_objects_are_kept_apart(self):
        self.counts(self.build('ccache gcc')[1], misses=COUNT)
        plain = self.contents()
        self.assertEqual(self.with_btf(), [])
        self.counts(self.build(self.cc)[1], misses=COUNT)
        self.assertEqual(self.with_btf(), OBJECTS)
        self.counts(self.build('ccache gcc')[1], hits=COUNT)
        self.assertEqual(self.contents(), plain)

    def test_settings_are_part_of_the_key(self):
        self.build(self.cc)
        for settings in ({'BTF_CC_STRIP_DWARF': '1'}, {'BTF_CC_FEATURES': '+global_var'},
                         {'PAHOLE_FLAGS': '--btf_features=var,float'},
                         {'PAHOLE_FLAGS': '--lang_exclude=rust'}, {'BTF_CC_STRICT': '1'}):
            with self.subTest(settings):
                expected = self.direct(**settings)
                self.counts(self.build(self.cc, **settings)[1], misses=COUNT)
                self.assertEqual(self.contents(), expected)
                self.counts(self.build(self.cc, **settings)[1], hits=COUNT)
                self.assertEqual(self.contents(), expected)
        self.counts(self.build(self.cc)[1], hits=COUNT)

    def test_another_btf_cc(self):
        self.build(self.cc)
        with open(self.tools / 'btf-cc', 'ab') as program:
            program.write(b'\0')
        self.counts(self.build(self.cc)[1], misses=COUNT)

    def test_another_compiler(self):
        real = shutil.which('gcc')
        compiler = self.script('gcc', f'exec {real} "$@"\n')
        self.build(self.cc)
        self.counts(self.build(self.cc)[1], hits=COUNT)
        os.utime(compiler, (LONG_AGO + 1, LONG_AGO + 1))
        self.counts(self.build(self.cc)[1], misses=COUNT)
        compiler.write_text(compiler.read_text() + '# longer\n')
        os.utime(compiler, (LONG_AGO + 1, LONG_AGO + 1))
        self.counts(self.build(self.cc)[1], misses=COUNT)

    def test_compiler_by_path(self):
        cc = f'{self.tools}/btf-cc {shutil.which("ccache")} {shutil.which("gcc")}'
        self.counts(self.build(cc)[1], misses=COUNT)
        self.counts(self.build(cc)[1], hits=COUNT)
        self.assertEqual(self.with_btf(), OBJECTS)

    def test_ccache_in_the_name_of_the_compiler(self):
        links = self.top / 'links'
        links.mkdir()
        (links / 'gcc').symlink_to(shutil.which('ccache'))
        self.counts(self.build('btf-cc gcc', path=links)[1], misses=COUNT)
        said, counters = self.build('btf-cc gcc', path=links, BTF_CC_VERBOSE='1')
        self.counts(counters, hits=COUNT)
        self.assertEqual((said, self.with_btf()), ('', OBJECTS))

    def test_other_prefix_commands_stay(self):
        log = self.top / 'log'
        self.script('counting', f'echo "$1" >> {log}\nexec "$@"\n')
        self.build(self.cc, CCACHE_PREFIX='counting')
        self.assertEqual(len(log.read_text().splitlines()), COUNT)
        self.assertEqual(self.with_btf(), OBJECTS)
        self.counts(self.build(self.cc, CCACHE_PREFIX='counting')[1], hits=COUNT)
        self.counts(self.build(self.cc, CCACHE_PREFIX='btf-cc')[1], hits=COUNT)

    def test_path_that_ccache_would_change(self):
        """ccache would split a path with a blank, and replace a variable in it. btf-cc stays in front of ccache."""
        expected = self.direct()
        for name in ('two words', 'a$variable'):
            with self.subTest(name):
                folder = self.top / name
                folder.mkdir()
                shutil.copy2(self.btf_cc, folder / 'btf-cc')
                cc = f"'{folder}/btf-cc' ccache gcc".replace('$', '$$') # make turns $$ into $
                self.build(cc)
                said, counters = self.build(cc, BTF_CC_VERBOSE='1')
                self.counts(counters, hits=COUNT)
                self.assertEqual(said.count('object BTF written'), COUNT, said)
                self.assertEqual(self.contents(), expected)

    def test_compile_errors_are_the_compilers(self):
        (self.project / 'bad.c').write_text('int f(void) { return nothing; }\n')
        args = ['-g', '-c', '-o', 'bad.o', 'bad.c']
        plain = self.call('gcc', *args)
        cached = self.call('btf-cc', 'ccache', 'gcc', *args)
        self.assertEqual((plain.returncode, plain.stderr), (cached.returncode, cached.stderr))
        self.assertFalse((self.project / 'bad.o').exists())

    def test_failed_emission(self):
        """Without BTF_CC_STRICT, an object without BTF is cached, and a hit repeats the warning. With BTF_CC_STRICT=1
        the compile fails, and nothing is cached."""
        self.script('gcc', f'''{shutil.which("gcc")} "$@" || exit
for out; do case $out in *.o) printf '\\377\\377\\377' > bad
objcopy --update-section .debug_abbrev=bad "$out"; esac; done
''')
        for hits, misses in ((0, COUNT), (COUNT, 0)):
            said, counters = self.build(self.cc)
            self.counts(counters, hits, misses)
            self.assertEqual(said.count('btf-cc: WARNING: '), COUNT, said)
            self.assertEqual(self.with_btf(), [])
        for _ in range(2):
            said, counters = self.build(self.cc, '-k', status=2, BTF_CC_STRICT='1')
            self.assertEqual(counters['hit'], 0)
            self.assertEqual(said.count('btf-cc: ERROR: '), COUNT, said)
            self.assertEqual(list(self.project.rglob('*.o')), [])

    def test_warning_about_the_build(self):
        """Warnings about a wrong PAHOLE, and about a configuration without BTF, are not cached: each build prints the
        warnings that apply to it, also for hits."""
        configuration = self.project / 'include/config/auto.conf'
        configuration.parent.mkdir(parents=True)
        configuration.write_text('CONFIG_DEBUG_INFO_BTF=y\n')
        for count, pahole in enumerate(('true', 'btf-pahole', 'true')):
            for cc in (self.cc, 'btf-cc --quiet ccache gcc'):
                said, counters = self.build(cc, objtree='.', PAHOLE=pahole)
                self.counts(counters, *((COUNT, 0) if count else (0, COUNT)))  # --quiet is in the key
                self.assertEqual(said.count('btf-cc: WARNING: PAHOLE=true is not btf-pahole'),
                                 COUNT if pahole == 'true' and cc == self.cc else 0, said)
                self.assertEqual(said == '', pahole != 'true' or cc != self.cc, said)
        self.assertEqual(self.with_btf(), OBJECTS)
        (self.project / 'scripts/mod').mkdir(parents=True)
        for config, warnings in ('CONFIG_BPF=y\n', 1), ('CONFIG_DEBUG_INFO_BTF=y\n', 0), ('CONFIG_BPF=y\n', 1):
            configuration.write_text(config)
            done = self.call('btf-cc', 'ccache', 'gcc', '-O2', '-c', '-o', 'scripts/mod/empty.o', 'add.c', objtree='.')
            self.assertEqual(done.stderr.count('WARNING: this kernel gets no BTF'), warnings, done.stderr)

    def test_objects_that_are_left_alone(self):
        """The object's name can decide whether the object gets BTF, but ccache's key does not contain the name. For
        objects that get none, btf-cc does not change the settings of ccache, so these objects have other keys."""
        boot = 'arch/x86/boot/add.o'
        (self.project / boot).parent.mkdir(parents=True)
        for name in (boot, 'add.o', boot, 'add.o'):
            done = self.call('btf-cc', 'ccache', 'gcc', '-g', '-O2', '-c', '-o', name, 'add.c')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.with_btf([name]), [] if name == boot else [name])
        self.counts(self.cache.statistics(), hits=2, misses=2)

    def test_another_folder(self):
        other = self.new_project('elsewhere')
        self.build(self.cc)
        # DWARF names the folder, so ccache's key contains the folder, unless CCACHE_NOHASHDIR is set.
        self.counts(self.build(self.cc, project=other)[1], misses=COUNT)
        self.build(self.cc, CCACHE_NOHASHDIR='1')
        self.counts(self.build(self.cc, project=other, CCACHE_NOHASHDIR='1')[1], hits=COUNT)
        taken = [self.section(name, project=other) for name in OBJECTS]
        self.build('btf-cc gcc', project=other)
        self.assertEqual([self.section(name, project=other) for name in OBJECTS], taken)
        # Without DWARF, objects do not depend on the folder.
        settings = {'CCACHE_NOHASHDIR': '1', 'BTF_CC_STRIP_DWARF': '1'}
        self.build(self.cc, **settings)
        self.counts(self.build(self.cc, project=other, **settings)[1], hits=COUNT)
        taken = self.contents(project=other)
        self.build('btf-cc gcc', project=other, **settings)
        self.assertEqual(self.contents(project=other), taken)

    def test_settings_line(self):
        def line(*arguments, status=0, **settings):
            done = self.call('btf-cc', '--settings', *arguments, **settings)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stdout

        gcc = shutil.which('gcc')
        info = os.stat(gcc)
        self.assertEqual(line().count('\n'), 1)
        self.assertEqual(line(gcc), line('gcc'))
        self.assertTrue(line('gcc').startswith(line().rstrip('\n') + ' compiler=gcc,'))
        self.assertIn(f',size={info.st_size},time={int(info.st_mtime)}.', line('gcc'))
        self.assertEqual(line('gcc', BTF_CC_VERBOSE='1'), line('gcc'))
        self.assertNotEqual(line('gcc', BTF_CC_QUIET='1'), line('gcc'))
        self.assertEqual(line('no-such-compiler', status=2), '')
        self.assertEqual(line(status=2, BTF_CC_STRICT='maybe'), '')


class RedisTest(CacheCase):
    needs = ['ccache', 'redis-server', 'redis-cli']

    def test_second_build_from_redis(self):
        expected = self.direct()
        with Redis(self.top / 'redis') as redis:
            remote = {'CCACHE_REMOTE_STORAGE': redis.address()}
            self.counts(self.build('btf-cc ccache gcc', **remote)[1], misses=COUNT)
            self.assertEqual(int(redis.ask('dbsize')), 2 * COUNT)  # manifests and results
            self.cache.clear()
            said, counters = self.build('btf-cc ccache gcc', BTF_CC_VERBOSE='1', **remote)
            self.counts(counters, hits=COUNT)
            self.assertEqual(counters['remote_storage_hit'], COUNT)
            self.assertEqual((said, self.contents()), ('', expected))
        # Builds succeed after the end of the server, too.
        self.cache.clear()
        self.counts(self.build('btf-cc ccache gcc', **remote)[1], misses=COUNT)
        self.assertEqual(self.contents(), expected)


class SccacheTest(CacheCase):
    needs = ['sccache']

    def test_second_build(self):
        """The cache has the compiler's objects. BTF is made after each hit or miss, with the current settings."""
        expected = self.direct()
        stripped = self.direct(BTF_CC_STRIP_DWARF='1')
        with Sccache(self.top / 'sccache') as server:
            for counts, objects, settings in (((0, COUNT), expected, {}),
                                              ((COUNT, COUNT), expected, {}),
                                              ((2 * COUNT, COUNT), stripped,
                                               {'BTF_CC_STRIP_DWARF': '1'})):
                said, _ = self.build('btf-cc sccache gcc', BTF_CC_VERBOSE='1', **settings,
                                     **server.settings())
                self.assertEqual(said.count('object BTF written'), COUNT, said)
                self.assertEqual(server.counts(), counts)
                self.assertEqual(self.contents(), objects)
            # Builds without btf-cc get plain objects from this cache.
            self.build('sccache gcc', **server.settings())
            self.assertEqual(server.counts(), (3 * COUNT, COUNT))
            self.assertEqual(self.with_btf(), [])

    def test_compile_errors_are_the_compilers(self):
        (self.project / 'bad.c').write_text('int f(void) { return nothing; }\n')
        args = ['-g', '-c', '-o', 'bad.o', 'bad.c']
        plain = self.call('gcc', *args)
        with Sccache(self.top / 'sccache') as server:
            cached = self.call('btf-cc', 'sccache', 'gcc', *args, **server.settings())
        self.assertEqual((plain.returncode, plain.stderr), (cached.returncode, cached.stderr))
        self.assertFalse((self.project / 'bad.o').exists())


class OtherOrders(CacheCase):
    """Shows what docs/caches.md says about orders to avoid, with ccache 4.7.5. If one of these tests fails,
    docs/caches.md must be corrected."""
    needs = ['ccache']

    def test_prefix_alone_takes_plain_objects(self):
        self.build('ccache gcc')
        self.counts(self.build('ccache gcc', CCACHE_PREFIX='btf-cc')[1], hits=COUNT)
        self.assertEqual(self.with_btf(), [])

    def test_prefix_alone_gives_btf_to_others(self):
        self.build('ccache gcc', CCACHE_PREFIX='btf-cc')
        self.counts(self.build('ccache gcc')[1], hits=COUNT)
        self.assertEqual(self.with_btf(), OBJECTS)

    def test_prefix_with_check(self):
        """The variables of ccache that `btf-cc ccache gcc` sets are set by hand."""
        settings = {'CCACHE_PREFIX': 'btf-cc',
                    'CCACHE_COMPILERCHECK': 'btf-cc --settings %compiler%'}
        expected = self.direct()
        self.build('ccache gcc')
        self.counts(self.build('ccache gcc', **settings)[1], misses=COUNT)
        self.counts(self.build('ccache gcc', **settings)[1], hits=COUNT)
        self.assertEqual(self.contents(), expected)
        self.counts(self.build('btf-cc ccache gcc')[1], hits=COUNT)

    def test_ccache_first_does_not_know_kbuilds_options(self):
        """Without CCACHE_COMPILERTYPE, ccache supports -Wp,-MMD,FILE with -o only for a compiler called gcc or
        clang."""
        for _ in range(2):
            counters = self.build('ccache btf-cc gcc')[1]
            self.assertEqual(counters['unsupported_compiler_option'], COUNT, counters)
            self.counts(counters)

    def test_ccache_first_knows_no_settings(self):
        cc, told = 'ccache btf-cc gcc', {'CCACHE_COMPILERTYPE': 'gcc'}
        self.build(cc, **told)
        kept = self.contents()
        self.counts(self.build(cc, BTF_CC_STRIP_DWARF='1', **told)[1], hits=COUNT)
        self.assertEqual(self.contents(), kept)

    def test_ccache_first_knows_no_compiler(self):
        cc, told = 'ccache btf-cc gcc', {'CCACHE_COMPILERTYPE': 'gcc'}
        compiler = self.script('gcc', f'exec {shutil.which("gcc")} "$@"\n')
        self.build(cc, **told)
        os.utime(compiler, (LONG_AGO + 1, LONG_AGO + 1))
        self.counts(self.build(cc, **told)[1], hits=COUNT)

    def test_ccache_first_takes_the_compiler_for_a_source(self):
        for _ in range(2):
            counters = self.build(f'ccache btf-cc {shutil.which("gcc")}')[1]
            self.assertEqual(counters['multiple_source_files'], COUNT, counters)
            self.counts(counters)


class DistccTest(CacheCase):
    needs = ['distcc', 'distccd']

    def server(self, *options, **settings):
        return Distccd(self.top / 'server', *options, **settings)

    def settings(self, server):
        return server.client(self.top / 'client')

    def jobs(self, server):
        return server.log().count('completed ok')

    def test_emission_on_the_client(self):
        self.direct()
        expected = {name: self.section(name) for name in OBJECTS}
        stripped = self.direct(BTF_CC_STRIP_DWARF='1')
        with self.server() as server:
            self.build('btf-cc distcc gcc', **self.settings(server))
            self.assertEqual(self.jobs(server), COUNT, server.log())
            # Line tables may differ, because the server counts columns in the preprocessed source.
            self.assertEqual({name: self.section(name) for name in OBJECTS}, expected)
            self.build('btf-cc distcc gcc', BTF_CC_STRIP_DWARF='1', **self.settings(server))
            self.assertEqual(self.contents(), stripped)

    def test_plugin(self):
        """Servers have no plugin, so BTF is made from DWARF on this machine."""
        stripped = self.direct(BTF_CC_STRIP_DWARF='1')
        with self.server() as server:
            self.build('btf-cc --plugin distcc gcc', BTF_CC_STRIP_DWARF='1', **self.settings(server))
            self.assertEqual(self.jobs(server), COUNT, server.log())
            self.assertEqual(self.contents(), stripped)

    def test_with_ccache(self):
        if reason := missing('ccache'):
            self.skipTest(reason)
        stripped = self.direct(BTF_CC_STRIP_DWARF='1')
        with self.server() as server:
            settings = {'CCACHE_PREFIX': 'distcc', 'BTF_CC_STRIP_DWARF': '1',
                        **self.settings(server)}
            self.counts(self.build('btf-cc ccache gcc', **settings)[1], misses=COUNT)
            self.assertEqual(self.jobs(server), COUNT, server.log())
            self.counts(self.build('btf-cc ccache gcc', **settings)[1], hits=COUNT)
            self.assertEqual(self.jobs(server), COUNT, server.log())
            self.assertEqual(self.contents(), stripped)

    def test_emission_on_the_server(self):
        compile_it = ['gcc', '-g', '-c', '-o']
        boot = 'arch/x86/boot/add.o'
        (self.project / boot).parent.mkdir(parents=True)
        with self.server(PATH=f'{self.tools}:{os.environ["PATH"]}') as server:
            done = self.call('distcc', 'btf-cc', *compile_it, 'add.o', 'add.c',
                             **self.settings(server))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('btf-cc not in', server.log())  # distccd runs only the compilers in its list
        with self.server('--enable-tcp-insecure',
                         PATH=f'{self.tools}:{os.environ["PATH"]}') as server:
            shutil.rmtree(self.top / 'client')
            for name in ('add.o', boot):
                done = self.call('distcc', 'btf-cc', *compile_it, name, 'add.c',
                                 BTF_CC_STRIP_DWARF='1', **self.settings(server))
                self.assertEqual(done.returncode, 0, done.stderr + server.log())
                # The server has neither the client's settings nor the object's name.
                self.assertIsNotNone(self.section(name))
                self.assertIsNotNone(self.section(name, '.debug_info'))


def main():
    check_arguments(__doc__, 1)
    CacheCase.btf_cc = os.path.abspath(sys.argv[1])
    run_and_exit(__name__, sys.argv[2:])


if __name__ == '__main__':
    main()
