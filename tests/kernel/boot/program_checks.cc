// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Loads and runs BPF programs, and checks what they saw.
#include "tests/kernel/boot/program_checks.h"

#include "tests/kernel/boot/loader.h"
#include "tests/kernel/boot/network.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/btf.h>

#include <fcntl.h>
#include <linux/kvm.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace btflink::boot
{
namespace
{

/// The text in an array that a BPF program filled: the bytes before the first NUL, or all.
template <size_t size>
std::string text(const char (&array)[size])
{
    return {array, strnlen(array, size)};
}

/// The first word of a file; "" if the file cannot be read or is empty.
std::string first_word(const std::string &path)
{
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

std::string folder_of(const std::string &device)
{
    return "/sys/class/net/" + device;
}

/// The index of a network device; -1 if there is no device of this name.
int index_of(const char *device)
{
    unsigned index = if_nametoindex(device);
    return index ? static_cast<int>(index) : -1;
}

constexpr const char *kernel_btf = "/sys/kernel/btf/vmlinux";

/// The size of a struct in bytes according to the kernel's BTF; 0 if this BTF cannot be read or
/// lacks the struct.
unsigned size_of_struct(const char *name)
{
    btf *kernel = btf__parse(kernel_btf, nullptr);
    if (!kernel)
        return 0;
    int id = btf__find_by_name_kind(kernel, name, BTF_KIND_STRUCT);
    const unsigned size =
        id > 0 ? static_cast<unsigned>(btf__resolve_size(kernel, static_cast<unsigned>(id))) : 0;
    btf__free(kernel);
    return size;
}

/// A child process with a given name, which lives as long as the object.
class Sleeper
{
public:
    explicit Sleeper(const char *name)
    {
        int ends[2];
        if (pipe(ends) < 0)
            return;
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // if the check crashes or is killed
            prctl(PR_SET_NAME, name);
            close(ends[0]);
            close(ends[1]); // ends the parent's read(), now that the name is set
            for (;;)
                pause();
        }
        close(ends[1]);
        char nothing;
        while (::read(ends[0], &nothing, 1) > 0)
            ;
        close(ends[0]);
    }
    ~Sleeper()
    {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    Sleeper(const Sleeper &) = delete;
    Sleeper &operator=(const Sleeper &) = delete;

    /// -1 if the process could not be made.
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
};

// Each version of of_architecture() checks per-CPU variables that only kernels for its architecture
// have. The last one, for all other architectures, fails.
#if defined(__x86_64__)

/// VALUE in the first line "KEY : VALUE" of /proc/cpuinfo that begins with `key`; "" if there is
/// none.
std::string cpuinfo(std::string_view key)
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key) && line.find(": ") != line.npos)
            return line.substr(line.find(": ") + 2);
    return "";
}

void of_architecture(const PercpuSeen &seen, Sightings &sightings)
{
    for (int cpu = 0; cpu < cpus; cpu++)
        sightings.equal("cpu_info.x86", std::to_string(seen.family[cpu]), cpuinfo("cpu family"));
    sightings.equal("cpu_info.x86_model_id", text(seen.model), cpuinfo("model name"));
}

#elif defined(__aarch64__)

/// The number in `file`, a path below /sys/devices/system/cpu/cpuN: decimal, or hexadecimal with
/// 0x. 0 if there is no number.
unsigned long long of_cpu(int cpu, const std::string &file)
{
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
    return std::strtoull(first_word(folder + file).c_str(), nullptr, 0);
}

void of_architecture(const PercpuSeen &seen, Sightings &sightings)
{
    for (int cpu = 0; cpu < cpus; cpu++) {
        sightings.equal("cpu_data.reg_midr", seen.midr[cpu],
                        of_cpu(cpu, "regs/identification/midr_el1"));
        sightings.equal("cpu_scale", seen.scale[cpu], of_cpu(cpu, "cpu_capacity"));
        sightings.require("both", seen.midr[cpu] && seen.scale[cpu] ? "known" : "unknown",
                          seen.midr[cpu] && seen.scale[cpu], "must not be 0");
    }
}

#else

void of_architecture(const PercpuSeen &, Sightings &sightings)
{
    sightings.require("per-CPU variables of this architecture", "unknown", false,
                      "there is no check for them");
}

#endif

Outcome task_from_pid()
{
    constexpr const char *name = "kfunc-task";
    const Sleeper sleeper(name);
    if (sleeper.pid() < 0)
        return {false, "no process to look for"};
    Loader loader;
    KfuncSeen seen{};
    seen.wanted_pid = sleeper.pid();
    if (!loader.load(kfunc_object) || !loader.write(seen) || !loader.run() || !loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    sightings.equal("bpf_task_from_pid: found", seen.found, 1);
    sightings.equal("pid", seen.pid, sleeper.pid());
    sightings.equal("comm", text(seen.comm), name);
    sightings.equal("parent", seen.parent_tgid, getpid());
    return sightings.outcome();
}

/// Makes a KVM guest with some memory and lets KVM log writes to this memory. For that, KVM
/// write-protects the memory and flushes the guest's address translations. The guest exists until
/// the process ends. Returns an error text, or "" on success.
std::string write_protect_guest()
{
    constexpr size_t size = 1 << 20;
    const auto failed = [](const char *what) {
        return std::string(what) + ": " + std::strerror(errno);
    };
    const int kvm = open("/dev/kvm", O_RDWR);
    if (kvm < 0)
        return failed("/dev/kvm");
    const int guest = ioctl(kvm, KVM_CREATE_VM, 0);
    if (guest < 0)
        return failed("KVM_CREATE_VM");
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return failed("mmap");
    kvm_userspace_memory_region region{};
    region.memory_size = size;
    region.userspace_addr = reinterpret_cast<uintptr_t>(memory);
    for (const unsigned flags : {0u, unsigned{KVM_MEM_LOG_DIRTY_PAGES}}) {
        region.flags = flags;
        if (ioctl(guest, KVM_SET_USER_MEMORY_REGION, &region) < 0)
            return failed("KVM_SET_USER_MEMORY_REGION");
    }
    return "";
}

Outcome test_kfuncs()
{
    Loader loader;
    TestKfuncSeen seen{};
    if (!loader.load(kfunc_test_object) || !loader.run() || !loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    // The numbers are from the kernel's net/bpf/test_run.c.
    sightings.equal("bpf_kfunc_call_test_acquire: found", seen.found, 1);
    sightings.equal("a", seen.a, 42);
    sightings.equal("b", seen.b, 108);
    return sightings.outcome();
}

/// The kernel's version, such as 610 for 6.10; 0 if it cannot be told.
int kernel_version()
{
    utsname kernel;
    int major = 0, minor = 0;
    if (uname(&kernel) < 0 || std::sscanf(kernel.release, "%d.%d", &major, &minor) != 2)
        return 0;
    return major * 100 + minor;
}

} // namespace

Outcome core()
{
    constexpr const char *name = "core-thread";
    constexpr int enumerators = 4; // before PIDTYPE_MAX in enum pid_type, from Linux 4.19 on
    Loader loader;
    CoreSeen before{}, seen{};
    prctl(PR_SET_NAME, name);
    if (!loader.load(core_object) || !loader.run() || !loader.read(before))
        return {false, loader.error()};
    const sched_param priority{};
    if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &priority) < 0)
        return {false, std::string("sched_setscheduler: ") + std::strerror(errno)};
    if (!loader.run() || !loader.read(seen))
        return {false, loader.error()};

    Sightings sightings;
    sightings.equal("pid", seen.pid, gettid());
    sightings.equal("tgid", seen.tgid, getpid());
    sightings.equal("parent", seen.parent_tgid, getppid());
    sightings.equal("comm", text(seen.comm), name);
    sightings.require("at comm's unrelocated offset",
                      text(seen.unrelocated).empty() ? "nothing" : "other bytes",
                      text(seen.unrelocated) != name, "would be right without relocation");
    sightings.equal("node", text(seen.node), node_name);
    sightings.equal("bit before", before.reset_on_fork, 0);
    sightings.equal("bit set", seen.reset_on_fork, 1);
    sightings.equal("PIDTYPE_MAX", seen.pid_types, enumerators);
    sightings.equal("absent field", seen.has_absent_field, 0);
    sightings.equal("sizeof(task_struct)", seen.task_size, size_of_struct("task_struct"));
    return sightings.outcome();
}

Outcome fentry()
{
    constexpr const char *name = "renamed-task";
    Loader loader;
    FentrySeen seen{};
    seen.wanted_pid = gettid();
    if (!loader.load(fentry_object) || !loader.write(seen) || !loader.attach())
        return {false, loader.error()};
    prctl(PR_SET_NAME, name);
    if (!loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    sightings.equal("__set_task_comm: calls", seen.calls, 1);
    sightings.equal("task->pid", seen.pid, gettid());
    sightings.equal("task->real_parent->tgid", seen.parent_tgid, getppid());
    sightings.equal("name", text(seen.name), name);
    sightings.equal("exec", seen.exec, 0);
    return sightings.outcome();
}

Outcome fexit()
{
    Loader loader;
    FexitSeen seen{};
    if (!loader.load(fexit_object) || !loader.attach() || !loader.run() || !loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    sightings.equal("bpf_fentry_test5: calls", seen.calls, 1);
    // The kernel's test run calls bpf_fentry_test5(11, 12, 13, 14, 15), which returns the sum.
    for (unsigned long long i = 0; i < 5; i++)
        sightings.equal("argument", seen.arguments[i], 11 + i);
    sightings.equal("result", seen.result, 65);
    return sightings.outcome();
}

bool has_function(const char *name)
{
    btf *kernel = btf__parse(kernel_btf, nullptr);
    const bool has = kernel && btf__find_by_name_kind(kernel, name, BTF_KIND_FUNC) > 0;
    btf__free(kernel);
    return has;
}

Outcome fentry_trampoline()
{
    constexpr int sizes_of_test5[] = {8, 8, 2, 4, 8};
    Loader loader, other;
    TrampolineSeen seen{};
    if (!loader.load(fentry_trampoline_object) || !loader.attach())
        return {false, loader.error()};
    if (!other.load(fexit_object) || !other.attach())
        return {false, other.error()};
    if (!loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    sightings.require("arch_bpf_trampoline_size: calls", seen.calls, seen.calls > 0,
                      "must be some");
    sightings.equal("m->nr_args", seen.argument_count, std::size(sizes_of_test5));
    for (size_t i = 0; i < std::size(sizes_of_test5); ++i)
        sightings.equal("m->arg_size", int{seen.argument_sizes[i]}, sizes_of_test5[i]);
    sightings.require("flags", seen.flags, seen.flags != 0 && seen.flags < 1 << 12,
                      "must be from 1 to 4095");
    sightings.require("tlinks", seen.links, seen.links >> 63, "must be in the kernel");
    sightings.require("func_addr", seen.function, seen.function >> 63, "must be in the kernel");
    return sightings.outcome();
}

Outcome fentry_guest()
{
    Loader loader;
    GuestSeen seen{};
    if (!loader.load(fentry_guest_object) || !loader.attach())
        return {false, loader.error()};
    if (const std::string error = write_protect_guest(); !error.empty())
        return {false, error};
    if (!loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    sightings.require("enter_vmid_context: calls", seen.calls, seen.calls > 0, "must be some");
    sightings.equal("mmu->arch: the guest's maker", seen.pid, gettid());
    sightings.require("cxt", seen.context, seen.context >> 63, "must be in the kernel");
    return sightings.outcome();
}

Outcome fentry_module()
{
    constexpr const char *device = "dummy0"; // made by the module when it is loaded
    Loader loader;
    ModuleSeen seen{};
    seen.wanted_index = index_of(device);
    if (!loader.load(fentry_module_object) || !loader.write(seen) || !loader.attach())
        return {false, loader.error()};
    first_word(folder_of(device) + "/statistics/rx_bytes");
    if (!loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    sightings.equal("dummy_get_stats64: calls", seen.calls, 1);
    sightings.equal("ifindex", seen.index, seen.wanted_index);
    sightings.equal("name", text(seen.name), device);
    sightings.equal("mtu", std::to_string(seen.mtu), first_word(folder_of(device) + "/mtu"));
    return sightings.outcome();
}

Outcome module_type()
{
    constexpr const char *device = "veth0", *peer = "veth1";
    if (const std::string error = make_veth_pair(); !error.empty())
        return {false, error};
    Loader loader;
    PeerSeen seen{};
    seen.wanted_index = index_of(device);
    if (!loader.load(module_type_object) || !loader.write(seen) || !loader.attach())
        return {false, loader.error()};
    first_word(folder_of(device) + "/statistics/rx_bytes");
    if (!loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    sightings.equal("veth_get_stats64: calls", seen.calls, 1);
    sightings.equal("ifindex", seen.index, index_of(device));
    sightings.equal("veth_priv.peer->ifindex", seen.peer_index, index_of(peer));
    return sightings.outcome();
}

bool knows_kfunc()
{
    const int version = kernel_version();
    return version >= 610 || (version >= 601 && version <= 604) || !version;
}

Outcome kfunc()
{
    const int version = kernel_version();
    if (!version)
        return {false, "cannot tell the version of the kernel"};
    return version >= 610 ? task_from_pid() : test_kfuncs();
}

Outcome percpu()
{
    Loader loader;
    PercpuSeen seen{};
    for (int &cpu : seen.queue_cpu)
        cpu = -1;
    if (!loader.load(percpu_object) || !loader.write(seen) || !loader.run() || !loader.read(seen))
        return {false, loader.error()};
    Sightings sightings;
    for (int cpu = 0; cpu < cpus; cpu++)
        sightings.equal("runqueues.cpu", seen.queue_cpu[cpu], cpu);
    of_architecture(seen, sightings);
    // The distance between copies of a variable is the distance between the CPUs' areas.
    sightings.require("areas: distance", seen.offset[1] - seen.offset[0],
                      seen.offset[1] != seen.offset[0], "must not be 0");
    sightings.equal("of runqueues", seen.queue_address[1] - seen.queue_address[0],
                    seen.offset[1] - seen.offset[0]);
    sightings.require("runqueues.curr",
                      seen.current_of_queue == seen.current_task ? "this task" : "another task",
                      seen.current_of_queue == seen.current_task && seen.current_task != 0,
                      "must be the task that reads it");
    return sightings.outcome();
}

} // namespace btflink::boot
