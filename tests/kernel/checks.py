# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Checks, commands and progress, shared by the parts of the kernel suite."""
import os
import shlex
import subprocess
import time

SKIPPED = 77

# The list of features in scripts/Makefile.btf of Linux 6.12. Some later kernels add `attributes`. 7.3 adds `layout`
# instead, and does not ask for decl_tag_kfuncs, because its resolve_btfids tags kfuncs.
FEATURES = ('encode_force,var,float,enum64,decl_tag,type_tag,optimized_func,consistent_func,'
            'decl_tag_kfuncs')


def default_jobs():
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


class Skip(Exception):
    """A check cannot be made on this machine. The text is the reason."""


class Failed(Exception):
    """A step of the suite failed. The text is the reason; for a command, its exit status and the end of its output."""


class Checks:
    """Counts and prints checks."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def ok(self, name, condition, why=''):
        self.passed += bool(condition)
        self.failed += not condition
        print(('PASS: ' if condition else 'FAIL: ') + name, flush=True)
        if not condition and why:
            print(why.rstrip(), flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f'SKIP: {name}: {reason}', flush=True)

    def status(self):
        if self.failed:
            return 1
        return 0 if self.passed else SKIPPED


class Progress:
    """Prints a line per step on standard output, with its time."""

    def __init__(self, text):
        self.text = text

    def __enter__(self):
        print(self.text, end='', flush=True)
        self.start = time.monotonic()

    def __exit__(self, kind, value, trace):
        print(f': {time.monotonic() - self.start:.1f} s', flush=True)


def output_of(argv, cwd=None, env=None):
    """Runs a command; returns exit status and output (both streams in one)."""
    done = subprocess.run([str(a) for a in argv], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False)
    return done.returncode, done.stdout


def command(argv, cwd=None, env=None):
    """Runs a command, which must succeed; returns its output."""
    status, output = output_of(argv, cwd, env)
    if status != 0:
        raise Failed(f'{shlex.join(map(str, argv))}: exit status {status}\n{output[-4000:]}')
    return output
