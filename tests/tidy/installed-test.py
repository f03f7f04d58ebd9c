#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Installs a build into a temporary folder, and checks the installed files.

usage: installed-test.py BUILD_ROOT VERSION
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from helpers.usage import check_arguments, run_and_exit
from tidy import anchors

PROGRAMS = ('btf-cc', 'btf-emit', 'btf-kernel', 'btf-merge', 'btf-module', 'btf-pahole')
COMPLETED = ('btf-cc', 'btf-emit', 'btf-kernel', 'btf-merge', 'btf-module')
WITH_FEATURES = ('btf-cc', 'btf-emit', 'btf-merge')
# Arguments: a file with completions, "--", the words of a command line. Completes the last word as bash does;
# prints one reply per line.
BASH = r'''
. "$1"; shift 2
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
read -r -a registered <<<"$(complete -p "$1")"
"${registered[-2]}" "$1"
printf '%s\n' "${COMPREPLY[@]}"
'''
# Arguments: the file _btflink, a program. Prints the arguments with which the completion calls zsh's _arguments.
ZSH = r'''
_arguments() { print -rl -- "$@" }
words=("$2"); service=$2
. "$1"
'''


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise AssertionError(f'{command}: {done.stdout}{done.stderr}')
    return done.stdout


class Installed(unittest.TestCase):
    build = version = ''

    @classmethod
    def setUpClass(cls):
        global PROGRAMS, COMPLETED
        if not (pathlib.Path(cls.build) / 'btf-kernel/btf-kernel').exists(): # without libarchive, or not wanted
            PROGRAMS, COMPLETED = (tuple(name for name in names if name != 'btf-kernel')
                                   for names in (PROGRAMS, COMPLETED))
        cls.folder = tempfile.TemporaryDirectory()
        run('meson', 'install', '-C', cls.build, '--destdir', cls.folder.name, '--no-rebuild', '--quiet')
        found = list(pathlib.Path(cls.folder.name).rglob('btf-emit'))
        cls.bin = next(path.parent for path in found if path.parent.name == 'bin')
        cls.plugins = next(path.parent.parent for path in
                           pathlib.Path(cls.folder.name).rglob('libbtflink-gcc-plugin.a'))
        cls.share = cls.bin.parent / 'share'
        cls.doc = cls.share / 'doc/btflink'
        cls.environment = {**os.environ, 'PATH': f'{cls.bin}:{os.environ["PATH"]}'}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def files(self, folder):
        return sorted(str(path.relative_to(folder)) for path in folder.rglob('*') if not path.is_dir())

    def manual(self, program):
        return (self.share / f'man/man1/{program}.1').read_text()

    def options(self, program):
        """The long options that have a paragraph in the man page."""
        text = self.manual(program).replace('Fl Fl ', '--')
        return {option for line in re.findall(r'^\.It (.*--.*)$', text, re.M)
                for option in re.findall(r'--[a-z-]+', line)}

    def test_files(self):
        self.assertEqual(self.files(self.bin), list(PROGRAMS))
        self.assertEqual(self.files(self.share / 'man'), [f'man1/{name}.1' for name in PROGRAMS])
        self.assertEqual(self.files(self.share / 'bash-completion/completions'), list(COMPLETED))
        self.assertEqual(self.files(self.share / 'zsh/site-functions'), ['_btflink'])
        self.assertEqual(self.files(self.bin.parent), sorted(
            str(path.relative_to(self.bin.parent)) for folder in (self.bin, self.share, self.plugins)
            for path in folder.rglob('*') if not path.is_dir()), 'nothing else')

    def test_plugin(self):
        """The installed btf-cc finds the installed plugin, if there is one, and builds another from installed files."""
        headers = run('gcc', '-print-file-name=plugin').strip() + '/include/gcc-plugin.h'
        if not os.path.exists(headers):
            self.skipTest(f'{headers} is not there')
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / 'a.c').write_text('struct s { int a; } s;\n')
            for place in ({}, {'BTF_CC_PLUGIN_DIR': folder}):
                if place:
                    run(self.bin / 'btf-cc', '--build-plugin', 'gcc', env={**os.environ, **place})
                elif not list(self.plugins.glob('gcc-plugins/*')):
                    print('SKIP installed plugin: this build does not make one (for example with sanitizers)')
                    continue
                run(self.bin / 'btf-cc', '--plugin', 'gcc', '-g', '-c', 'a.c', cwd=folder,
                    env={**os.environ, **place})
                self.assertIn('.BTF', run('readelf', '-SW', f'{folder}/a.o'))

    def test_version(self):
        for program in COMPLETED:
            said = run(self.bin / program, '--version')
            self.assertRegex(said, rf'^{program} {re.escape(self.version)}( \(.+\))?\n$')

    def test_documents_that_manuals_name(self):
        for program in PROGRAMS:
            for name in re.findall(r'[\w/.-]+\.md', self.manual(program)):
                self.assertTrue((self.doc.parent / name).exists(), f'{program}: {name}')

    def test_links_of_documents(self):
        """All links to files and headings have a target, and README.md leads to each installed document."""
        reached, left = set(), [self.doc / 'README.md']
        while left:
            document = left.pop()
            reached.add(str(document.relative_to(self.doc)))
            if document.suffix != '.md':
                continue
            for name, anchor in re.findall(r'\]\(([\w/.-]*)(?:#([\w-]+))?\)', document.read_text()):
                target = pathlib.Path(os.path.normpath(document.parent / name)) if name else document
                self.assertTrue(target.exists(), f'{document}: {name}')
                if anchor:
                    self.assertIn(anchor, anchors(target), f'{document}: {name}')
                if str(target.relative_to(self.doc)) not in reached:
                    left.append(target)
        self.assertEqual(sorted(reached), self.files(self.doc))

    def complete(self, *words):
        program = self.share / 'bash-completion/completions' / words[0]
        return run('bash', '--norc', '-c', BASH, 'bash', program, '--', *words,
                   env=self.environment).split()

    def test_bash(self):
        for program in COMPLETED:
            if program == 'btf-kernel':
                continue # because its commands have the options; see test_bash_commands()
            options = {reply.rstrip('=') for reply in self.complete(program, '--')}
            self.assertGreaterEqual(options, self.options(program))
            self.assertEqual(options - self.options(program) - {'--help', '--version'}, set())
        for program in WITH_FEATURES:
            self.assertIn('var,global_var', self.complete(program, '--features', '=', 'var,glo'))
            self.assertIn('+global_var', self.complete(program, '--features', '=', '+'))
        self.assertEqual(self.complete('btf-merge', '--form'), ['--format='])
        self.assertEqual(self.complete('btf-merge', '--format', '='), ['raw', 'object'])
        self.assertEqual(self.complete('btf-merge', '--dedup', '=', 'l'), ['libbpf'])
        self.assertEqual(self.complete('btf-emit', '--section-type', '=', 'p'), ['progbits'])
        self.assertEqual(self.complete('btf-emit', '--strip'), ['--strip-dwarf'])
        self.assertEqual(self.complete('btf-merge', 'a.o', ''), [], 'which means files')
        self.assertIn('btf-merge', self.complete('btf-cc', '--strict', 'btf-mer'))
        self.assertEqual(self.complete('btf-cc', 'gcc', '--'), [], "the compiler's arguments")

    def test_bash_commands(self):
        if 'btf-kernel' not in PROGRAMS:
            self.skipTest('btf-kernel was not built')
        commands = self.complete('btf-kernel', '')
        self.assertIn('check', commands)
        options = {option.rstrip('=') for command in commands
                   for option in self.complete('btf-kernel', command, '--')}
        self.assertEqual(options, self.options('btf-kernel'))
        self.assertEqual(self.complete('btf-kernel', 'ch'), ['check'])
        self.assertEqual(self.complete('btf-kernel', 'check', '--ign'), ['--ignore='])
        self.assertEqual(self.complete('btf-kernel', 'check', 'a.deb', ''), [], 'which means files')

    @unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
    def test_zsh(self):
        for program in COMPLETED:
            if program == 'btf-kernel':
                continue
            said = run('zsh', '-f', '-c', ZSH, 'zsh', self.share / 'zsh/site-functions/_btflink', program,
                       env=self.environment)
            options = set(re.findall(r'^\*?(--[a-z-]+)(?:=-?)?\[', said, re.M))
            self.assertGreaterEqual(options, self.options(program))
            self.assertEqual(options - self.options(program) - {'--help', '--version'}, set())
            if program == 'btf-merge':
                self.assertRegex(said, r'(?m)^\*--why-dup=-\[Report .*\]::', 'the value may be left out')


if __name__ == '__main__':
    check_arguments(__doc__, 2)
    Installed.build, Installed.version = sys.argv[1:3]
    run_and_exit(__name__, sys.argv[3:])
