// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Splits an ELF file (64 bits, little-endian) into sections, so that they can be changed, and joins
// them again. put_together() sets e_shoff, e_shnum, and offset and size of each section without
// `keeps_place`. Other fields of headers are kept, also wrong ones. Bytes outside the sections,
// such as program headers, are lost.
#pragma once

#include "tests/hostile/fuzz/bundle.h"

#include <elf.h>
#include <optional>

namespace btflink::fuzz
{

struct ElfPart {
    Elf64_Shdr header{};
    std::string name;
    Text contents;
    // Offset and size are written unchanged, even if they are wrong, and `contents` are not
    // written.
    bool keeps_place = false;
};

struct ElfParts {
    Elf64_Ehdr header{};
    std::vector<ElfPart> sections;
};

std::optional<ElfParts> take_apart(const Text &file);
Text put_together(const ElfParts &parts);

} // namespace btflink::fuzz
