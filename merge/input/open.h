// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens the files on the command line, with response files and archives expanded, in link order.
#pragma once

#include "merge/input/elf_file.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace btflink::merge
{

struct Input {
    Where where;                         // file, or "archive(member)"
    std::shared_ptr<const void> storage; // keeps `bytes` alive
    Bytes bytes;
    std::optional<ElfFile> elf; // none: raw BTF
    bool is_member = false;     // of an archive, from which the link takes what it needs
};

struct Inputs {
    std::vector<Input> list;
    std::vector<std::string> files;   // opened ones, archives and members of thin archives included
    std::vector<std::string> ignored; // archive members that are neither ELF nor BTF
};

/// Opens one ELF or raw BTF file (not an archive).
Result<Input> open_input(const std::string &path);

/// Opens all of `names`. "@file" stands for the names in that file, separated by white space;
/// quotes
/// ('...', "...") and backslashes protect. Archives stand for their members.
Result<Inputs> open_inputs(const std::vector<std::string> &names, unsigned threads);

} // namespace btflink::merge
