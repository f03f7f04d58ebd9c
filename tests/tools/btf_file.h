// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads BTF for the test tools: from a raw file, or from section `.BTF` of an ELF file. The BTF is
// one blob, or the contributions of one or more objects, one after the other. close_output()
// flushes the tools' output.
#pragma once

#include "common/btf/btf.h"
#include "common/object_btf/link_trailer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace btflink::tools
{

/// The BTF of a file. A BtfFile owns the bytes to which the results of parse() point.
class BtfFile
{
public:
    /// Errors: an unreadable file, a malformed ELF file, one without `.BTF` or with several, an
    /// invalid sequence of contributions, no contribution at all.
    static Result<BtfFile> open(const std::string &path);
    BtfFile(BtfFile &&) = default; // not copied: parts() point into the bytes

    /// The contributions, in file order.
    const std::vector<Contribution> &parts() const { return parts_; }
    /// Parses the blob of contribution `index`, which must exist. The result must not outlive the
    /// BtfFile.
    Result<Btf> parse(size_t index, std::shared_ptr<const Btf> base = nullptr) const;
    /// Like parse(), for the only contribution. Several contributions are an error.
    Result<Btf> parse_only(std::shared_ptr<const Btf> base = nullptr) const;
    /// The start of contribution `index`, for messages.
    Where place(size_t index) const { return where_.at(parts_[index].offset); }
    Where trailer_place(size_t index) const { return where_.at(parts_[index].trailer_offset); }

private:
    BtfFile() = default;

    Where where_;
    std::vector<std::byte> file_;
    Bytes section_;
    std::vector<Contribution> parts_;
};

/// A parsed blob and its base, with the files that own their bytes. `base` and `base_file` are null
/// if there is no base.
struct BtfInput {
    std::shared_ptr<BtfFile> base_file, file;
    std::shared_ptr<const Btf> base;
    std::shared_ptr<const Btf> btf;
};

/// Opens contribution `index` of the file `path`. `base` is the path of its base, or "" if it has
/// none. Without `index`, several contributions in `path` are an error; in `base`, they always are.
Result<BtfInput> open_btf(const std::string &path, const std::string &base,
                          std::optional<size_t> index = std::nullopt);

/// Flushes standard output. If any of the output could not be written, prints an error, which
/// begins with `program`, and returns false.
bool close_output(const char *program);

} // namespace btflink::tools
