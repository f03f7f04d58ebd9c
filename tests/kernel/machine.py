# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The machines for which kernels are built: their names in Kbuild, and how QEMU boots them."""
import typing


class Machine(typing.NamedTuple):
    arch: str  # Kbuild's ARCH
    cross: str  # prefix of the tools' names; '' for the build machine
    kernel: str  # the file that boots, below the build folder
    emulator: tuple  # QEMU's program and options
    packages: str  # group of tests/ci/install-packages with QEMU
    arguments: str  # of the kernel's command line
    init: str  # process 1, below the build folder of the tools
    seconds: int  # time limit for boot and checks, on a busy host
    apart: dict  # folders with objects of other programs than vmlinux -> minimum number of these objects
    digests: str  # prefix of the names of the stored digests for this machine
    plugin_keeps: str  # a function that has BTF in gcc's kernels only with the plugin; boot-init attaches to it
    # Functions whose weak definition has another prototype than the strong one. pahole takes the weak one's
    # prototype, or leaves the function out.
    strong: tuple = ()


X86 = Machine(
    arch='x86',
    cross='',
    kernel='arch/x86/boot/bzImage',
    emulator=('qemu-system-x86_64',),
    packages='kernel',
    # no_timer_check: the emulated CPU may pause while its timers continue. Without this argument, the kernel would
    # conclude that the timer does not work, and panic.
    arguments='console=ttyS0 no_timer_check',
    init='tests/kernel/boot/boot-init',
    seconds=300,
    apart={'arch/x86/entry/vdso': 4, 'arch/x86/realmode/rm': 4, 'arch/x86/boot': 20,
           'arch/x86/purgatory': 0, 'drivers/firmware/efi/libstub': 0},
    digests='',
    plugin_keeps='arch_bpf_trampoline_size',
    strong=('arch_prepare_bpf_trampoline', 'bpf_probe_read_kernel')) # in Linux 6.1

ARM64 = Machine(
    arch='arm64',
    cross='aarch64-linux-gnu-',
    kernel='arch/arm64/boot/Image',
    emulator=('qemu-system-aarch64', '-machine', 'virt,virtualization=on', '-cpu', 'max'), # for KVM, with VHE
    packages='full',
    arguments='console=ttyAMA0',
    init='tests/kernel/boot/boot-init-arm64',
    seconds=600,
    apart={'arch/arm64/kernel/vdso': 5}, # not the EFI stub, which is part of vmlinux
    digests='arm64-',
    plugin_keeps='enter_vmid_context',
    strong=('sched_clock', '__arm64_sys_munlockall'))

MACHINES = {machine.arch: machine for machine in (X86, ARM64)}
