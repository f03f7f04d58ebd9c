// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Puts new sections behind everything in an ELF file and drops the sections that they replace.
// Object BTF and final BTF both need this.
#pragma once

#include "common/elf/elf_image.h"
#include "common/io/file_change.h"

#include <set>
#include <vector>

namespace btflink
{

/// Alignment of what is appended.
constexpr uint32_t new_section_alignment = 8;

/// Which sections are object BTF (see common/FORMAT.md): every `.BTF`, with its relocations, and
/// sections that consist of nothing but address pools, with theirs. Pools are known
/// by the object ids in the trailers of these `.BTF` and by `more_ids`. Errors: malformed groups, a
/// damaged compressed section.
Result<std::vector<bool>> find_object_btf(const ElfImage &image,
                                          const std::set<uint64_t> &more_ids = {});

/// The file without the sections that are replaced, before the new part.
struct ElfBody {
    uint64_t kept = 0;                // bytes of the file, or, if that does not do:
    ByteParts rebuilt;                // all of it, laid out anew
    std::vector<uint32_t> symbol_map; // new indexes of symbols; empty: as they were

    uint64_t size() const { return rebuilt.size() ? rebuilt.size() : kept; }
};

/// Drop sections; `image` then describes what is left. Errors: as drop_sections().
Result<ElfBody> without_sections(ElfImage &image, std::vector<bool> drop);

/// Appends sections, then their names and headers. `image` must outlive it and describe `body`.
class ElfAppender
{
public:
    ElfAppender(ElfImage &image, ElfBody body);

    /// Append a section at the next aligned place; the rest of its header may be set until
    /// another is added. `name` and, for the call, `data` must stay.
    ElfSection &add_section(std::string_view name, uint32_t type, uint64_t alignment, Bytes data);
    /// Room for sections of so many bytes in all, to be had at once.
    void reserve(uint64_t bytes) { out_.reserve(bytes); }
    const std::vector<uint32_t> &symbol_map() const { return body_.symbol_map; }
    /// Write into the section that was added last.
    template <std::unsigned_integral T>
    void patch(uint64_t offset, T value)
    {
        out_.patch<T>(last_ + offset, value);
    }
    Result<FileChange> finish();

private:
    void align();
    void add_names();
    void add_headers();

    ElfImage &image_;
    ElfBody body_;
    ByteWriter out_;     // the new part
    uint64_t start_ = 0; // its place in the file
    uint64_t last_ = 0;  // place in it of the last section
};

} // namespace btflink
