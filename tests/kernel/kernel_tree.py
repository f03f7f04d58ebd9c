# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Builds kernels in a work folder, with the hook (CC=btf-cc, PAHOLE=btf-pahole) or without.

WORK/linux-source-VERSION   the source, unpacked once, or a link to it; the contents of files are not changed
WORK/NAME                   Kbuild's output folder of one build
WORK/NAME.log               the output of make in this build
WORK/bin                    links to the tools; in PATH, so that saved commands begin with btf-cc, not with a path
WORK/ccache-cpp             the compiler cache of all builds
WORK/results                BTF and other results that checks compare
"""
import os
import pathlib
import platform
import re
import shlex
import shutil
import signal
import subprocess

from checks import Failed, Progress, Skip, command, output_of
from machine import X86

SMALL = pathlib.Path(__file__).resolve().parent / 'small.config'
# The image contains vmlinux.o and these objects, in this order.
LATE_OBJECTS = ['.vmlinux.export.o', 'init/version-timestamp.o']
# Variables of make that fix the kernel's version string: a string of another length would have another type (char[N]).
FIXED = ['KBUILD_BUILD_VERSION=1', 'KBUILD_BUILD_USER=user', 'KBUILD_BUILD_HOST=pc',
         'KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970']
# Patterns of whole lines: warnings of the kernel itself, which also appear without btflink. The first is about a
# struct that the configuration leaves out. The second is clang 19's, about large stack frames (as in do_sys_poll);
# with link-time optimisation, the linker prints it. The third is of scripts/jobserver-exec, which gets no jobserver
# from make before 4.4. The last patterns are for the lines that clang prints with a warning, and for empty lines.
STOCK_WARNINGS = re.compile(r'WARN: resolve_btfids: unresolved symbol bpf_crypto_ctx|'
                            r'.*: warning: (\S+: )?stack frame size .*|'
                            r'WARNING: Unable to reopen jobserver .*|'
                            r'\d* *\|.*|\d+ warnings? generated\.|')
NEEDED = 'make gcc ld bc flex bison'.split()


def new_warnings(output):
    """Returns the lines of a build's output that are not warnings of the kernel itself."""
    return [line for line in output.splitlines() if not STOCK_WARNINGS.fullmatch(line.strip())]


def unpack(tarball, target):
    """Unpacks a tarball; the contents of its single top folder become the folder `target`."""
    scratch = target.parent / 'unpack'
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    with Progress(f'unpack {tarball}'):
        command(['tar', '-xf', tarball, '-C', scratch, '--strip-components=1'])
    scratch.rename(target)


def interruptible():
    """Restores the default action of SIGINT. A suite that a shell started in the background ignores SIGINT, and its
    child processes inherit this."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Workshop:
    """The work folder: sources, tools, compiler cache."""

    def __init__(self, work, tools, jobs):
        self.work = pathlib.Path(work).resolve()
        self.tools = pathlib.Path(tools).resolve()
        self.jobs = jobs
        self.bin = self.work / 'bin'

    def prepare(self):
        if platform.machine() != 'x86_64':
            raise Skip(f'the kernel is for x86_64, this machine is {platform.machine()}')
        for tool in NEEDED:
            if not shutil.which(tool):
                raise Skip(f'{tool} not found (tests/ci/install-packages kernel)')
        self.bin.mkdir(parents=True, exist_ok=True)
        (self.work / 'results').mkdir(exist_ok=True)
        for tool in ('btf-cc', 'btf-pahole'):
            link = self.bin / tool
            link.unlink(missing_ok=True)
            link.symlink_to(self.tools / 'kbuild-integration' / tool)

    def source(self, version):
        """Returns the folder with the source of a kernel. The first time, unpacks a tarball: the one that a variable such
        as $BTFLINK_LINUX_SOURCE_7_3 names, by default that of Debian's package in /usr/src."""
        source = self.work / f'linux-source-{version}'
        if (source / 'Makefile').exists():
            return source
        tarball = self.tarball(version)
        if not tarball.exists():
            raise Skip(f'{tarball} not found (package {source.name}; tests/ci/install-packages kernel '
                       f'full; or name a tarball in {self.variable(version)})')
        unpack(tarball, source)
        return source

    @staticmethod
    def variable(version):
        return f'BTFLINK_LINUX_SOURCE_{version.replace(".", "_")}'

    def tarball(self, version):
        named = os.environ.get(self.variable(version))
        return pathlib.Path(named or f'/usr/src/linux-source-{version}.tar.xz')

    def has_source(self, version):
        unpacked = self.work / f'linux-source-{version}/Makefile'
        return unpacked.exists() or self.tarball(version).exists()

    @staticmethod
    def newest_source():
        """Returns the newest version of Linux whose source Debian's packages put into /usr/src, or None."""
        found = [match[1] for path in pathlib.Path('/usr/src').glob('linux-source-*.tar.xz')
                 if (match := re.fullmatch(r'linux-source-(\d+\.\d+)\.tar\.xz', path.name))]
        return max(found, key=lambda version: [int(part) for part in version.split('.')],
                   default=None)

    def environment(self, settings):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(('BTF_', 'PAHOLE', 'KBUILD_', 'CCACHE_', 'MAKE'))}
        env['PATH'] = f'{self.bin}:{env["PATH"]}'
        # Not `ccache`: earlier versions of the suite filled that folder with CCACHE_DEPEND=1 (see below).
        env['CCACHE_DIR'] = str(self.work / 'ccache-cpp')
        env['CCACHE_MAXSIZE'] = '8G'
        # Without this setting, builds in different folders would share no cached objects, because debug information
        # names the folder.
        env['CCACHE_NOHASHDIR'] = '1'
        # Not CCACHE_DEPEND=1: ccache would not preprocess sources, and so would not notice the .incbin in piggy.S. It
        # would return an old piggy.o, and the boot image would have an old kernel, if the compressed kernel has other
        # contents but the same size.
        env['LC_ALL'] = 'C'
        return env | settings


class KernelTree:
    """One build. `cc` is the compiler without the prefix of `machine`. With `hooked`, btf-cc and btf-pahole are
    used; with `cached`, ccache if it is installed. `options` are lines of the configuration after those of the file
    `config`. `arguments` are further arguments of make, `settings` variables in make's environment."""

    def __init__(self, workshop, name, version, config, *, options='', machine=X86, hooked=True,
                 cc='gcc', cached=True, arguments=(), settings=None):
        self.workshop = workshop
        self.name = name
        self.version = version
        self.machine = machine
        self.build = workshop.work / name
        self.log = workshop.work / f'{name}.log'
        self.config = pathlib.Path(config)
        self.options = options
        self.settings = settings or {}
        cc = machine.cross + cc
        cache = 'ccache ' if cached and shutil.which('ccache') else ''
        self.is_clang = 'clang' in cc
        self.arguments = [*FIXED]
        if hooked:
            # btf-cc does not recognise ccache behind `env`. Therefore ccache keeps the objects of the compiler, not
            # those of btf-cc, and builds with different settings of btf-cc share the compiler's objects.
            env = 'env ' if cache else ''
            self.arguments += [f'CC=btf-cc {env}{cache}{cc}',
                               f'PAHOLE={workshop.bin / "btf-pahole"}']
        else:
            self.arguments += [f'CC={cache}{cc}']
        if machine.cross:
            self.arguments += [f'ARCH={machine.arch}', f'CROSS_COMPILE={machine.cross}']
        self.arguments += arguments # if two arguments set one variable, make uses the last

    def prepare(self, want_btf=True):
        """Finds the source and configures the tree. `.config` is written again only if the wanted options have
        changed. Raises Failed if olddefconfig drops one of `options`, or CONFIG_DEBUG_INFO_BTF if `want_btf`."""
        if not shutil.which(self.tool('gcc')):
            raise Skip(f'{self.tool("gcc")} not found (tests/ci/install-packages full)')
        self.source = self.workshop.source(self.version)
        self.build.mkdir(parents=True, exist_ok=True)
        wanted = self.config.read_text() + self.options
        used = self.build / 'used.config'
        if not used.exists() or used.read_text() != wanted:
            (self.build / '.config').write_text(wanted)
        self.make('olddefconfig')
        asked = ['CONFIG_DEBUG_INFO_BTF=y'] * want_btf + self.options.splitlines()
        if dropped := set(asked) - set(self.configuration()):
            raise Failed(f'{self.build}/.config: olddefconfig dropped {", ".join(dropped)}')
        used.write_text(wanted)

    def command_line(self, *goals):
        return ['make', '-s', '-C', str(self.source), f'O={self.build}',
                f'-j{self.workshop.jobs}', *self.arguments, *goals]

    def make(self, *goals, **settings):
        """Runs make; returns the output, in which -s leaves out the commands. Raises Failed if make fails."""
        status, output = output_of(self.command_line(*goals),
                                   env=self.workshop.environment(self.settings | settings))
        with self.log.open('a') as log:
            log.write(output)
        if status != 0:
            raise Failed(f'make {" ".join(goals)} in {self.build}: exit status {status}\n'
                         f'{output[-4000:]}')
        return output

    def start(self, *goals, **settings):
        """Starts a build in its own process group, which the caller may kill."""
        return subprocess.Popen(self.command_line(*goals), start_new_session=True,
                                env=self.workshop.environment(self.settings | settings),
                                preexec_fn=interruptible,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def build_all(self, what):
        with Progress(f'build {what} (minutes, the first time)'):
            return self.make('all')

    def configuration(self):
        return (self.build / '.config').read_text().splitlines()

    def provenance(self):
        """Returns the versions of Linux and the compiler. Only stored digests of the same versions are compared."""
        version = self.make('kernelversion').strip()
        compiler = next(line.split('"')[1] for line in self.configuration()
                        if line.startswith('CONFIG_CC_VERSION_TEXT='))
        return f'Linux {version}, {compiler}'

    def objects(self):
        """Returns the paths below `build` of all objects that were linked into vmlinux.o, in link order."""
        return command(['ar', 't', 'vmlinux.a'], cwd=self.build).split() + self.of_libraries()

    def of_libraries(self):
        """Returns the paths of the objects that the link of vmlinux.o took from libraries (--start-group) because other
        objects need them, such as those of arm64's EFI stub."""
        words = shlex.split(self.saved_command('vmlinux.o').split(';')[0])
        if '--start-group' not in words:
            return []
        group = words[words.index('--start-group') + 1:words.index('--end-group')]
        if not group:
            return []
        folders = {os.path.dirname(library) for library in group}
        words[words.index('-o') + 1] = '/dev/null'
        traced = command([*words, '--trace'], cwd=self.build).split()
        return [os.path.normpath(path) for path in traced
                if path.endswith('.o') and os.path.dirname(path) in folders]

    def modules(self):
        """Returns the paths of the modules, .ko files, below `build`."""
        # modules.order has an object per line; in kernels before 6.2, it has a module per line.
        return [os.path.splitext(line)[0] + '.ko'
                for line in (self.build / 'modules.order').read_text().split()]

    @property
    def image(self):
        """Returns the path of the image that btf-pahole got: linked, with DWARF if the objects have DWARF."""
        for name in ('.tmp_vmlinux1', '.tmp_vmlinux.btf'): # from 6.11 on; before 6.11
            if (self.build / name).exists():
                return self.build / name
        raise Failed(f'{self.build}: neither .tmp_vmlinux1 nor .tmp_vmlinux.btf, the image that btf-pahole gets')

    @property
    def kernel(self):
        return self.build / self.machine.kernel

    def tool(self, name):
        """Returns the command of a program of binutils or gcc that works for the machine: with the prefix `cross`."""
        return self.machine.cross + name

    def saved_command(self, target):
        """Returns the command with which Kbuild made `target`."""
        folder, base = os.path.split(target)
        saved = (self.build / folder / f'.{base}.cmd').read_text()
        line = re.match(r'(?:savedcmd|cmd)_\S+ := (.*)', saved)
        if not line:
            raise Failed(f'{folder}/.{base}.cmd: no saved command')
        return line[1]
