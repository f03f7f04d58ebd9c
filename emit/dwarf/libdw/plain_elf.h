// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An ELF file in memory that has nothing but sections of debug information, as libdw wants them:
// one of each name, not compressed, relocated.
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
