// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the result into ELF files.
//
// Problem. Final BTF is written into a new small object, into a linked image of a gigabyte without
// `.BTF`, or into a module whose object BTF must be removed completely.
//
// Method. The file is mapped and the sections to drop are found. common/object_btf/elf_append.h
// does the rest: it appends to an image, or lays out a module without the old sections and
// renumbers symbols and indexes.
//
// Cost. For an image without BTF, the added bytes. Otherwise a copy of the file, but not in memory;
// if the file already has this BTF from an earlier run, nothing is written.
#include "merge/output/write_elf.h"

#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "common/object_btf/elf_append.h"
#include "common/object_btf/link_trailer.h"

#include <algorithm>
#include <string_view>

namespace btflink::merge
{

namespace
{

bool is_final_name(std::string_view name)
{
    return name == ".BTF" || name == ".BTF.base";
}

/// If a linker script defines symbols at the ends of `.BTF`, lld makes an empty section. It stays
/// for these symbols but is renamed, so that there is only one `.BTF`.
void rename_empty_btf(ElfImage &image)
{
    if (!image.is_linked())
        return;
    for (ElfSection &s : image.sections)
        if (s.name == ".BTF" && (s.head.sh_flags & SHF_ALLOC) && s.head.sh_size == 0)
            s.name = ".BTF.empty";
}

/// The sections to drop before final BTF is added.
Result<std::vector<bool>> find_unwanted(const ElfImage &image, const std::set<uint64_t> &ids)
{
    for (uint32_t i = 1; i < image.sections.size(); ++i)
        if (is_final_name(image.sections[i].name) && (image.sections[i].head.sh_flags & SHF_ALLOC))
            return fail(image.place(i), "is part of the program's image and cannot be replaced; "
                                        "link what btf-merge --format=object makes instead");
    std::vector<bool> drop(image.sections.size());
    if (!image.is_linked()) {
        auto found = find_object_btf(image, ids);
        if (!found)
            return found;
        drop = std::move(*found);
    }
    for (uint32_t i = 1; i < drop.size(); ++i)
        if (is_final_name(image.sections[i].name))
            drop[i] = true;
    TRY(add_dependents(image, drop));
    return drop;
}

/// Is the section final BTF, not object BTF? A single blob of another tool also counts as final.
bool is_final_btf(const ElfSection &s, const Where &where)
{
    if (s.head.sh_type != SHT_PROGBITS || (s.head.sh_flags & SHF_EXCLUDE))
        return false;
    auto parts = split_contributions(s.data, where);
    return parts && parts->size() == 1 && parts->front().trailer.empty();
}

} // namespace

std::vector<std::byte> btf_object(Bytes btf, const Target &target)
{
    ElfImage image;
    image.is64 = target.address_size == 8;
    image.order = target.order;
    std::memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = image.is64 ? ELFCLASS64 : ELFCLASS32;
    image.head.e_ident[EI_DATA] = target.order == ByteOrder::little ? ELFDATA2LSB : ELFDATA2MSB;
    image.head.e_ident[EI_VERSION] = EV_CURRENT;
    image.head.e_type = ET_REL;
    image.head.e_machine = target.machine;
    image.head.e_version = EV_CURRENT;
    image.head.e_flags = target.flags;
    image.head.e_ehsize = static_cast<uint16_t>(image.header_size());

    ElfAppender out(image, new_file(image));
    out.add_section(".BTF", SHT_PROGBITS, new_section_alignment, btf).head.sh_flags = SHF_ALLOC;
    // Without this section linkers assume that the object needs an executable stack.
    out.add_section(".note.GNU-stack", SHT_PROGBITS, 1, {});
    const std::vector<std::byte> zeros(image.symbol_size());
    Elf64_Shdr &symbols = out.add_section(".symtab", SHT_SYMTAB, 8, zeros).head;
    symbols.sh_link = static_cast<uint32_t>(image.sections.size());
    symbols.sh_info = 1; // there are no local symbols after the null symbol
    symbols.sh_entsize = zeros.size();
    out.add_section(".strtab", SHT_STRTAB, 1, Bytes(zeros).first(1));
    auto made = out.finish();
    CHECK(made); // fails for 4 GB in a 32-bit class; no blob is so large
    return made->whole({});
}

Result<FileChange> with_final_btf(Bytes file, const FinalBtf &added, const Where &where)
{
    auto image = TRY(read_elf(file, where));
    rename_empty_btf(image);
    auto drop = TRY(find_unwanted(image, added.object_ids));
    auto body = TRY(without_sections(image, std::move(drop)));
    ElfAppender out(image, std::move(body));
    out.add_section(".BTF", SHT_PROGBITS, new_section_alignment, added.btf);
    if (!added.base.empty())
        out.add_section(".BTF.base", SHT_PROGBITS, new_section_alignment, added.base);
    return out.finish();
}

Result<void> put_final_btf(const std::string &path, const FinalBtf &added)
{
    auto file = TRY(read_parts(path));
    auto change = TRY(with_final_btf(file.bytes, added, Where{path}));
    return update_file(path, file.bytes, change);
}

Result<void> remove_object_btf(const std::string &path)
{
    auto elf = TRY(open_elf(path));
    ElfImage &image = elf.image;
    if (image.is_linked())
        return fail(image.where, "is not a relocatable file");
    auto drop = TRY(find_object_btf(image));
    for (uint32_t i = 1; i < drop.size(); ++i)
        if (image.sections[i].name == ".BTF" && is_final_btf(image.sections[i], image.place(i)))
            drop[i] = false;
    if (std::find(drop.begin(), drop.end(), true) == drop.end())
        return {};
    auto body = TRY(without_sections(image, std::move(drop)));
    auto change = TRY(ElfAppender(image, std::move(body)).finish());
    return update_file(path, elf.file.bytes, change);
}

} // namespace btflink::merge
