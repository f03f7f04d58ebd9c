// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Encodes link trailers, decodes and checks them, and splits sections into contributions.
#include "common/object_btf/link_trailer.h"

#include <algorithm>
#include <xxhash.h>

namespace btflink
{

namespace
{

// Lengths of the header and offsets of its fields; see common/FORMAT.md, 3. The shortest
// header (least_trailer_length) lacks the table of samples; only the full one has true signatures.
constexpr size_t full_header_length = 112, header_length = 104;
constexpr size_t flags_at = 12, object_id_at = 24, plain_end_at = 32, emitter_at = 88;
// Where the header has the descriptors (offset and count) of the tables.
constexpr size_t hashes_at = 40, functions_at = 48, proto_words_at = 56, variables_at = 64,
                 ambiguous_at = 72, addresses_at = 80, samples_at = 96, true_signatures_at = 104;
constexpr size_t hash_size = 16, function_size = 32, variable_size = 24;

/// Begins a table of `count` entries, and stores its descriptor in the header at `field`.
void put_table(ByteWriter &out, size_t field, size_t count)
{
    out.align(8);
    out.patch<uint32_t>(field, static_cast<uint32_t>(out.size()));
    out.patch<uint32_t>(field + 4, static_cast<uint32_t>(count));
}

void put_functions(ByteWriter &out, size_t field, const std::vector<LinkFunction> &functions)
{
    put_table(out, field, functions.size());
    for (const LinkFunction &f : functions) {
        out.put<uint32_t>(raw(f.name));
        out.put<uint32_t>(f.flags);
        out.put<uint64_t>(f.loose_hash);
        out.put<uint32_t>(f.pool_index);
        out.put<uint32_t>(raw(f.func));
        out.put<uint32_t>(f.proto);
        out.put<uint32_t>(f.instance);
    }
}

/// The position samples of a valid blob: where every types_per_sample-th type begins, in words of 4
/// bytes from the start of the types.
std::vector<uint32_t> find_samples(Bytes blob, ByteOrder order)
{
    auto field = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
    const std::byte *types = blob.data() + field(4) + field(8);
    uint32_t end = field(12) / 4;
    std::vector<uint32_t> samples;
    for (uint32_t at = 0, index = 0; at < end; ++index) {
        if (index % types_per_sample == 0)
            samples.push_back(at);
        btf_type t{};
        t.info = load<uint32_t>(types + size_t{at} * 4 + 4, order);
        at += btf::words_of(t);
    }
    return samples;
}

/// Writes the header. Total length, object id and descriptors of tables are zero until patched.
void put_header(ByteWriter &out, const LinkTrailer &trailer, size_t length)
{
    out.put<uint32_t>(trailer_magic);
    out.put<uint16_t>(trailer_version);
    out.put<uint16_t>(static_cast<uint16_t>(length));
    out.put<uint32_t>(0); // size, patched later
    out.put<uint32_t>(trailer.flags);
    out.put<uint32_t>(trailer.features.bits());
    out.put<uint32_t>(raw(trailer.source));
    CHECK(out.size() == object_id_at);
    out.put<uint64_t>(0);
    out.put<uint32_t>(raw(trailer.plain_end));
    out.put<uint32_t>(trailer.pool_entries);
    CHECK(out.size() == hashes_at);
    out.put_zeros(length - out.size());
    out.patch<uint32_t>(emitter_at, trailer.emitter);
}

void put_hashes(ByteWriter &out, const std::vector<Hash128> &hashes)
{
    put_table(out, hashes_at, hashes.size());
    static_assert(sizeof(Hash128) == hash_size && offsetof(Hash128, high) == 8);
    if (host_order == ByteOrder::little)
        return out.put_bytes(std::as_bytes(std::span(hashes)));
    for (const Hash128 &hash : hashes) {
        uint64_t halves[2] = {in_order(hash.low, ByteOrder::little),
                              in_order(hash.high, ByteOrder::little)};
        out.put_bytes(std::as_bytes(std::span(halves)));
    }
}

template <typename Number>
void put_numbers(ByteWriter &out, size_t field, const std::vector<Number> &numbers)
{
    put_table(out, field, numbers.size());
    for (Number number : numbers)
        out.put<Number>(number);
}

void put_variables(ByteWriter &out, const std::vector<LinkVariable> &variables)
{
    put_table(out, variables_at, variables.size());
    for (const LinkVariable &v : variables) {
        out.put<uint32_t>(raw(v.var));
        out.put<uint32_t>(raw(v.section));
        out.put<uint32_t>(v.pool_index);
        out.put<uint32_t>(v.size);
        out.put<uint32_t>(v.flags);
        out.put<uint32_t>(0);
    }
}

} // namespace

size_t trailer_room(const LinkTrailer &trailer)
{
    constexpr size_t padding = 9 * 8; // after the blob and each table
    return full_header_length + trailer.hashes.size() * hash_size +
           (trailer.functions.size() + trailer.true_signatures.size()) * function_size +
           trailer.proto_words.size() * 4 + trailer.variables.size() * variable_size +
           trailer.ambiguous.size() * 4 + trailer.addresses.size() * 8 +
           (trailer.hashes.size() / types_per_sample + 1) * 4 + padding;
}

std::vector<std::byte> encode_trailer(LinkTrailer &trailer, Bytes blob, ByteOrder order)
{
    ByteWriter out(order);
    out.reserve(trailer_room(trailer));
    const bool is_full = !trailer.true_signatures.empty();
    put_header(out, trailer, is_full ? full_header_length : header_length);
    put_hashes(out, trailer.hashes);
    put_functions(out, functions_at, trailer.functions);
    put_numbers(out, proto_words_at, trailer.proto_words);
    put_variables(out, trailer.variables);
    put_table(out, ambiguous_at, trailer.ambiguous.size());
    for (StrOff name : trailer.ambiguous)
        out.put<uint32_t>(raw(name));
    put_numbers(out, addresses_at, trailer.addresses);
    put_numbers(out, samples_at, find_samples(blob, order));
    if (is_full)
        put_functions(out, true_signatures_at, trailer.true_signatures);
    out.align(8);
    out.patch<uint32_t>(8, static_cast<uint32_t>(out.size()));

    std::vector<std::byte> bytes = out.take();
    trailer.object_id = computed_object_id(bytes, blob);
    store<uint64_t>(bytes.data() + object_id_at, trailer.object_id, order);
    return bytes;
}

namespace
{

/// Decodes and checks a trailer. Every table is checked to lie inside the trailer before it is
/// read.
class Decoder
{
public:
    Decoder(Bytes bytes, const Btf &blob, const Where &where, bool keep_hashes)
        : bytes_(bytes), blob_(blob), where_(where), keep_hashes_(keep_hashes)
    {
    }

    Result<LinkTrailer> run()
    {
        LinkTrailer t;
        TRY(header(t));
        TRY(hashes(t.hashes));
        TRY(numbers(proto_words_at, t.proto_words));
        TRY(functions(functions_at, t, t.functions));
        if (half(6) >= full_header_length)
            TRY(functions(true_signatures_at, t, t.true_signatures));
        TRY(variables(t));
        TRY(table(ambiguous_at, 4, t.ambiguous, [&](const std::byte *p) {
            t.ambiguous.push_back(StrOff{load<uint32_t>(p, order())});
            return is_str(raw(t.ambiguous.back())) ? "" : "ambiguous name is out of range";
        }));
        TRY(numbers(addresses_at, t.addresses));
        if ((t.flags & trailer_final_addresses) && t.addresses.size() != t.pool_entries)
            return bad(addresses_at, "number of addresses is not the number of pool entries");
        return t;
    }

private:
    Result<void> header(LinkTrailer &t)
    {
        if (bytes_.size() < least_trailer_length)
            return bad(0, "link trailer is cut off");
        if (half(4) != trailer_version)
            return bad(4, strf("link trailer version %u is not supported (only %u is): the object "
                               "was emitted by another version of btflink",
                               half(4), trailer_version));
        if (half(6) < least_trailer_length || half(6) > bytes_.size() || word(8) != bytes_.size())
            return bad(6, "link trailer states a wrong length");
        t.flags = word(flags_at);
        t.features = FeatureSet(word(16));
        t.emitter = word(emitter_at);
        t.source = StrOff{word(20)};
        t.object_id = load<uint64_t>(at(object_id_at), order());
        t.plain_end = TypeId{word(plain_end_at)};
        t.pool_entries = word(36);
        if (!is_str(word(20)))
            return bad(20, "source name is out of range");
        if (t.plain_end == void_id || raw(t.plain_end) > raw(blob_.end_id()))
            return bad(plain_end_at, "number of plain types is out of range");
        return {};
    }

    Result<void> hashes(std::vector<Hash128> &out)
    {
        TRY(fits(hashes_at, hash_size));
        if (keep_hashes_)
            TRY(table(hashes_at, hash_size, out, [&](const std::byte *p) {
                out.push_back({load<uint64_t>(p, ByteOrder::little),
                               load<uint64_t>(p + 8, ByteOrder::little)});
                return "";
            }));
        if (word(hashes_at + 4) != blob_.size())
            return bad(hashes_at, "number of hashes is not the number of types");
        return {};
    }

    template <typename Number>
    Result<void> numbers(size_t field, std::vector<Number> &out)
    {
        return table(field, sizeof(Number), out, [&](const std::byte *p) {
            out.push_back(load<Number>(p, order()));
            return "";
        });
    }

    Result<void> variables(LinkTrailer &t)
    {
        return table(variables_at, variable_size, t.variables, [&](const std::byte *p) {
            auto w = [&](size_t i) { return load<uint32_t>(p + i, order()); };
            t.variables.push_back({TypeId{w(0)}, StrOff{w(4)}, w(8), w(12), w(16)});
            if (!is_kind(w(0), btf::Kind::VAR))
                return "type of a variable is not a VAR";
            if (!is_str(w(4)))
                return "section name of a variable is out of range";
            return w(8) > t.pool_entries ? "pool index of a variable is out of range" : "";
        });
    }

    ByteOrder order() const { return blob_.order(); }
    const std::byte *at(size_t offset) const { return bytes_.data() + offset; }
    uint32_t word(size_t offset) const { return load<uint32_t>(at(offset), order()); }
    uint16_t half(size_t offset) const { return load<uint16_t>(at(offset), order()); }
    bool is_str(uint32_t off) const { return off < blob_.str_base() + blob_.str_size(); }
    bool is_type(uint32_t id) const { return id < raw(blob_.end_id()); }
    bool is_kind(uint32_t id, btf::Kind kind) const
    {
        return id && is_type(id) && blob_.kind(TypeId{id}) == kind;
    }
    Failure bad(size_t offset, std::string what) const
    {
        return fail(where_.after(offset), std::move(what));
    }

    Result<void> fits(size_t field, size_t entry_size) const
    {
        uint64_t offset = word(field), count = word(field + 4);
        if (offset > bytes_.size() || count * entry_size > bytes_.size() - offset)
            return bad(field, "a table of the link trailer does not fit into it");
        return {};
    }

    /// Calls entry(p) for each entry of the table whose {offset, count} is at `field`. entry() adds
    /// the entry at `p` to `out`, and returns what is wrong with the entry, or "".
    template <typename T, typename Entry>
    Result<void> table(size_t field, size_t entry_size, std::vector<T> &out, Entry entry)
    {
        TRY(fits(field, entry_size));
        uint64_t offset = word(field), count = word(field + 4);
        out.reserve(count);
        for (uint64_t i = 0; i < count; ++i) {
            const char *wrong = entry(at(offset + i * entry_size));
            if (*wrong)
                return bad(offset + i * entry_size, wrong);
        }
        return {};
    }

    Result<void> functions(size_t field, const LinkTrailer &t, std::vector<LinkFunction> &out)
    {
        return table(field, function_size, out, [&](const std::byte *p) {
            auto w = [&](size_t i) { return load<uint32_t>(p + i, order()); };
            LinkFunction f;
            f.name = StrOff{w(0)};
            f.flags = w(4);
            f.loose_hash = load<uint64_t>(p + 8, order());
            f.pool_index = w(16);
            f.func = TypeId{w(20)};
            f.proto = w(24);
            f.instance = w(28);
            out.push_back(f);
            if (!is_str(w(0)))
                return "name of a function is out of range";
            if (!may_read(w(0)))
                return too_long;
            if (f.pool_index > t.pool_entries)
                return "pool index of a function is out of range";
            if (&out == &t.true_signatures && f.instance >= t.functions.size())
                return "function index of a true signature is out of range";
            if (f.func == void_id)
                return check_prototype(t.proto_words, f.proto);
            const btf_type *func = is_type(raw(f.func)) ? &blob_.type(f.func) : nullptr;
            return func && btf::kind_of(*func) == btf::Kind::FUNC &&
                           is_kind(func->type, btf::Kind::FUNC_PROTO)
                       ? ""
                       : "type of a function is not a FUNC with a FUNC_PROTO";
        });
    }

    /// What is wrong with the prototype at words[at]; or "".
    const char *check_prototype(const std::vector<uint32_t> &words, uint32_t at)
    {
        if (at >= words.size() || words.size() - at < 2)
            return "prototype of a function is out of range";
        const uint64_t count = words[at + 1];
        if (count > btf::max_long_vlen)
            return "function has more parameters than BTF can count";
        if (count > (words.size() - at - 2) / 2 || !is_type(words[at]))
            return "prototype of a function is out of range";
        proto_words_used_ += 2 + count * 2;
        if (proto_words_used_ > words.size()) // a small file could cause much work
            return "prototypes of functions share words";
        for (uint64_t i = 0; i < count; ++i) {
            if (!is_str(words[at + 2 + i * 2]) || !is_type(words[at + 3 + i * 2]))
                return "parameter of a function is out of range";
            if (!may_read(words[at + 2 + i * 2]))
                return too_long;
        }
        return "";
    }

    /// Counts a name, as check_long_names() does for the names of types. False if long names add up
    /// to so many characters that reading all of them would take too long.
    bool may_read(uint32_t name)
    {
        if (blob_.has_long_names())
            if (const size_t length = blob_.str(name).size(); length >= long_name)
                long_bytes_ += length;
        return long_bytes_ <= most_long_names;
    }
    static constexpr const char *too_long =
        "names of more than 1023 characters add up to more than 64 MB";

    Bytes bytes_;
    const Btf &blob_;
    const Where &where_;
    bool keep_hashes_;
    uint64_t proto_words_used_ = 0; // by the records so far
    uint64_t long_bytes_ = 0;       // of the long names so far
};

} // namespace

Result<LinkTrailer> decode_trailer(Bytes bytes, const Btf &blob, const Where &where,
                                   bool keep_hashes)
{
    return Decoder(bytes, blob, where, keep_hashes).run();
}

std::optional<uint64_t> stated_object_id(Bytes trailer, ByteOrder order)
{
    if (trailer.size() < object_id_at + sizeof(uint64_t))
        return std::nullopt;
    return load<uint64_t>(trailer.data() + object_id_at, order);
}

uint64_t computed_object_id(Bytes trailer, Bytes blob)
{
    std::vector<std::byte> without(trailer.begin(), trailer.end());
    for (size_t at = object_id_at; at < object_id_at + sizeof(uint64_t); ++at)
        without.at(at) = std::byte{0};
    // Dropping the DWARF must not change the id. Depending on the byte order, the flag is in the
    // first or the last byte. The same bit of the other byte is not used.
    for (size_t at : {flags_at, flags_at + sizeof(uint32_t) - 1})
        without.at(at) &= ~std::byte{trailer_no_dwarf};
    return XXH3_64bits_withSeed(blob.data(), blob.size(),
                                XXH3_64bits(without.data(), without.size()));
}

Bytes trailer_hashes(Bytes trailer, ByteOrder order)
{
    uint32_t offset = load<uint32_t>(trailer.data() + hashes_at, order);
    uint32_t count = load<uint32_t>(trailer.data() + hashes_at + 4, order);
    return trailer.subspan(offset, count * hash_size);
}

TrailerSamples trailer_samples(Bytes trailer)
{
    auto word = [&](size_t at) { return load<uint32_t>(trailer.data() + at, host_order); };
    if (trailer.size() < header_length || word(0) != trailer_magic ||
        load<uint16_t>(trailer.data() + 6, host_order) < header_length)
        return {};
    uint64_t offset = word(samples_at), count = word(samples_at + 4);
    if (offset > trailer.size() || count * 4 > trailer.size() - offset)
        return {};
    auto *samples = reinterpret_cast<const uint32_t *>(trailer.data() + offset);
    if (reinterpret_cast<uintptr_t>(samples) % 4)
        return {};
    return {{samples, count}, word(hashes_at + 4), word(plain_end_at)};
}

namespace
{

/// Where in `rest` the link trailer begins, if one follows the blob of `size` bytes at the start of
/// `rest`.
std::optional<uint64_t> find_trailer(Bytes rest, uint64_t size, ByteOrder order)
{
    const uint64_t trailer = align_up(size, 8);
    if (trailer + 12 <= rest.size() &&
        load<uint32_t>(rest.data() + trailer, order) == trailer_magic)
        return trailer;
    return std::nullopt;
}

/// The contribution that begins at `at`.
Result<Contribution> read_contribution(Bytes section, uint64_t at, const Where &where)
{
    const Bytes rest = section.subspan(at);
    const uint64_t size = TRY(btf_blob_size(rest, where.after(at)));
    Contribution part{at, rest.first(size), {}, 0};
    const ByteOrder order = *order_of_btf(rest);
    if (auto trailer = find_trailer(rest, size, order)) {
        const uint64_t length = load<uint32_t>(rest.data() + *trailer + 8, order);
        if (length < least_trailer_length || length > rest.size() - *trailer)
            return fail(
                where.after(at + *trailer),
                strf(
                    "link trailer claims %llu bytes, but must have %llu or more, and %llu are left",
                    ull(length), ull(least_trailer_length), ull(rest.size() - *trailer)));
        part.trailer = rest.subspan(*trailer, length);
        part.trailer_offset = at + *trailer;
    }
    return part;
}

} // namespace

Result<std::vector<Contribution>> split_contributions(Bytes section, const Where &where)
{
    std::vector<Contribution> parts;
    for (uint64_t at = 0; at < section.size();) {
        if (section[at] == std::byte{0}) { // padding
            ++at;
            continue;
        }
        const Contribution part = TRY(read_contribution(section, at, where));
        parts.push_back(part);
        at = part.trailer.empty() ? at + part.blob.size()
                                  : part.trailer_offset + part.trailer.size();
    }
    return parts;
}

} // namespace btflink
