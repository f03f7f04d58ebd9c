#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Builds part of a kernel with ccache and Redis. The cached objects must have their BTF.

usage: caches.py --tools=BUILD --source=KERNEL --build=DIR [--jobs=N] [GOAL...]

BUILD is a meson build folder with the programs, KERNEL a kernel's source, DIR the output folder. DIR is
configured with small.config if it has no .config. GOALs are folders, by default kernel/ and lib/, which are
removed from DIR before each build. There are three builds. The first begins with an empty ccache and an empty
Redis. ccache's local cache is emptied before the second build, which fills it again. The third build is only
timed. Exit status: 0 all passed, 1 a check failed, 77 skipped.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from checks import SKIPPED, Failed, default_jobs
from helpers.btf_reader import Elf
from helpers.cache_tools import Ccache, Redis, missing
from kernel_tree import FIXED

TOOLS = ['CC=btf-cc ccache gcc', 'PAHOLE=btf-pahole']


class Slice:
    """The part of a kernel that the test builds: the folders that are given as GOALs."""

    def __init__(self, options, cache, redis):
        self.options, self.cache = options, cache
        self.build = options.build.resolve()
        tools = str((options.tools / 'kbuild-integration').resolve())
        self.environment = cache.environment(PATH=f'{tools}:{os.environ["PATH"]}',
                                             CCACHE_REMOTE_STORAGE=redis.address(),
                                             BTF_CC_STRICT='1')

    def make(self, *goals, **settings):
        """Runs make with `settings` in the environment; returns its output."""
        done = subprocess.run(['make', '-s', '-C', self.options.source, f'O={self.build}',
                               f'-j{self.options.jobs}', *FIXED, *TOOLS, *goals],
                              env={**self.environment, **settings}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failed(f'make {" ".join(goals)}: status {done.returncode}\n{done.stdout[-4000:]}')
        return done.stdout

    def configure(self):
        self.build.mkdir(parents=True, exist_ok=True)
        if not (self.build / '.config').exists():
            (self.build / '.config').write_text((HERE / 'small.config').read_text())
        self.make('olddefconfig')
        self.make('prepare')

    def clean_build(self, title, **settings):
        """Removes and builds all goals; prints times. Returns ccache's counters for this build and make's output."""
        for goal in self.options.goals:
            shutil.rmtree(self.build / goal, ignore_errors=True)
        self.cache.statistics() # resets the counters
        start, before = time.monotonic(), os.times()
        said = self.make(*self.options.goals, **settings)
        wall, after = time.monotonic() - start, os.times()
        counters = self.cache.statistics()
        used = (after.children_user + after.children_system
                - before.children_user - before.children_system)
        print(f'{title}: {wall:.1f} s wall, {used:.1f} s user+sys; '
              f'{counters["cache_miss"]} compiled, {counters["hit"]} from the cache, '
              f'{counters["remote_storage_hit"]} of them from Redis', flush=True)
        return counters, said

    def objects(self):
        """Returns path -> contents of those objects of the goals that gcc made, so not of those that ld -r made."""
        found = {}
        for goal in self.options.goals:
            for path in sorted((self.build / goal).rglob('*.o')):
                command = path.with_name(f'.{path.name}.cmd')
                if command.exists() and ' ccache gcc ' in command.read_text():
                    found[str(path.relative_to(self.build))] = path.read_bytes()
        return found

    def without_btf(self, paths):
        """Returns those objects in `paths` that have DWARF but no BTF."""
        def lacks(path):
            elf = Elf(self.build / path)
            names = {section.name for section in elf.sections}
            return '.debug_info' in names and '.BTF' not in names
        return [path for path in paths if lacks(path)]


def check(name, wrong):
    """Prints the line of a check; returns whether the check passed. `wrong` describes the error; '': passed."""
    print(f'{"FAIL" if wrong else "PASS"}: {name}{f": {wrong}" if wrong else ""}', flush=True)
    return not wrong


def run(part, redis):
    part.configure()
    first, _ = part.clean_build('first build')
    made = part.objects()
    bare = part.without_btf(made)
    part.cache.clear()
    # With BTF_CC_VERBOSE, btf-cc prints a line for each object to which it adds BTF. ccache prints no such line for a
    # hit, because it repeats the output of the first build, which was not verbose.
    second, said = part.clean_build('second build, local cache emptied', BTF_CC_VERBOSE='1')
    taken = part.objects()
    part.clean_build('third build, local cache filled')
    keys = redis.ask('dbsize').strip()
    memory = dict(line.split(':', 1) for line in redis.ask('info', 'memory').split() if ':' in line)
    size = sum(len(contents) for contents in made.values())
    print(f'{len(made)} objects, {size / 1e6:.1f} MB; Redis: {keys} keys, '
          f'{int(memory["used_memory"]) / 1e6:.1f} MB')
    differing = sorted(path for path in made.keys() | taken.keys() if made.get(path) != taken.get(path))
    return all([
        check('there are objects', '' if len(made) > 20 else f'{len(made)}'),
        check('every object with DWARF has BTF', ' '.join(bare[:5])),
        check('the first build compiled every object',
              '' if first['cache_miss'] >= len(made) else f'{first}'),
        check('the second build compiled nothing',
              '' if second['cache_miss'] == 0 else f'{second["cache_miss"]} compiled'),
        check('the second build took every object from Redis',
              '' if second['hit'] == first['cache_miss'] + first['hit']
              and second['remote_storage_hit'] >= len(made) else f'{second}'),
        check('nothing was emitted again', '' if 'btf-cc: ' not in said else said[:500]),
        check('the same bytes in every object', ' '.join(differing[:5])),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ('--tools', '--source', '--build'):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument('--jobs', type=int, default=default_jobs())
    parser.add_argument('goals', nargs='*')
    options = parser.parse_args()
    options.goals = options.goals or ['kernel/', 'lib/']
    if reason := missing('ccache', 'redis-server', 'redis-cli', 'make', 'gcc'):
        print(f'SKIP: {reason}')
        return SKIPPED
    work = options.build.resolve().with_name(options.build.name + '-caches')
    cache = Ccache(work / 'ccache')
    cache.clear()
    try:
        with Redis(work / 'redis') as redis:
            return 0 if run(Slice(options, cache, redis), redis) else 1
    except Failed as failure:
        print(f'FAIL: {failure}')
        return 1


if __name__ == '__main__':
    sys.exit(main())
