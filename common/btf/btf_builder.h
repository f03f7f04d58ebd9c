// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds one BTF blob: types in the order in which they are added, strings in the order in which
// they are first used. Type ids may be named before the type is added (DWARF refers forward).
#pragma once

#include "common/btf/btf.h"
#include "common/graph/flat_index.h"

#include <string>
#include <string_view>
#include <vector>

namespace btflink
{

/// Strings at unique offsets; offset 0 is "".
class StringTable
{
public:
    /// `first`: offset of the first string (a split BTF continues its base's offsets). Only a
    /// table that starts at 0 contains the empty string.
    explicit StringTable(uint32_t first = 0);
    /// For many blobs' strings, most of which lie in `section` and are added again and again: of
    /// these all places are remembered (8 bytes for 4 of the section's).
    explicit StringTable(std::string_view section);
    /// Offset of `text`, added if new. Text behind a NUL byte is not taken.
    StrOff add(std::string_view text);
    /// The same for text that stays where it is as long as the table lives: its place is
    /// remembered, and asking for it again does not look at it.
    StrOff add_placed(const char *text);
    /// It will be asked for soon.
    void prefetch(const char *text) const
    {
        if (const size_t at = place(text); at < section_.size())
            __builtin_prefetch(&cells_[at / 4]);
    }
    std::string_view at(StrOff off) const { return blob_.data() + (raw(off) - first_); }
    const std::string &blob() const { return blob_; }
    /// Has any string so far a character that C has in no identifier, but compilers take: '$', or
    /// one beyond ASCII?
    bool has_odd_character();
    /// Room for so many strings with so many bytes in all.
    void reserve(size_t strings, size_t bytes);

private:
    struct Placed {
        const char *text = nullptr;
        StrOff offset{};
    };
    struct Cell {
        uint32_t at = UINT32_MAX; // in the section
        StrOff offset{};
    };
    struct Short {
        uint32_t text = 0; // up to three characters
        StrOff offset{};
    };
    /// In the section; a number beyond its size: it is not there.
    size_t place(const char *text) const
    {
        return reinterpret_cast<uintptr_t>(text) - reinterpret_cast<uintptr_t>(section_.data());
    }
    StrOff insert(std::string_view text); // without NUL bytes
    StrOff add_elsewhere(const char *text);
    StrOff add_short(const char *text, size_t length);

    std::vector<Placed> placed_; // by hash of the pointer; a slot holds the last that came
    std::string_view section_;
    std::vector<Cell> cells_;   // of each fourth byte of it; its strings are longer as a rule
    std::vector<Short> shorts_; // compilers do not put these into the section
    std::string blob_;
    FlatIndex index_; // of offsets into blob_
    uint32_t first_;
    size_t looked_at_ = 0; // bytes of blob_
    bool odd_ = false;     // in these
};

class BtfBuilder
{
public:
    /// `first`, `first_string`: where ids and string offsets begin (for split BTF).
    explicit BtfBuilder(TypeId first = TypeId{1}, uint32_t first_string = 0)
        : strings_(first_string), first_(raw(first))
    {
    }
    /// Strings go to `shared`, which others use as well, before and after; it must outlive this.
    /// Null: the same as BtfBuilder().
    explicit BtfBuilder(StringTable *shared) : shared_(shared), first_(1) {}

    /// Room for so much, to be had at once. Call it before anything is added.
    void reserve(size_t types, size_t words, size_t strings, size_t string_bytes);

    StrOff str(std::string_view text) { return strings().add(text); }
    /// See StringTable::add_placed(). nullptr is "".
    StrOff placed_str(const char *text) { return text ? strings().add_placed(text) : StrOff{0}; }
    /// placed_str() will be asked for it soon.
    void prefetch_str(const char *text) const { strings().prefetch(text); }
    std::string_view str(StrOff off) const { return strings().at(off); }
    /// Also in strings that others have in a table that is shared.
    bool has_odd_character() { return strings().has_odd_character(); }
    /// The id that the next type added will get.
    TypeId next_id() const { return TypeId{first_ + static_cast<uint32_t>(starts_.size())}; }

    /// `encoding`: BTF_INT_* flags. `size` in bytes; all bits are used, at offset 0.
    TypeId add_int(StrOff name, uint32_t size, uint32_t encoding);
    TypeId add_int(std::string_view name, uint32_t size, uint32_t encoding)
    {
        return add_int(str(name), size, encoding);
    }
    TypeId add_float(std::string_view name, uint32_t size);
    /// PTR, CONST, VOLATILE, RESTRICT (no name), TYPEDEF, TYPE_TAG (with a name).
    TypeId add_ref(btf::Kind kind, StrOff name, TypeId target, bool kflag = false);
    TypeId add_ref(btf::Kind kind, std::string_view name, TypeId target, bool kflag = false)
    {
        return add_ref(kind, str(name), target, kflag);
    }
    TypeId add_array(TypeId element, TypeId index, uint32_t count);
    TypeId add_fwd(StrOff name, bool is_union);
    TypeId add_fwd(std::string_view name, bool is_union) { return add_fwd(str(name), is_union); }
    /// kind: STRUCT or UNION. Members follow by add_member().
    TypeId add_composite(btf::Kind kind, StrOff name, uint32_t size, bool kflag);
    TypeId add_composite(btf::Kind kind, std::string_view name, uint32_t size, bool kflag)
    {
        return add_composite(kind, str(name), size, kflag);
    }
    /// `offset`: bit offset, with the bitfield size in the top 8 bits if the type has kflag.
    void add_member(StrOff name, TypeId type, uint32_t offset);
    void add_member(std::string_view name, TypeId type, uint32_t offset)
    {
        add_member(str(name), type, offset);
    }
    /// kind: ENUM or ENUM64. Values follow by add_enumerator().
    TypeId add_enum(btf::Kind kind, StrOff name, uint32_t size, bool is_signed);
    TypeId add_enum(btf::Kind kind, std::string_view name, uint32_t size, bool is_signed)
    {
        return add_enum(kind, str(name), size, is_signed);
    }
    void add_enumerator(StrOff name, uint64_t value);
    void add_enumerator(std::string_view name, uint64_t value) { add_enumerator(str(name), value); }
    TypeId add_func_proto(TypeId result);
    void add_param(StrOff name, TypeId type);
    void add_param(std::string_view name, TypeId type) { add_param(str(name), type); }
    TypeId add_func(std::string_view name, TypeId proto, uint32_t linkage);
    TypeId add_var(std::string_view name, TypeId type, uint32_t linkage);
    TypeId add_datasec(std::string_view name, uint32_t size);
    void add_secinfo(TypeId var, uint32_t offset, uint32_t size);
    /// `component`: -1 for the declaration itself, else index of the member or parameter.
    TypeId add_decl_tag(std::string_view text, TypeId target, int32_t component,
                        bool kflag = false);
    /// Append a type as raw words (host order); its ids and string offsets must be ours already.
    TypeId add_words(std::span<const uint32_t> words);
    /// Give each type the id new_ids[its id - the first], and drop those whose new id is that of a
    /// type before: a type's new id is the next free one, or one given already. References follow.
    /// Strings stay all: a type must be dropped only for one that has the same ones.
    void renumber(std::span<const TypeId> new_ids);

    /// A type added before, to be looked at or changed in place.
    btf_type &type(TypeId id)
    {
        return *reinterpret_cast<btf_type *>(&words_[starts_[raw(id) - first_]]);
    }
    uint32_t word_index(TypeId id) const { return starts_[raw(id) - first_]; }
    size_t words() const { return words_.size(); }
    size_t string_bytes() const { return strings().blob().size(); }

    /// What was added so far as BTF to be read; void as soon as more is added.
    Btf view() const { return Btf::trusted(words_, starts_, strings().blob()); }
    /// The blob: 24-byte header, types, strings. The BtfBuilder can be used on.
    /// Precondition: less than 4 GB; vlen is checked on adding (too_large()). `room`: for so many
    /// bytes that the caller appends.
    std::vector<std::byte> serialize(ByteOrder order, size_t room = 0) const;
    /// A type got more elements than the format can count (65,535).
    bool too_large() const { return too_large_; }

private:
    TypeId begin(btf::Kind kind, StrOff name, uint32_t third, bool kflag = false);
    void add_element(const uint32_t *words, size_t count);

    StringTable &strings() { return shared_ ? *shared_ : strings_; }
    const StringTable &strings() const { return shared_ ? *shared_ : strings_; }

    std::vector<uint32_t> words_;
    std::vector<uint32_t> starts_;
    StringTable *shared_ = nullptr;
    StringTable strings_; // if there is no other
    uint32_t first_;
    bool too_large_ = false;
};

} // namespace btflink
