// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Drops sections from an ELF file, and appends others.
//
// Problem. The rest of the file must stay as it is. The step must be cheap, because it runs for
// every object of a kernel build, and for images of a gigabyte. A killed run must leave a valid
// file, and a second run must recognise the first one's work and produce the same bytes.
//
// Method. New sections, a new table of section names and new section headers go after the bytes
// that stay; the ELF header then points to them. If nothing is dropped, the old names and headers
// remain as dead bytes. If the old table of names is also that of the symbols (LLVM), it stays in
// use for the symbols.
//
//     | ELF header | ... as it was ... | .BTF | ... | names, section headers |
//
// New sections come last in the section headers, so that no index changes. The new names take over
// the section header of the old ones. If symbols use the old table, or there is none, the
// new names are a section of their own, the last.
//
// Old BTF, and DWARF if the caller wants, is dropped first, in one of three ways:
//   append   if there is nothing to drop: the new part goes after the file
//   tail     if the sections to drop are exactly a part that an earlier run appended, and nothing
//            refers to them: the file is cut where this part begins
//   rewrite  otherwise (a linker or objcopy moved our sections; DWARF is dropped): see
//            common/elf/elf_rewrite.cc
//
// Invariant. Running twice has the same result as running once. The new part depends only on the
// sections before it and on what is added. Tail cuts off all that the earlier run appended;
// the ELF header, names and section headers are written again in any case. Rewrite drops the old
// section names (unless symbols have their names there), so the result does not depend on whether
// an earlier run had appended names.
//
// Cost. Append writes only the new part and the ELF header, if the file is a regular one
// (update_file()). Tail and rewrite write the whole file, unless its bytes stay the same.
#include "common/object_btf/elf_append.h"

#include "common/elf/elf_image.h"
#include "common/object_btf/address_pool.h"
#include "common/object_btf/link_trailer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

namespace btflink
{

namespace
{

/// The object ids in an old `.BTF`; none if it is malformed, or has no link trailers (final BTF or
/// BTF of another tool).
std::set<uint64_t> object_ids(const ElfImage &image, const ElfSection &btf, const Where &where)
{
    std::set<uint64_t> ids;
    if (auto parts = split_contributions(btf.data, where))
        for (const Contribution &part : *parts)
            if (auto id = stated_object_id(part.trailer, image.order))
                ids.insert(*id);
    return ids;
}

/// Does section `index` consist only of pools of the objects `ids`? The section may be compressed.
Result<bool> has_only_pools(const ElfImage &image, uint32_t index, const std::set<uint64_t> &ids)
{
    const ElfSection &s = image.sections[index];
    if (!is_pool_section(s.name) || (s.head.sh_flags & SHF_ALLOC) || !s.in_file())
        return false;
    const SectionContents contents = TRY(image.contents(index));
    return is_only_pools(contents.bytes, image.order, ids);
}

/// Could an earlier run have appended section `first` and all that follows it in the file?
bool may_begin_tail(const ElfImage &image, uint32_t first)
{
    const uint64_t start = image.sections[first].head.sh_offset;
    return image.sections[first].name == ".BTF" && start % new_section_alignment == 0 &&
           start >= image.header_size() && start >= image.segments_end &&
           image.head.e_shoff >= start &&
           image.head.e_shoff + image.sections.size() * image.section_header_size() ==
               image.file.size();
}

/// Does `tail` have exactly the sections from `first` on, and are they after all others in the
/// file? The old section names may be anywhere, because they are written again.
bool is_separate(const ElfImage &image, uint32_t first, const std::vector<bool> &tail)
{
    const uint64_t start = image.sections[first].head.sh_offset;
    for (uint32_t i = 1; i < tail.size(); ++i) {
        const ElfSection &s = image.sections[i];
        if (tail[i] != (i >= first) || (tail[i] && s.head.sh_offset < start))
            return false;
        const bool is_rewritten = i == image.names && !image.names_are_shared();
        if (!tail[i] && !is_rewritten && s.in_file() && s.head.sh_offset + s.data.size() > start)
            return false;
    }
    return true;
}

/// `old`: the sections to drop. If they are exactly a part that an earlier run appended, and
/// nothing else refers to this part, returns the file offset where the part begins. Then also adds
/// the section of names to `old` if the earlier run appended it with the part.
Result<std::optional<uint64_t>> find_tail(const ElfImage &image, std::vector<bool> &old)
{
    const auto first = static_cast<uint32_t>(std::ranges::find(old, true) - old.begin());
    if (first == old.size() || !may_begin_tail(image, first))
        return std::nullopt;
    std::vector<bool> tail = old;
    if (image.names && image.names + 1 == tail.size() && !image.names_are_shared())
        tail[image.names] = true;
    if (!is_separate(image, first, tail))
        return std::nullopt;
    const bool referenced = TRY(is_referenced(image, tail));
    if (referenced)
        return std::nullopt;
    old = std::move(tail);
    return image.sections[first].head.sh_offset;
}

/// Makes a table of section names. ".text" shares the bytes of ".rela.text".
class NameTable
{
public:
    explicit NameTable(const std::vector<ElfSection> &sections)
    {
        for (const ElfSection &s : sections) {
            for (std::string_view prefix : {".rela", ".rel"}) {
                if (!s.name.starts_with(prefix) || s.name.substr(prefix.size()).substr(0, 1) != ".")
                    continue;
                auto at = static_cast<uint32_t>(add(s.name) + prefix.size());
                offsets_.try_emplace(s.name.substr(prefix.size()), at);
            }
        }
        for (const ElfSection &s : sections)
            add(s.name);
    }

    uint32_t add(std::string_view name)
    {
        auto [entry, is_new] = offsets_.try_emplace(name, static_cast<uint32_t>(text_.size()));
        if (is_new)
            text_.append(name).push_back('\0');
        return entry->second;
    }
    std::string_view text() const { return text_; }

private:
    std::string text_ = std::string(1, '\0');
    std::unordered_map<std::string_view, uint32_t> offsets_ = {{"", 0}};
};

} // namespace

Result<std::vector<bool>> find_object_btf(const ElfImage &image, const std::set<uint64_t> &more_ids)
{
    std::vector<bool> found(image.sections.size());
    std::set<uint64_t> ids = more_ids;
    for (uint32_t i = 1; i < found.size(); ++i) {
        const ElfSection &s = image.sections[i];
        if (s.name != ".BTF")
            continue;
        if (image.is_linked() && (s.head.sh_flags & SHF_ALLOC))
            return fail(image.place(i), "is loaded at run time and cannot be replaced");
        found[i] = true;
        ids.merge(object_ids(image, s, image.place(i)));
    }
    for (uint32_t i = 1; i < found.size() && !ids.empty(); ++i) {
        auto only = TRY(has_only_pools(image, i, ids));
        found[i] = found[i] || only;
    }
    TRY(add_dependents(image, found));
    return found;
}

ElfBody new_file(const ElfImage &image)
{
    ElfBody body;
    body.rebuilt.add(std::vector<std::byte>(image.header_size()));
    return body;
}

Result<ElfBody> without_sections(ElfImage &image, std::vector<bool> drop)
{
    if (std::ranges::find(drop, true) == drop.end())
        return ElfBody{image.file.size(), {}, {}};
    auto tail = TRY(find_tail(image, drop));
    if (tail) {
        auto first = std::ranges::find(drop, true) - drop.begin();
        image.sections.resize(static_cast<size_t>(first));
        if (image.names >= image.sections.size())
            image.names = 0;
        return ElfBody{*tail, {}, {}};
    }
    if (image.names && !image.names_are_shared())
        drop[image.names] = true;
    for (uint32_t i = 1; i < drop.size(); ++i)
        if (is_symbol_hint(image.sections[i].head.sh_type)) // drop_sections() cannot renumber it
            drop[i] = true;
    TRY(add_dependents(image, drop));
    ElfBody body;
    body.symbol_map = TRY(drop_sections(image, drop));
    body.rebuilt = lay_out(image);
    return body;
}

ElfAppender::ElfAppender(ElfImage &image, ElfBody body)
    : image_(image), body_(std::move(body)), out_(image.order), start_(body_.size())
{
    if (image_.sections.empty())
        image_.sections.emplace_back();
}

void ElfAppender::align()
{
    uint64_t end = start_ + out_.size();
    out_.put_zeros(align_up(end, new_section_alignment) - end);
}

ElfSection &ElfAppender::add_section(std::string_view name, uint32_t type, uint64_t alignment,
                                     Bytes data)
{
    align();
    last_ = out_.size();
    ElfSection &s = image_.sections.emplace_back();
    s.name = name;
    s.head.sh_type = type;
    s.head.sh_addralign = alignment;
    s.head.sh_offset = start_ + last_;
    s.head.sh_size = data.size();
    out_.put_bytes(data);
    return s;
}

Result<FileChange> ElfAppender::finish()
{
    add_names();
    add_headers();
    if (!image_.is64 && start_ + out_.size() > UINT32_MAX)
        return fail(image_.where, "the file would be too large for 32-bit ELF");
    FileChange change;
    change.kept = body_.kept;
    change.tail = out_.take();
    change.rebuilt = std::move(body_.rebuilt);
    ByteWriter header(image_.order);
    put_elf_header(header, image_, image_.head);
    change.header = header.take();
    return change;
}

void ElfAppender::add_names()
{
    if (!image_.names || image_.names_are_shared()) {
        image_.names = static_cast<uint32_t>(image_.sections.size());
        image_.sections.emplace_back().name = ".shstrtab";
        image_.sections.back().head.sh_type = SHT_STRTAB;
        image_.sections.back().head.sh_addralign = 1;
    }
    NameTable table(image_.sections);
    Elf64_Shdr &head = image_.sections[image_.names].head;
    head.sh_offset = start_ + out_.size();
    head.sh_size = table.text().size();
    out_.put_bytes(as_bytes(table.text()));
    for (ElfSection &s : image_.sections)
        s.head.sh_name = table.add(s.name);
}

void ElfAppender::add_headers()
{
    align();
    image_.head.e_shoff = start_ + out_.size();
    image_.head.e_shentsize = static_cast<uint16_t>(image_.section_header_size());
    // Numbers that do not fit are in section header 0, whose sh_info stays: it may hold e_phnum.
    uint64_t count = image_.sections.size();
    Elf64_Shdr &zero = image_.sections[0].head;
    bool many = count >= SHN_LORESERVE;
    zero.sh_size = many ? count : 0;
    image_.head.e_shnum = many ? 0 : static_cast<uint16_t>(count);
    many = image_.names >= SHN_LORESERVE;
    zero.sh_link = many ? image_.names : 0;
    image_.head.e_shstrndx = many ? SHN_XINDEX : static_cast<uint16_t>(image_.names);
    for (const ElfSection &s : image_.sections)
        put_section_header(out_, image_, s.head);
}

} // namespace btflink
