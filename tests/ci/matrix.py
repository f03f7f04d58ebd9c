#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Compares btflink with pahole on objects of many compilers. Prints a table; docs/evidence.md sums it up.

usage: matrix.py make BUILD FOLDER
       matrix.py compare BTF-COMPARE PAHOLE FOLDER

`make` compiles with each compiler in PATH, emits, links and merges. `compare` compares these results with
what PAHOLE makes of the same programs, and prints the table and the differences.

The compilers are gcc-9 and newer, clang-9 and newer, and rustc. FOLDER gets a folder per compiler, variant (a set of
options) and case; `make` skips those that have a result, and may run on several systems with the same FOLDER.
`compare` needs pahole 1.32. The cases are CASES of tests/emit, with the features that they name; for rustc, sample.rs.

Two kinds of compiles are not compared with pahole. It encodes nothing with -gsplit-dwarf, so the result is compared
with btflink's own for a compile without -gsplit-dwarf. Kernels refuse the names that pahole writes for Rust,
so objects of rustc are only checked by the kernel's rules.

Exit status: 0, 1 if `compare` finds differences or cases that `make` could not build, 2 for wrong usage.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)

from helpers.directives import directives, values  # noqa: E402

CASES = ['emit/cases/' + name for name in (
    'annotations.c', 'arrays.c', 'bitfields.c', 'composites.c', 'enums.c', 'functions.c',
    'prototypes.c')]
CASES += ['emit/programs/' + name for name in (
    '21-statics-of-one-name.c', '26-clones.c', '29-structs-by-value.c', '42-declared-before.c')]
SPLIT = 'split'
VARIANTS = {f'{level} dwarf{version}': [f'-{level}', f'-gdwarf-{version}']
            for version in (4, 5) for level in ('O0', 'O2', 'Os')}
VARIANTS.update({'g1': ['-O2', '-g1'], 'gz': ['-O2', '-g', '-gz'], SPLIT: ['-O2', '-g', '-gsplit-dwarf'],
                 'no split': ['-O2', '-g'], 'lto': ['-O2', '-g', '-flto', '-ffat-lto-objects']})
RUST = {f'{level} dwarf{version}': ['-C', f'opt-level={level[1].lower()}', '-g', '-C',
                                     f'dwarf-version={version}']
        for version in (4, 5) for level in ('O0', 'O2', 'Os')}
KERNEL = '7.3'  # Rust's BTF is checked by the rules of this version


class Failed(Exception):
    pass


def call(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def must(folder, *command):
    done = call(folder, *command)
    if done.returncode:
        raise Failed(f'{" ".join(command)}: exit {done.returncode}: {done.stderr}')
    return done


def compilers():
    """Yields (command, family)."""
    for family in ('gcc', 'clang'):
        for version in range(9, 29):
            if shutil.which(f'{family}-{version}'):
                yield f'{family}-{version}', family
    if shutil.which('rustc'):
        yield 'rustc', 'rustc'


def sources(case):
    """Returns (name, text) of each source of a case."""
    with open(os.path.join(TESTS, case), encoding='utf-8') as file:
        common, *parts = re.split(r'^//// (\S+)\n', file.read(), flags=re.M)
    if not parts:
        return [('case.c', common)]
    return [(name, text if name.endswith('.s') else common + text)
            for name, text in zip(parts[::2], parts[1::2])]


def features(case):
    """The features of a case, as the argument of --features."""
    wanted = directives(os.path.join(TESTS, case))
    found = re.findall(r'--features=(\S+)', ' '.join(values(wanted, 'emit')))
    return ','.join([*values(wanted, 'features'), *found]) or 'default'


def write(folder, name, text):
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as out:
        out.write(text)


def make_c(build, folder, command, flags, case):
    """Makes `image`, which has DWARF, and `ours.btf`."""
    objects = []
    named = f'--features={features(case)}'
    for name, text in sources(case):
        write(folder, name, text)
        objects.append(name[:-2] + '.o')
        must(folder, command, '-w', '-fno-pic', *flags, '-c', name, '-o', objects[-1])
        must(folder, f'{build}/emit/btf-emit', '--address-pool', named, objects[-1])
    # ld is called directly, because with -flto the compiler driver would compile again.
    must(folder, 'ld', '-static', '-e', '0', '--unresolved-symbols=ignore-all', '-o', 'image',
         *objects)
    must(folder, f'{build}/merge/btf-merge', named, '--image=image', '-o', 'ours.btf', *objects)
    if not os.path.exists(os.path.join(folder, 'ours.btf')):
        raise Failed('the objects have no BTF')


def make_rust(build, folder, command, flags):
    shutil.copy(os.path.join(HERE, 'sample.rs'), folder)
    must(folder, command, '--crate-type=lib', '--emit=obj', *flags, '-o', 'sample.o', 'sample.rs')
    must(folder, f'{build}/emit/btf-emit', 'sample.o')
    must(folder, f'{build}/merge/btf-merge', '-o', 'ours.btf', 'sample.o')
    must(folder, f'{build}/merge/btf-merge', '--check=ours.btf', f'--kernel={KERNEL}')


def make_one(build, folder, command, family, flags, case):
    if os.path.exists(os.path.join(folder, 'ours.btf')):
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        if family == 'rustc':
            make_rust(build, folder, command, flags)
        else:
            make_c(build, folder, command, flags, case)
    except Failed as why:
        write(folder, 'failed', str(why))


def knows(command, flags):
    """True if the compiler accepts these options."""
    return not call('/', command, '-Werror', *flags, '-x', 'c', '-c', '/dev/null', '-o',
                    '/dev/null').returncode


def order(name):
    family, _, version = name.partition('-')
    return family, [int(number) for number in re.findall(r'\d+', version)]


def cases_for(command, family):
    if family == 'rustc':
        return ['ci/sample.rs']
    # annotations.c is for clang only, but gcc knows its attributes from 16 on.
    known = {family} | ({'clang'} if family == 'gcc' and order(command) >= ('gcc', [16]) else set())
    wanted = {case: values(directives(os.path.join(TESTS, case)), 'compilers') for case in CASES}
    return [case for case, families in wanted.items() if not families or known & set(families)]


def make(build, top):
    jobs = []
    for command, family in compilers():
        said = must('/', command, '--version').stdout.splitlines()[0]
        # The names of gcc and clang have their versions; "rustc 1.85.0 (...)" is the output of rustc.
        place = os.path.join(top, f'rustc-{said.split()[1]}' if family == 'rustc' else command)
        os.makedirs(place, exist_ok=True)
        write(place, 'version', said)
        for variant, flags in (RUST if family == 'rustc' else VARIANTS).items():
            # knows() is not asked about -gsplit-dwarf: all compilers know it, and the call would make /dev/null.dwo.
            if family != 'rustc' and variant != SPLIT and not knows(command, flags):
                continue
            for case in cases_for(command, family):
                jobs.append((build, os.path.join(place, variant, os.path.basename(case)),
                             command, family, flags, case))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: make_one(*job), jobs))
    print(f'matrix: {len(jobs)} programs by {", ".join(name for name, _ in compilers())}')


def ignored(case, command, variant):
    """The kinds of BTF that are not compared, because results are known to differ in them."""
    if case.endswith('annotations.c') and command.startswith('gcc'):
        return ['DECL_TAG']  # pahole 1.32 ignores gcc's tags on variables
    if variant == SPLIT and command.startswith('clang'):
        return ['INT']  # without -gsplit-dwarf, clang also writes base types that expressions use
    wanted = directives(os.path.join(TESTS, case))
    return [word for key, text in wanted if key.startswith('pahole-ignore') for word in text.split()]


def difference(compare, pahole, folder, variant, case):
    """Compares one program; returns what differs, why the program could not be made, or ''."""
    if os.path.exists(os.path.join(folder, 'failed')):
        with open(os.path.join(folder, 'failed'), encoding='utf-8') as file:
            failure = file.read()
        # With -g1, a compiler may describe nothing but lines.
        return '' if variant == 'g1' and 'the objects have no BTF' in failure else failure
    if case == 'sample.rs':
        return ''
    command = os.path.basename(os.path.dirname(os.path.dirname(folder)))
    theirs = os.path.join(folder, 'theirs.btf')
    if variant == SPLIT:
        theirs = os.path.join(os.path.dirname(os.path.dirname(folder)), 'no split',
                              os.path.basename(case), 'ours.btf')
    else:
        if os.path.exists(theirs):  # of an earlier comparison
            os.remove(theirs)
        done = call(folder, pahole, '-J', f'--btf_features={features(case)}',
                    '--btf_encode_detached=theirs.btf', 'image')
        if not os.path.exists(theirs):
            return f'pahole wrote nothing: {done.stdout}{done.stderr}'
    kinds = [f'--ignore={kind}' for kind in ignored(case, command, variant)]
    done = call(folder, compare, 'ours.btf', theirs, *kinds)
    return done.stdout + done.stderr if done.returncode else ''


def compare_all(compare, pahole, top):
    """Compares everything, and prints the table and the differences; returns True if nothing differs."""
    names = [name for name in VARIANTS if name != 'no split']
    print('| | ' + ' | '.join(names) + ' |')
    print('|---' * (len(names) + 1) + '|')
    wrong = []
    for command in sorted(os.listdir(top), key=order):
        cells = []
        for variant in names:
            folder = os.path.join(top, command, variant)
            known = {os.path.basename(case) for case in CASES} | {'sample.rs'}
            cases = sorted(known & set(os.listdir(folder))) if os.path.isdir(folder) else []
            found = []
            for case in cases:
                path = next((c for c in CASES if os.path.basename(c) == case), case)
                text = difference(compare, pahole, os.path.join(folder, case), variant, path)
                if text:
                    found.append(f'{command} {variant} {case}: {text}')
            wrong += found
            cells.append('' if not cases else f'{len(found)} of {len(cases)}' if found else
                         f'{len(cases)}')
        print(f'| {command} | ' + ' | '.join(cells) + ' |')
    for text in wrong:
        print(text)
    return not wrong


def main():
    if len(sys.argv) == 4 and sys.argv[1] == 'make':
        make(*map(os.path.abspath, sys.argv[2:]))
        return 0
    if len(sys.argv) == 5 and sys.argv[1] == 'compare':
        return 0 if compare_all(os.path.abspath(sys.argv[2]), sys.argv[3],
                                os.path.abspath(sys.argv[4])) else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == '__main__':
    sys.exit(main())
