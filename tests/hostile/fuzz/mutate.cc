// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Changes files in ways that the first checks of a reader do not notice.
//
// Problem. A random change in a file is usually detected by the first check that sees it: of a
// magic, a length, a sum of lengths. The code behind this check is then not reached.
//
// Method. An ELF file is split into sections, one section is changed, and the file is joined again
// with matching offsets and lengths. Sections that our tools read are preferred. In BTF, most
// changes replace one word: an id by another id, a name by another name, a number by one that often
// breaks checks. If an element is added or removed, the lengths in the header are adjusted. In
// DWARF, the length of a unit that fills its section is usually adjusted. One in eight changes is
// made without any of this, and so is each change of a file that is neither BTF nor 64-bit
// little-endian ELF.
#include "tests/hostile/fuzz/mutate.h"

#include "common/btf/btf_format.h"
#include "common/io/bytes.h"
#include "common/object_btf/link_trailer.h"
#include "tests/hostile/fuzz/elf_parts.h"

#include <algorithm>
#include <cstring>

namespace btflink::fuzz
{

namespace
{

size_t below(Random &random, size_t end)
{
    return end ? random() % end : 0;
}

uint32_t word(const Text &bytes, size_t at)
{
    uint32_t value = 0;
    if (at + sizeof value <= bytes.size())
        std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

void set_word(Text &bytes, size_t at, uint32_t value)
{
    if (at + sizeof value <= bytes.size())
        std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A number that often breaks checks: a limit of some field, `old` plus or minus 1 or with one bit
/// flipped, or a small number.
uint32_t edge(Random &random, uint32_t old)
{
    static const uint32_t edges[] = {0,          1,          2,          3,          4,
                                     8,          0x7f,       0xff,       0xffff,     0x10000,
                                     0xfffff,    0x100000,   0xffffff,   0x1000000,  0x7fffffff,
                                     0x80000000, 0xfffffff0, 0xfffffffc, 0xfffffffe, 0xffffffff};
    switch (below(random, 5)) {
    case 0:
        return edges[below(random, std::size(edges))];
    case 1:
        return old + 1;
    case 2:
        return old - 1;
    case 3:
        return old ^ (1u << below(random, 32));
    default:
        return static_cast<uint32_t>(below(random, 64));
    }
}

/// The positions of a blob's parts.
struct Blob {
    size_t at = 0, types = 0, types_end = 0, strings = 0, end = 0;
    std::vector<size_t> heads; // positions of the types
};

/// Returns false if there is no blob at `at`.
bool find_blob(const Text &bytes, size_t at, Blob &out)
{
    if (at + btf::header_size > bytes.size() || (word(bytes, at) & 0xffff) != BTF_MAGIC)
        return false;
    uint64_t header = word(bytes, at + 4);
    uint64_t types = at + header + word(bytes, at + 8),
             strings = at + header + word(bytes, at + 16);
    uint64_t types_end = types + word(bytes, at + 12), end = strings + word(bytes, at + 20);
    if (types_end > bytes.size() || end > bytes.size() || types_end > end)
        return false;
    out = {at, types, types_end, strings, end, {}};
    while (types + sizeof(btf_type) <= types_end) {
        btf_type t;
        std::memcpy(&t, bytes.data() + types, sizeof t);
        if (!btf::is_known(btf::kind_of(t)))
            break;
        uint64_t size = btf::words_of(t) * 4;
        if (size > types_end - types)
            break;
        out.heads.push_back(types);
        types += size;
    }
    return true;
}

std::vector<Blob> find_blobs(const Text &bytes)
{
    std::vector<Blob> found;
    Blob blob;
    for (size_t at = 0; at < bytes.size() && found.size() < 64; at += 8)
        if (find_blob(bytes, at, blob)) {
            at = align_up(blob.end, 8) - 8;
            found.push_back(blob);
        }
    return found;
}

/// Inserts `words` words at `at`, among the types of the blob. A negative number removes words.
/// Adjusts the blob's header, and the padding after the blob.
void resize_types(Text &bytes, const Blob &blob, size_t at, int words)
{
    auto place = bytes.begin() + static_cast<ptrdiff_t>(at);
    if (words > 0)
        bytes.insert(place, static_cast<size_t>(words) * 4, 1);
    else if (at + static_cast<size_t>(-words) * 4 <= blob.types_end)
        bytes.erase(place, place - words * 4);
    else
        return;
    auto by = static_cast<uint32_t>(words * 4);
    set_word(bytes, blob.at + 12, word(bytes, blob.at + 12) + by);
    if (blob.strings >= blob.types_end)
        set_word(bytes, blob.at + 16, word(bytes, blob.at + 16) + by);
    size_t end = blob.end + static_cast<size_t>(static_cast<ptrdiff_t>(words) * 4);
    size_t padded = align_up(end, 8),
           was = align_up(blob.end, 8) + static_cast<size_t>(static_cast<ptrdiff_t>(words) * 4);
    if (padded > was)
        bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(std::min(end, bytes.size())),
                     padded - was, 0);
    else if (was > padded && was <= bytes.size())
        bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(padded),
                    bytes.begin() + static_cast<ptrdiff_t>(was));
}

void mutate_type(Text &bytes, const Blob &blob, Random &random)
{
    if (blob.heads.empty())
        return;
    size_t head = blob.heads[below(random, blob.heads.size())];
    btf_type t;
    std::memcpy(&t, bytes.data() + head, sizeof t);
    const uint32_t words = btf::words_of(t), element = btf::kind_info(t).element.count;
    switch (below(random, 7)) {
    case 0: { // another kind
        auto other = static_cast<uint32_t>(1 + below(random, btf::kind_count - 1));
        set_word(bytes, head + 4, (t.info & ~(0x1fu << 24)) | other << 24);
        break;
    }
    case 1: // one element more or less, with matching lengths
        if (element && (btf::vlen_of(t) == 0 || below(random, 2))) {
            set_word(bytes, head + 4, t.info + 1);
            resize_types(bytes, blob, head + words * 4, element);
        } else if (element) {
            set_word(bytes, head + 4, t.info - 1);
            resize_types(bytes, blob, head + (words - element) * 4, -static_cast<int>(element));
        }
        break;
    case 2:
        set_word(bytes, head + 4, edge(random, t.info));
        break;
    case 3:
        set_word(bytes, head + 4, t.info ^ 1u << 31);
        break;
    case 4: { // another name
        size_t length = blob.end - blob.strings;
        set_word(bytes, head, static_cast<uint32_t>(below(random, length + 2)));
        break;
    }
    default: { // a later word: an id, or a number
        size_t at = head + 4 * (2 + below(random, words - 2));
        uint32_t id = static_cast<uint32_t>(below(random, blob.heads.size() + 2));
        set_word(bytes, at, below(random, 3) ? id : edge(random, word(bytes, at)));
    }
    }
}

void mutate_btf(Text &bytes, const Text &other, Random &random, const ByteMutator &plain)
{
    std::vector<Blob> blobs = find_blobs(bytes);
    if (blobs.empty())
        return plain(bytes, bytes.size() + 64);
    size_t chosen = below(random, blobs.size());
    const Blob &blob = blobs[chosen];
    size_t trailer = align_up(blob.end, 8);
    size_t next = chosen + 1 < blobs.size() ? blobs[chosen + 1].at : bytes.size();
    auto from = bytes.begin() + static_cast<ptrdiff_t>(blob.at);
    switch (below(random, 12)) {
    case 0: { // repeat a contribution, or insert `other`
        Text more(from, bytes.begin() + static_cast<ptrdiff_t>(next));
        if (!other.empty() && below(random, 2))
            more = other;
        if (bytes.size() + more.size() < 1 << 20)
            bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(next), more.begin(), more.end());
        break;
    }
    case 1: // no trailer
        if (trailer < next)
            bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(trailer),
                        bytes.begin() + static_cast<ptrdiff_t>(next));
        break;
    case 2: // the header
    case 3:
        if (size_t at = blob.at + below(random, 6) * 4; at) // keeps a magic at the start
            set_word(bytes, at, edge(random, word(bytes, at)));
        break;
    case 4: // a word of the trailer's header, or of the whole trailer
    case 5:
    case 6:
        if (trailer + 4 < next) {
            size_t length =
                below(random, 2) ? std::min<size_t>(104, next - trailer) : next - trailer;
            size_t at = trailer + below(random, length / 4) * 4;
            uint32_t small = static_cast<uint32_t>(below(random, blob.heads.size() + 2));
            set_word(bytes, at, below(random, 2) ? small : edge(random, word(bytes, at)));
        }
        break;
    case 7: // names
        if (blob.end > blob.strings)
            bytes[blob.strings + below(random, blob.end - blob.strings)] =
                static_cast<uint8_t>(below(random, 3) ? 'a' + below(random, 4) : random());
        break;
    default:
        mutate_type(bytes, blob, random);
    }
}

/// The name without ".dwo", so that sections of split DWARF are changed like the ordinary ones.
std::string plain_name(const ElfPart &part)
{
    return part.name.ends_with(".dwo") ? part.name.substr(0, part.name.size() - 4) : part.name;
}

bool is_units(const std::string &name)
{
    return name == ".debug_info" || name == ".debug_types";
}

/// The hash tables of a .dwp.
bool is_package_index(const std::string &name)
{
    return name == ".debug_cu_index" || name == ".debug_tu_index";
}

/// The weight with which a section is chosen.
unsigned weight(const ElfPart &part)
{
    const std::string n = plain_name(part);
    if (part.contents.empty())
        return 0;
    if (is_units(n) || n == ".debug_abbrev" || n.starts_with(".BTF"))
        return 24;
    if (n == ".debug" || n == ".debug_addr" || n == ".symtab" || n.starts_with(".debug_loc") ||
        n.starts_with(".rela.BTF") || n == ".rela.debug" || n == ".rela.debug_info" ||
        is_package_index(n))
        return 6;
    return n.starts_with(".debug") || n.starts_with(".rel") || n.ends_with("strtab") ? 2 : 1;
}

void mutate_header(ElfPart &part, Random &random)
{
    Elf64_Shdr &h = part.header;
    uint32_t *narrow[] = {&h.sh_name, &h.sh_type, &h.sh_link, &h.sh_info};
    Elf64_Xword *wide[] = {&h.sh_flags, &h.sh_addr, &h.sh_addralign, &h.sh_entsize};
    switch (below(random, 4)) {
    case 0: {
        part.keeps_place = true; // otherwise put_together() corrects size and offset
        Elf64_Xword &value = below(random, 2) ? h.sh_size : h.sh_offset;
        value = edge(random, static_cast<uint32_t>(value));
        break;
    }
    case 1: {
        Elf64_Xword &value = *wide[below(random, std::size(wide))];
        value = edge(random, static_cast<uint32_t>(value));
        break;
    }
    default: {
        uint32_t &value = *narrow[below(random, std::size(narrow))];
        value = edge(random, value);
    }
    }
}

bool mutate_elf(Text &bytes, const Text &other, Random &random, const ByteMutator &plain)
{
    auto parts = take_apart(bytes);
    if (!parts)
        return false;
    unsigned sum = 0;
    for (const ElfPart &part : parts->sections)
        sum += weight(part);
    if (!sum)
        return false;
    auto pick = static_cast<unsigned>(below(random, sum));
    auto part = parts->sections.begin();
    while (pick >= weight(*part)) {
        pick -= weight(*part);
        ++part;
    }
    auto others = take_apart(other);
    Text same; // contents of the section with the same name in the other file
    if (others)
        for (const ElfPart &p : others->sections)
            if (p.name == part->name)
                same = p.contents;
    const std::string name = plain_name(*part);
    size_t most = part->contents.size() + 64;
    if (below(random, 24) == 0) {
        mutate_header(*part, random);
    } else if (below(random, 24) == 0 && !same.empty()) {
        part->contents = same;
    } else if (part->name == ".BTF" || part->name == ".BTF.base") {
        mutate_btf(part->contents, same, random, plain);
    } else if (is_units(name) && part->contents.size() > 4) {
        // A unit that fills the section usually keeps a correct length.
        bool fits = word(part->contents, 0) == part->contents.size() - 4;
        Text body(part->contents.begin() + 4, part->contents.end());
        plain(body, most);
        part->contents.resize(4);
        part->contents.insert(part->contents.end(), body.begin(), body.end());
        if (fits && below(random, 16))
            set_word(part->contents, 0, static_cast<uint32_t>(body.size()));
    } else if (part->name.starts_with(".rela") || part->name == ".symtab" ||
               part->name == ".debug" || part->name == ".debug_addr" || part->name == ".BTF_ids" ||
               is_package_index(name)) {
        size_t at = below(random, part->contents.size() / 4) * 4;
        set_word(part->contents, at, edge(random, word(part->contents, at)));
    } else {
        plain(part->contents, most);
    }
    bytes = put_together(*parts);
    return true;
}

} // namespace

void mutate_bytes(Text &bytes, size_t most, Random &random)
{
    for (size_t times = 1 + below(random, 3); times; --times) {
        if (bytes.empty()) {
            bytes.push_back(static_cast<uint8_t>(random()));
            continue;
        }
        size_t at = below(random, bytes.size());
        size_t length = 1 + below(random, std::min<size_t>(bytes.size() - at, 64));
        auto place = bytes.begin() + static_cast<ptrdiff_t>(at);
        switch (below(random, 8)) {
        case 0:
            bytes.resize(at);
            break;
        case 1:
            bytes.erase(place, place + static_cast<ptrdiff_t>(length));
            break;
        case 2: {
            Text piece(place, place + static_cast<ptrdiff_t>(length));
            size_t to = below(random, bytes.size());
            bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(to), piece.begin(), piece.end());
            break;
        }
        case 3:
            set_word(bytes, at, edge(random, word(bytes, at)));
            break;
        case 4:
            set_word(bytes, at / 4 * 4, word(bytes, below(random, bytes.size()) / 4 * 4));
            break;
        case 5:
            bytes[at] = static_cast<uint8_t>(random());
            break;
        default:
            bytes[at] ^= static_cast<uint8_t>(1u << below(random, 8));
        }
        if (bytes.size() > most)
            bytes.resize(most);
    }
}

void mutate_file(Text &bytes, const Text &other, Random &random, const ByteMutator &plain)
{
    for (size_t times = 1 + (below(random, 4) == 0 ? below(random, 4) : 0); times; --times) {
        if (below(random, 8) == 0)
            plain(bytes, bytes.size() + 64);
        else if (bytes.size() > 2 && (word(bytes, 0) & 0xffff) == BTF_MAGIC)
            mutate_btf(bytes, other, random, plain);
        else if (!mutate_elf(bytes, other, random, plain))
            plain(bytes, bytes.size() + 64);
    }
}

} // namespace btflink::fuzz
