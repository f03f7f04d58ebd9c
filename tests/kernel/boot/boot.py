#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Boots a kernel in QEMU, with software emulation, and checks its BTF from inside.

usage: boot.py --kernel=FILE --init=BUILD/tests/kernel/boot/boot-init [--module=FILE.ko]...
               [--machine=x86|arm64] [--work=DIR] [--timeout=SECONDS]

--kernel is the bootable file of a kernel build: bzImage for x86, Image for arm64 (machine.py). --init is
boot-init-arm64 for arm64.

The machine has two CPUs, a serial console and an initramfs. The initramfs has boot-init, the shared libraries of
boot-init if there are any, the modules, and device nodes. boot-init is process 1; it loads the modules in the given
order. A module for hardware that QEMU does not have may fail to load; then its checks fail. For the modules dummy
and veth, a BPF program uses the module's own BTF. Prints a line per check: PASS or FAIL, and what was seen.
initramfs.cpio and console.log are kept in DIR; without --work, they are deleted. Exit status: 0 all checks passed,
1 a check or the machine failed, 2 wrong usage, 77 QEMU is not installed or boot-init was not built.
"""
import argparse
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import typing

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from checks import SKIPPED
from machine import MACHINES, X86

LAST_LINES = 25
# After a panic the kernel reboots at once, and with -no-reboot QEMU then exits. On a busy host the
# emulated CPU may pause while its timers continue. The kernel would report a hanging CPU in its log,
# so its detectors of RCU stalls and soft lockups are off.
KERNEL_ARGUMENTS = 'panic=-1 rcupdate.rcu_cpu_stall_suppress=1 nosoftlockup'
# QEMU runs both CPUs in one thread. The kernel patches its own code. With a thread for each CPU, a CPU in QEMU 7.2
# once executed a breakpoint that the other CPU had already replaced, and the kernel panicked ("Oops: int3").
ACCELERATOR = 'tcg,thread=single'


class BootError(Exception):
    """There is no complete result: the machine ended early, or was stopped at the time limit. The text has the reason
    and the end of the console."""


class Check(typing.NamedTuple):
    name: str
    passed: bool
    detail: str  # what was seen; may have many lines for a failure


def why_not(init, machine=X86):
    """Returns the reason why boot() cannot boot `machine` (no QEMU, or no boot-init), or ''."""
    if not shutil.which(machine.emulator[0]):
        return f'{machine.emulator[0]} not found (tests/ci/install-packages {machine.packages})'
    if not pathlib.Path(init).exists():
        return (f'{init} was not built: meson setup says why (tests/ci/install-packages build test'
                f'{" full" if machine.cross else ""})')
    return ''


class Initramfs:
    """A cpio archive in the newc format (the kernel's driver-api/early-userspace/buffer-format).

    The program cpio is not used, because it packs device nodes from the disk, and making them there needs root.
    """

    def __init__(self):
        self.parts = []
        self.number = 0

    def add(self, name, mode, content=b'', device=(0, 0)):
        """Adds a file of any kind; `mode` has its type and permissions."""
        self.number += 1
        encoded = name.encode() + b'\0'
        # inode, mode, uid, gid, links, time, size, device on which the file is (major, minor), device that a node
        # stands for (major, minor), length of the name, checksum
        fields = (self.number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(encoded), 0)
        header = b'070701' + b''.join(b'%08X' % field for field in fields)
        self.parts += [self._padded(header + encoded), self._padded(content)]

    def folder(self, name):
        self.add(name, stat.S_IFDIR | 0o755)

    def bytes(self):
        self.add('TRAILER!!!', 0)
        return b''.join(self.parts)

    @staticmethod
    def _padded(content):
        return content + bytes(-len(content) % 4)


def libraries(init):
    """Paths of a program's shared libraries, including the loader."""
    said = subprocess.run(['ldd', init], capture_output=True, text=True, check=False)
    if said.returncode: # the program is static, or for another machine
        return []
    return re.findall(r'^\s+(?:\S+ => )?(/\S+) \(', said.stdout, re.M)


def initramfs(init, modules):
    """Makes the initramfs that init.cc expects."""
    archive = Initramfs()
    shared = [pathlib.Path(path) for path in libraries(init)]
    folders = {str(folder)[1:] for path in shared for folder in path.parents if str(folder) != '/'}
    for name in ('dev', 'proc', 'sys', 'modules', *sorted(folders)):
        archive.folder(name)
    for path in shared:
        archive.add(str(path)[1:], stat.S_IFREG | 0o755, path.read_bytes())
    archive.add('dev/console', stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add('dev/kvm', stat.S_IFCHR | 0o600, device=(10, 232))
    archive.add('init', stat.S_IFREG | 0o755, pathlib.Path(init).read_bytes())
    for number, path in enumerate(map(pathlib.Path, modules)):
        archive.add(f'modules/{number:02}-{path.name}', stat.S_IFREG | 0o644, path.read_bytes())
    return archive.bytes()


def text_of(log):
    """The console's text, without the escape sequences of the firmware."""
    return re.sub(r'\x1b(\[[?0-9;]*[A-Za-z]|.)', '', log.read_text(errors='replace'))


def checks_of(console):
    """The checks that init printed; None if init did not finish, or if lines are missing."""
    checks = []
    for line in console.splitlines():
        result = re.match(r'boot: (PASS|FAIL): (.*?): (.*)', line)
        more = re.match(r'boot:     (.*)', line)
        end = re.match(r'boot: end: (\d+) checks', line)
        if result:
            checks.append(Check(result[2], result[1] == 'PASS', result[3]))
        elif more and checks:
            checks[-1] = checks[-1]._replace(detail=checks[-1].detail + '\n' + more[1])
        elif end:
            return checks if len(checks) == int(end[1]) else None
    return None


def fault_of(console, ending):
    """Why there is no result, and the end of the console. `ending`: how the machine ended."""
    lines = console.splitlines()
    panic = next((line for line in lines if 'Kernel panic' in line), None)
    what = f'the kernel panicked: {panic}' if panic else f'no result from the machine, {ending}'
    last = ''.join(f'\n    {line}' for line in lines[-LAST_LINES:])
    return what + (f'\nlast lines of its console:{last}' if last else '\nnothing on its console')


def start(kernel, archive, log, timeout, machine=X86, memory=512, arguments=''):
    """Boots `kernel` with the initramfs in the file `archive`. Waits until the machine is off, or stops it after
    `timeout` seconds. Returns a text that says how the machine ended. The console goes to the file `log`. `memory`
    is in MiB. `arguments` are further arguments of the kernel."""
    command = [*machine.emulator, '-accel', ACCELERATOR, '-m', memory, '-smp', '2', '-nographic',
               '-nodefaults', '-no-reboot', '-serial', 'stdio', '-kernel', kernel,
               '-initrd', archive, '-append', f'{machine.arguments} {KERNEL_ARGUMENTS} {arguments}']
    with open(log, 'wb') as console:
        try:
            done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                                  stdout=console, stderr=subprocess.STDOUT, timeout=timeout,
                                  check=False)
            return f'{command[0]} ended with exit status {done.returncode}'
        except subprocess.TimeoutExpired:
            return f'stopped after {timeout} seconds'


def boot(kernel, modules, init, work, machine=X86, timeout=None):
    """Boots `kernel` with `modules` (.ko files, in order) and `init` (boot-init), all for `machine`.

    Returns the list of Checks that init made. `work` is a folder for initramfs.cpio and console.log; it is
    made if it does not exist. Raises BootError if init does not finish in `timeout` seconds (default: the
    machine's).
    """
    timeout = timeout or machine.seconds
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    archive = work / 'initramfs.cpio'
    archive.write_bytes(initramfs(init, modules))
    log = work / 'console.log'
    ending = start(kernel, archive, log, timeout, machine)
    text = text_of(log)
    checks = checks_of(text)
    if checks is None:
        raise BootError(fault_of(text, ending))
    return checks


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--kernel', required=True)
    parser.add_argument('--init', required=True)
    parser.add_argument('--module', action='append', default=[], dest='modules')
    parser.add_argument('--work')
    parser.add_argument('--machine', choices=MACHINES, default=X86.arch)
    parser.add_argument('--timeout', type=float)
    options = parser.parse_args()
    machine = MACHINES[options.machine]
    if reason := why_not(options.init, machine):
        print(f'SKIP: boot: {reason}')
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        try:
            checks = boot(options.kernel, options.modules, options.init, options.work or scratch,
                          machine, options.timeout)
        except (BootError, OSError) as error:
            print(f'FAIL: boot: {error}')
            return 1
    for check in checks:
        print(f'{"PASS" if check.passed else "FAIL"}: {check.name}: {check.detail}')
    return 0 if all(check.passed for check in checks) else 1


if __name__ == '__main__':
    sys.exit(main())
