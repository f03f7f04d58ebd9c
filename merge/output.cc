// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Final BTF is to stand in an ELF file: a new small object, or a linked image or module
// that has no `.BTF` yet, or object BTF in its place.
//
// Method. Section headers are read into one form, changed, and written again. Relocatable files
// have no segments: all their sections are laid out anew, without the old `.BTF`. In other files
// everything stays where it is, and `.BTF`, section names and headers come behind it, over what an
// earlier update left there: updating twice gives the same bytes as once. Section indices never
// change; a section that goes leaves an inactive header.
#include "merge/output.h"

#include "merge/elf_header.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <numeric>
#include <optional>
#include <string>

namespace btflink::merge
{

namespace
{

constexpr uint64_t btf_alignment = 8;

/// An ELF file taken apart, changed, and put together again.
class Updater
{
public:
    Updater(Bytes file, const Where &where) : file_(file), where_(where) {}

    Result<std::vector<std::byte>> run(Bytes btf)
    {
        RETURN_IF_ERROR(read());
        RETURN_IF_ERROR(make_room());
        ByteWriter out(shape_.order);
        uint16_t type = load<uint16_t>(file_.data() + 16, shape_.order);
        if (type == ET_REL && half(shape_.phnum_at()) == 0)
            lay_out(out);
        else
            RETURN_IF_ERROR(keep_layout(out));
        place(out, headers_[btf_], btf);
        Bytes names = std::as_bytes(std::span(names_));
        place(out, headers_[names_index_], names);
        finish(out);
        std::vector<std::byte> bytes = out.take();
        if (!shape_.is64 && bytes.size() > UINT32_MAX)
            return fail(where_, "file becomes too large for its ELF class");
        return bytes;
    }

private:
    uint16_t half(size_t at) const { return load<uint16_t>(file_.data() + at, shape_.order); }
    bool fits(uint64_t offset, uint64_t size) const
    {
        return offset <= file_.size() && size <= file_.size() - offset;
    }

    Result<void> read()
    {
        if (file_.size() < EI_NIDENT || std::memcmp(file_.data(), ELFMAG, SELFMAG) != 0)
            return fail(where_.at(0), "not an ELF file");
        shape_.is64 = file_[EI_CLASS] == std::byte{ELFCLASS64};
        shape_.order =
            file_[EI_DATA] == std::byte{ELFDATA2MSB} ? ByteOrder::big : ByteOrder::little;
        if (file_.size() < shape_.header_size())
            return fail(where_.at(0), "ELF header is cut off");
        uint64_t offset = shape_.load_word(file_.data() + shape_.shoff_at());
        uint64_t count = half(shape_.shnum_at());
        uint32_t names = half(shape_.shstrndx_at());
        if (offset == 0 || !fits(offset, shape_.section_size()))
            return fail(where_.at(shape_.shoff_at()), "no section headers");
        if (half(shape_.shentsize_at()) != shape_.section_size())
            return fail(where_.at(shape_.shentsize_at()), "unknown size of section headers");
        SectionHeader first = decode_header(file_.data() + offset, shape_);
        if (count == 0)
            count = first.size;
        if (names == SHN_XINDEX)
            names = first.link;
        if (count > file_.size() / shape_.section_size() ||
            !fits(offset, count * shape_.section_size()))
            return fail(where_.at(shape_.shnum_at()), "section headers are cut off");
        for (uint64_t i = 0; i < count; ++i)
            headers_.push_back(
                decode_header(file_.data() + offset + i * shape_.section_size(), shape_));
        for (const SectionHeader &h : headers_)
            if (h.type != SHT_NULL && h.type != SHT_NOBITS && !fits(h.offset, h.size))
                return fail(where_.at(offset), "a section is not inside the file");
        if (names == 0 || names >= count)
            return fail(where_.at(shape_.shstrndx_at()), "no section names");
        names_index_ = names;
        const SectionHeader &table = headers_[names];
        names_.assign(reinterpret_cast<const char *>(file_.data()) + table.offset, table.size);
        if (names_.empty() || names_.back() != '\0')
            return fail(where_.at(table.offset), "section names do not end in a NUL byte");
        return {};
    }

    std::string_view name(const SectionHeader &h) const
    {
        return h.name < names_.size() ? std::string_view(names_.data() + h.name) : "";
    }

    /// Find or make the header of `.BTF`; drop further ones and all relocations on them.
    Result<void> make_room()
    {
        std::vector<bool> is_btf(headers_.size());
        for (uint32_t i = 1; i < headers_.size(); ++i)
            is_btf[i] = headers_[i].type != SHT_NULL && name(headers_[i]) == ".BTF";
        for (uint32_t i = 1; i < headers_.size(); ++i) {
            SectionHeader &h = headers_[i];
            if (is_btf[i] && (h.flags & SHF_ALLOC))
                return fail(where_.in(".BTF"), "is part of the program's image and cannot be "
                                               "replaced; link with --format=object instead");
            bool on_btf = (h.type == SHT_REL || h.type == SHT_RELA) && h.info < headers_.size() &&
                          is_btf[h.info];
            if (on_btf || (is_btf[i] && btf_))
                h = {};
            else if (is_btf[i])
                btf_ = i;
        }
        if (!btf_) {
            btf_ = static_cast<uint32_t>(headers_.size());
            headers_.emplace_back();
            constexpr std::string_view wanted(".BTF\0", 5);
            size_t at = names_.find(wanted);
            if (at == names_.npos) {
                at = names_.size();
                names_ += wanted;
            }
            headers_[btf_].name = static_cast<uint32_t>(at);
        }
        uint32_t kept_name = headers_[btf_].name;
        headers_[btf_] = {};
        headers_[btf_].name = kept_name;
        headers_[btf_].type = SHT_PROGBITS;
        headers_[btf_].alignment = btf_alignment;
        return {};
    }

    bool is_ours(uint32_t i) const { return i == btf_ || i == names_index_; }

    /// Relocatable files: header, then all other sections in file order.
    void lay_out(ByteWriter &out)
    {
        out.put_bytes(file_.first(shape_.header_size()));
        std::vector<uint32_t> order(headers_.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            return headers_[a].offset < headers_[b].offset;
        });
        for (uint32_t i : order) {
            SectionHeader &h = headers_[i];
            if (h.type == SHT_NULL || is_ours(i))
                continue;
            if (h.type == SHT_NOBITS)
                place(out, h, {});
            else
                place(out, h, file_.subspan(h.offset, h.size));
        }
    }

    /// Files with segments: all that anything refers to stays.
    Result<void> keep_layout(ByteWriter &out)
    {
        uint64_t end = shape_.header_size();
        uint64_t segments = shape_.load_word(file_.data() + shape_.phoff_at());
        uint64_t count = half(shape_.phnum_at());
        if (count == PN_XNUM)
            count = headers_[0].info;
        if (count && (half(shape_.phentsize_at()) != shape_.segment_size() ||
                      count > file_.size() / shape_.segment_size() ||
                      !fits(segments, count * shape_.segment_size())))
            return fail(where_.at(shape_.phoff_at()), "program headers are cut off");
        if (count)
            end = std::max(end, segments + count * shape_.segment_size());
        for (uint64_t i = 0; i < count; ++i) {
            const std::byte *p = file_.data() + segments + i * shape_.segment_size();
            uint64_t offset = shape_.load_word(p + (shape_.is64 ? offsetof(Elf64_Phdr, p_offset)
                                                                : offsetof(Elf32_Phdr, p_offset)));
            uint64_t size = shape_.load_word(p + (shape_.is64 ? offsetof(Elf64_Phdr, p_filesz)
                                                              : offsetof(Elf32_Phdr, p_filesz)));
            if (!fits(offset, size))
                return fail(where_.at(segments + i * shape_.segment_size()),
                            "a segment is not inside the file");
            end = std::max(end, offset + size);
        }
        for (uint32_t i = 0; i < headers_.size(); ++i) {
            const SectionHeader &h = headers_[i];
            if (h.type != SHT_NULL && h.type != SHT_NOBITS && !is_ours(i))
                end = std::max(end, h.offset + h.size);
        }
        out.put_bytes(file_.first(end));
        return {};
    }

    static void place(ByteWriter &out, SectionHeader &h, Bytes contents)
    {
        // In the file, a page will do for the largest (and a lying header costs no gigabytes).
        if (h.type != SHT_NOBITS)
            out.align(std::min<uint64_t>(h.alignment, 65536));
        h.offset = out.size();
        if (h.type == SHT_NOBITS)
            return;
        h.size = contents.size();
        out.put_bytes(contents);
    }

    void finish(ByteWriter &out)
    {
        out.align(8);
        uint64_t offset = out.size();
        bool many = headers_.size() >= SHN_LORESERVE;
        headers_[0].size = many ? headers_.size() : 0;
        for (const SectionHeader &h : headers_)
            put_header(out, h, shape_);
        if (shape_.is64)
            out.patch<uint64_t>(shape_.shoff_at(), offset);
        else
            out.patch<uint32_t>(shape_.shoff_at(), static_cast<uint32_t>(offset));
        out.patch<uint16_t>(shape_.shnum_at(),
                            many ? uint16_t{0} : static_cast<uint16_t>(headers_.size()));
    }

    Bytes file_;
    const Where &where_;
    ElfShape shape_{};
    std::vector<SectionHeader> headers_;
    std::string names_;
    uint32_t names_index_ = 0;
    uint32_t btf_ = 0;
};

} // namespace

std::vector<std::byte> btf_object(Bytes btf, const Target &target)
{
    ElfShape shape{target.address_size == 8, target.order};
    constexpr std::string_view names("\0.BTF\0.symtab\0.strtab\0.shstrtab\0"
                                     ".note.GNU-stack\0",
                                     48);
    enum { null, btf_section, stack_note, symtab, strtab, shstrtab, section_count };
    SectionHeader headers[section_count];
    headers[btf_section] = {1, SHT_PROGBITS, SHF_ALLOC, 0, 0, btf.size(), 0, 0, btf_alignment, 0};
    // Without it linkers believe that the object wants an executable stack.
    headers[stack_note] = {32, SHT_PROGBITS, 0, 0, 0, 0, 0, 0, 1, 0};
    size_t symbol_size = shape.is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    // Only the null symbol: sh_info, the first symbol that is not local, is 1.
    headers[symtab] = {6, SHT_SYMTAB, 0, 0, 0, symbol_size, strtab, 1, 8, symbol_size};
    headers[strtab] = {14, SHT_STRTAB, 0, 0, 0, 1, 0, 0, 1, 0};
    headers[shstrtab] = {22, SHT_STRTAB, 0, 0, 0, names.size(), 0, 0, 1, 0};

    ByteWriter out(target.order);
    const uint8_t ident[EI_NIDENT] = {ELFMAG0,
                                      ELFMAG1,
                                      ELFMAG2,
                                      ELFMAG3,
                                      shape.is64 ? uint8_t{ELFCLASS64} : uint8_t{ELFCLASS32},
                                      target.order == ByteOrder::little ? uint8_t{ELFDATA2LSB}
                                                                        : uint8_t{ELFDATA2MSB},
                                      EV_CURRENT};
    for (uint8_t byte : ident)
        out.put(byte);
    out.put<uint16_t>(ET_REL);
    out.put<uint16_t>(target.machine);
    out.put<uint32_t>(EV_CURRENT);
    out.put_zeros(shape.header_size() - out.size());
    out.patch<uint32_t>(shape.flags_at(), target.flags);
    out.patch<uint16_t>(shape.ehsize_at(), static_cast<uint16_t>(shape.header_size()));
    out.patch<uint16_t>(shape.shentsize_at(), static_cast<uint16_t>(shape.section_size()));
    out.patch<uint16_t>(shape.shnum_at(), section_count);
    out.patch<uint16_t>(shape.shstrndx_at(), shstrtab);

    auto place = [&](SectionHeader &h) {
        out.align(h.alignment);
        h.offset = out.size();
    };
    place(headers[btf_section]);
    out.put_bytes(btf);
    place(headers[stack_note]);
    place(headers[symtab]);
    out.put_zeros(symbol_size);
    place(headers[strtab]);
    out.put_zeros(1);
    place(headers[shstrtab]);
    out.put_bytes(as_bytes(names));
    out.align(8);
    if (shape.is64)
        out.patch<uint64_t>(shape.shoff_at(), out.size());
    else
        out.patch<uint32_t>(shape.shoff_at(), static_cast<uint32_t>(out.size()));
    for (const SectionHeader &h : headers)
        put_header(out, h, shape);
    return out.take();
}

Result<std::vector<std::byte>> with_final_btf(Bytes file, Bytes btf, const Where &where)
{
    return Updater(file, where).run(btf);
}

} // namespace btflink::merge
