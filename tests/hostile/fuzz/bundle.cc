// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads and writes bundles, and puts their files into memory.
#include "tests/hostile/fuzz/bundle.h"

#include "common/io/bytes.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace btflink::fuzz
{

Bundle read_bundle(const uint8_t *data, size_t size)
{
    constexpr size_t head = 5;
    Bundle out;
    size_t at = std::min(size, out.settings.size());
    std::copy_n(data, at, out.settings.begin());
    while (size - at >= head && out.files.size() < most_files) {
        auto length =
            load<uint32_t>(reinterpret_cast<const std::byte *>(data) + at + 1, ByteOrder::little);
        BundleFile file{static_cast<char>(data[at]), {}};
        at += head;
        size_t fits = std::min<size_t>(length, size - at);
        file.bytes.assign(data + at, data + at + fits);
        at += fits;
        out.files.push_back(std::move(file));
    }
    return out;
}

Text write_bundle(const Bundle &bundle)
{
    Text out(bundle.settings.begin(), bundle.settings.end());
    for (const BundleFile &file : bundle.files) {
        out.push_back(static_cast<uint8_t>(file.role));
        size_t at = out.size();
        out.resize(at + 4);
        store(reinterpret_cast<std::byte *>(out.data()) + at,
              static_cast<uint32_t>(file.bytes.size()), ByteOrder::little);
        out.insert(out.end(), file.bytes.begin(), file.bytes.end());
    }
    return out;
}

MemoryFile::MemoryFile(const Text &bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC))
{
    if (fd_ < 0)
        std::abort();
    for (size_t at = 0; at < bytes.size();) {
        ssize_t n = ::write(fd_, bytes.data() + at, bytes.size() - at);
        if (n <= 0)
            std::abort();
        at += static_cast<size_t>(n);
    }
}

MemoryFile::MemoryFile(MemoryFile &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

MemoryFile::~MemoryFile()
{
    if (fd_ >= 0)
        ::close(fd_);
}

std::string MemoryFile::path() const
{
    return "/proc/self/fd/" + std::to_string(fd_);
}

} // namespace btflink::fuzz
