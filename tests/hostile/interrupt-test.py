#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Kills runs of the tools. The file that a run was to change must then be valid: the old file, perhaps with bytes
after its end, or the new one.

usage: interrupt-test.py BTF-CC BTF-PAHOLE BTF-EMIT BTF-DUMP BTF-COMPARE [TEST...]

If strace is installed, runs are killed before each system call that may change a file. Other runs are killed at
random times.

BTFLINK_KILLS sets how many runs of each kind are killed at random times (default 40; more if all of these runs
ended before they were killed). A killed run may leave a file .tmp_btflink-XXXXXX, which no program reads, in the folder
of its output, and nothing else.
"""
import os
import random
import shutil
import signal
import subprocess
import time

from helpers.btf_reader import Elf
from helpers.kbuild_case import KbuildCase, run

KILLS = int(os.environ.get('BTFLINK_KILLS', '40'))
CLEAN_EVERY = 50  # leftover files are removed every so many runs
# System calls that may change a file.
CHANGES = ('write', 'writev', 'pwrite64', 'fchmod', 'ftruncate', 'rename', 'renameat', 'renameat2', 'unlink')
MOST_CALLS = 100  # of each of these system calls, by one run


def big_source(structs):
    text = ''.join(f'struct s{i} {{ int a{i}; struct s{max(i - 1, 0)} *p; char c[{i + 1}]; }};\n'
                   f'int f{i}(struct s{i} *p) {{ return p->a{i}; }}\nstruct s{i} v{i};\n'
                   for i in range(structs))
    return text + 'int main(void) { return f0(&v0); }\n'


class Interrupt(KbuildCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(1)

    def duration(self, command, target, old):
        """Returns the shortest time of three complete runs, in seconds, and the contents that they give `target`."""
        shortest = 60
        for _ in range(3):
            self.write(target, old)
            begin = time.monotonic()
            self.assertEqual(self.call(*command).returncode, 0)
            shortest = min(shortest, time.monotonic() - begin)
        return shortest, self.read(target)

    def kill_at_calls(self, call, command, target, old):
        """Kills `command` before its first, second ... system call `call`; yields what `target` then contains."""
        known = self.names() | {target}
        for number in range(1, MOST_CALLS + 2):
            self.write(target, old)
            done = self.call('strace', '-qq', '-o', '/dev/null', '-e', f'trace={call}',
                             '-e', f'inject={call}:signal=KILL:when={number}', *command,
                             env={**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'})  # LeakSanitizer fails under strace
            if done.returncode == 0:
                return
            self.assertEqual(done.returncode, -signal.SIGKILL, done)
            yield self.read(target)
            for name in self.names() - known:
                self.assertRegex(name, r'^\.tmp_btflink-[A-Za-z0-9]{6}$')
                os.unlink(self.path(name))
        self.fail(f'more than {MOST_CALLS} calls of {call}')

    def kill_at_changes(self, command, target, old):
        """Kills `command`, which changes `target`, before each of its changes of a file."""
        if not shutil.which('strace') or self.call('strace', '-o', '/dev/null', 'true').returncode:
            print('SKIP strace: not installed, or not allowed')
            return
        states = [state for call in CHANGES for state in self.kill_at_calls(call, command, target, old)]
        self.write(target, old)
        self.assertEqual(self.call(*command).returncode, 0)
        new = self.read(target)
        self.assertNotEqual(new, old)
        for contents in states:
            self.write(target, contents)
            self.state(target, old, new)
        print(f'{os.path.basename(command[0])}: killed before each of {len(states)} changes')
        self.assertGreater(len(states), 1, 'no run was killed after it had begun to write')
        self.write(target, old)

    def kill_runs(self, command, target, old):
        """Kills `command`, which changes `target`, before each of its changes of a file, and at random times."""
        self.kill_at_changes(command, target, old)
        shortest, new = self.duration(command, target, old)
        self.assertNotEqual(old, new)
        known = self.names()
        seen = {'old': 0, 'new': 0, 'old and more': 0, 'missing': 0}
        for number in range(KILLS * 20):
            # More runs follow as long as every run has ended before it was killed.
            if number >= KILLS and seen['new'] < number:
                break
            self.write(target, old)
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0, shortest))
            process.kill()
            process.wait()
            seen[self.state(target, old, new)] += 1
            for name in self.names() - known - {target}:
                self.assertRegex(name, r'^\.tmp_btflink-[A-Za-z0-9]{6}$')
                if number % CLEAN_EVERY == CLEAN_EVERY - 1:
                    os.unlink(self.path(name))
            if number % 10 == 0:  # a complete run succeeds in spite of the leftovers
                self.assertEqual(self.call(*command).returncode, 0)
                self.assertEqual(self.sections(target), self.sections_of(new))
        print(f'{os.path.basename(command[0])}: killed {sum(seen.values())}: {seen}')
        self.assertEqual(seen['missing'], 0)
        self.assertGreater(seen['old'] + seen['old and more'], 0)

    def state(self, target, old, new):
        if not os.path.exists(self.path(target)):
            return 'missing'
        now = self.read(target)
        if now == new:
            return 'new'
        if now == old:
            return 'old'
        # Bytes were appended, but the ELF header is still the old one.
        self.assertTrue(now.startswith(old), f'{target} is neither the old nor the new file')
        Elf(self.path(target))
        return 'old and more'

    def sections(self, name):
        return [(s.name, s.data) for s in Elf(self.path(name)).sections if s.name == '.BTF']

    def sections_of(self, contents):
        self.write('whole', contents)
        try:
            return self.sections('whole')
        finally:
            os.unlink(self.path('whole'))

    def object(self):
        self.write('big.c', big_source(400))
        self.must('gcc', '-g', '-O1', '-c', 'big.c', '-o', 'big.o')
        return self.read('big.o')

    def test_emit_in_place(self):
        self.kill_runs([self.btf_emit, '--features=+global_var', '--address-pool', 'big.o'],
                       'big.o', self.object())

    def test_emit_by_rename(self):
        self.kill_runs([self.btf_emit, '--features=+global_var', '--strip-dwarf', 'big.o'],
                       'big.o', self.object())

    def test_btf_cc(self):
        plain = self.object()
        self.write('made.o', plain)
        compiler = self.script('cc', '#!/bin/sh\ncp made.o new.o && mv new.o big.o\n')
        known = self.names()
        command = [self.btf_cc, compiler, '-g', '-c', 'big.c', '-o', 'big.o']
        self.kill_at_changes(command, 'big.o', plain)
        shortest, new = self.duration(command, 'big.o', plain)
        self.assertNotEqual(plain, new)
        seen = {'missing': 0, 'old': 0, 'new': 0, 'old and more': 0}
        for _ in range(KILLS):
            os.unlink(self.path('big.o'))
            process = subprocess.Popen(command, cwd=self.folder, start_new_session=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0, shortest * 1.2))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            seen[self.state('big.o', plain, new)] += 1
            for name in self.names() - known:
                self.assertRegex(name, r'^(new\.o|\.tmp_btflink-[A-Za-z0-9]{6})$')
            if not os.path.exists(self.path('big.o')):
                self.write('big.o', plain)
        print(f'btf-cc: killed {KILLS}: {seen}')

    def test_update(self):
        self.object()
        self.must(self.btf_emit, '--features=+global_var', '--address-pool', 'big.o')
        self.must('ld', '-e', 'main', '-o', 'image', 'big.o')
        self.kill_runs([self.btf_merge, '--features=+global_var', '--image=image',
                        '--update=image', 'big.o'], 'image', self.read('image'))


if __name__ == '__main__':
    run('__main__')
