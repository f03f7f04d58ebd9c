# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Kills a running build, at a moment when only compilers run."""
import os
import signal
import time
from pathlib import Path

from checks import Failed

# A build is killed only while nothing but these programs works. The tests are about the objects that these programs
# write. After a SIGKILL at another moment, a build could not be continued even without btflink: fixdep and the shell
# leave half a .cmd file, which make cannot read; ld and ar leave half a file that is newer than its sources.
COMPILING = {'btf-cc', 'gcc', 'cc1'}
WAIT = 120 # maximum time in seconds to wait until only programs in COMPILING work


def processes():
    """Returns pid -> (name, parent, process group) of all processes except zombies."""
    found = {}
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            pid, rest = stat.read_text(errors='replace').split(' (', 1)
        except OSError:
            continue # because the process has ended
        name, fields = rest.rsplit(') ', 1)
        state, parent, group = fields.split()[:3]
        if state != 'Z':
            found[int(pid)] = name, int(parent), int(group)
    return found


def working_in(group):
    """Returns the names of those processes of a process group that have no children: the others wait for theirs."""
    running = processes()
    parents = {parent for _, parent, _ in running.values()}
    return {name for pid, (name, _, its) in running.items() if its == group and pid not in parents}


def kill_compiling(build, kind):
    """Sends the signal `kind` to the process group of `build` at a moment when all jobs compile, and waits for the
    build's end. Returns False if the build ends before such a moment. Raises Failed if none comes in WAIT seconds."""
    deadline = time.monotonic() + WAIT
    while build.poll() is None:
        try:
            os.killpg(build.pid, signal.SIGSTOP)
            time.sleep(0.05) # until all have stopped
            working = working_in(build.pid)
            if working and working <= COMPILING:
                os.killpg(build.pid, kind)
                os.killpg(build.pid, signal.SIGCONT)
                build.wait()
                return True
            os.killpg(build.pid, signal.SIGCONT)
        except ProcessLookupError:
            break
        if time.monotonic() > deadline:
            raise Failed(f'there was no moment at which the build only compiled, within {WAIT} s')
        time.sleep(0.05)
    build.wait()
    return False
