// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads files with final BTF, such as bases and files to check.
#pragma once

#include "common/btf/btf_check.h"
#include "merge/input/inputs.h"

namespace btflink::merge
{

class BaseIndex;

/// Raw BTF, or the contents of a section of an ELF file.
struct FinalBlob {
    SectionContents contents; // includes `blob`; may point into the input
    Bytes blob;               // without zeros before and after it, which kernels refuse
    Where where;              // of the first byte of `contents`
};
/// The BTF in `section` of an ELF file, or in all of a raw file. Nothing if an ELF file does not
/// have this section. Errors: malformed data; no blob, several blobs, or object BTF.
Result<std::optional<FinalBlob>> find_final_btf(const Input &input, std::string_view section);

/// The BTF that split BTF extends.
struct Base {
    std::optional<Input> input;
    SectionContents contents;
    Bytes blob; // part of `contents`
    Where where;
    std::shared_ptr<const Btf> btf;         // null without a base
    std::shared_ptr<const BaseIndex> index; // null from read_base()
    bool index_was_kept = false;            // the index was read from a file
};
/// An empty path results in an empty Base.
Result<Base> read_base(const std::string &path);
/// read_base() in two steps; the second step sets `btf`.
Result<Base> open_base(const std::string &path);
Result<void> parse_base(Base &base);

/// What a kernel would refuse in `btf`: the first 20 violations that find_violations()
/// (common/btf/btf_check.h) finds; if there are more, then an error that says so. `address_size`:
/// in bytes; 0: not known.
std::vector<Error> list_violations(Bytes blob, const Btf &btf, const Where &where,
                                   uint32_t address_size, std::optional<KernelVersion> kernel);

/// Bytes of a pointer. Raw BTF does not state this size, but a C `long` has the same. Nothing if
/// there is no C `long`.
std::optional<uint8_t> address_size_of(const Btf &btf);

} // namespace btflink::merge
