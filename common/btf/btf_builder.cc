// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Adds strings and types to a blob under construction, and serialises it.
#include "common/btf/btf_builder.h"

#include "common/btf/btf_check.h"

#include <algorithm>
#include <cstring>
#define XXH_INLINE_ALL // a function call costs as much as hashing a short string
#include <xxhash.h>

namespace btflink
{

std::vector<std::byte> btf_blob(std::span<const uint32_t> words, std::string_view strings,
                                ByteOrder order, size_t room)
{
    ByteWriter out(order);
    auto type_len = static_cast<uint32_t>(words.size_bytes());
    out.reserve(btf::header_size + uint64_t{type_len} + strings.size() + room);
    out.put<uint16_t>(BTF_MAGIC);
    out.put<uint8_t>(BTF_VERSION);
    out.put<uint8_t>(0);
    out.put<uint32_t>(btf::header_size);
    out.put<uint32_t>(0);
    out.put<uint32_t>(type_len);
    out.put<uint32_t>(type_len);
    out.put<uint32_t>(static_cast<uint32_t>(strings.size()));
    if (order == host_order)
        out.put_bytes(std::as_bytes(words));
    else
        for (uint32_t word : words)
            out.put<uint32_t>(word);
    out.put_bytes(as_bytes(strings));
    return out.take();
}

StringTable::StringTable(uint32_t first)
    : blob_(first == 0 ? 1 : 0, '\0'), index_(16), first_(first)
{
}

StringTable::StringTable(std::string_view section)
    : section_(section), section_strings_(section.size() / 4 + 1), blob_(1, '\0'), index_(16),
      first_(0)
{
}

StrOff StringTable::add_stable(const char *text)
{
    // Names from one C header are close together in the section, so their elements of
    // section_strings_ are close together, too: there are few cache misses.
    const size_t at = section_offset(text);
    if (at >= section_.size())
        return add(text);
    SectionString &known = section_strings_[at / 4];
    if (known.at != at)
        known = {static_cast<uint32_t>(at), add(text)};
    return known.offset;
}

StrOff StringTable::add(std::string_view text)
{
    text = text.substr(0, text.find('\0'));
    if (text.empty() || is_full_)
        return StrOff{0}; // the empty string, which is in this table or in the base
    const auto end = static_cast<uint32_t>(blob_.size());
    auto [offset, is_new] =
        index_.find_or_add(XXH3_64bits(text.data(), text.size()), end, [&](uint32_t old) {
            return text.size() < end - old && blob_[old + text.size()] == '\0' &&
                   std::memcmp(blob_.data() + old, text.data(), text.size()) == 0;
        });
    if (is_new) {
        if (text.size() >= most_bytes - end) {
            is_full_ = true;
            return StrOff{0};
        }
        longest_ = std::max(longest_, text.size());
        blob_.append(text);
        blob_.push_back('\0');
    }
    return StrOff{first_ + offset};
}

bool StringTable::has_odd_character()
{
    odd_ = odd_ || btflink::has_odd_character(std::string_view(blob_).substr(checked_));
    checked_ = blob_.size();
    return odd_;
}

void StringTable::reserve(size_t strings, size_t bytes)
{
    blob_.reserve(bytes);
    index_ = FlatIndex(strings);
}

void BtfBuilder::reserve(size_t types, size_t words, size_t strings, size_t string_bytes)
{
    starts_.reserve(types);
    words_.reserve(words);
    if (!shared_)
        strings_.reserve(strings, string_bytes);
}

TypeId BtfBuilder::begin(btf::Kind kind, StrOff name, uint32_t third, bool kflag,
                         std::initializer_list<uint32_t> fixed)
{
    TypeId id = next_id();
    starts_.push_back(static_cast<uint32_t>(words_.size()));
    words_.insert(words_.end(), {raw(name), btf::make_info(kind, 0, kflag), third});
    words_.insert(words_.end(), fixed);
    return id;
}

void BtfBuilder::add_element(std::initializer_list<uint32_t> words)
{
    CHECK(!starts_.empty());
    uint32_t &info = words_[starts_.back() + 1];
    if ((info & btf::max_vlen) == btf::max_vlen) {
        too_large_ = true;
        return;
    }
    ++info;
    for (uint32_t word : words) // not insert(), for which gcc 14 wrongly warns of an overflow
        words_.push_back(word);
}

void BtfBuilder::add_enumerator(StrOff name, uint64_t value)
{
    const auto low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
    if (btf::kind_of(words_[starts_.back() + 1]) == btf::Kind::ENUM64)
        add_element({raw(name), low, high});
    else
        add_element({raw(name), low});
}

TypeId BtfBuilder::add_words(std::span<const uint32_t> words)
{
    TypeId id = next_id();
    starts_.push_back(static_cast<uint32_t>(words_.size()));
    words_.insert(words_.end(), words.begin(), words.end());
    return id;
}

void BtfBuilder::renumber(std::span<const TypeId> new_ids)
{
    CHECK(new_ids.size() == starts_.size());
    uint32_t kept = 0, end = 0; // types and words that were kept so far
    for (size_t i = 0; i < new_ids.size(); ++i) {
        if (raw(new_ids[i]) != first_ + kept)
            continue;
        auto &t = *reinterpret_cast<btf_type *>(&words_[starts_[i]]);
        const uint32_t size = btf::words_of(t);
        btf::for_each_type_id(t, [&](uint32_t &id) {
            if (id >= first_)
                id = raw(new_ids[id - first_]);
        });
        std::memmove(&words_[end], &t, size * sizeof(uint32_t));
        starts_[kept++] = end;
        end += size;
    }
    starts_.resize(kept);
    words_.resize(end);
}

std::vector<std::byte> BtfBuilder::serialize(ByteOrder order, size_t room) const
{
    return btf_blob(words_, strings().blob(), order, room);
}

void add_layout(std::vector<std::byte> &blob, ByteOrder order, bool section)
{
    auto word = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
    auto set = [&](size_t at, uint32_t value) { store(blob.data() + at, value, order); };
    CHECK(word(4) == btf::header_size && word(8) == 0 && word(12) == word(16));
    const uint32_t type_len = word(12), length = section ? btf::kind_count * layout_entry_size : 0;
    // For each kind: bytes after the head, bytes of an element, two bytes of flags (0).
    std::byte entries[btf::kind_count * layout_entry_size] = {};
    for (uint32_t kind = 1; kind < btf::kind_count; ++kind) {
        std::byte *entry = entries + size_t{kind} * layout_entry_size;
        entry[0] = std::byte(btf::kinds[kind].fixed.count * 4);
        entry[1] = std::byte(btf::kinds[kind].element.count * 4);
    }
    blob.reserve(blob.size() + layout_header_size - btf::header_size + length);
    const auto types_end = blob.begin() + btf::header_size + type_len;
    blob.insert(types_end, entries, entries + length);
    blob.insert(blob.begin() + btf::header_size, layout_header_size - btf::header_size,
                std::byte{0});
    set(4, layout_header_size);
    set(16, type_len + length);
    if (section) {
        set(layout_fields, type_len);
        set(layout_fields + 4, length);
    }
}

} // namespace btflink
