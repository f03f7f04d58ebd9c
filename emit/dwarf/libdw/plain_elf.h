// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes an ELF file in memory for libdw, with debug sections only: one of each name, uncompressed
// and relocated.
#pragma once

#include "common/elf/elf_image.h"

namespace btflink::emit
{

struct PlainSection {
    std::string_view name;
    Bytes contents;
};

/// Class, byte order and machine are those of `like`.
std::vector<std::byte> make_plain_elf(const ElfImage &like, std::span<const PlainSection> sections);

} // namespace btflink::emit
