#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Tests the gcc plugin against gcc's own debug information. Each case is compiled by gcc -g with the plugin, once for
each of LEVELS. compare_objects.py compares the plugin's BTF with the BTF that btf-emit makes from the DWARF.

usage: oracle-test.py [--random=N] [--seed=FIRST] GCC PLUGIN BTF_EMIT FOLDER_OF_CASES...

--random also tests N random sources (random_source.py), with seeds from FIRST on (default: 1).
PLUGIN is the plugin's file, or a btf-cc that has a plugin for GCC. Exit status 77: btf-cc has no plugins.

Comments of a case:
"// judged otherwise: NAME..."     functions that DWARF and the plugin may judge differently (kept or left out)
"// flags: ..."                    options of the compiler; those that begin with -O, -g, -m or -flto are ignored
"// only the plugin: KIND NAME"    a type that gcc's DWARF lacks
"// tags: NAME..."                 tags: the plugin's BTF has all of them or, if gcc does not support tags, none
"// compilers: NAME..."            if gcc is not among these, the case is left out"""
import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../..'))
from compare_objects import NotComparable, compare_with_dwarf  # noqa: E402
from helpers.object_btf import ObjectBtf  # noqa: E402
from random_source import RandomSource  # noqa: E402

# Levels at which it does not matter whether functions are kept: without optimisation, and with the address sanitizer,
# DWARF does not have the registers of parameters.
UNJUDGED = (['-O0'], ['-O2', '-fsanitize=kernel-address', '--param=asan-stack=1', '--param=asan-globals=1'])
M32 = ['-m32', '-O2']
# Functions of the cases that DWARF and the plugin may judge differently (kept or left out) on i386, which passes
# floating-point numbers on the stack and returns structs in memory.
OTHERWISE_ON_I386 = {'real', 'real_last', 'last', 'result_in_registers'}
# With -m32, gcc 13 and newer use base types in locations of parts of 64-bit parameters. An INT that only such locations
# use is not in the plugin's BTF.
ONLY_IN_LOCATIONS = re.compile(r': missing: INT ')
# gcc 9's DWARF has no definition of an array that was declared without its size. The cases in SIZED_LATER have such
# arrays.
ONLY_BY_PLUGIN_OF_9 = re.compile(r": more: (ARRAY|CONST) |: variables: Counter\(\) Counter\({"
                                 r"(\('(unknown_size|text|open|declared)', [^)]*\): 1(, )?)+}\)$")
SIZED_LATER = {'types.c', 'variables.c', '42-declared-before.c'}
# ggc-min-*=0: gcc collects garbage as often as it can, and the plugin must keep what it still needs.
LEVELS = (*UNJUDGED, M32, ['-O2'], ['-Os', '-fshort-enums', '-funsigned-char'],
          ['-O2', '-fsanitize=undefined', '-fsanitize=thread', '-fpatchable-function-entry=16,16',
           '-fsanitize-coverage=trace-pc', '-fstack-protector-strong',
           '--param=ggc-min-expand=0', '--param=ggc-min-heapsize=0'])
# encode_force, var, float, decl_tag, type_tag, enum64, optimized_func, global_var (common/object_btf/features.h).
FEATURES = 0x47f
# Differences that are allowed in random sources. These have parameters of two words, whose registers are not in the
# DWARF, and base types that gcc's DWARF keeps although nothing uses them any more. Some have no debug information.
NOT_OF_RANDOM = re.compile(r': (function \S+: |missing: (INT|FLOAT) |no debug information$)')
# The number of compiles whose output must be the same. Addresses in gcc's memory differ between runs, and must not
# decide an order.
REPETITIONS = 3


def directive(text, name):
    return [w for line in re.findall(rf'^// {name}: (.*)$', text, re.M) for w in line.split()]


def is_gcc_9(gcc):
    return subprocess.run([gcc, '-dumpversion'], capture_output=True, text=True).stdout.strip() == '9'


def run(gcc, plugin, emit, case, level, folder, is_9):
    """Returns None if the case is not for this gcc, '' if nothing differs, otherwise the command and what is wrong."""
    text = open(case, encoding='utf-8', errors='replace').read()
    compilers = directive(text, 'compilers')
    if compilers and 'gcc' not in compilers:
        return None
    out = os.path.join(folder, re.sub(r'\W', '_', case + ' '.join(level)) + '.o')
    name = os.path.basename(plugin).removesuffix('.so')
    flags = [w for w in directive(text, 'flags') if not w.startswith(('-O', '-g', '-m', '-flto'))]
    # gcc warns about constructs that the cases test.
    command = [gcc, '-w', '-std=gnu11', '-g', *level, *flags, f'-fplugin={plugin}',
               f'-fplugin-arg-{name}-features={FEATURES:#x}', '-c', case, '-o', out]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        without = subprocess.run([w for w in command if not w.startswith('-fplugin')], capture_output=True)
        if without.returncode:
            return None # this gcc refuses the source
        return f'{shlex.join(command)}\n{done.stderr}'
    if level == ['-O2']:
        text_only = [*command[:command.index('-c')], '-g0', '-S', case, '-o', '-']
        texts = {subprocess.run(text_only, capture_output=True).stdout for _ in range(REPETITIONS)}
        if len(texts) > 1 or b'.BTF' not in texts.pop():
            return f'{shlex.join(text_only)}\nhas no BTF, or differs from run to run'
    lines = []
    try:
        compare_with_dwarf(emit, FEATURES, out, collections.Counter(), lines.append)
    except NotComparable as reason:
        lines.append(str(reason))
    is_random = os.path.dirname(case) == folder
    allowed = set(directive(text, 'judged otherwise'))
    allowed |= OTHERWISE_ON_I386 if level == M32 else set()
    extra = tuple(f': more: {head}' for head in re.findall(r'^// only the plugin: (.*)$', text, re.M))
    wrong = [line for line in lines
             if not (extra and line.endswith(extra)) and
             not (is_random and NOT_OF_RANDOM.search(line)) and
             not (is_9 and os.path.basename(case) in SIZED_LATER and ONLY_BY_PLUGIN_OF_9.search(line)) and
             not (level == M32 and ONLY_IN_LOCATIONS.search(line)) and
             (not (match := re.search(r': function (\S+): ', line)) or
              level not in UNJUDGED and match[1] not in allowed)]
    tags = directive(text, 'tags')
    by_plugin = ObjectBtf(out).data if tags else b''
    lost = [tag for tag in tags if tag.encode() not in by_plugin]
    if 0 < len(lost) < len(tags):
        wrong.append(f'tags {lost} are lost')
    return '\n'.join([shlex.join(command), *wrong]) if wrong else ''


def plugin_of(btf_cc, gcc, folder):
    """Returns the plugin that btf-cc uses for `gcc`."""
    if not os.path.isdir(os.path.join(os.path.dirname(btf_cc), 'gcc-plugins')):
        print('skipped: this build has no plugins (meson setup says why)')
        sys.exit(77)
    source = os.path.join(folder, 'empty.c')
    open(source, 'w', encoding='ascii').close()
    done = subprocess.run([btf_cc, '--plugin', gcc, '-v', '-g', '-c', source, '-o', source + '.o'],
                          capture_output=True, text=True, check=True)
    return re.search(r"-fplugin=([^\s']+)", done.stderr)[1]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--random', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    for name in ('gcc', 'plugin', 'emit'):
        parser.add_argument(name)
    parser.add_argument('folders', nargs='*')
    return parser.parse_args()


def random_cases(first, count, folder):
    """Yields random cases, each with one of the levels."""
    for seed in range(first, first + count):
        path = os.path.join(folder, f'random-{seed}.c')
        with open(path, 'w', encoding='ascii') as file:
            file.write(RandomSource(seed).text())
        yield path, LEVELS[seed % len(LEVELS)]


def main():
    options = arguments()
    gcc, plugin, emit, folders = options.gcc, options.plugin, options.emit, options.folders
    if not plugin.endswith('.so'):
        with tempfile.TemporaryDirectory() as folder:
            plugin = plugin_of(plugin, gcc, folder)
    cases = sorted(os.path.join(f, c) for f in folders for c in os.listdir(f) if c.endswith('.c'))
    bad = compared = 0
    is_9 = is_gcc_9(gcc)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        pairs = [(case, level) for case in cases for level in LEVELS]
        pairs += random_cases(options.seed, options.random, folder)
        jobs = [pool.submit(run, gcc, plugin, emit, *pair, folder, is_9) for pair in pairs]
        for job in jobs:
            result = job.result()
            compared += result is not None
            if result:
                bad += 1
                print(result)
    print(f'{compared} objects compared, {bad} differ')
    sys.exit(bad != 0 or compared == 0)


main()
