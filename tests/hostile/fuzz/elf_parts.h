// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Splits an ELF file (64 bits, little-endian) into sections, so that they can be changed, and joins
// them again. Wrong values in headers are kept as far as possible.
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
    bool keeps_place = false; // offset and length are written unchanged, even if they are wrong
};

struct ElfParts {
    Elf64_Ehdr header{};
    std::vector<ElfPart> sections;
};

std::optional<ElfParts> take_apart(const Text &file);
Text put_together(const ElfParts &parts);

} // namespace btflink::fuzz
