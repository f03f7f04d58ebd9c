#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Runs the cases of a file with hand-written DWARF (dwarf/*.py): assembles, emits, compares.

usage: run-dwarf.py BTF-EMIT BTF-LINES CASES.py [NAME...]
       run-dwarf.py --list CASES.py

Each case runs for its DWARF versions and machines. A line SKIP names each case and machine without an assembler; if
nothing is left to run, the test is skipped. With names, only these cases run, and the output of btf-lines is printed.
If a case expects an error, btf-emit must exit with status 1, print only this error, and leave the file unchanged.
Otherwise it must print only the warnings of the case, and none with -q; a second run must not change the file.
"""
import concurrent.futures
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from helpers.btf_reader import type_heads  # noqa: E402
from helpers.compilers import assembler_for  # noqa: E402
from helpers.dwarf_writer import assembly  # noqa: E402
from helpers.usage import check_arguments  # noqa: E402

TIMEOUT = 20  # seconds for each program
sys.setrecursionlimit(20000)  # for deeply nested cases


def load(path):
    spec = importlib.util.spec_from_file_location('cases', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = [case.name for case in module.CASES]
    assert len(set(names)) == len(names), 'two cases of one name'
    return module.CASES


def read(path):
    with open(path, 'rb') as file:
        return file.read()


class Run:
    """A case for one machine and one DWARF version, in its own folder."""

    def __init__(self, tools, case, machine, version, folder):
        self.emit, self.btf_lines = tools
        self.case, self.machine, self.version, self.folder = case, machine, version, folder

    def call(self, *command):
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                              timeout=TIMEOUT)

    def problems(self):
        with open(os.path.join(self.folder, 'case.s'), 'w', encoding='utf-8') as out:
            out.write(assembly(self.case.units, self.version) + self.case.assembly)
        done = self.call(*assembler_for(self.machine), '-c', 'case.s', '-o', 'case.o')
        if done.returncode:
            return ['does not assemble: ' + done.stderr]
        obj = os.path.join(self.folder, 'case.o')
        before = read(obj)
        said = self.case.said and self.message('WARNING', self.case.said)
        done = self.call(self.emit, *self.case.emit, 'case.o')
        stray = [f'stray file: {name}' for name in sorted(os.listdir(self.folder))
                 if name not in ('case.o', 'case.s')]
        if self.case.error is not None:
            return self.bad(done) + stray + ['the file was changed'] * (read(obj) != before)
        if done.returncode or done.stdout or not re.fullmatch(said, done.stderr):
            return [f'btf-emit: exit {done.returncode}: {done.stdout}{done.stderr}']
        return stray or self.good(obj, before)

    def message(self, kind, text):
        """Makes the pattern of a message from `text`, in which {LABEL} stands for the offset of the entry with this
        label."""
        def offset(match):
            symbols = self.call('nm', 'case.o').stdout
            found = re.search(rf'^0*([0-9a-f]+) . die\.{match.group(1)}$', symbols, re.M)
            return '0x' + found.group(1) if found else match.group(0)
        return f'btf-emit: {kind}: case\\.o: ' + re.sub(r'\{(\w+)\}', offset, text) + '\n'

    def bad(self, done):
        want = self.message('ERROR', self.case.error)
        if done.returncode != 1 or done.stdout or not re.fullmatch(want, done.stderr):
            return [f'exit {done.returncode}, expected error: {want}',
                    f'but there is: {done.stdout}{done.stderr}']
        return []

    def good(self, obj, before):
        once = read(obj)
        done = self.call(self.emit, *self.case.emit, '--stats', '-q', 'case.o')
        problems = [] if read(obj) == once else ['emitting twice gives other bytes than once']
        if done.returncode:
            return problems + [f'second run: exit {done.returncode}: {done.stderr}']
        problems += [f'-q is not quiet: {done.stderr}'] * ('WARNING' in done.stderr)
        skipped = {reason: int(count) for reason, count in
                   re.findall(r'^case\.o: skipped: (.*): (\d+)$', done.stderr, re.M)}
        if skipped != self.case.skipped:
            problems.append(f'skipped: {skipped}, expected: {self.case.skipped}')
        if self.case.lines == []:
            return problems + ['something was emitted'] * (once != before)
        done = self.call(self.btf_lines, 'case.o')
        if done.returncode:
            return problems + [f'btf-lines: exit {done.returncode}: {done.stderr}']
        return problems + self.compare(done.stdout.splitlines()) + self.compare_order()

    def compare(self, lines):
        case = self.case
        missing = [line for line in case.some if line not in lines]
        unwanted = []
        if case.lines is not None:
            rest = list(lines)
            for line in case.lines:
                if line in rest:
                    rest.remove(line)
                else:
                    missing.append(line)
            unwanted += rest
        problems = [f'missing: {line}' for line in missing]
        problems += [f'unwanted: {line}' for line in unwanted]
        for pattern, number in case.count.items():
            hits = [line for line in lines if re.search(pattern, line)]
            if len(hits) != number:
                problems.append(f'{len(hits)} instead of {number} match {pattern}: {hits}')
        return problems

    def compare_order(self):
        if self.case.order is None:
            return []
        self.call(self.emit, *self.case.emit, '--detached=case.btf', 'case.o')
        heads = type_heads(read(os.path.join(self.folder, 'case.btf')))
        if heads != self.case.order:
            return [f'types in order: {heads}', f'      expected: {self.case.order}']
        return []


def run_one(tools, case, machine, version):
    with tempfile.TemporaryDirectory() as folder:
        run = Run(tools, case, machine, version, folder)
        try:
            found = run.problems()
        except subprocess.TimeoutExpired as expired:
            found = [f'{expired.cmd[0]} does not end within {TIMEOUT} s']
        lines = run.call(run.btf_lines, 'case.o').stdout if case.verbose else ''
    return f'{case.name} (DWARF {version}, {machine})', found, lines


def main():
    check_arguments(__doc__, 2 if sys.argv[1:2] == ['--list'] else 3)
    if sys.argv[1] == '--list':
        print('\n'.join(case.name for case in load(sys.argv[2])))
        return
    tools = [os.path.abspath(path) for path in sys.argv[1:3]]
    cases, names = load(sys.argv[3]), sys.argv[4:]
    if unknown := set(names) - {case.name for case in cases}:
        sys.exit(f'run-dwarf: no such case: {", ".join(sorted(unknown))}')
    if names:
        cases = [case for case in cases if case.name in names]
    variants = []
    for case in cases:
        case.verbose = bool(names)
        for machine in case.machines:
            if assembler_for(machine):
                variants += [(tools, case, machine, version) for version in case.versions]
            else:
                print(f'SKIP {case.name}: no assembler for {machine}')
    if not variants:
        print('skipped: none of the cases has an assembler')
        sys.exit(77)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, problems, lines in pool.map(lambda variant: run_one(*variant), variants):
            failed += bool(problems)
            print('FAIL' if problems else 'ok  ', name)
            for problem in problems:
                print('    ', problem)
            print(lines, end='')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
