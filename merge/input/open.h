// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens the files on the command line in link order, with response files and archives expanded.
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
    std::optional<ElfFile> elf; // unset for raw BTF
    bool is_member = false;     // of an archive; the link takes only members that it needs
};

struct Inputs {
    std::vector<Input> list;
    std::vector<std::string> files;   // opened ones, with archives and members of thin archives
    std::vector<std::string> ignored; // archive members that are neither ELF nor BTF
};

/// Opens one ELF or raw BTF file (not an archive).
Result<Input> open_input(const std::string &path);

/// Opens all of `names`. "@file" stands for the names in that file, separated by white space;
/// quotes ('...', "...") and backslashes protect white space. An archive stands for its members.
Result<Inputs> open_inputs(const std::vector<std::string> &names, unsigned threads);

} // namespace btflink::merge
