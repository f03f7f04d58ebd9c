// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An ELF file (64 bits, little-endian) taken apart into sections, for changing them, and put
// together again. Lies inside headers survive both ways as far as they can.
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
    bool keeps_place = false; // a length that is no file's stays as it is
};

struct ElfParts {
    Elf64_Ehdr header{};
    std::vector<ElfPart> sections;
};

std::optional<ElfParts> take_apart(const Text &file);
Text put_together(const ElfParts &parts);

} // namespace btflink::fuzz
