# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Base classes of the tests of command lines: a folder per test, checked runs, C sources."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from helpers.compilers import target_of
from helpers.usage import check_arguments, run_and_exit

PROGRAM = {
    'main.c': '''struct point { int x, y; };
extern int add(struct point *p);
extern int count;
static volatile int mine = 1;
int main(void) { struct point p = { mine, 2 }; return add(&p) + count - 7; }
''',
    'add.c': '''struct point { int x, y; };
static volatile int mine = 4;
int count = 0;
static inline int twice(int n) { return n + n; }
int add(struct point *p) { return p->x + twice(p->y) + mine - 2; }
''',
    'other.c': '''enum color { RED, GREEN };
enum color color_of(long n) { return n ? RED : GREEN; }
int table[4] = { 1, 2 };
''',
}


class CliCase(unittest.TestCase):
    btf_emit = btf_lines = None  # set by run()

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        if not target_of('gcc'):
            self.skipTest('gcc is not installed')

    # Files.

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, contents):
        with open(self.path(name), 'wb') as file:
            file.write(contents if isinstance(contents, bytes) else contents.encode())
        return name

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def names(self):
        return set(os.listdir(self.folder))

    # Programs.

    def call(self, *command, **options):
        if options.setdefault('text', True):
            options['errors'] = 'surrogateescape'  # file names in messages may not be UTF-8
        return subprocess.run(command, cwd=self.folder, capture_output=True, check=False,
                              **{'timeout': 60, **options})

    def must(self, *command):
        done = self.call(*command)
        self.assertEqual(done.returncode, 0, f'{command}: {done.stderr}')
        return done.stdout

    def compile(self, source='add.c', *flags, output=None, compiler='gcc'):
        """Writes and compiles a source of PROGRAM, with -g, -O1 and `flags`; returns the object's name. A source that
        PROGRAM does not have gets the text of add.c."""
        if not target_of(compiler):
            self.skipTest(f'{compiler} is not installed')
        self.write(source, PROGRAM.get(source, PROGRAM['add.c']))
        output = output or source[:-2] + '.o'
        self.must(compiler, '-g', '-O1', '-c', *flags, source, '-o', output)
        return output

    def compile_all(self, *flags, compiler='gcc'):
        return [self.compile(source, *flags, compiler=compiler) for source in PROGRAM]

    def emit(self, *arguments, status=0, made=(), **options):
        """Runs btf-emit. Checks that it exits with `status`, makes the files in `made` and no others, removes none, and
        prints nothing to standard output. Returns standard error."""
        before = self.names()
        done = self.call(self.btf_emit, *arguments, **options)
        self.assertEqual(done.returncode, status, f'{arguments}: {done.stdout}{done.stderr}')
        self.assertEqual(self.names(), before | set(made), f'{arguments}: stray files')
        self.assertEqual(done.stdout, '', f'{arguments}')
        return done.stderr

    def good(self, *arguments, **options):
        """Checks that a run of btf-emit succeeds and prints nothing."""
        self.assertEqual(self.emit(*arguments, **options), '', f'{arguments}')

    def bad(self, pattern, *arguments, same=(), **options):
        """Checks that a run of btf-emit exits with status 1 and one line, `btf-emit: ERROR: PATTERN`, and does not
        change the files in `same`."""
        before = [self.read(name) for name in same]
        said = self.emit(*arguments, status=1, **options)
        self.assertRegex(said, f'^btf-emit: ERROR: {pattern}\n$', f'{arguments}')
        self.assertEqual(said.count('\n'), 1, said)
        self.assertEqual([self.read(name) for name in same], before, f'{arguments}: changed')

    def lines(self, name):
        return self.must(self.btf_lines, name).splitlines()

    def linkers(self):
        """bfd, and lld if it is installed: values of gcc's option -fuse-ld."""
        found = ['bfd']
        if shutil.which('ld.lld'):
            found.append('lld')
        else:
            print('SKIP lld: not installed')
        return found


class MadeOnceCase(CliCase):
    """A derived class has make(), which runs once, before the first test. Each test gets a copy of the files that
    make() makes."""
    made = None  # the folder that keeps these files

    def make(self):
        raise NotImplementedError

    @classmethod
    def tearDownClass(cls):
        if cls.made:
            shutil.rmtree(cls.made)

    def setUp(self):
        super().setUp()
        if not self.made:
            self.make()
            type(self).made = self.folder + '.made'
            shutil.copytree(self.folder, self.made)
        shutil.copytree(self.made, self.folder, dirs_exist_ok=True)


def run(module, case=CliCase, tools=('btf_emit', 'btf_lines')):
    """The main program. Its arguments are the paths of `tools`, then names of tests. The paths become attributes of the
    class `case`. Exit status: 0; 1 if a test failed or there was no test; 2 for too few arguments; 77 if all tests were
    skipped. The usage is the docstring of `module`."""
    check_arguments(sys.modules[module].__doc__, len(tools))
    count = len(tools) + 1
    for name, path in zip(tools, sys.argv[1:count]):
        setattr(case, name, os.path.abspath(path))
    run_and_exit(module, sys.argv[count:])


def option_names(texts):
    return {name for text in texts for name in re.findall(r'--[a-z][a-z-]+', text)}
