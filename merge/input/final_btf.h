// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads files with final BTF of a kernel or module: bases, and files to be checked.
#pragma once

#include "common/btf/btf.h"
#include "merge/input/open.h"

namespace btflink::merge
{

class BaseIndex;

/// Raw BTF, or what a section of an ELF file holds.
struct FinalBlob {
    SectionContents contents; // keeps `blob`
    Bytes blob;
    Where where; // of the blob's first byte
};
/// None: an ELF file without that section. Object BTF is an error.
Result<std::optional<FinalBlob>> find_final_btf(const Input &input, std::string_view section);

/// BTF that other BTF continues.
struct Base {
    std::optional<Input> input;
    SectionContents contents;
    Bytes blob; // as it is in the file
    Where where;
    std::shared_ptr<const Btf> btf;         // null: none
    std::shared_ptr<const BaseIndex> index; // of it; null: none
};
/// No base if `path` is empty.
Result<Base> read_base(const std::string &path);
/// The same in two steps: `btf` is not there until the second.
Result<Base> open_base(const std::string &path);
Result<void> parse_base(Base &base);

/// Bytes of a pointer. Raw BTF does not tell, but where there is a C `long`, it is as large.
/// Empty if there is no C `long`.
std::optional<uint8_t> address_size_of(const Btf &btf);
/// The same; 8 if it is not known.
uint8_t guess_address_size(const Btf &btf);

} // namespace btflink::merge
