# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Which compilers there are, as commands."""
import functools
import shutil
import subprocess


@functools.lru_cache(None)
def target_of(command):
    """The machine that a compiler makes code for, '' if there is no such compiler."""
    if not shutil.which(command):
        return ''
    done = subprocess.run([command, '-dumpmachine'], capture_output=True, text=True, check=False)
    return done.stdout.split('-')[0].strip()


@functools.lru_cache(None)
def assembler_for(machine):
    """A command that assembles for `machine` (x86_64, aarch64), or None."""
    for command in ('gcc', f'{machine}-linux-gnu-gcc'):
        if target_of(command) == machine:
            return (command,)
    for command in ('clang', 'clang-19', 'clang-14'):
        if target_of(command):
            return (command, f'--target={machine}-linux-gnu')
    return None
