// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// BTF as the test tools take it: a raw file, or the `.BTF` section of an ELF file; one blob, or
// the contributions of many objects one behind the other.
#pragma once

#include "common/btf/btf.h"
#include "common/object_btf/contributions.h"
#include "common/object_btf/link_trailer.h"

#include <memory>
#include <string>
#include <vector>

namespace btflink::tools
{

/// A file's BTF. Owns the bytes that every Btf parsed from it points into.
class BtfFile
{
public:
    /// Errors: unreadable, an ELF file without `.BTF`, no walkable sequence of contributions.
    static Result<BtfFile> open(const std::string &path);
    BtfFile(BtfFile &&) = default; // not copied: parts() point into the bytes

    /// The contributions, in file order.
    const std::vector<Contribution> &parts() const { return parts_; }
    /// Parse contribution `index`; it must exist. The result must not outlive this file.
    Result<Btf> parse(size_t index, std::shared_ptr<const Btf> base = nullptr) const;
    /// Where contribution `index` starts, for messages.
    Where place(size_t index) const { return where_.at(parts_[index].offset); }
    Where trailer_place(size_t index) const { return where_.at(parts_[index].trailer_offset); }

private:
    BtfFile() = default;

    Where where_;
    std::vector<std::byte> file_;
    Bytes section_;
    std::vector<Contribution> parts_;
};

/// The one blob of a file with its base, both kept alive together: what a comparison needs.
struct BtfInput {
    std::shared_ptr<BtfFile> base_file, file;
    std::shared_ptr<const Btf> base;
    std::shared_ptr<const Btf> btf;
};

/// Open contribution `index` of `path`, over the first one of `base` (a path, or "": none).
Result<BtfInput> open_btf(const std::string &path, const std::string &base, size_t index = 0);

} // namespace btflink::tools
