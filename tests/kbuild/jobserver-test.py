#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests make's jobserver: threads run only with tokens, and every token is returned, also after errors and
signals; with pipes, with named pipes, and under make itself.

usage: jobserver-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]
"""
import array
import fcntl
import json
import os
import signal
import subprocess
import termios
import time

from helpers.kbuild_case import KbuildCase, heed_signals, run

UNITS = 12
TOKENS = b'+abcdefg' # make may use any bytes as tokens
MAKEFILE = '''all: $(foreach n,1 2 3 4 5 6,$(n).btf)
%.btf:
\t{plus}@{merge} --threads=8 --features=+global_var --image=program -o $@ {objects}
'''


def overlapping(spans):
    """The largest number of spans (begin, end) at one time. Adjacent spans do not overlap."""
    events = sorted((time, step) for begin, end in spans for time, step in ((begin, 1), (end, -1)))
    most = now = 0
    for _, step in events:
        now += step
        most = max(most, now)
    return most


class Server:
    """A jobserver with these tokens. `flags` are the MAKEFLAGS for programs that may use it."""

    def __init__(self, tokens, fifo=None):
        if fifo:
            os.mkfifo(fifo)
            self.ends = [os.open(fifo, os.O_RDWR)] * 2
        else:
            self.ends = list(os.pipe())
        self.passed = () if fifo else self.ends
        auth = f'fifo:{fifo}' if fifo else '{},{}'.format(*self.ends)
        # The first option is that of an outer make.
        self.flags = f'k -j8 --jobserver-auth=98,99 --jobserver-auth={auth} -- V=1'
        self.put(tokens)

    def put(self, tokens):
        os.write(self.ends[1], tokens)

    def count(self):
        waiting = array.array('i', [0])
        fcntl.ioctl(self.ends[0], termios.FIONREAD, waiting)
        return waiting[0]

    def take_all(self):
        return os.read(self.ends[0], 1000) if self.count() else b''

    def close(self):
        for end in set(self.ends):
            os.close(end)


class Jobserver(KbuildCase):
    def setUp(self):
        super().setUp()
        self.objects = []
        for n in range(UNITS):
            self.write(f'u{n}.c', f'struct s{n} {{ int a[{n + 1}]; struct s{n} *next; }} v{n};\n'
                                  f'int f{n}(struct s{n} *s) {{ return s->a[0]; }}\n' +
                                  ('int main(void) { return 0; }\n' if n == 0 else ''))
            self.must('gcc', '-g', '-O1', '-c', f'u{n}.c')
            self.objects.append(f'u{n}.o')
        self.good('--address-pool', '--features=+global_var', *self.objects)
        self.must('gcc', *self.objects, '-o', 'program')

    def server(self, tokens, **options):
        server = Server(tokens, **options)
        self.addCleanup(server.close)
        return server

    def merge_command(self, *more):
        return (self.btf_merge, '--threads=8', '--features=+global_var', '--image=program',
                '--time-trace=trace', '-o', 'out.btf', *more, *self.objects)

    def commands(self):
        """Commands of all programs with threads, with 8 threads each."""
        yield self.merge_command()
        yield (self.btf_pahole, '-J', '-j8', '--btf_features=+global_var', 'program')
        yield (self.btf_emit, '--image', '--threads=8', '--time-trace=trace', '-o', 'out', 'program')

    def under(self, server, *command, status=0):
        done = self.run_tool(*command, settings={'MAKEFLAGS': server.flags}, text=True,
                             pass_fds=server.passed)
        self.assertEqual(done.returncode, status, done)
        return done

    def spans(self):
        """Returns the times when threads work, from --time-trace."""
        events = json.loads(self.read('trace'))
        events = events['traceEvents'] if isinstance(events, dict) else events
        return [(e['ts'], e['ts'] + e['dur']) for e in events if e.get('name') == 'worker']

    def test_all_go_back(self):
        for count in (0, 1, 3, len(TOKENS)):
            tokens = TOKENS[:count]
            for fifo in (None, self.path(f'fifo{count}')):
                server = self.server(tokens, fifo=fifo)
                for command in self.commands():
                    self.under(server, *command)
                    self.assertEqual(server.count(), count, command)
                self.assertEqual(sorted(server.take_all()), sorted(tokens))

    def test_threads(self):
        """Without a jobserver there are 8 threads; with one, one more than tokens."""
        merge, _, emit = self.commands()
        for command in (merge, emit):
            for count in (0, 1, 2, 5):
                self.under(self.server(TOKENS[:count]), *command)
                # If there is only one worker, the trace does not name it "worker".
                self.assertLessEqual(overlapping(self.spans()), count + 1, (command, count))
                threads = len({e[0] for e in self.spans()})
                self.assertGreaterEqual(threads, count and 2, (command, count))

    def test_same_bytes(self):
        command = self.merge_command()
        self.run_tool(*command)
        expected = self.read('out.btf')
        for count in (0, 1, 5):
            os.unlink(self.path('out.btf'))
            self.under(self.server(TOKENS[:count]), *command)
            self.assertEqual(self.read('out.btf'), expected)

    def test_what_cannot_be_reached(self):
        """For recipes without "+", make closes the descriptors or gives negative numbers."""
        self.write('file', '++++')
        ordinary = os.open(self.path('file'), os.O_RDWR)
        self.addCleanup(os.close, ordinary)
        for auth in ('198,199', '-2,-2', '', ',', '3', 'x,y', '0,1,2', 'fifo:', 'fifo:/none',
                     f'fifo:{self.path("file")}', f'{ordinary},{ordinary}'):
            done = self.run_tool(*self.merge_command(), text=True, pass_fds=[ordinary],
                                 settings={'MAKEFLAGS': f'-j8 --jobserver-auth={auth}'})
            self.assertEqual((done.returncode, done.stderr), (0, ''), auth)
            self.assertEqual(self.spans() == [], auth != '', auth)
            self.assertEqual(self.read('file'), b'++++')

    def test_other_pipes_of_these_numbers(self):
        """A shell may have opened other pipes under the numbers that make closed. They must not be read."""
        one, other = os.pipe(), os.pipe()
        for end in one + other:
            self.addCleanup(os.close, end)
        os.write(one[1], b'12345')
        for ends in ((one[0], other[1]), (one[0], one[0]), (one[1], one[0])):
            done = self.run_tool(*self.merge_command(), text=True, pass_fds=one + other,
                                 settings={'MAKEFLAGS': '-j8 --jobserver-auth={},{}'.format(*ends)})
            self.assertEqual((done.returncode, done.stderr), (0, ''), ends)
            self.assertEqual(self.spans(), [], ends)
        self.assertEqual(os.read(one[0], 100), b'12345')

    def test_errors(self):
        self.write('broken.o', self.read('u1.o')[:-40])
        server = self.server(TOKENS)
        self.under(server, *self.merge_command('broken.o'), status=1)
        self.under(server, self.btf_pahole, '-J', '-j8', 'broken.o', status=1)
        self.under(server, self.btf_emit, '--image', '--threads=8', 'broken.o', status=1)
        self.assertEqual(sorted(server.take_all()), sorted(TOKENS))

    def wait_for(self, condition):
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        self.fail('it does not come')

    def test_signals(self):
        """A program is stopped while it has tokens and waits for input from a pipe."""
        os.mkfifo(self.path('slow.o'))
        signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1]
        with open(self.btf_merge, 'rb') as program:
            if b'__asan_init' in program.read():
                print('SKIP SIGSEGV: AddressSanitizer has a handler of its own')
            else:
                signals.append(signal.SIGSEGV)
        for number in signals:
            server = self.server(TOKENS)
            process = subprocess.Popen(self.merge_command('slow.o'), cwd=self.folder,
                                       env=self.environment({'MAKEFLAGS': server.flags}),
                                       pass_fds=server.passed, stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill) # in case the signal does not end it
            self.wait_for(lambda s=server: s.count() == len(TOKENS) - 7)  # one of 8 threads needs no token
            process.send_signal(number)
            self.assertEqual(process.wait(60), -number)
            self.assertEqual(sorted(server.take_all()), sorted(TOKENS), number)

    def test_under_make(self):
        """At its end make counts its tokens, and reports missing ones."""
        for plus in ('+', ''):
            self.write('Makefile', MAKEFILE.format(plus=plus, merge=self.btf_merge,
                                                   objects=' '.join(self.objects)))
            for jobs in ('-j1', '-j3', '-j9'):
                done = self.run_tool('make', '-s', jobs, settings={'MAKEFLAGS': None}, text=True)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
                results = {self.read(f'{n}.btf') for n in range(1, 7)}
                self.assertEqual(len(results), 1)
                for n in range(1, 7):
                    os.unlink(self.path(f'{n}.btf'))


if __name__ == '__main__':
    heed_signals()
    run(__name__)
