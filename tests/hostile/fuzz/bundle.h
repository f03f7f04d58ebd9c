// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The input of a fuzz target: settings and files, in one string of bytes.
//
//     4 bytes   settings; their meaning depends on the target (runs.h)
//     per file  role (1 byte), length (4 bytes, little-endian), contents
//
// If a length exceeds the remaining bytes, the file gets the remaining bytes. A rest of fewer than
// five bytes is ignored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace btflink::fuzz
{

using Text = std::vector<uint8_t>;

struct BundleFile {
    char role = 'i'; // 'i' input, 'm' image, 'b' base, 'w' .dwo, 'p' .dwp
    Text bytes;
};

struct Bundle {
    std::array<uint8_t, 4> settings{};
    std::vector<BundleFile> files;
};

constexpr size_t most_files = 8; // read_bundle() ignores further files

Bundle read_bundle(const uint8_t *data, size_t size);
Text write_bundle(const Bundle &bundle);

/// A file in memory. It has a path, so that the code under test opens, maps and changes it like any
/// other file.
class MemoryFile
{
public:
    explicit MemoryFile(const Text &bytes);
    ~MemoryFile();
    MemoryFile(MemoryFile &&other) noexcept;
    MemoryFile &operator=(MemoryFile &&) = delete;
    std::string path() const;

private:
    int fd_;
};

} // namespace btflink::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
