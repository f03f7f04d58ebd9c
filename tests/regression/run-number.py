#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Run the tests that hold one number of the regression list, or check that each number has some.

usage: run-number.py BUILD NUMBER      the rows of numbers.py for it; a row that selects nothing fails
       run-number.py BUILD --check     every number from 1 to 60 is among the names of the build's tests,
                                       and README.md names it once
"""
import fnmatch
import json
import os
import re
import subprocess
import sys

from numbers_table import LAST, NUMBERS

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
SKIPPED = 77


def call(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode, done.stdout


def tools(build, *paths):
    return [os.path.join(build, path) for path in paths]


def dwarf(build, file, *names):
    """Cases of tests/emit/dwarf whose names match."""
    listed = call([sys.executable, os.path.join(TESTS, 'emit/run-dwarf.py'), '--list',
                   os.path.join(TESTS, f'emit/dwarf/{file}.py')])[1].splitlines()
    chosen = [name for name in listed if any(fnmatch.fnmatchcase(name, n) for n in names)]
    missing = [n for n in names if not fnmatch.filter(listed, n)]
    if missing:
        return 1, f'no such case: {missing}'
    return call([sys.executable, os.path.join(TESTS, 'emit/run-dwarf.py'),
                 *tools(build, 'emit/btf-emit', 'tests/emit/btf-lines'),
                 os.path.join(TESTS, f'emit/dwarf/{file}.py'), *chosen])


def gtest(build, program, *names):
    """Tests of a C++ test program."""
    status, output = call([*tools(build, f'tests/{program}'), '--gtest_filter=' + ':'.join(names)])
    ran = [re.sub(r'.*\] (\S+).*', r'\1', line) for line in output.splitlines()
           if line.startswith('[ RUN ')]
    missing = [name for name in names if not fnmatch.filter(ran, name)]
    if missing:
        return 1, f'{output}\nno such test: {missing}'
    return (SKIPPED if status == 0 and '[       OK ]' not in output else status), output


def script(build, program, arguments, *names):
    """Tests of a Python test program."""
    return call([sys.executable, os.path.join(TESTS, program), *tools(build, *arguments), *names])


RUNNERS = {'dwarf': dwarf, 'gtest': gtest, 'script': script}


def run(build, number):
    results = []
    for kind, *arguments in NUMBERS[number]:
        status, output = RUNNERS[kind](build, *arguments)
        word = {0: 'PASS', SKIPPED: 'SKIP'}.get(status, 'FAIL')
        print(f'{word} {number}: {kind} {" ".join(map(str, arguments))}')
        if status:
            print(output)
        results.append(word)
    if 'FAIL' in results:
        return 1
    return 0 if 'PASS' in results else SKIPPED


def check(build):
    """`meson test --list` is not asked: its lock may be held by the run that this is part of."""
    with open(os.path.join(build, 'meson-info/intro-tests.json'), encoding='utf-8') as file:
        tests = [test['name'] for test in json.load(file)]
    named = {int(number) for name in tests if (match := re.match(r'case((-\d\d)+)-', name))
             for number in match.group(1)[1:].split('-')}
    with open(os.path.join(HERE, 'README.md'), encoding='utf-8') as file:
        rows = [int(number) for number in re.findall(r'^\| (\d+) \|', file.read(), re.M)]
    wanted = list(range(1, LAST + 1))
    problems = [f'no test is called case-{n:02}-...' for n in wanted if n not in named]
    problems += [f'no rows for number {n}' for n in named - set(wanted)]
    if rows != wanted:
        problems.append(f'README.md has rows {rows}')
    print('\n'.join(problems) or f'{len(wanted)} numbers')
    return bool(problems)


if __name__ == '__main__':
    folder, what = os.path.abspath(sys.argv[1]), sys.argv[2]
    sys.exit(check(folder) if what == '--check' else run(folder, int(what)))
