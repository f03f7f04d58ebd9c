# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Compiles kernels and BPF programs, and runs btf-kernel diff on them."""
import json
import os
import shutil

from helpers.cli_case import CliCase

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = os.path.join(HERE, 'kernel.c')
TOOLS = 'btf_kernel', 'btf_emit', 'btf_merge'


class DiffCase(CliCase):
    btf_kernel = None  # set by run()
    btf_emit = None
    btf_merge = None

    def kernel(self, name, *flags, source=KERNEL):
        self.must('gcc', '-g', '-O1', '-fno-eliminate-unused-debug-types', *flags, '-c', source,
                  '-o', name + '.o')
        self.must(self.btf_emit, name + '.o')
        self.must(self.btf_merge, '-o', name, name + '.o')
        return name

    def diff(self, *arguments, status=1):
        done = self.call(self.btf_kernel, 'diff', '-q', *arguments)
        self.assertEqual(done.returncode, status, f'{arguments}: {done.stdout}{done.stderr}')
        return done.stdout

    def kernels(self):
        return self.kernel('old'), self.kernel('new', '-DNEW')

    def folder_with(self, name, **sources):
        """Makes the folder `name` with the raw BTF of a kernel. `sources`: the C code of vmlinux, then of modules. The
        BTF of a module extends that of vmlinux, unless the module's name begins with "whole"."""
        os.mkdir(os.path.join(self.folder, name))
        for file, source in sources.items():
            self.write(f'{file}.c', source)
            self.must('gcc', '-g', '-c', f'{file}.c')
            self.must(self.btf_emit, f'{file}.o')
            split = [] if file.startswith(('vmlinux', 'whole')) else [f'--base={name}/vmlinux.btf']
            suffix = '.btf' if file == 'vmlinux' else '.ko.btf'
            self.must(self.btf_merge, *split, '-o', f'{name}/{file}{suffix}', f'{file}.o')
        return name

    def verdicts(self, program, old, new=None, what=''):
        """Compiles the program. Returns requirement name -> verdict for kernel `new` (default: `old`). `what` selects
        the requirements whose kind begins with this text."""
        if not shutil.which('clang'):
            self.skipTest('clang is not installed')
        self.write('p.c', '#define SEC(name) __attribute__((section(name), used))\n'
                   '#define CORE __attribute__((preserve_access_index))\n' + program)
        self.must('clang', '-target', 'bpf', '-g', '-O2', '-Wno-bitfield-constant-conversion', '-c', 'p.c',
                  '-o', 'p.o')
        done = self.call(self.btf_kernel, 'diff', '-q', old, new or old, '--json', '--bpf=p.o')
        self.assertEqual(done.stderr, '')
        return {r['name']: r['new']['status'] for r in json.loads(done.stdout)['programs'][0]['requirements']
                if r['what'].startswith(what)}
