# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The kernel's own selftests as clients of tests/kernel/clients: test_progs and the selftests of sched_ext."""
import re
import typing

from checks import Skip, command

FOLDER = 'tools/testing/selftests'
# Programs whose shared libraries the machine needs: those that run the tests, and bpftool, which some tests start.
STARTED = ('test_progs', 'runner', 'bpftool')


class Test(typing.NamedTuple):
    name: str
    command: str


class Selftests:
    """A kernel's source tree in which selftests were built, for example by build-selftests."""

    def __init__(self, tree):
        self.tree = tree
        self.bpf = tree / FOLDER / 'bpf'
        self.sched_ext = tree / FOLDER / 'sched_ext'
        if not self.programs():
            raise Skip(f'{tree}: neither test_progs nor sched_ext/runner was built there '
                       f'(tests/kernel/clients.d/build-selftests)')

    def programs(self):
        return [path for path in (self.bpf / 'test_progs', self.sched_ext / 'runner') if path.is_file()]

    def tests(self):
        """Yields the tests of all programs that were built. Each is a client of its own, so that a crash or a
        timeout affects no other test."""
        if not (self.bpf / 'test_progs').is_file():
            print(f'not run: test_progs, which was not built in {self.tree}')
        else:
            for name in re.findall(r'^DEFINE_TEST\((\w+)\)', (self.bpf / 'prog_tests/tests.h').read_text(), re.M):
                yield Test(f'test_progs: {name}', f'cd /selftests/bpf && exec ./test_progs -a {name}')
        if not (self.sched_ext / 'runner').is_file():
            print(f'not run: selftests of sched_ext, which were not built in {self.tree}')
        else:
            for source in sorted(self.sched_ext.glob('*.c')):
                if (self.sched_ext / f'build/obj/sched_ext/{source.stem}.o').exists() and '.bpf' not in source.name:
                    for name in re.findall(r'^\t\.name\s*=\s*"(\w+)"', source.read_text(), re.M):
                        yield Test(f'sched_ext: {name}', f'cd /selftests/sched_ext && exec ./runner -t {name}')

    def files(self, names, work, root):
        """Returns the files, except modules, that the tests `names` need in the machine: path in the machine -> file.
        Stripped copies of programs are written to the folder `work`. bpftool and libraries come from `root`."""
        files = {}
        if any(name.startswith('test_progs:') for name in names):
            for path in [*(self.bpf / name for name in ('test_progs', 'urandom_read', 'liburandom_read.so')),
                         *sorted(self.bpf.glob('*.bpf.o')),
                         *sorted(self.bpf.glob('progs/btf_dump_test_case_*.c'))]:
                if path.is_file():
                    files[f'selftests/bpf/{path.relative_to(self.bpf)}'] = path
            files['selftests/bpf/bpftool'] = root.program('bpftool')
        if any(name.startswith('sched_ext:') for name in names):
            files['selftests/sched_ext/runner'] = self.sched_ext / 'runner'
        for name, path in files.items():
            if path in self.programs():
                # strip -g makes the file smaller but keeps symbols, which some tests look up.
                files[name] = work / path.name
                command(['strip', '-g', '-o', files[name], path])
        if files:
            # glibc loads this library at run time, for pthread_exit() and pthread_cancel().
            files['usr/lib/x86_64-linux-gnu/libgcc_s.so.1'] = root.library('libgcc_s.so.1')
            if (self.tree / '.config').is_file():
                files['boot/config'] = self.tree / '.config'
            else:
                print(f'tests that need the configuration of the kernel will fail: there is no {self.tree}/.config')
        return files

    def modules(self, names):
        """Returns the modules that the tests `names` may load: all that were built with test_progs."""
        if not any(name.startswith('test_progs:') for name in names):
            return []
        modules = sorted(self.bpf.glob('*.ko'))
        if not modules:
            print(f'not loaded: modules of test_progs, which were not built in {self.tree}')
        return modules
