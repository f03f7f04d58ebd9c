// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Parses and checks BTF blobs, and finds types by position samples.
#include "common/btf/btf.h"

#include <algorithm>

namespace btflink
{

namespace
{

struct Header {
    ByteOrder order;
    uint32_t length;
    uint32_t type_off, type_len, str_off, str_len;
    LayoutPlace layout;
};

Result<Header> read_header(Bytes bytes, const Where &where)
{
    if (bytes.size() < btf::header_size)
        return fail(where, strf("not BTF: %zu bytes are too few for a header", bytes.size()));
    Header h;
    const auto order = order_of_btf(bytes);
    if (!order)
        return fail(where, strf("not BTF: magic is 0x%04x, not 0x%04x",
                                load<uint16_t>(bytes.data(), ByteOrder::little), BTF_MAGIC));
    h.order = *order;
    auto version = static_cast<uint8_t>(bytes[2]);
    if (version != BTF_VERSION)
        return fail(where, strf("BTF version %u is not supported (only 1 is)", version));
    auto word = [&](size_t at) { return load<uint32_t>(bytes.data() + at, h.order); };
    h.length = word(4);
    h.type_off = word(8);
    h.type_len = word(12);
    h.str_off = word(16);
    h.str_len = word(20);
    if (h.length < btf::header_size || h.length > bytes.size())
        return fail(where.after(4), strf("BTF header length is %u, which is impossible", h.length));
    uint64_t room = bytes.size() - h.length;
    if (h.type_off % 4 || uint64_t{h.type_off} + h.type_len > room)
        return fail(where.after(8),
                    strf("BTF types (%u bytes at %u) are misaligned, or do not fit into %zu bytes",
                         h.type_len, h.type_off, bytes.size()));
    if (uint64_t{h.str_off} + h.str_len > room)
        return fail(where.after(16), strf("BTF strings (%u bytes at %u) do not fit into %zu bytes",
                                          h.str_len, h.str_off, bytes.size()));
    if (uint64_t{h.type_off} + h.type_len > h.str_off && h.str_len && h.type_len &&
        uint64_t{h.str_off} + h.str_len > h.type_off)
        return fail(where.after(16), "BTF types and strings overlap");
    h.layout = layout_place(bytes, h.length, h.order);
    if (uint64_t{h.layout.offset} + h.layout.length > room)
        return fail(where.after(layout_fields),
                    strf("BTF layout (%u bytes at %u) does not fit into %zu bytes", h.layout.length,
                         h.layout.offset, bytes.size()));
    return h;
}

uint64_t end_of(const Header &h)
{
    return h.length + std::max({uint64_t{h.type_off} + h.type_len, uint64_t{h.str_off} + h.str_len,
                                uint64_t{h.layout.offset} + h.layout.length});
}

/// The error for the type at words[at], for which checked_words() is 0.
Failure bad_type(std::span<const uint32_t> words, size_t at, uint32_t id, const Where &where)
{
    if (words.size() - at < 3)
        return fail(where, strf("type %u is cut off", id));
    const btf_type &t = btf::type_at(words, at);
    const btf::Kind kind = btf::kind_of(t);
    if (!btf::is_known(kind))
        return fail(where, strf("type %u has unknown kind %u", id, static_cast<uint32_t>(kind)));
    return fail(where, strf("type %u (%s, vlen %u) is cut off", id, btf::kind_info(kind).name,
                            btf::vlen_of(t)));
}

/// The error of the first type with a type id or string offset out of range. Precondition: there is
/// such a type.
Failure bad_reference(const Btf &btf, const Where &types)
{
    const uint32_t end = raw(btf.end_id()), str_end = btf.str_base() + btf.str_size();
    for (TypeId id = btf.first_id();; id = TypeId{raw(id) + 1}) {
        CHECK(id != btf.end_id());
        const btf_type &t = btf.type(id);
        std::optional<uint32_t> bad_id, bad_off;
        btf::for_each_type_id(t, [&](uint32_t ref) {
            if (ref >= end)
                bad_id = ref;
        });
        btf::for_each_str_off(t, [&](uint32_t off) {
            if (off >= str_end)
                bad_off = off;
        });
        const Where place = types.at(*types.offset + uint64_t{btf.word_index(id)} * 4);
        if (bad_id)
            return fail(place, strf("type %u (%s) refers to type %u, but the last is %u", raw(id),
                                    btf.kind_name(id), *bad_id, end - 1));
        if (bad_off)
            return fail(place, strf("type %u (%s) has string offset %u, but strings end at %u",
                                    raw(id), btf.kind_name(id), *bad_off, str_end));
    }
}

} // namespace

Result<void> check_long_names(const Btf &btf, const Where &types)
{
    uint64_t sum = 0;
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        const bool per_entry = btf::kind_of(t) == btf::Kind::DATASEC;
        const uint64_t uses = per_entry ? 1 + uint64_t{btf::vlen_of(t)} : 1;
        btf::for_each_str_off(t, [&](uint32_t off) {
            if (sum <= most_long_names)
                if (const size_t length = btf.str(off).size(); length >= long_name)
                    sum += length * uses;
        });
        if (sum > most_long_names)
            return fail(types.after(uint64_t{btf.word_index(id)} * 4),
                        strf("type %u (%s): names of more than %zu characters add up to %llu MB",
                             raw(id), btf.kind_name(id), long_name - 1,
                             ull(most_long_names >> 20)));
    }
    return {};
}

LayoutPlace layout_place(Bytes blob, uint32_t header_length, ByteOrder order)
{
    if (header_length < layout_header_size)
        return {};
    auto word = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
    LayoutPlace place{word(layout_fields), word(layout_fields + 4)};
    return place.length ? place : LayoutPlace();
}

std::optional<ByteOrder> order_of_btf(Bytes bytes)
{
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big})
        if (bytes.size() >= 2 && load<uint16_t>(bytes.data(), order) == BTF_MAGIC)
            return order;
    return std::nullopt;
}

Result<uint64_t> btf_blob_size(Bytes bytes, const Where &where)
{
    auto header = TRY(read_header(bytes, where));
    return end_of(header);
}

std::optional<SampledTypes> types_in_place(Bytes blob, uint32_t count)
{
    const auto h = read_header(blob, Where{});
    if (!h || h->order != host_order || h->type_len % 4 || h->str_len == 0 ||
        count > h->type_len / sizeof(btf_type))
        return std::nullopt;
    const uint64_t offset = uint64_t{h->length} + h->type_off;
    const std::byte *types = blob.data() + offset;
    const auto *strings = reinterpret_cast<const char *>(blob.data() + h->length + h->str_off);
    if (reinterpret_cast<uintptr_t>(types) % 4 || strings[0] || strings[h->str_len - 1])
        return std::nullopt;
    constexpr size_t very_long = 16 * 1024; // with a smaller value, the search would take longer
    if (may_have_string({strings, h->str_len}, very_long))
        return std::nullopt;
    const std::span words(reinterpret_cast<const uint32_t *>(types), h->type_len / 4);
    return SampledTypes{words, {}, count, 0, {strings, h->str_len}, offset};
}

Btf Btf::trusted(std::span<const uint32_t> words, std::vector<uint32_t> starts,
                 std::string_view strings)
{
    Btf btf;
    btf.words_ = words.data();
    btf.word_count_ = words.size();
    btf.starts_ = std::move(starts);
    btf.count_ = static_cast<uint32_t>(btf.starts_.size());
    btf.strings_ = strings.data();
    btf.str_size_ = static_cast<uint32_t>(strings.size());
    return btf;
}

Btf Btf::stored(const TypeStore &store, uint32_t count, std::string_view strings, ByteOrder order)
{
    Btf btf;
    btf.by_starts_ = false;
    btf.store_ = &store;
    btf.count_ = count;
    btf.strings_ = strings.data();
    btf.str_size_ = static_cast<uint32_t>(strings.size());
    btf.order_ = order;
    return btf;
}

Btf Btf::sampled(const SampledTypes &types, MalformedFlag &malformed)
{
    CHECK(types.samples.size() == sample_count(types.count));
    Btf btf;
    btf.words_ = types.words.data();
    btf.word_count_ = types.words.size();
    btf.by_starts_ = false;
    btf.samples_ = types.samples.data();
    btf.count_ = types.count;
    btf.plain_end_ = types.plain_end;
    btf.malformed_ = &malformed;
    btf.strings_ = types.strings.data();
    btf.str_size_ = static_cast<uint32_t>(types.strings.size());
    btf.types_offset_ = types.types_offset;
    return btf;
}

const btf_type &Btf::sampled_type(uint32_t index) const
{
    static constexpr uint32_t stand_in[4] = {0, btf::make_info(btf::Kind::INT, 0, false), 4, 32};
    auto damaged = [&]() -> const btf_type & {
        malformed_->set();
        return *reinterpret_cast<const btf_type *>(stand_in);
    };
    const std::span words(words_, word_count_);
    uint64_t at = samples_[index / types_per_sample], size = 0;
    for (uint32_t steps = index % types_per_sample + 1; steps; --steps) {
        at += size;
        size = btf::checked_words(words, at);
        if (!size)
            return damaged();
    }
    const btf_type &t = btf::type_at(words, at);
    const bool plain = index + first_ < plain_end_;
    if (plain && btf::is_of_link(btf::kind_of(t)))
        return damaged();
    const uint32_t end = plain ? plain_end_ : first_ + count_;
    bool ok = true;
    btf::for_each_type_id(t, [&](uint32_t ref) { ok &= ref < end; });
    btf::for_each_str_off(t, [&](uint32_t off) { ok &= off < str_size_; });
    return ok ? t : damaged();
}

void Btf::replace_words(std::vector<uint32_t> words)
{
    CHECK(words.size() == word_count_);
    copy_ = std::move(words);
    words_ = copy_.data();
}

uint32_t Btf::word_index(TypeId id) const
{
    CHECK(!store_);
    if (by_starts_)
        return starts_[raw(id) - first_];
    auto *words = reinterpret_cast<const uint32_t *>(&sampled_type(raw(id) - first_));
    const bool is_ours = words >= words_ && words < words_ + word_count_; // not the stand-in
    return is_ours ? static_cast<uint32_t>(words - words_) : 0;
}

bool Btf::seems_split(Bytes bytes)
{
    const auto h = read_header(bytes, Where{});
    return h && (h->str_len == 0 || bytes[uint64_t{h->length} + h->str_off] != std::byte{0});
}

Result<Btf> Btf::parse(Bytes bytes, Where where, std::shared_ptr<const Btf> base)
{
    const Header h = TRY(read_header(bytes, where));

    Btf btf;
    btf.base_ = std::move(base);
    btf.order_ = h.order;
    btf.types_offset_ = uint64_t{h.length} + h.type_off;
    uint64_t strings_offset = uint64_t{h.length} + h.str_off;
    btf.blob_size_ = end_of(h);
    if (btf.base_) {
        btf.first_ = raw(btf.base_->end_id());
        btf.str_base_ = btf.base_->str_base_ + btf.base_->str_size_;
    }
    btf.strings_ = reinterpret_cast<const char *>(bytes.data()) + strings_offset;
    btf.str_size_ = h.str_len;
    if (h.str_len && btf.strings_[h.str_len - 1] != 0)
        return fail(where.after(strings_offset), "BTF strings do not end in a NUL byte");
    if (!btf.base_ && seems_split(bytes))
        return fail(where.after(strings_offset), "BTF strings do not begin with the empty "
                                                 "string; split BTF needs its base");
    if (uint64_t{btf.str_base_} + btf.str_size_ > UINT32_MAX)
        return fail(where.after(strings_offset), "BTF strings of base and split exceed 4 GB");

    if (h.type_len % 4)
        return fail(where.after(12), "length of the BTF types part is not a multiple of 4");
    btf.word_count_ = h.type_len / 4;
    const std::byte *types = bytes.data() + btf.types_offset_;
    if (h.order == host_order && reinterpret_cast<uintptr_t>(types) % 4 == 0) {
        btf.words_ = reinterpret_cast<const uint32_t *>(types);
    } else {
        btf.copy_.resize(btf.word_count_);
        for (size_t i = 0; i < btf.word_count_; ++i)
            btf.copy_[i] = load<uint32_t>(types + i * 4, h.order);
        btf.words_ = btf.copy_.data();
    }

    btf.starts_.reserve(btf.word_count_ / 3);
    uint32_t last_type = 0, last_str = 0; // the highest type id and string offset in types
    for (size_t at = 0; at < btf.word_count_;) {
        auto place = [&] { return where.after(btf.types_offset_ + at * 4); };
        uint32_t id = btf.first_ + static_cast<uint32_t>(btf.starts_.size());
        const uint32_t size = btf::checked_words(btf.words(), at);
        if (!size)
            return bad_type(btf.words(), at, id, place());
        const btf_type &t = btf::type_at(btf.words(), at);
        btf::for_each_type_id(t, [&](uint32_t ref) { last_type = std::max(last_type, ref); });
        btf::for_each_str_off(t, [&](uint32_t off) { last_str = std::max(last_str, off); });
        btf.starts_.push_back(static_cast<uint32_t>(at));
        at += size;
    }
    btf.count_ = static_cast<uint32_t>(btf.starts_.size());

    if (last_type >= raw(btf.end_id()) || last_str >= btf.str_base_ + btf.str_size_)
        return bad_reference(btf, where.after(btf.types_offset_));
    // With half the length, may_have_string() finds every string of `long_name` characters.
    btf.long_names_ =
        (btf.base_ && btf.base_->long_names_) || may_have_string(btf.strings(), long_name / 2);
    if (btf.long_names_)
        TRY(check_long_names(btf, where.after(btf.types_offset_)));
    return btf;
}

} // namespace btflink
