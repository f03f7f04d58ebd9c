// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Splits ELF files into sections, and joins the sections into files again.
#include "tests/hostile/fuzz/elf_parts.h"

#include "common/io/bytes.h"

#include <algorithm>
#include <cstring>

namespace btflink::fuzz
{

namespace
{

template <typename T>
void append(Text &out, const T &value)
{
    const size_t at = out.size();
    out.resize(at + sizeof value);
    std::memcpy(out.data() + at, &value, sizeof value);
}

} // namespace

std::optional<ElfParts> take_apart(const Text &file)
{
    ElfParts out;
    if (file.size() < sizeof out.header || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0 ||
        file[EI_CLASS] != ELFCLASS64 || file[EI_DATA] != ELFDATA2LSB)
        return std::nullopt;
    std::memcpy(&out.header, file.data(), sizeof out.header);
    uint64_t at = out.header.e_shoff;
    size_t count = out.header.e_shnum;
    if (at > file.size() || count == 0 || count * sizeof(Elf64_Shdr) > file.size() - at)
        return std::nullopt;
    out.sections.resize(count);
    for (ElfPart &part : out.sections) {
        Elf64_Shdr &h = part.header;
        std::memcpy(&h, file.data() + at, sizeof h);
        at += sizeof h;
        bool inside = h.sh_offset <= file.size() && h.sh_size <= file.size() - h.sh_offset;
        part.keeps_place = !inside || h.sh_type == SHT_NOBITS || h.sh_type == SHT_NULL;
        if (!part.keeps_place)
            part.contents.assign(file.begin() + static_cast<ptrdiff_t>(h.sh_offset),
                                 file.begin() + static_cast<ptrdiff_t>(h.sh_offset + h.sh_size));
    }
    if (out.header.e_shstrndx < count) {
        const Text &names = out.sections[out.header.e_shstrndx].contents;
        for (ElfPart &part : out.sections) {
            size_t begin = std::min<size_t>(part.header.sh_name, names.size());
            auto end = std::find(names.begin() + static_cast<ptrdiff_t>(begin), names.end(), 0);
            part.name.assign(names.begin() + static_cast<ptrdiff_t>(begin), end);
        }
    }
    return out;
}

Text put_together(const ElfParts &parts)
{
    Text out;
    Elf64_Ehdr header = parts.header;
    append(out, header);
    std::vector<Elf64_Shdr> table;
    for (const ElfPart &part : parts.sections) {
        Elf64_Shdr h = part.header;
        if (!part.keeps_place) {
            out.resize(align_up(out.size(), 8));
            h.sh_offset = out.size();
            h.sh_size = part.contents.size();
            out.insert(out.end(), part.contents.begin(), part.contents.end());
        }
        table.push_back(h);
    }
    out.resize(align_up(out.size(), 8));
    header.e_shoff = out.size();
    header.e_shnum = static_cast<uint16_t>(table.size());
    std::memcpy(out.data(), &header, sizeof header);
    for (const Elf64_Shdr &h : table)
        append(out, h);
    return out;
}

} // namespace btflink::fuzz
