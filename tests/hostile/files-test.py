#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests unusual names, paths and sizes of files, full disks, and files that other programs change during a run.

usage: files-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]

BTFLINK_CHANGES is how often each command runs on a file that keeps changing (default: 20).
"""
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

from helpers.kbuild_case import HERE, Elf, KbuildCase, run

FEATURES = '--features=+global_var'
CHANGES = int(os.environ.get('BTFLINK_CHANGES', '20'))
ODD = ["a b.o", "quote'.o", 'double".o', 'new\nline.o', '-dash.o', 'back\\slash.o', '$(touch x).o',
       ';touch x;.o', '*?[a].o', '\xe4.o', '#.o', 'x' * 253 + '.o']


class Files(KbuildCase):
    def merge(self, *arguments, status=0, **options):
        """Runs btf-merge, checks that it exits with `status`, and returns its standard error."""
        done = self.call(self.btf_merge, *arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def object(self, name='add.o', structs=0):
        source = ''.join(f'struct s{i} {{ char c[{i + 1}]; struct s{i} *p; }} v{i};\n'
                         for i in range(structs))
        self.write('x.c', source + 'int f(int a) { return a; }\nint v;\n')
        self.must('gcc', '-g', '-O1', '-c', 'x.c', '-o', './' + name)
        os.unlink(self.path('x.c'))
        return name

    def test_odd_names(self):
        plain = self.read(self.object('plain.o'))
        self.good(FEATURES, 'plain.o')
        emitted = self.read('plain.o')
        self.merge(FEATURES, '-o', 'plain.btf', 'plain.o')
        os.mkdir(self.path('odd'))
        for name in ODD:
            self.write('odd/' + name, plain)
            self.good(FEATURES, 'odd/' + name)
            self.assertEqual(self.read('odd/' + name), emitted, repr(name))
            self.merge(FEATURES, '-o', 'odd/out', 'odd/' + name)
            self.assertEqual(self.read('odd/out'), self.read('plain.btf'), repr(name))
            self.merge(FEATURES, '--update=odd/' + name, 'odd/' + name)
        self.assertEqual(set(os.listdir(self.path('odd'))), {*ODD, 'out'})
        self.assertEqual(self.names(), {'plain.o', 'plain.btf', 'odd'})

    def test_odd_names_with_btf_cc(self):
        """btf-cc passes its arguments to the compiler without a shell."""
        for name in ODD:
            self.write('add.c', 'int v;\n')
            status, out, error = self.cc('gcc', '-g', '-c', 'add.c', '-o', './' + name)
            self.assertEqual((status, out, error), (0, b'', b''), repr(name))
            self.assertTrue(self.has_object_btf(name), repr(name))
            os.unlink(self.path(name))
            self.assertEqual(self.names(), {'add.c'})

    def test_4000_characters(self):
        """A file name that is too long causes the system's error, with that name."""
        name = 'n' * 4000 + '.o'
        self.bad(r'n{4000}\.o: cannot open: File name too long', name)
        self.assertRegex(self.merge('-o', 'out', name, status=1), r'n{4000}\.o: .*: File name too long')
        self.object()
        self.bad(r'n{4000}.o: cannot .*: File name too long', '-o', name, 'add.o', same=['add.o'])

    def test_long_paths(self):
        """A path of 3,861 characters, which the system allows."""
        folder = os.path.join(*['d' * 240] * 16)
        os.makedirs(self.path(folder))
        name = os.path.join(folder, 'add.o')
        self.write(name, self.read(self.object()))
        self.good(FEATURES, name)
        self.merge(FEATURES, '-o', folder + '/out', name)
        self.assertEqual(set(os.listdir(self.path(folder))), {'add.o', 'out'})

    def test_long_symbols(self):
        """Names of a million characters, which C and BTF allow."""
        long = 'n' * 1000000
        self.write('x.c', f'struct s{long} {{ int m{long}; }} v;\n')
        self.must('gcc', '-g', '-c', 'x.c', '-o', 'x.o')
        self.good(FEATURES, 'x.o')
        said = self.merge(FEATURES, '-o', 'out', 'x.o')
        self.assertRegex(said, 'btf-merge: WARNING: type .*name has 1000001 characters, kernels read 512 at '
                               'most')
        self.assertLess(len(said), 2000)

    def test_only_the_folders_that_were_named(self):
        """All files that a run writes, makes, renames or removes are in the folder of its output, except for /dev/null
        and files in /proc. The program executes no other program."""
        if not shutil.which('strace'):
            self.skipTest('strace is not installed')
        self.object()
        calls = 'trace=open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,' \
                'link,linkat,symlink,symlinkat,truncate,execve'
        for command in ([self.btf_emit, FEATURES, '-o', 'sub/new.o', 'add.o'],
                        [self.btf_emit, FEATURES, '--strip-dwarf', 'sub/new.o'],
                        [self.btf_merge, FEATURES, '-o', 'sub/out', '--update=sub/new.o', 'sub/new.o']):
            os.makedirs(self.path('sub'), exist_ok=True)
            self.must('env', 'ASAN_OPTIONS=detect_leaks=0', 'strace', '-f', '-o', 'trace', '-e', calls,
                      *command)
            changes = [line for line in self.read('trace').decode().splitlines()
                       if not re.search(r'O_RDONLY|execve\(|^\d+ +[+-]{3} |O_PATH', line)]
            self.assertTrue(changes)
            for line in changes:
                for path in re.findall(r'"([^"]*)"', line):
                    self.assertRegex(path, r'^sub/(new\.o|out|\.tmp_btflink-\w{6})$|^/dev/null$|^/proc/',
                                     line)
            self.assertEqual(self.read('trace').count(b'execve('), 1)  # only the start of the program itself
        self.assertEqual(self.names(), {'add.o', 'sub', 'trace'})

    def test_full_disk(self):
        self.object(structs=500)
        full = 'mount -t tmpfs -o size=$1 none full && cp add.o full/ && shift && "$@"; ' \
               's=$?; cmp add.o full/add.o && [ "$(ls -A full)" = add.o ] || exit 99; exit $s'
        os.mkdir(self.path('full'))
        size = len(self.read('add.o')) // 4096 * 4096 + 8192  # room for add.o and one or two pages; BTF needs more
        command = ['unshare', '-m', 'sh', '-c', full, 'sh', str(size)]
        if shutil.which('unshare') is None or self.call('unshare', '-m', 'true').returncode:
            self.skipTest('no mount namespace')
        for options in ([], ['--strip-dwarf'], ['-o', 'full/new.o']):
            done = self.call(*command, self.btf_emit, FEATURES, *options, 'full/add.o')
            self.assertEqual(done.returncode, 1, done)
            self.assertRegex(done.stderr,
                             r'^btf-emit: ERROR: full/(add|new).o: cannot .*: No space left')

    def test_limit_of_file_sizes(self):
        """At the limit of `ulimit -f`, btf-merge reports an error. It does not die of SIGXFSZ."""
        self.object(structs=500)
        self.must(self.btf_emit, 'add.o')
        said = self.merge('-o', 'out.btf', 'add.o', status=1,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertRegex(said, r'^btf-merge: ERROR: out.btf: .*: File too large\n$')
        self.assertNotIn('out.btf', self.names())

    def test_full_output(self):
        """A program that cannot write to standard output reports an error, also for --help."""
        built = os.path.dirname(self.btf_pahole)
        module = os.path.join(HERE, '..', '..', 'kbuild-integration', 'btf-module')
        questions = [(self.btf_emit, '--help'), (self.btf_emit, '--version'),
                     (self.btf_merge, '--help'), (self.btf_merge, '--version'),
                     (self.btf_cc, '--help'), (self.btf_cc, '--version'),
                     (self.btf_cc, '--settings', 'gcc'), (self.btf_pahole, '--help'),
                     (self.btf_pahole, '--version'), (self.btf_pahole, '--numeric_version'),
                     (self.btf_pahole, '--supported_btf_features'), (module, '--help'),
                     (module, '--version')]
        btf_kernel = os.path.join(built, '..', 'btf-kernel', 'btf-kernel')
        if os.path.exists(btf_kernel):
            questions += [(btf_kernel, '--help'), (btf_kernel, '--version')]
        else:
            print('SKIP btf-kernel: not built')
        path = f'{built}:{os.environ["PATH"]}'
        for command in questions:
            with open('/dev/full', 'wb') as full:
                done = subprocess.run(command, cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False, env={**os.environ, 'PATH': path})
            self.assertEqual(done.returncode, 1, command)
            self.assertIn('No space left on device', done.stderr, command)

    def test_file_that_shrinks(self):
        """The first input is truncated after btf-merge has mapped it, while btf-merge waits for the second
        input, a pipe."""
        self.object('big.o', structs=3000)
        self.good(FEATURES, 'big.o')
        self.assertGreater(len(self.read('big.o')), 1 << 18)
        os.mkfifo(self.path('pipe'))
        self.object('small.o')
        self.good(FEATURES, 'small.o')

        def cut():
            with open(self.path('pipe'), 'wb') as pipe:  # returns when btf-merge has opened the pipe
                os.truncate(self.path('big.o'), 4096)
                pipe.write(self.read('small.o'))

        thread = threading.Thread(target=cut)
        thread.start()
        said = self.merge('--threads=1', FEATURES, '-o', 'out', 'big.o', 'pipe', status=1)
        thread.join()
        self.assertEqual(said, 'btf-merge: ERROR: big.o: the file was truncated, or cannot be '
                               'read\n')
        self.assertNotIn('out', self.names())

    def test_file_that_changes(self):
        """Bytes of the first input change after btf-merge has mapped it, while btf-merge waits for the second input, a
        pipe. btf-merge reports an error and writes no result."""
        self.object('big.o', structs=3000)
        self.good(FEATURES, 'big.o')
        good = self.read('big.o')
        self.object('small.o')
        self.good(FEATURES, 'small.o')
        small = self.read('small.o')
        begin, size = next((s.offset, len(s.data)) for s in Elf(self.path('big.o')).sections
                           if s.name == '.BTF')
        noise = random.Random(1)
        changes = [(0, bytes(len(good))), (begin, bytes(size)), (begin, b'\xff' * size),
                   (begin, noise.randbytes(size))]
        changes += [(begin + noise.randrange(size - 4), noise.randbytes(4)) for _ in range(10)]
        changes.append((begin, good[begin:begin + size]))  # only the file's time changes
        for at, data in changes:
            for options in ([], ['--dedup=libbpf']):
                self.write('big.o', good)
                os.mkfifo(self.path('pipe'))

                def change():
                    with open(self.path('pipe'), 'wb') as pipe:
                        with open(self.path('big.o'), 'r+b') as file:
                            file.seek(at)
                            file.write(data)
                        pipe.write(small)

                thread = threading.Thread(target=change)
                thread.start()
                said = self.merge('--threads=1', FEATURES, *options, '-o', 'out', 'big.o', 'pipe',
                                  status=1, errors='replace')
                thread.join()
                os.unlink(self.path('pipe'))
                self.assertRegex(said, r'^btf-merge: ERROR: .*\n$')
                self.assertNotIn('out', self.names())
        self.assertEqual(said, 'btf-merge: ERROR: big.o: the file was changed while it was '
                               'read\n')

    def test_file_that_keeps_changing(self):
        """Random bytes are written into the input until the run ends. The run may end with an error, with a result
        (that of btf-merge must pass --check), or by a signal, after a message that names the file."""
        self.object('big.o', structs=1000)
        dwarf = self.read('big.o')
        self.good(FEATURES, 'big.o')
        good = self.read('big.o')
        commands = [(good, [self.btf_merge, FEATURES, '-o', 'out', 'big.o']),
                    (dwarf, [self.btf_emit, FEATURES, '--image', '-o', 'out', 'big.o']),
                    (dwarf, [self.btf_emit, FEATURES, '--address-pool', '-o', 'out', 'big.o'])]
        # A sanitizer, too, must end the program by a signal.
        environment = {**os.environ, 'ASAN_OPTIONS': 'abort_on_error=1',
                       'UBSAN_OPTIONS': 'abort_on_error=1'}
        noise = random.Random(1)
        ended = {0: 0, 1: 0, **{-s: 0 for s in (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
                                                signal.SIGILL, signal.SIGSEGV)}}
        for old, command in commands:
            for _ in range(CHANGES):
                self.write('big.o', old)
                process = subprocess.Popen(command, cwd=self.folder, env=environment,
                                           stderr=subprocess.PIPE, errors='replace')
                self.addCleanup(process.kill)
                end = time.monotonic() + 120
                with open(self.path('big.o'), 'r+b', buffering=0) as file:
                    while process.poll() is None:
                        self.assertLess(time.monotonic(), end, f'{command}: does not end')
                        file.seek(noise.randrange(len(old)))
                        file.write(noise.randbytes(noise.choice([1, 4, 64, 4096])))
                        time.sleep(noise.random() / 1000)
                error = process.communicate(timeout=120)[1]
                self.assertIn(process.returncode, ended, (command, error))
                ended[process.returncode] += 1
                if process.returncode == 1:
                    self.assertRegex(error, r'btf-(merge|emit): ERROR: .*\n$')
                elif process.returncode:
                    self.assertIn('ERROR: big.o: the file was changed', error)
                elif command[0] == self.btf_merge:
                    self.merge('--check=out')
                self.assertEqual('out' in self.names(), process.returncode == 0)
                if process.returncode == 0:
                    os.unlink(self.path('out'))
        self.assertGreater(ended[1], 0)

    def test_four_at_once(self):
        """Four runs change one object at once. Each succeeds, or fails with a message. The object has the result of
        one run, or is unchanged if all runs fail."""
        plain = self.read(self.object(structs=300))
        before = self.sections('add.o')
        for options in ([], ['--strip-dwarf']):
            self.write('add.o', plain)
            self.good(FEATURES, *options, 'add.o')
            whole = self.sections('add.o')
            finished = 0
            for _ in range(10):
                self.write('add.o', plain)
                runs = [subprocess.Popen([self.btf_emit, FEATURES, *options, 'add.o'],
                                         cwd=self.folder, stderr=subprocess.PIPE, text=True)
                        for _ in range(4)]
                said = [r.communicate()[1] for r in runs]
                for r, text in zip(runs, said):
                    self.assertIn(r.returncode, (0, 1), text)
                    self.assertRegex(text, '^btf-emit: ERROR: add.o: the file was changed' if r.returncode else '^$')
                # Only sections are compared, because a run that began while another one wrote may keep the bytes
                # that the other one appended, outside of all sections.
                done = any(r.returncode == 0 for r in runs)
                finished += done
                self.assertEqual(self.sections('add.o'), whole if done else before)
                self.assertEqual(self.names(), {'add.o'})
            self.assertGreater(finished, 0)

    def sections(self, name):
        """The sections except .shstrtab, sorted, because a run that finds another run's BTF may put its own at other
        places of the section table."""
        return sorted((s.name, s.type, s.data) for s in Elf(self.path(name)).sections
                      if s.name != '.shstrtab')

    def test_endless_words(self):
        """Response files that are too long or name themselves cause an error. Very long values of BTF_CC_FEATURES may
        cause one. In both cases, the run ends soon and without using much memory."""
        self.object()
        with open(self.path('huge.rsp'), 'wb') as file:
            file.truncate(1 << 30)
        self.assertIn('huge.rsp: is longer than', self.merge('-o', 'out', '@huge.rsp', status=1))
        self.assertIn('/dev/zero: is longer than', self.merge('-o', 'out', '@/dev/zero', status=1))
        self.write('self.rsp', '@self.rsp ' * 1000)
        self.assertIn('self.rsp: ', self.merge('-o', 'out', '@self.rsp', status=1))
        self.write('y.c', 'int v;\n')
        for value in ('var,' * 30000, 'x' * 100000, '+' * 100000):
            done = self.cc('--strict', 'gcc', '-g', '-c', 'y.c', '-o', 'y.o',
                           settings={'BTF_CC_FEATURES': value})
            self.assertIn(done[0], (0, 1, 2), done[2][-200:])
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 700 << 10)


if __name__ == '__main__':
    run('__main__')
