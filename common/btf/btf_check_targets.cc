// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The fourth pass of check_btf(): each type against the types that it refers to, and chains of
// modifiers.
#include "common/btf/btf_check_rules.h"

#include <algorithm>

namespace btflink
{

namespace
{

constexpr uint64_t unsized = TypeSizes::unsized;
constexpr uint32_t max_modifiers = 32; // in a row

Result<void> check_array(BtfCheckState &c, TypeId id)
{
    const uint32_t *tail = btf::tail_of(c.btf.type(id));
    auto is_irregular_int = [&](TypeId type) {
        return c.btf.kind(type) == btf::Kind::INT && !layout_of(c.btf.type(type)).regular;
    };
    TypeId element = c.sizes.behind_modifiers(TypeId{tail[0]}),
           index = c.sizes.behind_modifiers(TypeId{tail[1]});
    if (c.btf.kind(index) != btf::Kind::INT || is_irregular_int(index))
        return violation(c, id, "index type is not an INT of regular size and offset");
    if (c.sizes.of(element) == unsized)
        return violation(c, id, "element type has no size");
    if (is_irregular_int(element))
        return violation(c, id, "element type is an INT of irregular size or offset");
    if (c.sizes.of(id) > UINT32_MAX)
        return violation(c, id, "has 4 GB or more");
    return {};
}

/// The rule that a member violates, or "".
std::string member_rule(BtfCheckState &c, const btf_type &t, const btf_member &m)
{
    TypeId type = c.sizes.behind_modifiers(TypeId{m.type});
    uint64_t size = c.sizes.of(type), offset = bit_offset(t, m);
    if (size == unsized)
        return "type has no size";
    btf::Kind kind = c.btf.kind(type);
    bool kflag = btf::kflag_of(t);
    uint32_t bitfield = kflag ? BTF_MEMBER_BITFIELD_SIZE(m.offset) : 0;
    uint64_t bits = size * 8; // occupied by the member
    bool bit_aligned = bitfield != 0;
    uint32_t max_bitfield = 0;
    if (kind == btf::Kind::INT) {
        IntLayout layout = layout_of(c.btf.type(type));
        if (kflag && !layout.regular)
            return "kflag is set, but the type is an INT of irregular size or offset";
        bit_aligned |= !kflag; // older encoding of bitfields: by an INT's own bits and offset
        offset += layout.offset;
        if (offset > UINT32_MAX)
            return strf("bit offset is %llu, more than 32 bits can hold", ull(offset));
        bits = max_bitfield = layout.bits;
    } else if (btf::is_enum(kind)) {
        max_bitfield = max_enum_bits;
        if (kflag)
            bits = std::min<uint64_t>(bits, max_enum_bits);
    }
    if (bitfield > max_bitfield)
        return strf("bitfield size is %u, its type allows %u", bitfield, max_bitfield);
    if (bitfield)
        bits = bitfield;
    if (!bit_aligned && offset % 8)
        return strf("bit offset is %llu, not a multiple of 8", ull(offset));
    if (kind == btf::Kind::INT && bits + offset % 8 > max_int_bits)
        return "bits span more than 16 bytes";
    if (kind == btf::Kind::FLOAT && size == 0) // in the base, whose types were not checked
        return "type is a FLOAT of no bytes";
    if (kind == btf::Kind::FLOAT && offset % (std::min<uint64_t>(c.pointer_size, size) * 8))
        return strf("FLOAT at bit offset %llu is not aligned", ull(offset));
    if ((offset + bits + 7) / 8 > t.size)
        return strf("ends at bit %llu, but the %s has %u bytes", ull(offset) + bits,
                    btf::kind_of(t) == btf::Kind::UNION ? "union" : "struct", t.size);
    return "";
}

/// The index of the first parameter without a name, except for the `...` of a prototype.
std::optional<uint32_t> find_unnamed(const btf_type &proto)
{
    uint32_t i = 0;
    for (const btf_param &p : elements<btf_param>(proto)) {
        if (p.name_off == 0 && p.type != 0)
            return i;
        ++i;
    }
    return std::nullopt;
}

Result<void> check_func(BtfCheckState &c, TypeId id)
{
    TypeId proto{c.btf.type(id).type};
    if (c.btf.kind(proto) != btf::Kind::FUNC_PROTO)
        return violation(c, id, strf("refers to type %u, which is not a FUNC_PROTO", raw(proto)));
    auto [unnamed, is_new] = c.unnamed_parameters.try_emplace(proto);
    if (is_new) // many FUNCs may share a long prototype
        unnamed->second = find_unnamed(c.btf.type(proto));
    if (unnamed->second)
        return violation(c, id, strf("parameter %u has no name", *unnamed->second));
    return {};
}

Result<void> check_proto(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    if (t.type && c.sizes.of(TypeId{t.type}) == unsized)
        return violation(c, id, "result type has no size");
    auto params = elements<btf_param>(t);
    for (uint32_t i = 0; i < params.size(); ++i) {
        const btf_param &p = params[i];
        if (p.type == 0 && i + 1 == params.size()) {
            if (p.name_off)
                return element_violation(c, id, i, "'...' has a name");
            break;
        }
        if (p.name_off && !is_identifier_at(c, p.name_off))
            return element_violation(c, id, i, identifier_fault(c, p.name_off));
        if (c.sizes.of(TypeId{p.type}) == unsized)
            return element_violation(c, id, i, "type has no size");
    }
    return {};
}

Result<void> check_section_entries(BtfCheckState &c, TypeId id)
{
    uint32_t i = 0;
    for (const btf_var_secinfo &entry : elements<btf_var_secinfo>(c.btf.type(id))) {
        TypeId var{entry.type};
        if (c.btf.kind(var) != btf::Kind::VAR)
            return element_violation(c, id, i, strf("type %u is not a VAR", raw(var)));
        uint64_t size = c.sizes.of(TypeId{c.btf.type(var).type});
        if (size == unsized)
            return element_violation(c, id, i, "its variable has no size");
        if (entry.size < size)
            return element_violation(c, id, i,
                                     strf("size is %u, less than its variable's", entry.size));
        ++i;
    }
    return {};
}

Result<void> check_decl_tag(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    TypeId target{t.type};
    btf::Kind kind = c.btf.kind(target);
    if (kind != btf::Kind::FUNC && kind != btf::Kind::VAR && kind != btf::Kind::TYPEDEF &&
        !btf::is_composite(kind))
        return violation(
            c, id, strf("refers to type %u, which cannot have declaration tags", raw(target)));
    auto component = static_cast<int32_t>(btf::tail_of(t)[0]);
    if (component == -1)
        return {};
    uint32_t count = 0; // number of components
    if (btf::is_composite(kind))
        count = btf::vlen_of(c.btf.type(target));
    else if (kind == btf::Kind::FUNC &&
             c.btf.kind(TypeId{c.btf.type(target).type}) == btf::Kind::FUNC_PROTO)
        count = btf::vlen_of(c.btf.type(TypeId{c.btf.type(target).type}));
    if (static_cast<uint32_t>(component) >= count)
        return violation(
            c, id,
            strf("component index is %d, but the target has %u components", component, count));
    return {};
}

} // namespace

Result<void> check_targets(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    TypeId target{t.type};
    switch (btf::kind_of(t)) {
    case btf::Kind::PTR:
    case btf::Kind::TYPEDEF:
    case btf::Kind::CONST:
    case btf::Kind::VOLATILE:
    case btf::Kind::RESTRICT:
    case btf::Kind::TYPE_TAG: {
        btf::Kind kind = c.btf.kind(c.sizes.behind_modifiers(target));
        // (Kernels are less strict: they accept a FUNC as target if they have resolved it before,
        // or resolve it now because a modifier refers to it. So the order of types matters there.)
        if (!btf::is_type(kind))
            return violation(
                c, id, strf("refers to a %s, which is not a type", btf::kind_info(kind).name));
        return {};
    }
    case btf::Kind::ARRAY:
        return check_array(c, id);
    case btf::Kind::STRUCT:
    case btf::Kind::UNION: {
        uint32_t i = 0;
        for (const btf_member &m : elements<btf_member>(t)) {
            if (std::string rule = member_rule(c, t, m); !rule.empty())
                return element_violation(c, id, i, rule);
            ++i;
        }
        return {};
    }
    case btf::Kind::FUNC:
        return check_func(c, id);
    case btf::Kind::FUNC_PROTO:
        return check_proto(c, id);
    case btf::Kind::VAR:
        if (c.sizes.of(target) == unsized)
            return violation(c, id, "type has no size");
        return {};
    case btf::Kind::DATASEC:
        return check_section_entries(c, id);
    case btf::Kind::DECL_TAG:
        return check_decl_tag(c, id);
    case btf::Kind::VOID:
    case btf::Kind::INT:
    case btf::Kind::ENUM:
    case btf::Kind::FWD:
    case btf::Kind::FLOAT:
    case btf::Kind::ENUM64:
        break;
    }
    return {};
}

Result<void> check_modifier_chain(BtfCheckState &c, TypeId first)
{
    auto target_of = [&](TypeId id) { return TypeId{c.btf.type(id).type}; };
    const btf::Kind kind = c.btf.kind(first);
    if (btf::is_modifier(kind) && kind != btf::Kind::TYPE_TAG && !c.forms().tags_anywhere &&
        c.btf.kind(target_of(first)) == btf::Kind::TYPE_TAG)
        return violation(c, first, "a TYPE_TAG follows it, which kernels before 7.2 refuse");
    // The walk ends after the first type whose id is less than `first`, as in kernels. The chain
    // from there was checked before, or is in the base.
    TypeId id = first;
    for (uint32_t length = 0; btf::is_modifier(c.btf.kind(id)); ++length) {
        if (length == max_modifiers)
            return violation(c, first, "begins a chain of more than 32 modifiers");
        if (raw(id) < raw(first))
            break;
        id = target_of(id);
    }
    return {};
}

} // namespace btflink
