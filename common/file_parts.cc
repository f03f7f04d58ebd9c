// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Linked kernels and their vmlinux.o are gigabytes, mostly DWARF, and of their BTF most
// is only looked at in passing.
//
// Method. Files are mapped: what nobody looks at is not read, and what is looked at is not copied.
// Small files, and what cannot be mapped (pipes, /sys), are read. If a mapped file shrinks, the
// next look behind its end is a SIGBUS: its handler can do nothing but say of which file, and end.
// What is written then is not yet in its place: update_file() writes the header last, write_file()
// renames.
#include "common/file_parts.h"

#include "common/file_io.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace btflink
{

namespace
{

constexpr uint64_t small_file = 64 * 1024; // not worth a mapping

/// A mapping, for the signal handler. Never freed: the handler may look at it at any time.
struct Mapping {
    const std::byte *begin;
    std::atomic<size_t> size; // 0: gone
    std::string path;
    Mapping *next;
};
std::atomic<Mapping *> mappings = nullptr;
const char *program_name = "";

Mapping *remember(const void *begin, size_t size, const std::string &path)
{
    auto *mapping = new Mapping{static_cast<const std::byte *>(begin), size, path, nullptr};
    mapping->next = mappings.load();
    while (!mappings.compare_exchange_weak(mapping->next, mapping))
        ;
    return mapping;
}

void say(const char *text)
{
    (void)!::write(STDERR_FILENO, text, std::strlen(text));
}

void on_lost_file(int, siginfo_t *info, void *)
{
    auto *at = static_cast<const std::byte *>(info->si_addr);
    for (const Mapping *m = mappings; m; m = m->next) {
        if (at < m->begin || at >= m->begin + m->size)
            continue;
        say(program_name);
        say(": ERROR: ");
        say(m->path.c_str());
        say(": somebody else cut it off, or it cannot be read\n");
        ::_exit(1);
    }
    ::signal(SIGBUS, SIG_DFL); // not our files: the same again, and the end
}

} // namespace

void report_lost_files(const char *program)
{
    program_name = program;
    struct sigaction action = {};
    action.sa_sigaction = on_lost_file;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
}

Result<FileParts> read_parts(const std::string &path)
{
    struct stat st;
    FileParts out;
    // Asked before it is opened: a pipe can be opened, and read, once only.
    bool regular = ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
    int fd = regular ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        static_cast<uint64_t>(st.st_size) > small_file) {
        auto size = static_cast<size_t>(st.st_size);
        void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory != MAP_FAILED) {
            Mapping *mapping = remember(memory, size, path);
            out.owner = std::shared_ptr<void>(memory, [size, mapping](void *p) {
                mapping->size = 0;
                ::munmap(p, size);
            });
            out.bytes = {static_cast<const std::byte *>(memory), size};
        }
    }
    if (fd >= 0)
        ::close(fd);
    if (out.owner)
        return out;
    auto file = read_file(path);
    if (!file)
        return tl::unexpected(file.error());
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(*file));
    return FileParts{*owner, owner};
}

} // namespace btflink
