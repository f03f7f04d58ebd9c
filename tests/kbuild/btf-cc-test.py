#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests that btf-cc behaves like the compiler: exit status, output, input, signals. Also tests the options, settings
and messages of btf-cc itself.

usage: btf-cc-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import unittest

from helpers.kbuild_case import PROGRAM, KbuildCase, heed_signals, run

COMPILE = ['-g', '-O1', '-c', 'add.c', '-o', 'add.o']


class Plain(KbuildCase):
    """Tests that commands have the same exit status and output with and without btf-cc. Also tests btf-cc's errors for
    compilers that cannot run."""

    def setUp(self):
        super().setUp()
        for name, text in PROGRAM.items():
            self.write(name, text)

    def both(self, *command, status=None, **options):
        """Checks that exit status and output are the same with and without btf-cc, byte for byte, and that the exit
        status is `status` if this is given. Returns the run without btf-cc."""
        plain = self.run_tool(*command, **options)
        ours = self.cc(*command, **options)
        self.assertEqual(ours, (plain.returncode, plain.stdout, plain.stderr), command)
        if status is not None:
            self.assertEqual(ours[0], status, command)
        return plain

    def test_exit_status(self):
        for status in (0, 1, 2, 42, 126, 127, 255):
            self.script('fake', f'#!/bin/sh\n>add.o\nexit {status}\n')
            for arguments in ([], ['-E', 'add.c'], COMPILE):
                self.both('./fake', *arguments, status=status)

    def test_compiler_that_cannot_run(self):
        self.write('plain-file', 'no program')
        for command, status, reason in (
                ('./no-such-compiler', 127, 'No such file or directory'),
                ('no-such-compiler', 127, 'No such file or directory'),
                ('./plain-file', 126, 'Permission denied'),
                (self.folder, 126, 'Permission denied')):
            for arguments in ([], COMPILE):
                self.assertEqual(self.cc(command, *arguments),
                                 (status, b'', f'btf-cc: ERROR: {command}: {reason}\n'.encode()))

    def test_output_is_the_compilers(self):
        self.script('fake', "#!/bin/sh\nprintf 'a\\0b\\377\\n'; printf '\\r\\033[1mx' >&2\n"
                            'cat; echo "$@"; echo "$0" >&2\nexit 3\n')
        for arguments in ([], COMPILE, ['a b', '', '*', "'", '"', '$(x)', '-c', 'x.c', '\n']):
            self.both('./fake', *arguments, input=b'standard\0input', status=3)

    def test_errors_and_warnings(self):
        self.write('bad.c', 'int f(void) { return nothing; }\n')
        self.write('warn.c', 'int f(void) { int x; return x; }\n')
        self.both('gcc', '-c', 'bad.c', '-o', 'bad.o', status=1)
        self.assertFalse(os.path.exists(self.path('bad.o')))
        self.both('gcc', '-g', '-Wall', '-c', 'warn.c', '-o', 'warn.o', status=0)
        self.assertTrue(self.has_object_btf('warn.o'))
        self.both('gcc', '-g', '-Wall', '-Werror', '-c', 'warn.c', '-o', 'warn.o', status=1)
        self.both('gcc', '-g', '-c', 'missing.c', '-o', 'missing.o', status=1)
        self.both('gcc', '-g', '-v', *COMPILE[1:4], '-o', '/dev/null', '-fno-such-flag', status=1)

    def test_standard_input(self):
        source = b'struct s { int a; } s;\nint f(struct s *p) { return p->a; }\n'
        self.both('gcc', '-x', 'c', '-c', '-g', '-', '-o', 'in.o', input=source, status=0)
        self.assertIn(b'int f(', self.both('gcc', '-x', 'c', '-E', '-', input=source,
                                           status=0).stdout)

    def test_probes(self):
        for probe in (['--version'], ['-dumpmachine'], ['-dumpversion'],
                      ['-print-file-name=plugin'], ['-print-search-dirs'], ['--help'], ['-v'],
                      ['-###', '-pipe', *COMPILE],
                      ['-print-libgcc-file-name'], ['-E', 'add.c'], ['-S', 'add.c', '-o', '-'],
                      ['-M', 'add.c'], ['-MM', 'add.c'], ['-fsyntax-only', 'add.c'],
                      ['-Werror', '-x', 'c', '-c', '/dev/null', '-o', '/dev/null'],
                      ['-Werror', '-S', '-x', 'c', '/dev/null', '-o', 'tmp'],
                      ['-Wp,-MD,deps', '-S', '-o', '/dev/null', '-xc', '/dev/null'],
                      ['-E', '-dM', '-x', 'c', '/dev/null'], ['-fno-such-flag', '-c', '-x', 'c',
                                                            '/dev/null', '-o', '/dev/null'], []):
            self.both('gcc', *probe)

    def test_links(self):
        link = ['-g', 'main.c', 'add.c', '-o', 'prog']
        self.both('gcc', *link, status=0)
        self.both('gcc', '-g', '-shared', '-fPIC', 'add.c', '-o', 'lib.so', status=0)
        self.compile_all()
        self.both('gcc', '-r', '-nostdlib', 'main.o', 'add.o', '-o', 'both.o', status=0)
        for name in ('prog', 'lib.so', 'both.o'):
            self.assertNotIn('.BTF', self.section_names(name))
        self.assertEqual(self.run_tool(self.path('prog')).returncode, 0)

    def test_response_file_that_is_a_pipe(self):
        """btf-cc leaves the pipe to the compiler, because a pipe can be read only once."""
        self.script('fake', '#!/bin/sh\nexec cat "${1#@}"\n')
        done = self.run_tool('bash', '-c', '"$0" -v ./fake @<(echo words)', self.btf_cc)
        self.assertEqual((done.returncode, done.stdout), (0, b'words\n'))
        self.assertRegex(done.stderr, rb'^btf-cc: /dev/fd/[0-9]+: is not a regular file, left alone\n$')

    def test_dev_null(self):
        self.both('gcc', '-g', '-c', 'add.c', '-o', '/dev/null', status=0)
        self.assertFalse(os.path.isfile('/dev/null'))

    def test_folder_that_cannot_be_written(self):
        os.mkdir(self.path('sub'))
        self.both('gcc', '-g', '-c', 'add.c', '-o', 'no/such/add.o', status=1)
        self.both('gcc', '-g', '-c', 'add.c', '-o', 'sub', status=1)
        self.assertEqual(os.listdir(self.path('sub')), [])
        if os.geteuid() == 0:
            print('SKIP folder without write permission: root can write everywhere')
            return
        os.chmod(self.path('sub'), 0o555)
        self.both('gcc', '-g', '-c', 'add.c', '-o', 'sub/add.o', status=1)
        os.chmod(self.path('sub'), 0o755)


class Signals(KbuildCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        heed_signals()

    def start(self, script, *arguments, **options):
        """Starts btf-cc with a shell script as the compiler, and waits until `script` writes "ready"."""
        fake = self.script('fake', '#!/bin/sh\n' + script)
        process = subprocess.Popen([self.btf_cc, fake, *(arguments or COMPILE)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                   env=self.environment(), **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b'ready\n')
        return process

    def end(self, process):
        out, error = process.communicate(timeout=30)
        return process.returncode, out, error

    def test_death_of_the_compiler(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGABRT, signal.SIGHUP,
                       signal.SIGPIPE, signal.SIGXCPU):
            self.script('fake', f'#!/bin/sh\nkill -{int(number)} $$\n')
            for arguments in ([], COMPILE):
                self.assertEqual(self.cc('./fake', *arguments), (-number, b'', b''), number)

    def test_signals_reach_the_compiler(self):
        for name in ('INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2'):
            process = self.start(f"trap 'echo got {name}; exit 7' {name}\necho ready\n"
                                 'while :; do sleep 0.01; done\n')
            process.send_signal(getattr(signal, 'SIG' + name))
            self.assertEqual(self.end(process), (7, f'got {name}\n'.encode(), b''))

    def test_compiler_dies_of_a_signal_to_us(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start('echo ready\nexec sleep 20\n')
            process.send_signal(number)
            self.assertEqual(self.end(process), (-number, b'', b''))

    def test_compiler_that_ignores_a_signal(self):
        """btf-cc does not die of signals that the compiler ignores. The compile succeeds, and the object gets BTF."""
        process = self.start("trap '' INT TERM\necho ready\nsleep 0.3\n"
                             f'exec gcc {shlex.join(COMPILE)}\n')
        self.write('add.c', 'int add(int a) { return a; }\n')
        for number in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        self.assertEqual(self.end(process), (0, b'', b''))
        self.assertTrue(self.has_object_btf('add.o'))

    def test_ignored_at_start(self):
        """Signals that are ignored when btf-cc starts, as under nohup, end neither btf-cc nor the compiler."""
        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = self.start('echo ready\nsleep 0.3\nexit 5\n', preexec_fn=ignore)
        for number in (signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
        self.assertEqual(self.end(process), (5, b'', b''))

    def dispositions(self, command, **options):
        done = self.run_tool(*command, restore_signals=False, **options)
        return [line for line in done.stdout.splitlines()
                if line[:6] in (b'SigBlk', b'SigIgn', b'SigCgt')]

    def test_compiler_inherits_dispositions(self):
        def prepare():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGWINCH])
        show = ['sh', '-c', 'exec cat /proc/self/status']
        for setup in (None, prepare):
            plain = self.dispositions(show, preexec_fn=setup)
            self.assertEqual(len(plain), 3)
            # With x.c the command is a compile (-c and a source), which btf-cc runs as a child. Without x.c, the
            # command replaces btf-cc (exec).
            for extra in ([], ['x.c']):
                self.assertEqual(self.dispositions([self.btf_cc, *show, *extra], preexec_fn=setup),
                                 plain)

    def test_sigchld_ignored_at_start(self):
        """If SIGCHLD is ignored, the kernel does not keep exit statuses. A failed compile must still fail."""
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for status in (0, 1, 42):
            self.script('fake', f'#!/bin/sh\n>add.o\nexit {status}\n')
            done = self.run_tool(self.btf_cc, './fake', *COMPILE, restore_signals=False,
                                 preexec_fn=ignore)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (status, b'', b''))

    def test_whole_group(self):
        """btf-cc and the compiler get Ctrl-C. btf-cc waits for the compiler, which removes its partial output."""
        process = self.start("trap 'sleep 0.3; rm -f part; trap - INT; kill -INT $$' INT\n>part\necho ready\n"
                             'while :; do sleep 0.01; done\n', start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), -signal.SIGINT)
        self.assertNotIn('part', self.names())

    def test_output_that_is_closed(self):
        """The reader of the output ends early, as in `btf-cc cc ... | head -1`."""
        self.script('fake', '#!/bin/sh\nwhile :; do echo line || exit 9; done\n')
        for arguments in ([], COMPILE):
            reader, writer = os.pipe()
            process = subprocess.Popen([self.btf_cc, './fake', *arguments], stdout=writer,
                                       stderr=subprocess.DEVNULL, cwd=self.folder)
            os.close(writer)
            os.read(reader, 4)
            os.close(reader)
            self.assertIn(process.wait(timeout=30), (-signal.SIGPIPE, 9))


class Messages(KbuildCase):
    """Tests the options, settings and messages of btf-cc itself."""

    def test_no_arguments(self):
        status, out, error = self.cc()
        self.assertEqual((status, out), (2, b''))
        self.assertEqual(error, b"btf-cc: ERROR: COMPILER is required\nTry 'btf-cc --help'.\n")

    def test_version_and_help(self):
        status, out, error = self.cc('--version')
        self.assertEqual((status, error), (0, b''))
        self.assertRegex(out, rb'^btf-cc [0-9]+(\.[0-9]+)+( \(.+\))?\n$')
        for word in '--help', '-h', '--he':
            status, out, error = self.cc(word)
            self.assertEqual((status, error), (0, b''))
            self.assertIn(b'\nUsage: btf-cc [OPTIONS] COMPILER', out)

    def test_option_instead_of_compiler(self):
        status, out, error = self.cc('-c', 'add.c')
        self.assertEqual((status, out), (2, b''))
        self.assertRegex(error, rb'^btf-cc: ERROR: there is no option -c\n')

    def test_options_are_read_as_by_the_other_programs(self):
        self.compile()
        for words, why in ((['--bogus'], 'there is no option --bogus'),
                           (['--features'], '--features needs a value'),
                           (['--features='], '--features needs a value'),
                           (['--strict=1'], '--strict takes no value'),
                           (['--features=var', '--features=var'], '--features is given twice')):
            status, out, error = self.cc(*words)
            self.assertEqual((status, out), (2, b''))
            self.assertTrue(error.startswith(f'btf-cc: ERROR: {why}\n'.encode()), error)
        settings = self.cc('--strict', '--features=var', '--settings')
        self.assertEqual(self.cc('--strict', '--feat', 'var', '--settings'), settings)
        # Arguments after the compiler belong to the compiler.
        status, out, error = self.cc('-v', 'gcc', '-c', '-g', '--std=c11', 'add.c')
        self.assertEqual((status, out, error), (0, b'', b'btf-cc: add.o: object BTF written\n'))

    def test_verbose(self):
        self.compile()
        on = {'BTF_CC_VERBOSE': '1'}
        said = {}
        for name, flags in (('dwarf', ['-g', 'add.c']), ('no-dwarf', ['add.c']),
                            ('vdso', ['-g', '-DBUILD_VDSO', 'add.c'])):
            status, out, said[name] = self.cc('gcc', '-c', '-o', 'x.o', *flags, settings=on)
            self.assertEqual((status, out), (0, b''))
        self.assertEqual(said, {'dwarf': b'btf-cc: x.o: object BTF written\n',
                                'no-dwarf': b'btf-cc: x.o: no DWARF, left alone\n',
                                'vdso': b'btf-cc: x.o: vdso, left alone\n'})
        # Scripts read the output of such probes, so btf-cc adds nothing to it.
        for probe in (['-E', 'add.c'], ['--version'], ['-x', 'c', '-c', '/dev/null', '-o', 'y.o']):
            self.assertEqual(self.cc('gcc', *probe, settings=on), self.cc('gcc', *probe))

    def test_units_that_are_not_read(self):
        self.compile()
        for flag in '-gsplit-dwarf', '-fdebug-types-section':
            self.assertEqual(self.cc('gcc', *COMPILE, flag), (0, b'', b''))
        self.script('loses', '#!/bin/sh\ngcc "$@" && rm -f *.dwo\n')
        status, out, error = self.cc('./loses', *COMPILE, '-gsplit-dwarf')
        self.assertEqual((status, out), (0, b''))
        self.assertRegex(error.decode(),
                         '^btf-cc: WARNING: add.o: 1 split-dwarf-unit is not read, .*\n$')
        status, out, error = self.cc('./loses', *COMPILE, '-gsplit-dwarf',
                                     settings={'BTF_CC_STRICT': '1'})
        self.assertEqual((status, out), (1, b''))
        self.assertIn(b'btf-cc: ERROR: add.o: 1 split-dwarf-unit', error)
        self.assertNotIn('add.o', self.names())

    def test_missing_dwarf(self):
        """The command has -g, but another program removes the DWARF."""
        self.compile()
        self.script('strips', '#!/bin/sh\ngcc "$@" && objcopy --strip-debug add.o\n')
        said = b'add.o: no DWARF although -g was given, so no object BTF\n'
        self.assertEqual(self.cc('./strips', *COMPILE), (0, b'', b'btf-cc: WARNING: ' + said))
        self.assertEqual(self.cc('./strips', *COMPILE, settings={'BTF_CC_STRICT': '1'}),
                         (1, b'', b'btf-cc: ERROR: ' + said))
        self.assertNotIn('add.o', self.names())

    def test_missing_object(self):
        """The compiler may write the object to a place that btf-cc does not know, as with -working-directory."""
        self.script('elsewhere', '#!/bin/sh\nexit 0\n')
        said = b'add.o: does not exist after the compile, so it has no object BTF\n'
        self.assertEqual(self.cc('./elsewhere', *COMPILE), (0, b'', b'btf-cc: WARNING: ' + said))
        self.assertEqual(self.cc('--strict', './elsewhere', *COMPILE), (1, b'', b'btf-cc: ERROR: ' + said))
        self.assertEqual(self.cc('--strict', './elsewhere', '-c', 'add.c'), (0, b'', b''))

    def test_no_dwarf_is_expected(self):
        self.compile()
        self.write('empty.c', '')
        self.write('data.S', '\t.data\n\t.long 1\n')
        for arguments in (['-c', 'add.c'], [*COMPILE, '-g0'], [*COMPILE, '-flto'],
                          ['-g', '-c', 'empty.c'], ['-g', '-c', 'data.S'],
                          ['-g', '-c', '-x', 'assembler-with-cpp', 'data.S']):
            self.assertEqual(self.cc('gcc', *arguments), (0, b'', b''), arguments)

    def test_wrong_settings(self):
        self.compile()
        os.remove(self.path('add.o'))
        for name, value, said in (
                ('BTF_CC_STRICT', 'yes', 'BTF_CC_STRICT=yes: must be 0 or 1'),
                ('BTF_CC_STRIP_DWARF', '2', 'BTF_CC_STRIP_DWARF=2: must be 0 or 1'),
                ('BTF_CC_VERBOSE', 'on', 'BTF_CC_VERBOSE=on: must be 0 or 1'),
                ('BTF_CC_FEATURES', 'var,nonsense',
                 "BTF_CC_FEATURES: unknown feature 'nonsense'.*"),
                ('PAHOLE_FLAGS', '--nonsense', 'PAHOLE_FLAGS: option --nonsense is not known'),
                ('PAHOLE_FLAGS', "--lang_exclude='rust", 'PAHOLE_FLAGS.*: missing closing \''),
                ('PAHOLE_FLAGS', '--lang_exclude=klingon', "PAHOLE_FLAGS: unknown language.*"),
                ('PAHOLE_LANG_EXCLUDE', 'klingon', "PAHOLE_LANG_EXCLUDE: unknown language.*")):
            for command in (['gcc', *COMPILE], ['--settings']):
                status, out, error = self.cc(*command, settings={name: value})
                self.assertEqual((status, out), (2, b''), (name, command))
                self.assertRegex(error.decode(), f'^btf-cc: ERROR: {said}\n$')
            self.assertNotIn('add.o', self.names())
        # Wrong variables do not affect probes such as Kbuild's as-instr; wrong options do not affect --help.
        self.assertEqual(self.cc('gcc', '-c', '-x', 'assembler-with-cpp', '-o', 'probe.o', '-', input=b'nop\n',
                                 settings={'BTF_CC_STRICT': 'yes'}), (0, b'', b''))
        self.assertEqual(self.cc('--features=nonsense', '--help')[0], 0)

    def test_options_are_not_passed_on(self):
        self.script('compiler', '#!/bin/sh\necho ran\nenv | grep ^BTF_CC_\n')
        self.assertEqual(self.cc('--strict', '--features=var', './compiler', '-E', 'add.c')[1], b'ran\n')

    def test_empty_settings_count_as_unset(self):
        self.compile()
        empty = dict.fromkeys(('BTF_CC_STRICT', 'BTF_CC_STRIP_DWARF', 'BTF_CC_VERBOSE',
                               'BTF_CC_FEATURES', 'PAHOLE_FLAGS'), '')
        self.assertEqual(self.cc('--settings', settings=empty), self.cc('--settings'))
        zero = {name: '0' for name in list(empty)[:3]}
        self.assertEqual(self.cc('--settings', settings=zero), self.cc('--settings'))


@unittest.skipUnless(shutil.which('make'), 'make is not installed')
class ForgottenPahole(KbuildCase):
    """Tests the warnings of btf-cc in a kernel build: PAHOLE is not btf-pahole, or CONFIG_DEBUG_INFO_BTF is off."""
    SAID = ('btf-cc: WARNING: PAHOLE={} is not btf-pahole, so object BTF will not be merged and '
            'modules will fail to load; pass PAHOLE=btf-pahole to make\n')

    def setUp(self):
        super().setUp()
        os.makedirs(self.path('tree/include/config'))
        self.configure('CONFIG_DEBUG_INFO_BTF=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n')
        os.mkdir(self.path('tmp'))
        for name in ('main.c', 'add.c', 'other.c'):
            self.compile(name)
        self.write('Makefile', 'all: main.o add.o sub\n'
                   '%.o: %.c FORCE\n\t@$(SETTINGS) $(BTF_CC) gcc -g -c $< -o $@\n'
                   'sub:\n\t@$(MAKE) --no-print-directory other.o\nFORCE:\n.PHONY: sub FORCE\n')

    def configure(self, text):
        self.write('tree/include/config/auto.conf', text)

    def build(self, pahole, **more):
        """Builds with make, checks that all objects have object BTF, and returns the messages."""
        path = f'{self.folder}/bin:{os.path.dirname(self.btf_pahole)}:{os.environ["PATH"]}'
        done = self.run_tool('make', '-j3', f'BTF_CC={self.btf_cc}', text=True,
                             settings={'PATH': path, 'objtree': 'tree', 'TMPDIR': self.path('tmp'),
                                       'PAHOLE': pahole, 'MAKEFLAGS': None, 'MAKELEVEL': None,
                                       **more})
        self.assertEqual((done.returncode, done.stdout), (0, ''))
        for name in ('main.o', 'add.o', 'other.o'):
            self.assertTrue(self.has_object_btf(name))
        return done.stderr

    def test_said_of_each_object(self):
        os.mkdir(self.path('bin'))
        self.script('bin/pahole', '#!/bin/sh\necho v1.32\n')
        for pahole in ('pahole', 'no-such-pahole', 'true', 'pahole --lang_exclude=rust'):
            self.assertEqual(self.build(pahole), self.SAID.format(pahole) * 3)
            self.assertEqual(self.build(pahole, BTF_CC_QUIET='1'), '')
        self.assertEqual(self.build('true', SETTINGS='BTF_CC_QUIET=0'), self.SAID.format('true') * 3)
        self.assertEqual(os.listdir(self.path('tmp')), [])

    def test_one_write_per_line(self):
        """btf-cc prints a message with one write(), so that the lines of parallel compiles do not mix. A datagram
        socket shows each write() separately."""
        with contextlib.ExitStack() as stack:
            ours, theirs = map(stack.enter_context,
                               socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
            subprocess.run([self.btf_cc, 'gcc', *COMPILE], stderr=theirs, check=True,
                           cwd=self.folder,
                           env=self.environment({'objtree': 'tree', 'PAHOLE': 'true'}))
            self.assertEqual(ours.recv(65536).decode(), self.SAID.format('true'))

    def test_right_settings_are_silent(self):
        os.mkdir(self.path('bin'))
        os.symlink(self.btf_pahole, self.path('bin/pahole'))
        self.script('bin/script', '#!/bin/sh\nexec btf-pahole "$@"\n')
        for pahole in (None, '', 'btf-pahole', self.btf_pahole, 'btf-pahole -j1'):
            self.assertEqual(self.build(pahole), '')
        self.assertEqual(os.listdir(self.path('tmp')), [])
        for pahole in ('pahole', 'script', self.path('bin/pahole')):
            self.assertEqual(self.build(pahole), '')

    def test_configuration_without_btf(self):
        """The warning appears once when a new tree is built: for scripts/mod/empty.o, which Kbuild compiles before all
        objects of the kernel."""
        said = (b'btf-cc: WARNING: this kernel gets no BTF, because CONFIG_DEBUG_INFO_BTF is off; Kconfig turns it '
                b'off if it finds no pahole (pass PAHOLE=btf-pahole to each make)\n')
        os.makedirs(self.path('scripts/mod'))
        tree = {'objtree': 'tree', 'PAHOLE': 'btf-pahole'}
        for text, name, expected in (('CONFIG_BPF=y\n', 'scripts/mod/empty.o', said),
                                     ('CONFIG_BPF=y\n', 'add.o', b''),
                                     ('CONFIG_DEBUG_INFO_BTF=y\n', 'scripts/mod/empty.o', b'')):
            self.configure(text)
            for way in ([], ['--plugin']) if expected else ([],):
                self.assertEqual(self.cc(*way, 'gcc', '-O2', '-c', 'add.c', '-o', name, settings=tree),
                                 (0, b'', expected))
            self.assertEqual(self.cc('-q', 'gcc', '-c', 'add.c', '-o', name, settings=tree), (0, b'', b''))

    def test_outside_a_kernel_tree(self):
        self.assertEqual(self.build('true', objtree=None), '')
        self.assertEqual(self.build('true', objtree='nowhere'), '')


if __name__ == '__main__':
    run(__name__)
