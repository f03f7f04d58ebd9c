// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Linked kernels and their vmlinux.o are gigabytes, mostly DWARF, and of their BTF most
// is only looked at in passing.
//
// Method. Files are mapped: what nobody looks at is not read, and what is looked at is not copied.
// Small files, and what cannot be mapped (pipes, /sys), are read.
#include "common/file_parts.h"

#include "common/file_io.h"

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

} // namespace

Result<FileParts> read_parts(const std::string &path)
{
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st;
    FileParts out;
    if (fd >= 0 && ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        static_cast<uint64_t>(st.st_size) > small_file) {
        auto size = static_cast<size_t>(st.st_size);
        void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory != MAP_FAILED) {
            out.owner = std::shared_ptr<void>(memory, [size](void *p) { ::munmap(p, size); });
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
