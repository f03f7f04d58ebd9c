// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// boot-init: process 1 of the machine that boot.py starts, and the machine's only program. Loads
// the modules in /modules in the order of their file names, NN-NAME.ko. Checks the BTF of the
// kernel and of these modules, prints the result of each check, then powers off.
#include "tests/kernel/boot/btf_checks.h"
#include "tests/kernel/boot/loader.h"
#include "tests/kernel/boot/program_checks.h"

#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

using namespace btflink::boot;

namespace
{

/// Returns false and prints the error in errno if `result` is negative. Then no checks follow, and
/// boot.py shows the end of the console, which has this error.
bool works(const char *what, int result)
{
    if (result < 0)
        std::printf("boot: %s: %s\n", what, std::strerror(errno));
    return result >= 0;
}

bool prepare()
{
    return works("mount /proc", mount("proc", "/proc", "proc", 0, nullptr)) &&
           works("mount /sys", mount("sysfs", "/sys", "sysfs", 0, nullptr)) &&
           works("sethostname", sethostname(node_name, std::strlen(node_name)));
}

/// The kernel's name of the module in a file NN-NAME.ko: NAME with underscores for dashes.
std::string module_name(const std::filesystem::path &path)
{
    std::string name = path.stem();
    name.erase(0, name.find('-') + 1);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::vector<std::filesystem::path> modules()
{
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator("/modules"))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

void check_all()
{
    Report report;
    report.check("vmlinux BTF", vmlinux_btf);
    report.check("functions of vmlinux BTF", functions_exist);
    report.check("per-CPU variables of vmlinux BTF", variables_in_place);
    report.check("CO-RE program", core);
    report.check("fentry program", fentry);
    report.check("fexit program", fexit);
    if (has_function("arch_bpf_trampoline_size"))
        report.check("fentry program on arch_bpf_trampoline_size", fentry_trampoline);
    if (has_function("enter_vmid_context"))
        report.check("fentry program on enter_vmid_context", fentry_guest);
    if (knows_kfunc())
        report.check("kfunc program", kfunc);
    report.check("per-CPU __ksym program", percpu);
    for (const auto &path : modules()) {
        const std::string name = module_name(path);
        report.check("module " + name, [&] { return load_module(path); });
        report.check("split BTF of " + name, [&] { return split_btf(name); });
        if (name == "dummy")
            report.check("fentry program on " + name, fentry_module);
        if (name == "veth")
            report.check("CO-RE program on " + name, module_type);
    }
    report.check("kernel log", quiet_log);
    report.end();
}

} // namespace

int main()
{
    if (getpid() != 1) {
        std::fprintf(stderr, "boot-init: must be process 1 (tests/kernel/boot/boot.py)\n");
        return 2;
    }
    constexpr int console_level = 8, only_panics = 1; // command and level of syslog(2)
    klogctl(console_level, nullptr, only_panics); // keeps the kernel's messages out of our lines
    capture_messages();
    if (prepare())
        check_all();
    std::fflush(stdout);
    reboot(RB_POWER_OFF);
    reboot(RB_AUTOBOOT); // if the kernel refused to power off; QEMU exits (-no-reboot)
    return 1;
}
