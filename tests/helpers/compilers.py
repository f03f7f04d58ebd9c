# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Finds the compilers and other programs that are installed."""
import functools
import os
import shutil
import subprocess


@functools.lru_cache(None)
def target_of(command):
    """The machine for which a compiler generates code; '' if the compiler is not installed."""
    if not shutil.which(command):
        return ''
    done = subprocess.run([command, '-dumpmachine'], capture_output=True, text=True, check=False)
    return done.stdout.split('-')[0].strip()


def installed(*programs):
    """Those of `programs` that are installed. Prints a line for each other one."""
    for name in programs:
        if not shutil.which(name):
            print(f'SKIP {name}: not installed')
    return [name for name in programs if shutil.which(name)]


@functools.lru_cache(None)
def clangs():
    """Those of clang-14, clang-19 and clang that are installed, each program once."""
    found = {os.path.realpath(shutil.which(name)): name for name in ('clang', 'clang-19', 'clang-14')
             if shutil.which(name)}
    return sorted(found.values())


def knows_tags(command):
    """True if the compiler knows btf_decl_tag. gcc from 16 on and clang from 14 on do; they also know btf_type_tag."""
    done = subprocess.run([command, '-E', '-P', '-'], capture_output=True, text=True, check=False,
                          input='__has_attribute(btf_decl_tag)')
    return done.returncode == 0 and done.stdout.strip() == '1'


@functools.lru_cache(None)
def gccs_with_tags():
    """Those of gcc and gcc-16 that are installed and know btf_decl_tag."""
    return [name for name in ('gcc', 'gcc-16') if shutil.which(name) and knows_tags(name)]


# The tests' name of a machine -> the command of its cross compiler; for i386, of the host's gcc.
CROSS = {
    'aarch64': ('aarch64-linux-gnu-gcc',),
    'alpha': ('alpha-linux-gnu-gcc',),
    'arm': ('arm-linux-gnueabihf-gcc',),
    'i386': ('gcc', '-m32', '-march=i686'),
    'loongarch64': ('loongarch64-linux-gnu-gcc',),
    'm68k': ('m68k-linux-gnu-gcc',),
    'mips64el': ('mips64el-linux-gnuabi64-gcc',),
    'mipsel': ('mipsel-linux-gnu-gcc',),
    'powerpc': ('powerpc-linux-gnu-gcc',),
    'ppc64le': ('powerpc64le-linux-gnu-gcc',),
    'riscv32': ('riscv64-linux-gnu-gcc', '-march=rv32gc', '-mabi=ilp32d'),
    'riscv64': ('riscv64-linux-gnu-gcc',),
    's390x': ('s390x-linux-gnu-gcc',),
    'sparc': ('sparc64-linux-gnu-gcc', '-m32', '-mcpu=v8'),
    'sparc64': ('sparc64-linux-gnu-gcc',),
}
MACHINES_32 = ('arm', 'i386', 'm68k', 'mipsel', 'powerpc', 'riscv32', 'sparc')  # 32-bit


def cross_compiler(machine):
    """A command that compiles and links for a machine of CROSS, or None."""
    command = CROSS[machine]
    target = target_of(command[0])
    if target and (machine != 'i386' or target == 'x86_64'):  # -m32 means i386 if gcc is for x86-64
        return command
    if machine == 'loongarch64' and has_lld('clang-19'):  # Debian 12 has no gcc for loongarch64
        return ('clang-19', '--target=loongarch64-linux-gnu', '-fuse-ld=lld',
                '-Wno-unused-command-line-argument')
    return None


@functools.lru_cache(None)
def assembler_for(machine):
    """A command that assembles for `machine` (x86_64 or one of CROSS), or None."""
    if target_of('gcc') == machine:
        return ('gcc',)
    # Binutils 2.40 does not support .uleb128 of a difference on RISC-V.
    if machine not in ('x86_64', 'riscv64') and cross_compiler(machine):
        return cross_compiler(machine)
    for command in ('clang', 'clang-19', 'clang-14'):
        if target_of(command):
            name = {'arm': 'armv7', 'ppc64le': 'powerpc64le'}.get(machine, machine)
            return (command, f'--target={name}-linux-gnu')
    return None


def has_lld(clang):
    """True if there is an lld that reads the bitcode of this clang."""
    def said(*command):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    if not shutil.which(clang):
        return False
    lld = said(clang, '-print-prog-name=ld.lld').strip()
    version = said(clang, '-dumpversion').partition('.')[0]
    return bool(shutil.which(lld)) and f'LLD {version}.' in said(lld, '--version')
