// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The second pass of check_btf(): each type by itself. (btf_check.cc looks for kinds that the
// kernel does not know.)
#include "common/btf/btf_check.h"
#include "common/btf/btf_check_rules.h"

#include <algorithm>

namespace btflink
{

namespace
{

constexpr uint32_t int_data_bits = 0x0fffffff;

/// The fields that all kinds have, and the offsets of all names, also of elements.
Result<void> check_common_fields(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    const btf::Kind kind = btf::kind_of(t);
    const btf::KindInfo &info = btf::kind_info(kind);
    const uint32_t vlen = btf::vlen_of(t);
    uint32_t far_name = 0;
    btf::for_each_str_off(t, [&](uint32_t off) { far_name = std::max(far_name, off); });
    if (far_name > btf::max_str_off)
        return violation(c, id, "a name is beyond the first 16 MB of strings");
    if (vlen && !info.element.count && kind != btf::Kind::FUNC)
        return violation(c, id, strf("vlen is %u, must be 0", vlen));
    if (vlen > btf::max_vlen && info.element.count && vlen > c.forms().most_elements)
        return violation(c, id,
                         strf("vlen is %u, ", vlen) +
                             (c.kernel ? "kernels before 7.2 read 65535 at most"
                                       : "more than BTF_MAX_VLEN; kernels without this enumerator "
                                         "read 65535 at most"));
    if (btf::kflag_of(t)) {
        if (info.flag == btf::Flag::none)
            return violation(c, id, "kflag is set, must not be for this kind");
        if (info.flag == btf::Flag::attribute && !c.forms().flagged_tags)
            return violation(c, id, "kflag is set, which kernels before 6.15 refuse");
    }
    if (info.third == btf::Word::unused && t.size)
        return violation(c, id, strf("third word is %u, must be 0", t.size));
    return {};
}

Result<void> check_section_name(BtfCheckState &c, TypeId id)
{
    const std::string_view name = c.btf.name(id);
    if (!is_section_name(name))
        return violation(c, id, "name is empty or not printable");
    if (!is_short_enough(c, name))
        return violation(c, id, too_long(c, name));
    if (!is_identifier(name) && !c.forms().printable_sections)
        return violation(c, id,
                         "name is not an identifier; kernels before 6.9 require one for a section");
    return {};
}

Result<void> check_name(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    switch (btf::kind_info(t).naming) {
    case btf::Naming::any:
        return {};
    case btf::Naming::none:
        if (t.name_off)
            return violation(c, id, "has a name");
        return {};
    case btf::Naming::text:
        if (c.btf.name(id).empty())
            return violation(c, id, "tag is empty");
        return {};
    case btf::Naming::section:
        return check_section_name(c, id);
    case btf::Naming::optional:
        if (!t.name_off)
            return {};
        break;
    case btf::Naming::identifier:
        break;
    }
    if (!is_identifier_at(c, t.name_off))
        return violation(c, id, identifier_fault(c, t.name_off));
    return {};
}

Result<void> check_int(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    uint32_t word = btf::tail_of(t)[0], encoding = word >> 24;
    IntLayout layout = layout_of(t);
    uint32_t end = layout.offset + layout.bits;
    if (word & ~int_data_bits)
        return violation(c, id, strf("reserved bits are set (0x%08x)", word));
    if (end > max_int_bits)
        return violation(c, id, strf("bits end at %u, more than 128", end));
    if ((end + 7) / 8 > t.size)
        return violation(c, id, strf("bits end at %u, size is %u bytes", end, t.size));
    if (encoding & (encoding - 1) || encoding > BTF_INT_BOOL)
        return violation(c, id,
                         strf("encoding 0x%x is not 0 or one of SIGNED, CHAR and BOOL", encoding));
    return {};
}

Result<void> check_enum(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    const uint32_t *tail = btf::tail_of(t);
    if (t.size > 8 || !t.size || (t.size & (t.size - 1)))
        return violation(c, id, strf("size is %u, must be 1, 2, 4 or 8", t.size));
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i)
        if (uint32_t name = tail[i * btf::kind_info(t).element.count]; !is_identifier_at(c, name))
            return element_violation(c, id, i, identifier_fault(c, name));
    return {};
}

Result<void> check_members(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    uint32_t last = 0, i = 0;
    for (const btf_member &m : elements<btf_member>(t)) {
        uint32_t offset = bit_offset(t, m);
        if (m.name_off && !is_identifier_at(c, m.name_off))
            return element_violation(c, id, i, identifier_fault(c, m.name_off));
        if (m.type == 0)
            return element_violation(c, id, i, "type is void");
        if (btf::kind_of(t) == btf::Kind::UNION && offset)
            return element_violation(c, id, i, strf("bit offset is %u, must be 0", offset));
        if (offset < last)
            return element_violation(
                c, id, i, strf("bit offset is %u, but the member before has %u", offset, last));
        if ((uint64_t{offset} + 7) / 8 > t.size)
            return element_violation(
                c, id, i, strf("bit offset is %u, but the struct has %u bytes", offset, t.size));
        last = offset;
        ++i;
    }
    return {};
}

Result<void> check_section_layout(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    if (t.size == 0)
        return violation(c, id, "size is 0");
    uint64_t end = 0;
    uint32_t i = 0;
    for (const btf_var_secinfo &entry : elements<btf_var_secinfo>(t)) {
        if (entry.type == 0)
            return element_violation(c, id, i, "type is void");
        if (entry.offset < end)
            return element_violation(c, id, i,
                                     strf("offset is %u, the one before ends at %u", entry.offset,
                                          static_cast<uint32_t>(end)));
        end = uint64_t{entry.offset} + entry.size;
        if (entry.size == 0)
            return element_violation(c, id, i, "size is 0");
        if (end > t.size)
            return element_violation(c, id, i,
                                     strf("ends at %llu, the section at %u", ull(end), t.size));
        ++i;
    }
    return {};
}

Result<void> check_fields_of_kind(BtfCheckState &c, TypeId id)
{
    const btf_type &t = c.btf.type(id);
    const uint32_t vlen = btf::vlen_of(t);
    const uint32_t *tail = btf::tail_of(t);
    switch (btf::kind_of(t)) {
    case btf::Kind::INT:
        return check_int(c, id);
    case btf::Kind::FLOAT:
        if (t.size != 2 && t.size != 4 && t.size != 8 && t.size != 12 && t.size != 16)
            return violation(c, id, strf("size is %u, must be 2, 4, 8, 12 or 16", t.size));
        break;
    case btf::Kind::ARRAY:
        if (tail[0] == 0 || tail[1] == 0)
            return violation(c, id, tail[0] ? "index type is void" : "element type is void");
        break;
    case btf::Kind::STRUCT:
    case btf::Kind::UNION:
        return check_members(c, id);
    case btf::Kind::ENUM:
    case btf::Kind::ENUM64:
        return check_enum(c, id);
    case btf::Kind::FUNC:
        if (vlen > BTF_FUNC_GLOBAL)
            return violation(c, id, strf("linkage is %u, must be static or global", vlen));
        break;
    case btf::Kind::VAR:
        if (t.type == 0)
            return violation(c, id, "type is void");
        if (tail[0] > BTF_VAR_GLOBAL_ALLOCATED)
            return violation(c, id, strf("linkage is %u, must be static or global", tail[0]));
        break;
    case btf::Kind::DATASEC:
        return check_section_layout(c, id);
    case btf::Kind::DECL_TAG:
        if (static_cast<int32_t>(tail[0]) < -1)
            return violation(
                c, id,
                strf("component index is %d, must be -1 or more", static_cast<int32_t>(tail[0])));
        break;
    case btf::Kind::VOID:
    case btf::Kind::PTR:
    case btf::Kind::FWD:
    case btf::Kind::TYPEDEF:
    case btf::Kind::VOLATILE:
    case btf::Kind::CONST:
    case btf::Kind::RESTRICT:
    case btf::Kind::FUNC_PROTO:
    case btf::Kind::TYPE_TAG:
        break;
    }
    return {};
}

} // namespace

Result<void> check_alone(BtfCheckState &c, TypeId id)
{
    TRY(check_common_fields(c, id));
    TRY(check_name(c, id));
    return check_fields_of_kind(c, id);
}

} // namespace btflink
