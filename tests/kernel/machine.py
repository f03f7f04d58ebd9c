# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The machines that kernels are built for: how Kbuild names them, and what boots them in QEMU."""
import typing


class Machine(typing.NamedTuple):
    arch: str  # Kbuild's ARCH
    cross: str  # what the names of its tools begin with; '': it is the one that builds
    kernel: str  # what boots, below the build folder
    emulator: tuple  # QEMU's program, and the options that make it this machine
    packages: str  # group of tests/ci/install-packages that has the program
    arguments: str  # of the kernel
    init: str  # process 1, below the build folder of the tools
    seconds: int  # enough to boot and to check, on a busy host
    apart: dict  # folders of programs that are not vmlinux; each has at least so many objects
    digests: str  # what the names of its stored digests begin with
    plugin_keeps: str  # a function that has no BTF by DWARF, and that boot-init attaches to


X86 = Machine(
    arch='x86',
    cross='',
    kernel='arch/x86/boot/bzImage',
    emulator=('qemu-system-x86_64',),
    packages='kernel',
    # The emulated CPU may stand still while its timers run: the kernel must not judge by that
    # whether its timer works (it panics).
    arguments='console=ttyS0 no_timer_check',
    init='tests/kernel/boot/boot-init',
    seconds=300,
    apart={'arch/x86/entry/vdso': 4, 'arch/x86/realmode/rm': 4, 'arch/x86/boot': 20,
           'arch/x86/purgatory': 0, 'drivers/firmware/efi/libstub': 0},
    digests='',
    plugin_keeps='arch_bpf_trampoline_size')

ARM64 = Machine(
    arch='arm64',
    cross='aarch64-linux-gnu-',
    kernel='arch/arm64/boot/Image',
    emulator=('qemu-system-aarch64', '-machine', 'virt,virtualization=on', '-cpu', 'max'), # KVM with VHE
    packages='full',
    arguments='console=ttyAMA0',
    init='tests/kernel/boot/boot-init-arm64',
    seconds=600,
    apart={'arch/arm64/kernel/vdso': 5}, # its EFI stub is part of vmlinux
    digests='arm64-',
    plugin_keeps='enter_vmid_context')

MACHINES = {machine.arch: machine for machine in (X86, ARM64)}
