// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// BTF on disk: the one place that knows how long a type of each kind is and where its type ids and
// string offsets sit. What a kind means is known in many places: see CONTRIBUTING.md, "How to add a
// kind of BTF". Source: Documentation/bpf/btf.rst of the kernel and <linux/btf.h>.
//
// Everything in the types part of a blob is a sequence of 32-bit words, so a blob of the other byte
// order is brought to host order by swapping words; all other code sees host order only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/btf.h>
#include <span>

namespace btflink::btf
{

constexpr uint32_t header_size = 24;         // bytes; what we write. Longer headers are read.
constexpr uint32_t max_type_id = 0xfffff;    // BTF_MAX_TYPE of the kernel
constexpr uint32_t max_str_off = 0xffffff;   // BTF_MAX_NAME_OFFSET of the kernel
constexpr uint32_t max_vlen = 0xffff;        // that we write, and that every kernel reads
constexpr uint32_t max_long_vlen = 0xffffff; // that we read; see below
/// Kinds that we know, with 0 (void). Not NR_BTF_KINDS: the <linux/btf.h> of a newer kernel knows
/// more, and those are to be refused.
constexpr uint32_t kind_count = BTF_KIND_ENUM64 + 1;

/// What the third word of a type means.
enum class Third : uint8_t { unused, size, type };

struct KindInfo {
    const char *name;      // as in "STRUCT"
    Third third;           // meaning of the size/type word
    uint8_t fixed_words;   // 32-bit words after the 3-word head, once
    uint8_t element_words; // words per element (vlen of them)
    int8_t element_name;   // index of the name word inside an element, -1: none
    int8_t element_type;   // index of the type id word inside an element, -1: none
    bool named;            // may carry a name
};

/// Indexed by BTF_KIND_*; entry 0 (void) is never stored.
extern const KindInfo kinds[kind_count];

// Bits 24-30 are the kind, bits 0-23 the count. Kernels before 7.2 know bits 24-28 and 0-15 and
// refuse types with any of the others set; the kernel's commit f7a6b9eaff3e (2026-04) took these
// without a flag or a new version, so that the old form is the new one with small numbers.
constexpr uint32_t kind_of(const btf_type &t)
{
    return (t.info >> 24) & 0x7f;
}
constexpr uint32_t vlen_of(const btf_type &t)
{
    return t.info & max_long_vlen;
}
constexpr bool kflag_of(const btf_type &t)
{
    return t.info >> 31;
}
constexpr uint32_t make_info(uint32_t kind, uint32_t vlen, bool kflag)
{
    return (kflag ? 1u << 31 : 0) | kind << 24 | vlen;
}

/// Words that a type takes, head included. The kind must be known (1..kind_count-1).
constexpr uint32_t words_of(const KindInfo &kind, uint32_t vlen)
{
    return 3 + kind.fixed_words + vlen * kind.element_words;
}

/// The type that begins at words[at].
inline const btf_type &type_at(std::span<const uint32_t> words, size_t at)
{
    return *reinterpret_cast<const btf_type *>(words.data() + at);
}

/// Words that a type of a known kind takes.
inline uint32_t words_of(const btf_type &t)
{
    return words_of(kinds[kind_of(t)], vlen_of(t));
}

/// Words that the type at words[at] takes, where nothing is known of them; 0: it is cut off, or its
/// kind is not known.
inline uint32_t checked_words(std::span<const uint32_t> words, size_t at)
{
    if (at + 3 > words.size())
        return 0;
    const btf_type &t = type_at(words, at);
    const uint32_t kind = kind_of(t);
    if (kind == 0 || kind >= kind_count)
        return 0;
    const uint32_t size = words_of(kinds[kind], vlen_of(t));
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

constexpr bool is_composite(uint32_t kind)
{
    return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}
constexpr bool is_enum(uint32_t kind)
{
    return kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;
}

/// Does it stand for a struct, union or enum that is defined elsewhere? (An enum without values is
/// the declaration of one: gcc has them, C has not.)
inline bool is_declaration(const btf_type &t)
{
    const uint32_t kind = kind_of(t);
    return kind == BTF_KIND_FWD || (is_enum(kind) && vlen_of(t) == 0 && t.name_off != 0);
}

/// Call `visit(word)` for each word of `t` that holds a type id (const or not, as `t` is).
template <typename Type, typename Visit>
void for_each_type_id(Type &t, Visit visit)
{
    const KindInfo &kind = kinds[kind_of(t)];
    if (kind.third == Third::type)
        visit(t.type);
    auto *tail = tail_of(t);
    if (kind_of(t) == BTF_KIND_ARRAY) {
        visit(tail[0]);
        visit(tail[1]);
    }
    if (kind.element_type < 0)
        return;
    for (uint32_t i = 0, n = vlen_of(t); i < n; ++i)
        visit(tail[kind.fixed_words + i * kind.element_words + kind.element_type]);
}

/// Call `visit(word)` for each word of `t` that holds a string offset.
template <typename Type, typename Visit>
void for_each_str_off(Type &t, Visit visit)
{
    const KindInfo &kind = kinds[kind_of(t)];
    visit(t.name_off);
    if (kind.element_name < 0)
        return;
    auto *tail = tail_of(t);
    for (uint32_t i = 0, n = vlen_of(t); i < n; ++i)
        visit(tail[kind.fixed_words + i * kind.element_words + kind.element_name]);
}

} // namespace btflink::btf
