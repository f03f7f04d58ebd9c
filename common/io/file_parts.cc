// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Maps files for reading, and notices mapped files that change.
//
// Problem. Linked kernels and their vmlinux.o take gigabytes, mostly DWARF, and most of their BTF
// is needed only briefly.
//
// Method. Files are mapped: unused parts are never read, and the rest is not copied.
// release_pages() gives back the memory of parts that were used. Small files, and files that cannot
// be mapped (pipes, most of /sys), are read.
//
// If a mapped file shrinks, the next access beyond its end raises SIGBUS. The handler that
// report_lost_files() sets names the file and ends the program. Unfinished output is not in place
// then: update_file() writes the header last, write_file() renames.
//
// If a mapped file is overwritten, earlier checks may no longer hold. check_mapped_files() detects
// this by the file's size and time, before a wrong result is used. If the program crashes first,
// the handlers of other signals name the file, and the program still ends by its signal.
//
// If a mapped file is replaced by rename, nothing happens: the mapping keeps the old file.
#include "common/io/file_io.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace btflink
{

namespace
{

constexpr uint64_t small_file = 64 * 1024; // not worth a mapping
// A process may have 65,530 mappings (vm.max_map_count), and memory and threads need some of them.
// Once `most_mappings` files are mapped, further files are read.
constexpr size_t most_mappings = 60000;
std::atomic<size_t> mapping_count = 0; // current number

/// The record of a mapping. It stays when the mapping ends, because the signal handler may read it
/// at any time.
struct Mapping {
    const std::byte *begin;
    std::atomic<size_t> size; // 0: no longer mapped
    std::string path;
    struct stat before;
    Mapping *next = nullptr;

    bool has(const std::byte *at) const { return at >= begin && at < begin + size; }
    /// May be called in a signal handler.
    bool changed() const
    {
        struct stat now;
        return size && ::stat(path.c_str(), &now) == 0 && now.st_ino == before.st_ino &&
               now.st_dev == before.st_dev &&
               (now.st_size != before.st_size || now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
                now.st_mtim.tv_nsec != before.st_mtim.tv_nsec);
    }
};
std::atomic<Mapping *> mappings = nullptr;
const char *program_name = "";

const Mapping *find_changed()
{
    const Mapping *m = mappings;
    while (m && !m->changed())
        m = m->next;
    return m;
}

/// The mapping that contains `at`, or null.
const Mapping *mapping_of(const std::byte *at)
{
    const Mapping *m = mappings;
    while (m && !m->has(at))
        m = m->next;
    return m;
}

Mapping *remember(const void *begin, size_t size, const std::string &path, const struct stat &st)
{
    auto *mapping = new Mapping{static_cast<const std::byte *>(begin), size, path, st};
    mapping->next = mappings.load();
    while (!mappings.compare_exchange_weak(mapping->next, mapping))
        ;
    return mapping;
}

void say(const char *text)
{
    (void)!::write(STDERR_FILENO, text, std::strlen(text));
}

void say(const Mapping &of, const char *what)
{
    for (const char *text : {program_name, ": ERROR: ", of.path.c_str(), ": ", what, "\n"})
        say(text);
}

constexpr const char *changed_text = "the file was changed while it was read";
constexpr int signals[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT};
struct sigaction former[std::size(signals)];

void on_signal(int signal, siginfo_t *info, void *)
{
    auto *at = static_cast<const std::byte *>(info->si_addr);
    const Mapping *const cut_off = signal == SIGBUS ? mapping_of(at) : nullptr;
    if (cut_off) {
        say(*cut_off, "the file was truncated, or cannot be read");
        ::_exit(1);
    }
    if (const Mapping *m = find_changed())
        say(*m, changed_text);
    // When the handler returns, the faulting instruction raises the signal again, with its former
    // action.
    for (size_t i = 0; i < std::size(signals); ++i)
        if (signals[i] == signal)
            ::sigaction(signal, &former[i], nullptr);
    if (info->si_code <= 0) // a process sent the signal, so it does not come again by itself
        ::raise(signal);
}

} // namespace

void report_lost_files(const char *program)
{
    program_name = program;
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART; // a signal must not make a read fail
    for (size_t i = 0; i < std::size(signals); ++i)
        ::sigaction(signals[i], &action, &former[i]);
}

void release_pages(Bytes part)
{
    const std::byte *end = part.data() + part.size();
    for (const Mapping *m = mappings; m; m = m->next) {
        if (part.empty() || part.data() < m->begin || end > m->begin + m->size)
            continue;
        const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
        const size_t before = static_cast<size_t>(part.data() - m->begin) % page;
        // Nothing is lost, because the mapping is read-only.
        ::madvise(const_cast<std::byte *>(part.data()) - before, part.size() + before,
                  MADV_DONTNEED);
        return;
    }
}

bool mapped_files_changed()
{
    return find_changed() != nullptr;
}

Result<void> check_mapped_files()
{
    if (const Mapping *m = find_changed())
        return fail(Where{m->path}, changed_text);
    return {};
}

Result<FileParts> read_parts(const std::string &path)
{
    struct stat st;
    FileParts out;
    // Checked before opening, because a pipe can be opened and read only once.
    bool regular = ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
    int fd = regular ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        static_cast<uint64_t>(st.st_size) > small_file && mapping_count < most_mappings) {
        auto size = static_cast<size_t>(st.st_size);
        void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory != MAP_FAILED) {
            Mapping *mapping = remember(memory, size, path, st);
            ++mapping_count;
            out.owner = std::shared_ptr<void>(memory, [size, mapping](void *p) {
                mapping->size = 0;
                ::munmap(p, size);
                --mapping_count;
            });
            out.bytes = {static_cast<const std::byte *>(memory), size};
        }
    }
    if (fd >= 0)
        ::close(fd);
    if (out.owner)
        return out;
    auto file = TRY(read_file(path));
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(file));
    return FileParts{*owner, owner};
}

} // namespace btflink
