// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What CO-RE and a program's loads make of a field, by the rules of libbpf's relo_core.c.
#include "btf-kernel/bpf/core_field.h"

#include "btf-kernel/diff/types.h"

#include <bit>

namespace btflink::kernel::bpf
{

namespace
{

using namespace diff;

/// The type behind modifiers and arrays: what one load reads.
uint32_t element_of(const Btf &btf, uint32_t id)
{
    for (size_t i = 0; i < diff::max_steps; ++i) {
        id = behind_modifiers(btf, id);
        if (btf.kind(TypeId{id}) != btf::Kind::ARRAY)
            break;
        id = btf::tail_of(btf.type(TypeId{id}))[0];
    }
    return id;
}

bool is_unsigned_or_pointer(const Btf &btf, uint32_t id)
{
    id = behind_modifiers(btf, id);
    const btf::Kind kind = btf.kind(TypeId{id});
    return kind == btf::Kind::PTR ||
           (kind == btf::Kind::INT &&
            BTF_INT_ENCODING(btf::tail_of(btf.type(TypeId{id}))[0]) != BTF_INT_SIGNED);
}

bool is_signed_number(const Btf &btf, uint32_t id)
{
    const btf_type &t = btf.type(TypeId{id});
    return btf::is_enum(btf::kind_of(t))
               ? BTF_INFO_KFLAG(t.info) != 0
               : btf::kind_of(t) == btf::Kind::INT &&
                     BTF_INT_ENCODING(btf::tail_of(t)[0]) & BTF_INT_SIGNED;
}

/// Two numbers on which the shifts and masks of a program depend: the width of a bitfield (0 for
/// other fields), and how many bits come before it in the bytes that CO-RE lets the program load.
std::pair<uint32_t, uint64_t> bits_to_load(const CoreField &field)
{
    const auto start = field_number(Core::field_byte_offset, field);
    return {field.bits, start ? field.offset - *start * 8 : UINT64_MAX};
}

} // namespace

std::optional<uint64_t> field_number(Core kind, const CoreField &field)
{
    const Btf &btf = *field.btf;
    const uint32_t id = behind_modifiers(btf, field.type);
    uint64_t bytes = size_of(btf, id).value_or(0), start = field.offset / 8;
    if (field.bits && bytes) {
        start -= start % bytes;
        while (field.offset + field.bits > (start + bytes) * 8) {
            if (bytes >= 8)
                return std::nullopt;
            bytes *= 2;
            start -= start % bytes;
        }
    }
    const uint64_t bits = field.bits ? field.bits : bytes * 8, before = field.offset - start * 8;
    switch (kind) {
    case Core::field_byte_offset:
        return start;
    case Core::field_byte_size:
        return bytes;
    case Core::field_signed:
        return is_signed_number(btf, id);
    case Core::field_lshift:
        return btf.order() == ByteOrder::little ? 64 - (before + bits) : 64 - bytes * 8 + before;
    case Core::field_rshift:
        return 64 - bits;
    default:
        return 0;
    }
}

Verdict size_verdict(Verdict at, const CoreField &mine, const CoreField &theirs, uint32_t width)
{
    using Status = Verdict::Status;
    if (mine.bits || theirs.bits) {
        // With width 0, the program may use BPF_CORE_READ_BITFIELD() or its variant _PROBED: CO-RE
        // also adjusts their shifts. Or it takes the field's address, as BPF_CORE_READ() does. This
        // compiles only if the program's field is not a bitfield.
        if (!width && !mine.bits)
            return {Status::unknown, "is a bitfield there: only BPF_CORE_READ_BITFIELD() and its "
                                     "variant _PROBED read it"};
        if (!width || bits_to_load(mine) == bits_to_load(theirs))
            return at;
        return {Status::broken, "is in other bits there than in the program: only "
                                "BPF_CORE_READ_BITFIELD() and its variant _PROBED read it"};
    }
    const uint32_t element = element_of(*theirs.btf, theirs.type);
    const uint64_t size = size_of(*mine.btf, element_of(*mine.btf, mine.type)).value_or(0);
    const uint64_t there = size_of(*theirs.btf, element).value_or(0);
    auto text_of = [](uint64_t b, uint64_t a) {
        return strf("has %zu bytes there, %zu in the program", size_t(b), size_t(a));
    };
    // A load or store accesses one element of an array, a copy (width 0) perhaps the whole array.
    const uint64_t whole = size_of(*mine.btf, mine.type).value_or(0);
    const uint64_t whole_there = size_of(*theirs.btf, theirs.type).value_or(0);
    if (size == there) {
        // BTF does not show how long an array [0] is.
        if (width || !whole_there || whole_there >= whole)
            return at;
        return {Status::unknown, text_of(whole_there, whole)};
    }
    std::string text = text_of(there, size);
    // libbpf does not check the size of a copy. From a smaller field, the program also gets what is
    // behind it; from a larger number on a big-endian machine, only the high bytes; from an array
    // with larger elements, parts of elements.
    if (!width) {
        const bool is_number = !btf::is_composite(theirs.btf->kind(TypeId{element}));
        const bool is_wrong =
            there < size || whole != size || (is_number && theirs.btf->order() == ByteOrder::big);
        return {is_wrong ? Status::unknown : Status::holds, std::move(text)};
    }
    const bool adapts = // libbpf changes the width of a load or store of the whole field
        is_unsigned_or_pointer(*mine.btf, mine.type) &&
        is_unsigned_or_pointer(*theirs.btf, theirs.type);
    if (!adapts)
        return {Status::broken, std::move(text)};
    if (width != size || there > 8 || !std::has_single_bit(there))
        return {Status::broken,
                text +
                    (width != size ? strf(", but the instruction accesses %u", width)
                                   : strf(", but no instruction accesses %zu", size_t(there))) +
                    ": libbpf refuses the whole object file",
                {},
                true};
    return at;
}

} // namespace btflink::kernel::bpf
