# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Runs programs and measures their cost."""
import argparse
import collections
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import time

# wall, user and system are in seconds, memory is in MB.
Cost = collections.namedtuple('Cost', 'wall user system memory')


def names_from(known):
    """Returns a type for argparse: a list of names from `known`, separated by commas."""
    def parse(text):
        names = text.split(',')
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f'{name}: not one of {", ".join(known)}')
        return names
    return parse


def private_memory(pid):
    """The private memory of a running process in MB; 0 if it has ended."""
    try:
        text = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    except OSError:
        return 0
    # RssShmem is not added, because it includes pages of files in tmpfs.
    found = re.search('^RssAnon:\\s*([0-9]+) kB', text, re.M)
    return int(found[1]) / 1024 if found else 0


# A new process inherits the peak of its parent's memory, and this process may be large. So without `watch`, a small
# process starts the program that is measured. No result is below the memory of the small process, about 10 MB. The
# small process prints wall, user and system time, maximum resident set, exit status.
STARTER = '''import os, sys, time
start = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(time.monotonic() - start, usage.ru_utime, usage.ru_stime, usage.ru_maxrss,
      os.waitstatus_to_exitcode(status))
'''


def run(argv, cwd=None, limit=None, watch=False):
    """Runs one process. Returns its cost, or None if it took more than `limit` seconds of processor time.
    If the process fails, the benchmark ends. The memory is the maximum resident set. With `watch` it is
    the maximum of private memory, without pages of mapped files. Private memory is read every millisecond,
    which slows the process down, so take times from runs without `watch`."""
    argv = [str(a) for a in argv]
    bounds = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))) if limit else None
    if not watch:
        said = subprocess.run([sys.executable, '-I', '-S', '-c', STARTER, *argv], cwd=cwd, check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=bounds).stdout
        wall, user, system, memory, status = said.split()
        return checked(Cost(float(wall), float(user), float(system), int(memory) / 1024), int(status),
                       argv, limit)
    start = time.monotonic()
    with subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          preexec_fn=bounds) as child:
        memory = 0
        while not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            memory = max(memory, private_memory(child.pid))
            time.sleep(.001)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    return checked(Cost(wall, usage.ru_utime, usage.ru_stime, memory), child.returncode, argv, limit)


def checked(cost, status, argv, limit):
    """Returns the cost of a process, or None if `limit` ended it. If it failed, the benchmark ends."""
    if limit and status < 0 and cost.user + cost.system > limit * .9:
        return None
    if status != 0:
        sys.exit(f'bench: {argv[0]} failed with status {status}')
    return cost


def median(costs):
    return Cost(*(statistics.median(column) for column in zip(*costs)))


def rounds(cases, count):
    """Runs all cases in turn: once to warm up, `count` times to measure times, once to measure private memory.
    `cases`: name -> function of `watch` that runs the case once and returns what run() returns.
    Returns name -> cost: medians of the times and the memory of the last run, or None if a run took too long."""
    found = collections.defaultdict(list)
    memory, slow = {}, set()
    for number in range(count + 2):
        print(f'round {number} of {count + 1}' + ' (warm-up)' * (number == 0), file=sys.stderr,
              flush=True)
        for name, once in cases.items():
            if name in slow:
                continue
            cost = once(watch=number > count)
            if cost is None:
                slow.add(name)
            elif number > count:
                memory[name] = cost.memory
            elif number:
                found[name].append(cost)
    return {name: None if name in slow else median(found[name])._replace(memory=memory[name])
            for name in cases}


def processor():
    for line in pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
        if line.startswith('model name'):
            return line.split(':')[1].strip()
    return platform.machine()
