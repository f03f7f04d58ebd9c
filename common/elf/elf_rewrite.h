// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Rewrites an ELF file: drops sections and everything that depends on them, renumbers the rest,
// lays it out again.
#pragma once

#include "common/elf/elf_image.h"
#include "common/io/file_change.h"

#include <vector>

namespace btflink
{

/// Adds to `drop` the sections that are useless without the dropped ones: relocations of a dropped
/// section, groups without other members.
Result<void> add_dependents(const ElfImage &image, std::vector<bool> &drop);

/// Does a symbol, a link or a group that is kept refer to a section in `drop`?
Result<bool> is_referenced(const ElfImage &image, const std::vector<bool> &drop);

constexpr uint32_t dropped_symbol = UINT32_MAX;

/// Drops sections and the symbols in them, and renumbers sections and symbols in all references.
/// Returns the new index of each symbol of .symtab, or dropped_symbol. `drop` must be closed under
/// add_dependents().
Result<std::vector<uint32_t>> drop_sections(ElfImage &image, const std::vector<bool> &drop);

/// The file without section headers and dropped sections. Sections keep their order and are packed
/// as their alignment allows, but contents that program headers load do not move. The result refers
/// to the file, not to `image`.
ByteParts lay_out(ElfImage &image);

} // namespace btflink
