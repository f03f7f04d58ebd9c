// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// BTF on disk. The table `kinds` says for each kind what the words of a type hold. Code that walks
// types uses this table. CONTRIBUTING.md, "How to add a kind of BTF", lists the code that must know
// more about a kind. Source: the kernel's Documentation/bpf/btf.rst and <linux/btf.h>.
//
// The types part of a blob is a sequence of 32-bit words, so swapping the bytes of each word
// converts types of the other byte order to host order. Btf::parse() does this; all functions here
// expect host order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <linux/btf.h>
#include <span>

namespace btflink::btf
{

constexpr uint32_t header_size = 24;         // bytes, at least; see also layout_header_size (btf.h)
constexpr uint32_t max_type_id = 0xfffff;    // BTF_MAX_TYPE of the kernel
constexpr uint32_t max_str_off = 0xffffff;   // BTF_MAX_NAME_OFFSET of the kernel
constexpr uint32_t max_vlen = 0xffff;        // the most that every kernel accepts
constexpr uint32_t max_long_vlen = 0xffffff; // the most that 24 bits can hold; see kind_of()

/// The kinds that we know, numbered as in <linux/btf.h>. Outside of tests, a switch over this type
/// has no `default`, so that the compiler reports a new kind. CONTRIBUTING.md lists the other
/// places that must handle one.
enum class Kind : uint8_t {
    VOID, // the kind of id 0; never stored
    INT,
    PTR,
    ARRAY,
    STRUCT,
    UNION,
    ENUM,
    FWD,
    TYPEDEF,
    VOLATILE,
    CONST,
    RESTRICT,
    FUNC,
    FUNC_PROTO,
    VAR,
    DATASEC,
    FLOAT,
    DECL_TAG,
    TYPE_TAG,
    ENUM64,
};
/// Not NR_BTF_KINDS: a newer kernel's <linux/btf.h> may have more kinds, which we must refuse.
constexpr uint32_t kind_count = static_cast<uint32_t>(Kind::ENUM64) + 1;

/// A family: similar kinds, which most code treats in the same way.
enum class Family : uint8_t {
    none, // void
    number,
    pointer,
    array,
    composite,
    enumeration,
    forward,
    modifier, // of one other type: const, typedef, a type tag
    prototype,
    link, // not types: functions, variables and sections, which the link chooses
    tag,  // not types: annotations of types, functions and variables
};

/// Which names types of a kind may have.
enum class Naming : uint8_t {
    none,
    identifier, // letters, digits, '_' and '.'; no digit first
    optional,   // an identifier or none
    section,    // printable characters, at least one
    text,       // anything but the empty name
    any,
};

/// What kflag means for a kind.
enum class Flag : uint8_t {
    none,      // never set
    bitfields, // offsets of members include bitfield sizes
    negatives, // values are signed
    is_union,
    attribute, // the tag stands for __attribute__((TEXT))
};

/// What a word of a type holds.
enum class Word : uint8_t {
    unused,
    name, // string offset
    ref,  // type id
    size, // bytes
    value,
};

/// What consecutive words hold.
struct WordRow {
    constexpr WordRow(std::initializer_list<Word> list) : count(static_cast<uint8_t>(list.size()))
    {
        uint8_t at = 0;
        for (Word role : list) {
            if (role == Word::name)
                name = static_cast<int8_t>(at);
            if (role == Word::ref && refs++ == 0)
                first_ref = at;
            roles[at++] = role;
        }
    }

    uint8_t count;
    uint8_t first_ref = 0, refs = 0; // index of the first type id; number of ids, all in a row
    int8_t name = -1;                // index of the name; -1: no name
    Word roles[3]{};
};

/// A kind, and the words of its types. vlen is the number of elements; a FUNC has no elements, and
/// its vlen is the linkage.
struct KindInfo {
    const char *name; // as in "STRUCT"
    Family family;
    Naming naming;
    Flag flag;
    Word third;      // third word of the head, after name and info
    WordRow fixed;   // words after the head, once
    WordRow element; // words after `fixed`, vlen times
};

namespace description
{

using enum Word;
constexpr auto none = Flag::none;
using F = Family;
using N = Naming;

/// Indexed by Kind.
inline constexpr KindInfo kinds[] = {
    {"VOID", F::none, N::none, none, unused, {}, {}},
    {"INT", F::number, N::any, none, size, {value}, {}},
    {"PTR", F::pointer, N::none, none, ref, {}, {}},
    {"ARRAY", F::array, N::none, none, unused, {ref, ref, value}, {}},
    {"STRUCT", F::composite, N::optional, Flag::bitfields, size, {}, {name, ref, value}},
    {"UNION", F::composite, N::optional, Flag::bitfields, size, {}, {name, ref, value}},
    {"ENUM", F::enumeration, N::optional, Flag::negatives, size, {}, {name, value}},
    {"FWD", F::forward, N::identifier, Flag::is_union, unused, {}, {}},
    {"TYPEDEF", F::modifier, N::identifier, none, ref, {}, {}},
    {"VOLATILE", F::modifier, N::none, none, ref, {}, {}},
    {"CONST", F::modifier, N::none, none, ref, {}, {}},
    {"RESTRICT", F::modifier, N::none, none, ref, {}, {}},
    {"FUNC", F::link, N::identifier, none, ref, {}, {}},
    {"FUNC_PROTO", F::prototype, N::none, none, ref, {}, {name, ref}},
    {"VAR", F::link, N::identifier, none, ref, {value}, {}},
    {"DATASEC", F::link, N::section, none, size, {}, {ref, value, value}},
    {"FLOAT", F::number, N::any, none, size, {}, {}},
    {"DECL_TAG", F::tag, N::text, Flag::attribute, ref, {value}, {}},
    {"TYPE_TAG", F::modifier, N::text, Flag::attribute, ref, {}, {}},
    {"ENUM64", F::enumeration, N::optional, Flag::negatives, size, {}, {name, value, value}},
};

} // namespace description

using description::kinds;
static_assert(std::size(kinds) == kind_count,
              "kind_count is not based on the last kind, or a kind has no row");

constexpr const KindInfo &kind_info(Kind kind)
{
    return kinds[static_cast<uint32_t>(kind)];
}

// The info word: bits 24-30 are the kind, bits 0-23 vlen, bit 31 kflag. Kernels before 7.2 use bits
// 24-28 and 0-15 and refuse types in which bits 16-23, 29 or 30 are set. Commit f7a6b9eaff3e
// (2026-04) extended the fields without a flag or a new version: small numbers look the same in
// both forms.
constexpr Kind kind_of(uint32_t info)
{
    return static_cast<Kind>((info >> 24) & 0x7f);
}
constexpr Kind kind_of(const btf_type &t)
{
    return kind_of(t.info);
}
constexpr uint32_t vlen_of(const btf_type &t)
{
    return t.info & max_long_vlen;
}
constexpr bool kflag_of(const btf_type &t)
{
    return t.info >> 31;
}
constexpr uint32_t make_info(Kind kind, uint32_t vlen, bool kflag)
{
    return (kflag ? 1u << 31 : 0) | static_cast<uint32_t>(kind) << 24 | vlen;
}
/// Precondition: the kind is known, and not void.
constexpr const KindInfo &kind_info(const btf_type &t)
{
    return kind_info(kind_of(t));
}
constexpr bool is_known(Kind kind)
{
    return kind != Kind::VOID && static_cast<uint32_t>(kind) < kind_count;
}

/// The type that begins at words[at].
inline const btf_type &type_at(std::span<const uint32_t> words, size_t at)
{
    return *reinterpret_cast<const btf_type *>(words.data() + at);
}

/// The number of words of a type of a known kind, its head included.
inline uint32_t words_of(const btf_type &t)
{
    const KindInfo &kind = kind_info(t);
    return 3 + kind.fixed.count + vlen_of(t) * kind.element.count;
}

/// The words of a type of a known kind, its head included.
inline std::span<const uint32_t> all_words(const btf_type &t)
{
    return {reinterpret_cast<const uint32_t *>(&t), words_of(t)};
}

/// The number of words of the unchecked type at words[at]; 0 if the type is truncated, or if its
/// kind is unknown or VOID.
inline uint32_t checked_words(std::span<const uint32_t> words, size_t at)
{
    if (at + 3 > words.size())
        return 0;
    const btf_type &t = type_at(words, at);
    if (!is_known(kind_of(t)))
        return 0;
    const uint32_t size = words_of(t);
    return size <= words.size() - at ? size : 0;
}

/// The words after the head.
inline const uint32_t *tail_of(const btf_type &t)
{
    return reinterpret_cast<const uint32_t *>(&t + 1);
}
inline uint32_t *tail_of(btf_type &t)
{
    return reinterpret_cast<uint32_t *>(&t + 1);
}

constexpr bool is_composite(Kind kind)
{
    return kind_info(kind).family == Family::composite;
}
constexpr bool is_enum(Kind kind)
{
    return kind_info(kind).family == Family::enumeration;
}
constexpr bool is_modifier(Kind kind)
{
    return kind_info(kind).family == Family::modifier;
}
/// Is a type of this kind a FUNC, VAR or DATASEC? The link chooses these.
constexpr bool is_of_link(Kind kind)
{
    return kind_info(kind).family == Family::link;
}
/// Can pointers, members or parameters refer to a type of this kind? True for VOID and all other
/// kinds except FUNC, VAR, DATASEC and DECL_TAG.
constexpr bool is_type(Kind kind)
{
    return kind_info(kind).family < Family::link;
}

/// Does `t` declare a struct, union or enum without defining it? A named enum without values is the
/// declaration of an enum, which gcc allows and C does not.
inline bool is_declaration(const btf_type &t)
{
    const Family family = kind_info(t).family;
    return family == Family::forward ||
           (family == Family::enumeration && vlen_of(t) == 0 && t.name_off != 0);
}

/// Is `t` a union, or the declaration of one?
inline bool is_union(const btf_type &t)
{
    return kind_of(t) == Kind::UNION || (kind_of(t) == Kind::FWD && kflag_of(t));
}

/// Is `t` a struct, union or enum with a name (a tag in C's terms), or the declaration of one?
inline bool has_tag_name(const btf_type &t)
{
    const Family family = kind_info(t).family;
    return t.name_off && (family == Family::composite || family == Family::enumeration ||
                          family == Family::forward);
}

/// Calls `visit(word)` with a reference to each word of `t` that holds a type id. The reference is
/// const if `t` is const.
template <typename Type, typename Visit>
void for_each_type_id(Type &t, Visit visit)
{
    const KindInfo &kind = kind_info(t);
    if (kind.third == Word::ref)
        visit(t.type);
    auto *tail = tail_of(t);
    for (uint32_t i = 0; i < kind.fixed.refs; ++i)
        visit(tail[kind.fixed.first_ref + i]);
    if (!kind.element.refs)
        return;
    tail += kind.fixed.count + kind.element.first_ref;
    for (uint32_t n = vlen_of(t); n; --n, tail += kind.element.count)
        for (uint32_t i = 0; i < kind.element.refs; ++i)
            visit(tail[i]);
}

/// The same for each word of `t` that holds a string offset.
template <typename Type, typename Visit>
void for_each_str_off(Type &t, Visit visit)
{
    const KindInfo &kind = kind_info(t);
    visit(t.name_off);
    if (kind.element.name < 0)
        return;
    auto *tail = tail_of(t) + kind.fixed.count + kind.element.name;
    for (uint32_t n = vlen_of(t); n; --n, tail += kind.element.count)
        visit(*tail);
}

/// Calls `visit(role, word)` for each word of `t` except info, in order.
template <typename Type, typename Visit>
void for_each_word(Type &t, Visit visit)
{
    const KindInfo &kind = kind_info(t);
    visit(Word::name, t.name_off);
    visit(kind.third, t.size);
    auto *tail = tail_of(t);
    for (uint32_t i = 0; i < kind.fixed.count; ++i)
        visit(kind.fixed.roles[i], *tail++);
    for (uint32_t n = kind.element.count ? vlen_of(t) : 0; n; --n)
        for (uint32_t i = 0; i < kind.element.count; ++i)
            visit(kind.element.roles[i], *tail++);
}

} // namespace btflink::btf
