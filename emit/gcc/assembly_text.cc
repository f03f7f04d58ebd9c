// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes sections as lists of 8-byte words in hexadecimal, which the assembler reads faster than
// shorter items, strings, or a line per word. For a relocation, the symbol's name replaces a word.
#include "emit/gcc/entries_state.h"

#include "common/elf/arch.h"
#include "common/object_btf/address_pool.h"

#include <charconv>

namespace btflink::emit::gcc
{

namespace
{

/// Writes words, starting a directive whenever the size changes or a line is full.
class WordList
{
public:
    explicit WordList(std::string &out) : out_(out) {}

    /// Returns the text to which to append the next word. `size`: 4 or 8 bytes.
    std::string &next(size_t size)
    {
        constexpr int words_per_line = 16;
        if (size != size_ || count_ == words_per_line) {
            out_ += size == 8 ? "\n\t.8byte\t" : "\n\t.4byte\t";
            size_ = size;
            count_ = 0;
        } else {
            out_ += ',';
        }
        ++count_;
        return out_;
    }

private:
    std::string &out_;
    size_t size_ = 0;
    int count_ = 0;
};

void put_hex(std::string &out, uint64_t value)
{
    char digits[16];
    out += "0x";
    out.append(digits, std::to_chars(digits, std::end(digits), value, 16).ptr);
}

/// `relocs` are in ascending order, each `reloc_size` bytes long and aligned to its size.
void put_words(std::string &out, Bytes bytes, std::span<const NewReloc> relocs, size_t reloc_size,
               ByteOrder order, const std::vector<std::string> &symbols)
{
    WordList words(out);
    size_t next = 0;
    for (size_t at = 0; at < bytes.size();) {
        const uint64_t reloc = next < relocs.size() ? relocs[next].offset : UINT64_MAX;
        if (at == reloc) {
            words.next(reloc_size) += symbols[relocs[next++].symbol - 1];
            at += reloc_size;
        } else if (at % 8 == 0 && bytes.size() - at >= 8 && reloc - at >= 8) {
            put_hex(words.next(8), load<uint64_t>(bytes.data() + at, order));
            at += 8;
        } else {
            put_hex(words.next(4), load<uint32_t>(bytes.data() + at, order));
            at += 4;
        }
    }
    out += '\n';
}

} // namespace

std::string assembly_text(const UnitObject &object, const Arch &arch, ByteOrder order,
                          const std::vector<std::string> &symbols)
{
    std::string out;
    out.reserve(object.contribution.size() * 3);
    // '%' instead of '@', which begins a comment in the assemblers of some targets.
    out += "\t.section\t.BTF,\"e\",%0x80425446\n\t.balign\t8";
    put_words(out, object.contribution, object.btf_relocs, 4, order, symbols);
    if (!object.has_pool)
        return out;
    out += "\t.section\t.debug,\"\",%progbits\n\t.balign\t8";
    put_words(out, encode_pool(object.object_id, object.pool_entries, arch.address_size, order),
              object.pool_relocs, arch.address_size, order, symbols);
    return out;
}

} // namespace btflink::emit::gcc
