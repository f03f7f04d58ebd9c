// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A BTF blob in memory: read-only, in host byte order. parse() checks it: afterwards every type id
// and string offset in it is in range, and every string is terminated, so readers need not check
// again. The form of names, and sizes and offsets in types, are *not* checked here (see
// btf_check.h).
//
// btf-merge reads only one of equal types, so most types of an object's blob are never read. For
// such blobs, and for a base with an index, sampled() makes a Btf that finds and checks a type only
// when it is accessed. The guarantee then holds for every accessed type; a MalformedFlag records
// whether one was malformed.
#pragma once

#include "common/btf/btf_format.h"
#include "common/graph/ids.h"
#include "common/io/bytes.h"
#include "common/result.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace btflink
{

/// The id of a type in a blob, or in its base. 0 is void.
enum class TypeId : uint32_t {};
/// A byte offset into the strings of a blob. The strings of its base come first. 0 is "".
enum class StrOff : uint32_t {};

constexpr TypeId void_id{0};

/// The byte order of the BTF at the start of `bytes`, by its magic number; nothing for other data.
std::optional<ByteOrder> order_of_btf(Bytes bytes);

/// The size in bytes of the blob at the start of `bytes`, by the header of the blob.
Result<uint64_t> btf_blob_size(Bytes bytes, const Where &where);

// The layout section of BTF states the length of types of each kind, so that a reader can skip
// kinds that it does not know. Kernels read it from 7.1 on (commit 222edc843c15). It is between
// types and strings, and has 4 bytes for each kind that the writer knew; the header has two more
// words. Source: struct btf_layout and btf_header of <linux/btf.h>.

constexpr uint32_t layout_fields = 24;      // byte offset of layout_off, layout_len in the header
constexpr uint32_t layout_header_size = 32; // bytes of a header with these fields
constexpr uint32_t layout_entry_size = 4;

/// The position of a layout section in bytes from the end of the header. Length 0: no section.
struct LayoutPlace {
    uint32_t offset = 0;
    uint32_t length = 0;
};
/// Reads the position from the header at the start of `blob`. `header_length`: hdr_len, already
/// checked.
LayoutPlace layout_place(Bytes blob, uint32_t header_length, ByteOrder order);

/// A blob whose types are found by position samples: the word index of each types_per_sample-th
/// type, beginning with the first.
struct SampledTypes {
    std::span<const uint32_t> words;
    std::span<const uint32_t> samples;
    uint32_t count; // number of types
    // Types with lower ids are not FUNCs, VARs or DATASECs, and refer only to each other.
    uint32_t plain_end;
    std::string_view strings;
    uint64_t types_offset = 0; // of `words`, from the blob's start
};
constexpr uint32_t types_per_sample = 4;
/// The number of samples of a blob with `types` types.
constexpr uint32_t sample_count(uint32_t types)
{
    return (types + types_per_sample - 1) / types_per_sample;
}

/// The types and strings of a blob, without copying them; the caller adds samples and `plain_end`.
/// Nothing if the header or the strings are malformed, or if the blob is split BTF, not in host
/// order, not aligned, or too short for `count` types. Also nothing if a string is very long:
/// unlike parse(), sampled() does not call check_long_names().
std::optional<SampledTypes> types_in_place(Bytes blob, uint32_t count);

/// Records whether an accessed type was malformed (Btf::sampled()).
class MalformedFlag
{
public:
    bool is_set() const { return set_.load(std::memory_order_relaxed); }
    void set() { set_.store(true, std::memory_order_relaxed); }

private:
    std::atomic<bool> set_ = false;
};

/// Types that are not stored as a blob, for example because they are made on access.
class TypeStore
{
public:
    virtual ~TypeStore() = default;
    /// `index`: id - 1. The returned type must not move. Several threads may call this.
    virtual const btf_type &type(uint32_t index) const = 0;
};

class Btf
{
public:
    /// Parses one blob at the start of `bytes`, in either byte order; anything after the blob is
    /// ignored (see blob_size()). `base`: the BTF that a split blob extends; kept alive by the
    /// result. Strings are *not* copied, nor are aligned types in host byte order: `bytes` must
    /// outlive the Btf.
    static Result<Btf> parse(Bytes bytes, Where where, std::shared_ptr<const Btf> base = nullptr);

    /// True if the strings of the blob at the start of `bytes` do not begin with the empty string:
    /// the blob is split BTF, or malformed. False if `bytes` do not begin with a valid header.
    static bool seems_split(Bytes bytes);

    /// A Btf of words and strings that were already checked or come from a BtfBuilder. They must
    /// outlive the Btf and not move. `starts`: word index of each type.
    static Btf trusted(std::span<const uint32_t> words, std::vector<uint32_t> starts,
                       std::string_view strings);

    /// A Btf of `count` types in `store`, without words(). `store` and `strings` must outlive
    /// the Btf. `order`: byte order of the file that the types come from.
    static Btf stored(const TypeStore &store, uint32_t count, std::string_view strings,
                      ByteOrder order);

    /// A Btf of types that are checked on access. For a malformed type, type() sets `malformed` and
    /// returns an INT without a name. `malformed` and the memory of `types` must outlive the Btf.
    static Btf sampled(const SampledTypes &types, MalformedFlag &malformed);
    bool is_sampled() const { return samples_ != nullptr; }

    /// Id of this blob's first type (1, or the one after the base's last).
    TypeId first_id() const { return TypeId{first_}; }
    /// One past the last id.
    TypeId end_id() const { return TypeId{first_ + count_}; }
    /// The ids of the types of this blob itself.
    IdRange<TypeId> ids() const { return {first_id(), end_id()}; }
    /// Number of types in this blob, without the base's.
    uint32_t size() const { return count_; }

    /// The type `id`, which may be any in [1, end_id()), including the base's.
    const btf_type &type(TypeId id) const
    {
        if (raw(id) < first_)
            return base_->type(id);
        if (!by_starts_)
            return type_on_access(raw(id) - first_);
        return *reinterpret_cast<const btf_type *>(words_ + starts_[raw(id) - first_]);
    }
    btf::Kind kind(TypeId id) const
    {
        return id == void_id ? btf::Kind::VOID : btf::kind_of(type(id));
    }
    /// A NUL byte follows the last character.
    std::string_view str(uint32_t offset) const { return text(offset); }
    std::string_view str(StrOff offset) const { return str(raw(offset)); }
    /// The same without measuring the length, for callers that look only at the first bytes.
    const char *text(uint32_t offset) const
    {
        return offset < str_base_ ? base_->text(offset) : strings_ + (offset - str_base_);
    }
    std::string_view name(TypeId id) const
    {
        return id == void_id ? std::string_view() : str(type(id).name_off);
    }
    /// Is the type a FUNC, VAR or DATASEC, or a tag of one? The link chooses these.
    bool is_of_link(TypeId id) const
    {
        const btf_type &t = type(id);
        return btf::is_of_link(btf::kind_of(t)) ||
               (btf::kind_of(t) == btf::Kind::DECL_TAG && btf::is_of_link(kind(TypeId{t.type})));
    }
    const char *kind_name(TypeId id) const { return btf::kind_info(kind(id)).name; }

    const std::shared_ptr<const Btf> &base() const { return base_; }
    /// String offsets of this blob begin here: at 0, or at the number of string bytes of all bases.
    uint32_t str_base() const { return str_base_; }
    /// Bytes of this blob's own string section.
    uint32_t str_size() const { return str_size_; }
    std::string_view strings() const { return {strings_, str_size_}; }
    /// Words of this blob's types part, in host order.
    std::span<const uint32_t> words() const { return {words_, word_count_}; }
    /// Replaces words() by `words`, which are in host order and are not checked. Each type must
    /// have the same place and size as before.
    void replace_words(std::vector<uint32_t> words);
    /// Word index in words() of a type of this blob; 0 for a malformed type of a sampled() Btf.
    uint32_t word_index(TypeId id) const;
    /// Bytes of the blob that parse() read, from its header to the end of its last part.
    uint64_t blob_size() const { return blob_size_; }
    /// Byte offset, from the blob's start, of the types part.
    uint64_t types_offset() const { return types_offset_; }
    ByteOrder order() const { return order_; }
    /// May it have names that check_long_names() counts? False unless parse() made the Btf.
    bool has_long_names() const { return long_names_; }

    Btf(Btf &&) = default; // not copied: words() may point into it
    Btf &operator=(Btf &&) = default;

private:
    Btf() = default;
    /// A type of this blob without an entry in starts_.
    const btf_type &type_on_access(uint32_t index) const
    {
        return store_ ? store_->type(index) : sampled_type(index);
    }
    const btf_type &sampled_type(uint32_t index) const;

    std::shared_ptr<const Btf> base_;
    const uint32_t *words_ = nullptr; // own types part; points into copy_ or into the input
    size_t word_count_ = 0;
    std::vector<uint32_t> copy_;
    // Types are found by starts_, or else by store_ or samples_, whichever is set.
    bool by_starts_ = true;
    std::vector<uint32_t> starts_; // word index of each own type
    const TypeStore *store_ = nullptr;
    const uint32_t *samples_ = nullptr;
    uint32_t count_ = 0;
    uint32_t plain_end_ = 0;             // samples only
    MalformedFlag *malformed_ = nullptr; // samples only
    const char *strings_ = nullptr;
    uint32_t str_size_ = 0;
    uint32_t str_base_ = 0;
    bool long_names_ = false; // may have names that check_long_names() counts; set by parse()
    uint32_t first_ = 1;
    uint64_t blob_size_ = 0;
    uint64_t types_offset_ = 0;
    ByteOrder order_ = host_order;
};

constexpr size_t long_name = 1024; // characters; in most kinds of types, kernels allow 512
constexpr uint64_t most_long_names = 64 << 20; // characters of all long names together

/// Error: names of at least `long_name` characters add up to more than 64 MB. Any number of types
/// may share one long name, so reading all names could take far longer than reading the file. The
/// name of a DATASEC also counts once for each entry, because readers of entries read it again.
/// `types`: the position of the first type.
Result<void> check_long_names(const Btf &btf, const Where &types);

} // namespace btflink
