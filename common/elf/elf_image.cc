// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads ELF headers, section headers and program headers. Checks that these headers, the contents
// of sections and the names of sections are inside the file.
#include "common/elf/elf_image.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>

namespace btflink
{

namespace
{

/// References to the fields of an ELF structure of either class, except e_ident.
template <typename Structure>
auto fields_of(Structure &s)
{
    if constexpr (requires { s.e_ident; })
        return std::tie(s.e_type, s.e_machine, s.e_version, s.e_entry, s.e_phoff, s.e_shoff,
                        s.e_flags, s.e_ehsize, s.e_phentsize, s.e_phnum, s.e_shentsize, s.e_shnum,
                        s.e_shstrndx);
    else if constexpr (requires { s.sh_name; })
        return std::tie(s.sh_name, s.sh_type, s.sh_flags, s.sh_addr, s.sh_offset, s.sh_size,
                        s.sh_link, s.sh_info, s.sh_addralign, s.sh_entsize);
    else if constexpr (requires { s.st_name; })
        return std::tie(s.st_name, s.st_info, s.st_other, s.st_shndx, s.st_value, s.st_size);
    else // of a program header only these are used
        return std::tie(s.p_offset, s.p_filesz);
}

/// Converts an ELF structure between classes, and between host byte order and `order`. Structures
/// in memory always have the 64-bit class. So if the widths of a field differ, the narrower value
/// is that of the file. It is byte-swapped before widening (reading) or after narrowing (writing).
template <typename To, typename From>
To translate(const From &from, ByteOrder order)
{
    To to{};
    auto move = [order](auto &t, auto f) {
        using T = std::remove_reference_t<decltype(t)>;
        using Narrow = std::conditional_t<(sizeof(T) < sizeof f), T, decltype(f)>;
        using Unsigned = std::make_unsigned_t<Narrow>;
        t = static_cast<T>(static_cast<Narrow>(in_order(static_cast<Unsigned>(f), order)));
    };
    if constexpr (requires { to.e_ident; })
        std::memcpy(to.e_ident, from.e_ident, sizeof to.e_ident);
    auto into = fields_of(to);
    const auto values = fields_of(from);
    auto move_values = [&](auto &...t) {
        std::apply([&](auto... f) { (move(t, f), ...); }, values);
    };
    std::apply(move_values, into);
    return to;
}

template <typename Wide, typename Narrow>
Wide decode(const std::byte *p, bool is64, ByteOrder order)
{
    if (is64) {
        Wide raw;
        std::memcpy(&raw, p, sizeof raw);
        return order == host_order ? raw : translate<Wide>(raw, order);
    }
    Narrow raw;
    std::memcpy(&raw, p, sizeof raw);
    return translate<Wide>(raw, order);
}

template <typename Wide, typename Narrow>
Wide decode(const std::byte *p, const ElfImage &image)
{
    return decode<Wide, Narrow>(p, image.is64, image.order);
}

template <typename Narrow, typename Wide>
void encode(ByteWriter &out, const ElfImage &image, const Wide &value)
{
    auto put = [&](const auto &raw) { out.put_bytes(std::as_bytes(std::span(&raw, 1))); };
    if (image.is64)
        put(translate<Wide>(value, image.order));
    else
        put(translate<Narrow>(value, image.order));
}

bool fits(uint64_t offset, uint64_t size, uint64_t room)
{
    return offset <= room && size <= room - offset;
}

Result<void> read_header(ElfImage &image)
{
    Bytes file = image.file;
    if (file.size() < EI_NIDENT || !is_elf(file))
        return fail(image.where, "not an ELF file");
    auto elf_class = static_cast<uint8_t>(file[EI_CLASS]);
    if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64)
        return fail(image.where.at(EI_CLASS), strf("unknown ELF class %u", elf_class));
    image.is64 = elf_class == ELFCLASS64;
    auto data = static_cast<uint8_t>(file[EI_DATA]);
    if (data != ELFDATA2LSB && data != ELFDATA2MSB)
        return fail(image.where.at(EI_DATA), strf("unknown ELF byte order %u", data));
    image.order = data == ELFDATA2LSB ? ByteOrder::little : ByteOrder::big;
    if (file.size() < image.header_size())
        return fail(image.where.at(0), "ELF header is cut off");
    image.head = decode<Elf64_Ehdr, Elf32_Ehdr>(file.data(), image);
    return {};
}

Result<void> read_section_headers(ElfImage &image)
{
    const Elf64_Ehdr &head = image.head;
    uint64_t size = image.file.size();
    if (head.e_shoff == 0) {
        if (head.e_shnum)
            return fail(image.where.at(image.is64 ? offsetof(Elf64_Ehdr, e_shoff)
                                                  : offsetof(Elf32_Ehdr, e_shoff)),
                        strf("%u sections, but no section headers", head.e_shnum));
        return {};
    }
    if (head.e_shentsize != image.section_header_size())
        return fail(image.where.at(image.is64 ? offsetof(Elf64_Ehdr, e_shentsize)
                                              : offsetof(Elf32_Ehdr, e_shentsize)),
                    strf("section headers have %u bytes each", head.e_shentsize));
    if (!fits(head.e_shoff, head.e_shentsize, size))
        return fail(image.where.at(head.e_shoff), "section headers are not in the file");
    const std::byte *table = image.file.data() + head.e_shoff;
    auto first = decode<Elf64_Shdr, Elf32_Shdr>(table, image);
    uint64_t count = head.e_shnum ? head.e_shnum : first.sh_size;
    if (count == 0)
        return {};
    if (count > (size - head.e_shoff) / head.e_shentsize || count > UINT32_MAX / 2)
        return fail(image.where.at(head.e_shoff),
                    strf("%llu section headers are not in the file", ull(count)));
    image.sections.resize(count);
    for (uint64_t i = 0; i < count; ++i)
        image.sections[i].head =
            decode<Elf64_Shdr, Elf32_Shdr>(table + i * head.e_shentsize, image);
    image.names = head.e_shstrndx == SHN_XINDEX ? first.sh_link : head.e_shstrndx;
    if (image.names >= count)
        return fail(
            image.where.at(image.is64 ? offsetof(Elf64_Ehdr, e_shstrndx)
                                      : offsetof(Elf32_Ehdr, e_shstrndx)),
            strf("section names are in section %u, but there are %llu", image.names, ull(count)));
    return {};
}

Result<void> read_sections(ElfImage &image)
{
    constexpr uint64_t most_times = 16; // in valid files, sections do not overlap
    uint64_t size = image.file.size(), sum = 0;
    for (uint32_t i = 1; i < image.sections.size(); ++i) {
        ElfSection &s = image.sections[i];
        if (!s.in_file())
            continue;
        if (!fits(s.head.sh_offset, s.head.sh_size, size))
            return fail(image.place(i),
                        strf("%llu bytes at file offset %llu are not in the file (%llu bytes)",
                             ull(s.head.sh_size), ull(s.head.sh_offset), ull(size)));
        s.data = image.file.subspan(s.head.sh_offset, s.head.sh_size);
        // Any number of sections may have the same bytes. So limit the work for all together.
        if (sum += s.head.sh_size; sum > most_times * size)
            return fail(image.place(i),
                        strf("sections overlap: they add up to more than %llu times the file",
                             ull(most_times)));
    }
    if (!image.names)
        return {};
    const std::string_view text = as_text(image.sections[image.names].data);
    // Names may be tails of one long string. So limit the work for all names together.
    uint64_t characters = 0;
    const uint64_t most = (uint64_t{64} << 20) + 4 * text.size();
    for (uint32_t i = 1; i < image.sections.size(); ++i) {
        ElfSection &s = image.sections[i];
        size_t end = s.head.sh_name < text.size() ? text.find('\0', s.head.sh_name) : text.npos;
        if (end == text.npos)
            return fail(image.place(i),
                        strf("section name at %u does not end in the %zu bytes of names",
                             s.head.sh_name, text.size()));
        s.name = text.substr(s.head.sh_name, end - s.head.sh_name);
        if (characters += s.name.size(); characters > most)
            return fail(image.place(image.names),
                        strf("names of sections add up to more than %llu characters", ull(most)));
    }
    return {};
}

Result<void> read_segments(ElfImage &image)
{
    const Elf64_Ehdr &head = image.head;
    if (head.e_phoff == 0 || head.e_phnum == 0)
        return {};
    uint64_t count = head.e_phnum;
    if (head.e_phnum == PN_XNUM && !image.sections.empty())
        count = image.sections[0].head.sh_info;
    uint64_t size = image.file.size();
    if (head.e_phentsize != (image.is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
        return fail(image.where.at(image.is64 ? offsetof(Elf64_Ehdr, e_phentsize)
                                              : offsetof(Elf32_Ehdr, e_phentsize)),
                    strf("program headers have %u bytes each", head.e_phentsize));
    if (head.e_phoff > size || count > (size - head.e_phoff) / head.e_phentsize)
        return fail(image.where.at(head.e_phoff), "program headers are not in the file");
    uint64_t end = head.e_phoff + count * head.e_phentsize;
    for (uint64_t i = 0; i < count; ++i) {
        auto segment = decode<Elf64_Phdr, Elf32_Phdr>(
            image.file.data() + head.e_phoff + i * head.e_phentsize, image);
        // A file of separate debug information has program headers, but not the contents of
        // segments.
        if (segment.p_filesz == 0 || segment.p_offset >= size)
            continue;
        end = std::max(end, segment.p_offset + std::min(segment.p_filesz, size - segment.p_offset));
    }
    image.segments_end = end;
    return {};
}

/// Like find_note(), in one section. If the first note of this owner and type is empty, the result
/// is as if the section had none.
Bytes find_note_in(Bytes notes, std::string_view owner, uint32_t type, ByteOrder order)
{
    while (notes.size() >= sizeof(Elf64_Nhdr)) {
        auto word = [&](size_t i) { return load<uint32_t>(notes.data() + i * 4, order); };
        constexpr uint64_t name = sizeof(Elf64_Nhdr);
        const uint64_t size = word(1), contents = name + align_up(word(0), 4),
                       next = contents + align_up(size, 4);
        if (contents + size > notes.size())
            break;
        if (word(2) == type && word(0) == owner.size() + 1 &&
            std::memcmp(notes.data() + name, owner.data(), owner.size()) == 0)
            return notes.subspan(contents, size);
        notes = notes.subspan(std::min<uint64_t>(next, notes.size()));
    }
    return {};
}

} // namespace

void ElfSection::replace(std::vector<std::byte> contents)
{
    own = std::move(contents);
    data = own;
    head.sh_size = own.size();
}

bool ElfImage::names_are_shared() const
{
    for (uint32_t i = 1; i < sections.size() && names; ++i)
        if (sections[i].head.sh_link == names)
            return true;
    return false;
}

Where ElfImage::place(uint32_t section) const
{
    std::string_view name = sections[section].name;
    return where.in(name.empty() ? strf("[%u]", section) : std::string(name));
}

Result<uint32_t> ElfImage::find_symtab() const
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < sections.size(); ++i) {
        if (sections[i].head.sh_type != SHT_SYMTAB)
            continue;
        if (found)
            return fail(place(i), "is a second symbol table");
        found = i;
    }
    return found;
}

Result<uint32_t> ElfImage::symbol_count(uint32_t symtab) const
{
    const ElfSection &s = sections[symtab];
    if (s.head.sh_entsize != symbol_size() || s.data.size() % symbol_size() ||
        s.data.size() / symbol_size() > UINT32_MAX / 2)
        return fail(place(symtab),
                    strf("%zu bytes, in entries of %llu, are not symbols of %zu bytes each",
                         s.data.size(), ull(s.head.sh_entsize), symbol_size()));
    return static_cast<uint32_t>(s.data.size() / symbol_size());
}

Elf64_Sym decode_symbol(const std::byte *at, bool is64, ByteOrder order)
{
    return decode<Elf64_Sym, Elf32_Sym>(at, is64, order);
}

Result<size_t> ElfImage::reloc_count(uint32_t section) const
{
    const ElfSection &s = sections[section];
    if (s.head.sh_type == sht_crel)
        return fail(place(section), "compact relocations are not supported");
    const size_t entry =
        (is64 ? sizeof(uint64_t) : sizeof(uint32_t)) * (s.head.sh_type == SHT_RELA ? 3 : 2);
    if (s.head.sh_entsize != entry || s.data.size() % entry)
        return fail(place(section),
                    strf("%zu bytes, in entries of %llu, are not relocations of %zu bytes each",
                         s.data.size(), ull(s.head.sh_entsize), entry));
    return s.data.size() / entry;
}

uint64_t ElfImage::reloc_info(uint32_t symbol, uint32_t type) const
{
    if (is_mips64el()) // the type is the last byte, the symbol the first four
        return uint64_t{type} << 56 | symbol;
    return is64 ? ELF64_R_INFO(symbol, type) : ELF32_R_INFO(symbol, type);
}

Result<ElfImage> read_elf(Bytes file, const Where &where)
{
    ElfImage image;
    image.file = file;
    image.where = where;
    TRY(read_header(image));
    TRY(read_section_headers(image));
    TRY(read_sections(image));
    TRY(read_segments(image));
    return image;
}

bool is_elf(Bytes file)
{
    return as_text(file).starts_with(ELFMAG);
}

bool is_relocatable(Bytes file)
{
    // ET_REL is 1, so in either byte order one byte of e_type is 1, and the other is 0.
    return is_elf(file) && file.size() > 17 &&
           std::to_integer<int>(file[16]) + std::to_integer<int>(file[17]) == ET_REL;
}

bool is_bitcode(Bytes file)
{
    return file.size() >= 4 && (std::memcmp(file.data(), "BC\xc0\xde", 4) == 0 ||
                                std::memcmp(file.data(), "\xde\xc0\x17\x0b", 4) == 0);
}

Bytes find_note(const ElfImage &image, std::string_view owner, uint32_t type)
{
    for (const ElfSection &s : image.sections)
        if (s.head.sh_type == SHT_NOTE || s.name == ".note.gnu.build-id")
            if (Bytes found = find_note_in(s.data, owner, type, image.order); !found.empty())
                return found;
    return {};
}

Result<ElfOnDisk> open_elf(const std::string &path)
{
    auto file = TRY(read_parts(path));
    auto image = TRY(read_elf(file.bytes, Where{path}));
    return ElfOnDisk{std::move(file), std::move(image)};
}

void put_elf_header(ByteWriter &out, const ElfImage &image, const Elf64_Ehdr &head)
{
    encode<Elf32_Ehdr>(out, image, head);
}

void put_section_header(ByteWriter &out, const ElfImage &image, const Elf64_Shdr &head)
{
    encode<Elf32_Shdr>(out, image, head);
}

} // namespace btflink
