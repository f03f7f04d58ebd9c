// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A BTF blob in memory: read-only, in host byte order, checked whole when it was parsed. After
// parse() every type id and string offset in it is in range and every string is terminated, so
// that no reader has to check again. Names and layouts are *not* judged here (see btf_check.h).
//
// Most types of an object's blob are in other objects too and need not be looked at. marked() makes
// a Btf that finds and checks a type when it is asked for. The promise then holds for every type
// that was asked for; malformed types are noted in a Damage.
#pragma once

#include "common/btf/btf_format.h"
#include "common/btf/ids.h"
#include "common/io/bytes.h"
#include "common/result.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace btflink
{

/// Bytes that the blob at the start of `bytes` takes, by its header alone.
Result<uint64_t> btf_blob_size(Bytes bytes, const Where &where);

/// A blob whose types are found by marks: the word index of each types_per_mark-th type, from the
/// first on.
struct MarkedTypes {
    std::span<const uint32_t> words;
    std::span<const uint32_t> marks;
    uint32_t count;            // of types; there is a mark for the last
    uint32_t plain_end;        // types below refer to such only, and are no FUNC, VAR or DATASEC
    std::string_view strings;  // begins and ends with a NUL byte
    uint64_t types_offset = 0; // of `words`, from the blob's start
};
constexpr uint32_t types_per_mark = 4;
/// Marks of so many types.
constexpr uint32_t marks_for(uint32_t types)
{
    return (types + types_per_mark - 1) / types_per_mark;
}

/// The types and strings of a blob, used where they are; the caller adds marks and `plain_end`.
/// Nothing if they cannot be used so: they have another byte order, are not aligned or terminated,
/// or are too few bytes for `count` types.
std::optional<MarkedTypes> types_in_place(Bytes blob, uint32_t count);

/// Was a type found malformed when it was looked at (Btf::marked())? A pass that has a Damage of
/// its own knows what its own look-ups found.
class Damage
{
public:
    bool found() const { return found_.load(std::memory_order_relaxed); }
    void note() { found_.store(true, std::memory_order_relaxed); }

private:
    std::atomic<bool> found_ = false;
};

/// Where types are that are no blob: made when they are asked for, say. By id - 1; what it returns
/// stays where it is. May be asked by several threads.
class TypeStore
{
public:
    virtual ~TypeStore() = default;
    virtual const btf_type &type(uint32_t index) const = 0;
};

class Btf
{
public:
    /// Parse one blob at the start of `bytes`; anything behind it is ignored (see blob_size()).
    /// Either byte order. `base`: the BTF that a split blob continues; kept alive by the result.
    /// Strings and, for host byte order and aligned input, types are *not* copied: `bytes` must
    /// outlive the Btf.
    static Result<Btf> parse(Bytes bytes, Where where, std::shared_ptr<const Btf> base = nullptr);

    /// The same over words and strings that were checked already or made by us (a BtfBuilder's).
    /// They must outlive the Btf and not move. `starts`: word index of each type.
    static Btf trusted(std::span<const uint32_t> words, std::vector<uint32_t> starts,
                       std::string_view strings);

    /// The same over `count` types of somebody else's, without words(); `store` and `strings` must
    /// outlive the Btf. `order`: of the file that they are from.
    static Btf stored(const TypeStore &store, uint32_t count, std::string_view strings,
                      ByteOrder order);

    /// The same over types that are checked as they are asked for. In place of one that is not in
    /// order stands an INT without a name, and that is noted in `damage`, which must outlive the
    /// Btf.
    static Btf marked(const MarkedTypes &types, Damage &damage);
    bool is_marked() const { return marks_ != nullptr; }
    /// Of one that is_marked(): the same types, with damage noted elsewhere. This one must outlive
    /// it.
    Btf noting(Damage &damage) const;

    /// Id of the first type of this blob itself (1, or behind the base's last).
    TypeId first_id() const { return TypeId{first_}; }
    /// One past the last id.
    TypeId end_id() const { return TypeId{first_ + count_}; }
    /// Number of types of this blob itself.
    uint32_t size() const { return count_; }

    /// Any id in [1, end_id()), the base's included.
    const btf_type &type(TypeId id) const
    {
        if (raw(id) < first_)
            return base_->type(id);
        if (!by_starts_)
            return found_type(raw(id) - first_);
        return *reinterpret_cast<const btf_type *>(words_ + starts_[raw(id) - first_]);
    }
    btf::Kind kind(TypeId id) const
    {
        return id == void_id ? btf::Kind::VOID : btf::kind_of(type(id));
    }
    /// Terminated by a NUL byte behind its end.
    std::string_view str(uint32_t offset) const { return text(offset); }
    std::string_view str(StrOff offset) const { return str(raw(offset)); }
    /// The same where only its first bytes are looked at.
    const char *text(uint32_t offset) const
    {
        return offset < str_base_ ? base_->text(offset) : strings_ + (offset - str_base_);
    }
    std::string_view name(TypeId id) const
    {
        return id == void_id ? std::string_view() : str(type(id).name_off);
    }
    /// Is it for the link to choose: a function, variable or section, or a tag on one?
    bool is_of_link(TypeId id) const
    {
        const btf_type &t = type(id);
        return btf::is_of_link(btf::kind_of(t)) ||
               (btf::kind_of(t) == btf::Kind::DECL_TAG && btf::is_of_link(kind(TypeId{t.type})));
    }
    const char *kind_name(TypeId id) const { return btf::kind_info(kind(id)).name; }

    const std::shared_ptr<const Btf> &base() const { return base_; }
    /// String offsets of this blob begin here: 0, or the base's string bytes in all.
    uint32_t str_base() const { return str_base_; }
    /// Bytes of this blob's own string section.
    uint32_t str_size() const { return str_size_; }
    std::string_view strings() const { return {strings_, str_size_}; }
    /// Words of this blob's own types part, in host order.
    std::span<const uint32_t> words() const { return {words_, word_count_}; }
    /// Other words in their place: host order, each type where it was and of the same size. They
    /// are not checked.
    void replace_words(std::vector<uint32_t> words);
    /// Word index of a type of this blob itself in words().
    uint32_t word_index(TypeId id) const;
    /// Bytes from the header to the last byte of types or strings.
    uint64_t blob_size() const { return blob_size_; }
    /// Byte offset, from the blob's start, of the types part.
    uint64_t types_offset() const { return types_offset_; }
    ByteOrder order() const { return order_; }

    Btf(Btf &&) = default; // not copied: words() may point into it
    Btf &operator=(Btf &&) = default;

private:
    Btf() = default;
    const btf_type &found_type(uint32_t index) const
    {
        return store_ ? store_->type(index) : marked_type(index);
    }
    const btf_type &marked_type(uint32_t index) const;

    std::shared_ptr<const Btf> base_;
    const uint32_t *words_ = nullptr; // own types part; points into copy_ or into the input
    size_t word_count_ = 0;
    std::vector<uint32_t> copy_;
    bool by_starts_ = true;
    std::vector<uint32_t> starts_; // word index of each own type; else one of these two:
    const TypeStore *store_ = nullptr;
    const uint32_t *marks_ = nullptr;
    uint32_t count_ = 0;
    uint32_t plain_end_ = 0;   // marks only
    Damage *damage_ = nullptr; // marks only
    const char *strings_ = nullptr;
    uint32_t str_size_ = 0;
    uint32_t str_base_ = 0;
    uint32_t first_ = 1;
    uint64_t blob_size_ = 0;
    uint64_t types_offset_ = 0;
    ByteOrder order_ = host_order;
};

} // namespace btflink
