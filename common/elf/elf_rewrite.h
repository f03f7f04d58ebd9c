// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Surgery on an ELF file: drop sections with all that depends on them, renumber what is left, lay
// it out again.
#pragma once

#include "common/elf/elf_image.h"
#include "common/io/file_change.h"

#include <vector>

namespace btflink
{

/// Add to `drop` the sections that make no sense without those in it: the relocations of a dropped
/// section, a group that has no other members.
Result<void> add_dependents(const ElfImage &image, std::vector<bool> &drop);

/// Does anything that is kept (a symbol, a link, a group) refer to a section in `drop`?
Result<bool> is_referenced(const ElfImage &image, const std::vector<bool> &drop);

constexpr uint32_t dropped_symbol = UINT32_MAX;

/// Drop sections and the symbols in them; renumber sections and symbols wherever they are named.
/// The result is the new index of each symbol of .symtab, or dropped_symbol. `drop` must be closed
/// under add_dependents().
Result<std::vector<uint32_t>> drop_sections(ElfImage &image, const std::vector<bool> &drop);

/// The file without section headers and without dropped sections: sections as close to each other
/// as their alignment allows, in their old order. What program headers load stays where it is.
/// The result refers to the file and to nothing else of `image`.
ByteParts lay_out(ElfImage &image);

} // namespace btflink
