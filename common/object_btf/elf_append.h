// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Appends sections to an ELF file after dropping others, or makes a new ELF file. Used for object
// BTF, for final BTF, and for the copy of the debug sections that libdw reads.
#pragma once

#include "common/elf/elf_image.h"
#include "common/io/file_io.h"

#include <set>
#include <vector>

namespace btflink
{

/// Alignment of appended sections.
constexpr uint32_t new_section_alignment = 8;

/// Finds the sections of object BTF (see common/FORMAT.md). Returns a flag per section, set for:
/// every `.BTF`, also one of another tool; sections that consist only of address pools; the
/// relocations of these sections; and groups without other members. Pools are recognised by the
/// object ids in the trailers of these `.BTF` and by `more_ids`. Errors: a `.BTF` that a linked
/// file loads at run time, malformed groups, a compressed section that cannot be read.
Result<std::vector<bool>> find_object_btf(const ElfImage &image,
                                          const std::set<uint64_t> &more_ids = {});

/// The part of the new file that comes before the appended sections.
struct ElfBody {
    uint64_t kept = 0;                // how many of the file's first bytes stay
    ByteParts rebuilt;                // if not empty, takes the place of the kept bytes
    std::vector<uint32_t> symbol_map; // what drop_sections() returned, if it was called

    uint64_t size() const { return rebuilt.size() ? rebuilt.size() : kept; }
};

/// The body of a file that is made from nothing: room for the ELF header, which
/// ElfAppender::finish() fills in.
ElfBody new_file(const ElfImage &image);

/// Drops the sections whose flag in `drop` is set, and what is useless without them. If the file
/// has to be rewritten, also drops hints to the linker (is_symbol_hint()), and the table of section
/// names unless symbols use this table. The table is also dropped if an earlier run appended it
/// with the sections to drop. `image.names` is 0 if the table was dropped; ElfAppender then adds a
/// new section of names. Afterwards, `image` describes the rest. Errors: malformed groups or symbol
/// tables; those of drop_sections().
Result<ElfBody> without_sections(ElfImage &image, std::vector<bool> drop);

/// Appends sections to `body`, then names and headers of all sections. `image` must outlive the
/// ElfAppender and describe `body`.
class ElfAppender
{
public:
    ElfAppender(ElfImage &image, ElfBody body);

    /// Appends a section at the next multiple of 8. `alignment`: its sh_addralign, at most 8. The
    /// rest of its header may be set until the next section is added. `name` must outlive the
    /// ElfAppender, `data` only the call.
    ElfSection &add_section(std::string_view name, uint32_t type, uint64_t alignment, Bytes data);
    /// Reserves memory for `bytes` more bytes after the body.
    void reserve(uint64_t bytes) { out_.reserve(bytes); }
    const std::vector<uint32_t> &symbol_map() const { return body_.symbol_map; }
    /// Overwrites bytes of the section that was added last.
    template <std::unsigned_integral T>
    void patch(uint64_t offset, T value)
    {
        out_.patch<T>(last_ + offset, value);
    }
    /// Call this once, after all sections were added. Error: too large for 32-bit ELF.
    Result<FileChange> finish();

private:
    void align();
    void add_names();
    void add_headers();

    ElfImage &image_;
    ElfBody body_;
    ByteWriter out_;     // the new part: what follows body_
    uint64_t start_ = 0; // position of the new part in the file
    uint64_t last_ = 0;  // where in the new part the section that was added last begins
};

} // namespace btflink
