// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds a BTF blob: types in the order in which they are added, strings in the order in which they
// are first used. A type may refer to a type that is added later.
#pragma once

#include "common/btf/btf.h"
#include "common/graph/tables.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace btflink
{

/// A blob of types (words in host order) and strings after a 24-byte header. Together they must be
/// less than 4 GB. `room`: bytes to reserve after the blob, for the caller to append to.
std::vector<std::byte> btf_blob(std::span<const uint32_t> words, std::string_view strings,
                                ByteOrder order, size_t room = 0);

/// The strings of a blob: each once, at its own offset; offset 0 is "". Names in an input file may
/// be tails of one string, so in total they can be far longer than the file. Therefore a table has
/// a limit, beyond which it adds nothing.
class StringTable
{
public:
    /// The limit. Kernels accept 16 MB, but a table for many units also has strings that are not in
    /// the result.
    static constexpr uint32_t most_bytes = 64 << 20;
    /// `first`: offset of the first string (a split BTF continues its base's offsets). Only a table
    /// that starts at 0 contains the empty string.
    explicit StringTable(uint32_t first = 0);
    /// A table for many blobs, most of whose strings are in `section`, such as .debug_str. The
    /// table remembers by offset in the section which strings it has added, and needs 8 bytes of
    /// memory per 4 bytes of the section for this.
    explicit StringTable(std::string_view section);
    /// The offset of `text`, which is added if it is new. Anything after a NUL byte is ignored.
    StrOff add(std::string_view text);
    /// Like add(), for NUL-terminated text. If `text` points into the section and was added from
    /// there before, its characters are usually not read again.
    StrOff add_stable(const char *text);
    /// Prefetches what add_stable(text) reads first, if `text` is in the section.
    void prefetch(const char *text) const
    {
        if (const size_t at = section_offset(text); at < section_.size())
            __builtin_prefetch(&section_strings_[at / 4]);
    }
    /// The string at `off`, which must be in this table.
    std::string_view at(StrOff off) const { return blob_.data() + (raw(off) - first_); }
    const std::string &blob() const { return blob_; }
    /// Did a string not fit within the limit? From then on, add() returns 0 for any text, even if
    /// the table has it.
    bool is_full() const { return is_full_; }
    /// Characters of the longest string that was added.
    size_t longest() const { return longest_; }
    /// Does any string contain '$' or a byte beyond ASCII? Compilers allow these in identifiers.
    bool has_odd_character();
    /// Reserves memory for `strings` strings of `bytes` bytes in all. Call it before add().
    void reserve(size_t strings, size_t bytes);

private:
    /// A string of the section that was added.
    struct SectionString {
        uint32_t at = UINT32_MAX; // offset in the section
        StrOff offset{};          // offset in the table
    };
    /// The offset of `text` in the section; at least the section's size if `text` is not in it.
    size_t section_offset(const char *text) const
    {
        return reinterpret_cast<uintptr_t>(text) - reinterpret_cast<uintptr_t>(section_.data());
    }

    std::string_view section_;
    // One per 4 bytes of the section. Strings that begin in the same 4 bytes replace each other,
    // but most strings are longer than 4 bytes.
    std::vector<SectionString> section_strings_;
    std::string blob_;
    FlatIndex index_; // of offsets into blob_
    uint32_t first_;
    bool is_full_ = false;
    size_t longest_ = 0;
    size_t checked_ = 0; // bytes of blob_ that has_odd_character() has read
    bool odd_ = false;   // has_odd_character() has found one
};

class BtfBuilder
{
public:
    /// `first`, `first_string`: the first id and string offset, for split BTF.
    explicit BtfBuilder(TypeId first = TypeId{1}, uint32_t first_string = 0)
        : strings_(first_string), first_(raw(first))
    {
    }
    /// Strings go into `shared`, which must outlive the BtfBuilder, and which other builders may
    /// use before and after this one. Null: the same as BtfBuilder().
    explicit BtfBuilder(StringTable *shared) : shared_(shared), first_(1) {}

    /// Reserves memory. Call it before anything is added.
    void reserve(size_t types, size_t words, size_t strings, size_t string_bytes);

    StrOff str(std::string_view text) { return strings().add(text); }
    /// See StringTable::add_stable(). nullptr is "".
    StrOff stable_str(const char *text) { return text ? strings().add_stable(text) : StrOff{0}; }
    /// See StringTable::prefetch().
    void prefetch_str(const char *text) const { strings().prefetch(text); }
    std::string_view str(StrOff off) const { return strings().at(off); }
    /// See StringTable::has_odd_character(). Includes strings that other builders added to a shared
    /// table.
    bool has_odd_character() { return strings().has_odd_character(); }
    /// The id that the next type added will get.
    TypeId next_id() const { return TypeId{first_ + static_cast<uint32_t>(starts_.size())}; }

    // In the functions below, `auto name` is a text, or the offset of a string that was added.

    /// `encoding`: BTF_INT_* flags. `size` in bytes; all bits are used, at offset 0.
    TypeId add_int(auto name, uint32_t size, uint32_t encoding)
    {
        return begin(btf::Kind::INT, offset_of(name), size, false, {encoding << 24 | size * 8});
    }
    TypeId add_float(auto name, uint32_t size)
    {
        return begin(btf::Kind::FLOAT, offset_of(name), size);
    }
    /// PTR, CONST, VOLATILE, RESTRICT (no name), TYPEDEF, TYPE_TAG (with a name).
    TypeId add_ref(btf::Kind kind, auto name, TypeId target, bool kflag = false)
    {
        return begin(kind, offset_of(name), raw(target), kflag);
    }
    TypeId add_array(TypeId element, TypeId index, uint32_t count)
    {
        return begin(btf::Kind::ARRAY, StrOff{0}, 0, false, {raw(element), raw(index), count});
    }
    TypeId add_fwd(auto name, bool is_union)
    {
        return begin(btf::Kind::FWD, offset_of(name), 0, is_union);
    }
    /// kind: STRUCT or UNION. Members follow by add_member().
    TypeId add_composite(btf::Kind kind, auto name, uint32_t size, bool kflag)
    {
        return begin(kind, offset_of(name), size, kflag);
    }
    /// `offset`: bit offset, with the bitfield size in the top 8 bits if the type has kflag.
    void add_member(auto name, TypeId type, uint32_t offset)
    {
        add_element({raw(offset_of(name)), raw(type), offset});
    }
    /// kind: ENUM or ENUM64. Values follow by add_enumerator().
    TypeId add_enum(btf::Kind kind, auto name, uint32_t size, bool is_signed)
    {
        return begin(kind, offset_of(name), size, is_signed);
    }
    void add_enumerator(StrOff name, uint64_t value);
    void add_enumerator(std::string_view name, uint64_t value) { add_enumerator(str(name), value); }
    TypeId add_func_proto(TypeId result)
    {
        return begin(btf::Kind::FUNC_PROTO, StrOff{0}, raw(result));
    }
    void add_param(auto name, TypeId type) { add_element({raw(offset_of(name)), raw(type)}); }
    TypeId add_func(auto name, TypeId proto, uint32_t linkage)
    {
        const TypeId id = begin(btf::Kind::FUNC, offset_of(name), raw(proto));
        words_[starts_.back() + 1] |= linkage;
        return id;
    }
    TypeId add_var(std::string_view name, TypeId type, uint32_t linkage)
    {
        return begin(btf::Kind::VAR, str(name), raw(type), false, {linkage});
    }
    TypeId add_datasec(std::string_view name, uint32_t size)
    {
        return begin(btf::Kind::DATASEC, str(name), size);
    }
    void add_secinfo(TypeId var, uint32_t offset, uint32_t size)
    {
        add_element({raw(var), offset, size});
    }
    /// `component`: -1 for the declaration itself, else index of the member or parameter.
    TypeId add_decl_tag(std::string_view text, TypeId target, int32_t component, bool kflag = false)
    {
        return begin(btf::Kind::DECL_TAG, str(text), raw(target), kflag,
                     {static_cast<uint32_t>(component)});
    }
    /// Adds a type as raw words in host order, with ids and string offsets of this blob.
    TypeId add_words(std::span<const uint32_t> words);
    /// Gives each type the id new_ids[id - first id] and updates references. A type whose new id is
    /// that of an earlier type is dropped; the others must be numbered in order, without gaps. The
    /// strings of dropped types stay in the blob.
    void renumber(std::span<const TypeId> new_ids);

    /// A type that was added before. May be changed in place. Invalidated by the next addition.
    btf_type &type(TypeId id)
    {
        return *reinterpret_cast<btf_type *>(&words_[starts_[raw(id) - first_]]);
    }
    uint32_t word_index(TypeId id) const { return starts_[raw(id) - first_]; }
    size_t words() const { return words_.size(); }
    size_t string_bytes() const { return strings().blob().size(); }
    /// See StringTable::is_full().
    bool is_full() const { return strings().is_full(); }
    size_t longest_name() const { return strings().longest(); }

    /// The types so far, for reading. Invalidated by the next addition. Ids are counted from 1, and
    /// string offsets from 0, so the types of split BTF cannot be read.
    Btf view() const { return Btf::trusted(words_, starts_, strings().blob()); }
    /// The blob: 24-byte header, types, strings. The BtfBuilder stays usable. Precondition: less
    /// than 4 GB, and neither too_large() nor is_full(). `room`: as for btf_blob().
    std::vector<std::byte> serialize(ByteOrder order, size_t room = 0) const;
    /// Were elements left out because their type already had 65,535, the most that every kernel
    /// accepts?
    bool too_large() const { return too_large_; }

private:
    StrOff offset_of(StrOff name) { return name; }
    StrOff offset_of(std::string_view name) { return str(name); }
    /// `fixed`: the words after the head.
    TypeId begin(btf::Kind kind, StrOff name, uint32_t third, bool kflag = false,
                 std::initializer_list<uint32_t> fixed = {});
    void add_element(std::initializer_list<uint32_t> words);

    StringTable &strings() { return shared_ ? *shared_ : strings_; }
    const StringTable &strings() const { return shared_ ? *shared_ : strings_; }

    std::vector<uint32_t> words_;
    std::vector<uint32_t> starts_;
    StringTable *shared_ = nullptr;
    StringTable strings_; // used unless shared_ is set
    uint32_t first_;
    bool too_large_ = false;
};

/// Extends the header of a blob from 24 to 32 bytes. `section`: whether to add a layout section as
/// well, with an entry for each known kind. Split BTF needs no section, because the layout of its
/// base applies. A distilled base gets none, because pahole writes none there.
void add_layout(std::vector<std::byte> &blob, ByteOrder order, bool section);

} // namespace btflink
