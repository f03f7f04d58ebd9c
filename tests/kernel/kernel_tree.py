# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A kernel built in a work directory, with object BTF in its objects.

WORK/linux-source-6.12   the source, unpacked once (or a link to one)
WORK/build               Kbuild's output folder; all links there are Kbuild's own
WORK/copies              copies of objects, with object BTF, and modules linked from them

Object BTF goes into the objects of vmlinux before Kbuild links them: .tmp_vmlinux1 then has the
address pools, and the BTF that Debian's pahole made of the very same image. What Kbuild compiles
only while it links, and the objects of modules, is left as it is and copies get object BTF: else
pahole's BTF of the modules would go.
"""
import concurrent.futures
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time

NAME = 'linux-source-6.12'
TARBALL = pathlib.Path('/usr/src') / (NAME + '.tar.xz')
# The image contains these besides vmlinux.o, in this order.
LATE_OBJECTS = ['.vmlinux.export.o', 'init/version-timestamp.o']
# The kernel's version string is an array, its length is part of a type.
FIXED = ['KBUILD_BUILD_VERSION=1', 'KBUILD_BUILD_USER=user', 'KBUILD_BUILD_HOST=pc',
         'KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970']


class Skip(Exception):
    """This machine cannot build the kernel; the reason."""


class Failed(Exception):
    """A command failed; what it printed."""


def command(argv, cwd=None):
    """Run; its standard output. Its output is shown only if it fails."""
    done = subprocess.run([str(a) for a in argv], cwd=cwd, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors='replace')
    if done.returncode != 0:
        output = (done.stdout + done.stderr)[-4000:]
        raise Failed(f'{shlex.join(map(str, argv))}: exit status {done.returncode}\n{output}')
    return done.stdout


class Progress:
    """One line per step on stdout: what, and how long it took."""

    def __init__(self, text):
        self.text = text

    def __enter__(self):
        print(self.text, end='', flush=True)
        self.start = time.monotonic()

    def __exit__(self, kind, value, trace):
        print(f': {time.monotonic() - self.start:.1f} s', flush=True)


class KernelTree:
    def __init__(self, work, config, jobs):
        self.work = pathlib.Path(work)
        self.source = self.work / NAME
        self.build = self.work / 'build'
        self.copies = (self.work / 'copies').resolve()
        self.config = pathlib.Path(config)
        self.jobs = jobs

    def prepare(self):
        """Unpack and configure."""
        if platform.machine() != 'x86_64':
            raise Skip(f'the kernel is for x86_64, this machine is {platform.machine()}')
        for tool in 'make gcc ld bc flex bison pahole'.split():
            if not shutil.which(tool):
                raise Skip(f'{tool} not found (tests/install-packages kernel)')
        self.work.mkdir(parents=True, exist_ok=True)
        self._unpack()
        self.build.mkdir(exist_ok=True)
        wanted = self.config.read_text()
        used = self.build / 'used.config'
        if not used.exists() or used.read_text() != wanted:
            (self.build / '.config').write_text(wanted)
        self.make('olddefconfig')
        if 'CONFIG_DEBUG_INFO_BTF=y' not in self.configuration():
            raise Failed(f'{self.build}/.config: olddefconfig dropped CONFIG_DEBUG_INFO_BTF')
        used.write_text(wanted)

    def _unpack(self):
        if (self.source / 'Makefile').exists():
            return
        if not TARBALL.exists():
            raise Skip(f'{TARBALL} not found (package {NAME}; tests/install-packages kernel)')
        scratch = self.work / 'unpack'
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        with Progress(f'unpack {TARBALL}'):
            command(['tar', '-xJf', TARBALL, '-C', scratch])
        (scratch / NAME).rename(self.source)
        scratch.rmdir()

    def make(self, *goals):
        return command(['make', '-s', '-C', self.source, f'O={self.build.resolve()}',
                        f'-j{self.jobs}', *FIXED, *goals])

    def configuration(self):
        return (self.build / '.config').read_text().splitlines()

    def provenance(self):
        """Source and compiler: what a stored result depends on."""
        version = self.make('kernelversion').strip()
        compiler = next(line.split('"')[1] for line in self.configuration()
                        if line.startswith('CONFIG_CC_VERSION_TEXT='))
        return f'Linux {version}, {compiler}'

    def compile(self):
        """All objects of vmlinux; their paths below build."""
        with Progress('compile the kernel (minutes, the first time)'):
            self.make('vmlinux_o')
        return command(['ar', 't', 'vmlinux.a'], cwd=self.build).split()

    def emit(self, btf_emit, objects):
        """Object BTF into `objects`, in place."""
        def chunk(files):
            command([btf_emit, '--address-pool', *files], cwd=self.build)

        chunks = [objects[i:i + 50] for i in range(0, len(objects), 50)]
        with Progress(f'btf-emit into {len(objects)} objects'):
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(chunk, chunks))

    def link(self):
        """vmlinux and modules with Kbuild's own commands and Debian's pahole."""
        with Progress('link vmlinux, compile and link modules'):
            self.make('vmlinux', 'modules')

    def module_names(self):
        """Paths below build, without suffix."""
        return [line[:-len('.o')] for line in (self.build / 'modules.order').read_text().split()]

    def emit_copy(self, btf_emit, path, *options):
        """A copy of an object with object BTF; its path."""
        copy = self._copy_of(path)
        command([btf_emit, *options, '-o', copy, path], cwd=self.build)
        return copy

    def link_module(self, btf_emit, name):
        """The module linked from objects with object BTF; its path."""
        objects = (self.build / (name + '.mod')).read_text().split()
        copies = {path: self.emit_copy(btf_emit, path, '--address-pool') for path in objects}
        # A module of one object is linked from that; of several, from their `ld -r`.
        if objects != [name + '.o']:
            copies[name + '.o'] = self._relink(name + '.o', copies)
        return self._relink(name + '.ko', copies)

    def _copy_of(self, path):
        copy = self.copies / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        return str(copy)

    def _relink(self, target, replaced):
        """Repeat Kbuild's saved link of `target` with some of its files replaced."""
        folder, base = os.path.split(target)
        saved = (self.build / folder / f'.{base}.cmd').read_text()
        line = re.match(r'savedcmd_\S+ := (.*)', saved)
        if not line:
            raise Failed(f'{folder}/.{base}.cmd: no saved command')
        out = self._copy_of(target)
        words = []
        for word in shlex.split(line[1].split(';')[0]):
            if word.startswith('@'):
                inputs = (self.build / word[1:]).read_text().split()
                words += [replaced.get(path, path) for path in inputs]
            else:
                words.append(out if word == target else replaced.get(word, word))
        command(words, cwd=self.build)
        return out


def default_jobs():
    return len(os.sched_getaffinity(0)) if sys.platform == 'linux' else 1
