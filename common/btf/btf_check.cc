// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A kernel that refuses a module's BTF refuses the module, and says little about why.
//
// Method. Four passes, as what a rule needs must have been found to be in order before:
//   1. the header;
//   2. each type by itself: names, flags, counts, offsets against its own size;
//   3. loops, and on the way the size of each type (type_sizes.h);
//   4. each type against the types that it refers to.
//
// Cost. Linear in types and elements, with no recursion: chains may be as deep as there are types.
#include "common/btf/btf_check.h"

#include "common/btf/btf_check_header.h"
#include "common/btf/name_rules.h"
#include "common/btf/type_sizes.h"

#include <algorithm>

namespace btflink
{

namespace
{

constexpr uint32_t always_taken = 128;     // characters of a name, by all kernels
constexpr uint32_t max_modifiers = 32;     // in a row
constexpr uint32_t max_enum_bitfield = 32; // of ENUM64 too
constexpr uint32_t int_data_bits = 0x0fffffff;

struct IntLayout {
    uint32_t offset, bits; // in bits
    bool regular;          // 1, 2, 4, 8 or 16 whole bytes, whatever the size says
};
IntLayout layout_of(const btf_type &t)
{
    uint32_t word = btf::tail_of(t)[0];
    IntLayout layout{(word >> 16) & 0xff, word & 0xff, false};
    layout.regular = !layout.offset && layout.bits >= 8 && layout.bits <= max_int_bits &&
                     !(layout.bits & (layout.bits - 1));
    return layout;
}

class Checker
{
public:
    Checker(Bytes blob, const Btf &btf, const Where &where, uint32_t pointer_size,
            std::optional<KernelVersion> kernel)
        : blob_(blob), btf_(btf), where_(where), pointer_size_(pointer_size), kernel_(kernel)
    {
    }

    /// Violations of the first pass that has any, `most` at most.
    std::vector<Error> run(size_t most)
    {
        most_ = most;
        if (auto header = check_btf_header(blob_, btf_, where_, kernel_); !header)
            return {header.error()};
        if (!each([&](TypeId id) { return check_alone(id); }))
            return std::move(found_);
        auto sizes = TypeSizes::compute(btf_, where_, pointer_size_);
        if (!sizes)
            return {sizes.error()};
        sizes_ = std::move(*sizes);
        if (each([&](TypeId id) { return check_targets(id); }))
            each([&](TypeId id) { return check_modifier_chain(id); });
        return std::move(found_);
    }

private:
    static constexpr uint64_t unsized = TypeSizes::unsized;

    /// Whether all are in order.
    template <typename Check>
    bool each(Check check)
    {
        for (TypeId id = btf_.first_id(); id != btf_.end_id() && found_.size() < most_;
             id = TypeId{raw(id) + 1})
            if (Result<void> ok = check(id); !ok)
                found_.push_back(std::move(ok).error());
        return found_.empty();
    }

    /// The error of a type, or of the part of it that begins `words` behind its head.
    Failure bad(TypeId id, const std::string &rule, size_t words = 0) const
    {
        return fail_type(btf_, id, where_, rule, words);
    }

    static const char *element_noun(btf::Kind kind)
    {
        if (kind == btf::Kind::FUNC_PROTO)
            return "parameter";
        if (btf::is_composite(kind))
            return "member";
        return btf::is_enum(kind) ? "enumerator" : "entry";
    }

    /// The error of an element: "member 2 'next': ...".
    Failure bad_element(TypeId id, uint32_t index, const std::string &rule) const
    {
        const btf_type &t = btf_.type(id);
        const btf::WordRow &element = btf::kind_info(t).element;
        size_t words = btf::kind_info(t).fixed.count + size_t{index} * element.count;
        std::string text = strf("%s %u", element_noun(btf::kind_of(t)), index);
        if (element.name >= 0)
            text +=
                " '" +
                std::string(btf_.str(btf::tail_of(t)[words + static_cast<size_t>(element.name)])) +
                "'";
        return bad(id, text + ": " + rule, 3 + words);
    }

    // A type by itself.

    Result<void> check_alone(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        const btf::Kind kind = btf::kind_of(t);
        const btf::KindInfo &info = btf::kind_info(kind);
        const uint32_t vlen = btf::vlen_of(t);
        uint32_t far_name = 0;
        btf::for_each_str_off(t, [&](uint32_t off) { far_name = std::max(far_name, off); });
        if (far_name > btf::max_str_off)
            return bad(id, "a name lies behind the first 16 MB of strings");
        if (vlen && !info.element.count && kind != btf::Kind::FUNC)
            return bad(id, strf("vlen is %u, must be 0", vlen));
        if (vlen > btf::max_vlen && info.element.count && vlen > forms().vlen)
            return bad(id, strf("vlen is %u, ", vlen) +
                               (kernel_ ? "kernels before 7.2 read 65535 at most"
                                        : "older kernels read 65535 at most; one that reads more "
                                          "has an enumerator BTF_MAX_VLEN"));
        if (btf::kflag_of(t)) {
            if (info.flag == btf::Flag::none)
                return bad(id, "kflag is set");
            if (info.flag == btf::Flag::attribute && !forms().flagged_tags)
                return bad(id, "kflag is set, which kernels before 6.15 refuse");
        }
        if (info.third == btf::Word::unused && t.size)
            return bad(id, strf("third word is %u, must be 0", t.size));
        TRY(check_name(id));
        const uint32_t *tail = btf::tail_of(t);
        switch (kind) {
        case btf::Kind::INT:
            return check_int(id);
        case btf::Kind::FLOAT:
            if (t.size != 2 && t.size != 4 && t.size != 8 && t.size != 12 && t.size != 16)
                return bad(id, strf("size is %u, must be 2, 4, 8, 12 or 16", t.size));
            break;
        case btf::Kind::ARRAY:
            if (tail[0] == 0 || tail[1] == 0)
                return bad(id, tail[0] ? "index type is void" : "element type is void");
            break;
        case btf::Kind::STRUCT:
        case btf::Kind::UNION:
            return check_member_offsets(id);
        case btf::Kind::ENUM:
        case btf::Kind::ENUM64:
            if (t.size > 8 || !t.size || (t.size & (t.size - 1)))
                return bad(id, strf("size is %u, must be 1, 2, 4 or 8", t.size));
            for (uint32_t i = 0; i < vlen; ++i)
                if (uint32_t name = tail[i * info.element.count]; !is_identifier_at(name))
                    return bad_element(id, i, identifier_fault(name));
            break;
        case btf::Kind::FUNC:
            if (vlen > BTF_FUNC_GLOBAL)
                return bad(id, strf("linkage is %u, must be static or global", vlen));
            break;
        case btf::Kind::VAR:
            if (t.type == 0)
                return bad(id, "type is void");
            if (tail[0] > BTF_VAR_GLOBAL_ALLOCATED)
                return bad(id, strf("linkage is %u, must be static or global", tail[0]));
            break;
        case btf::Kind::DATASEC:
            return check_section_layout(id);
        case btf::Kind::DECL_TAG:
            if (static_cast<int32_t>(tail[0]) < -1)
                return bad(id, strf("component index is %d", static_cast<int32_t>(tail[0])));
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

    /// The string there. One that was in order is not read again: most names are used more than
    /// once.
    bool is_identifier_at(uint32_t offset)
    {
        auto good = [&](std::string_view name) {
            return is_identifier(name) && is_short_enough(name);
        };
        if (offset < btf_.str_base())
            return good(btf_.str(offset));
        if (identifiers_.empty())
            identifiers_.resize(btf_.str_size());
        auto known = identifiers_[offset - btf_.str_base()];
        if (!known)
            known = good(btf_.str(offset));
        return known;
    }

    bool is_short_enough(std::string_view name)
    {
        return name.size() <= always_taken || name.size() <= forms().name_length;
    }

    std::string too_long(std::string_view name)
    {
        return strf("name has %zu characters, %s read %u at most", name.size(),
                    name.size() > KernelForms{}.name_length ? "kernels" : "kernels before 6.1",
                    forms().name_length);
    }

    /// Of what is_identifier_at() denies.
    std::string identifier_fault(uint32_t offset)
    {
        const std::string_view name = btf_.str(offset);
        return is_identifier(name) ? too_long(name) : "name is no identifier";
    }

    Result<void> check_section_name(TypeId id)
    {
        const std::string_view name = btf_.name(id);
        if (!is_section_name(name))
            return bad(id, "name is no section name");
        if (!is_short_enough(name))
            return bad(id, too_long(name));
        if (!is_identifier(name) && !forms().printable_sections)
            return bad(id, "name is no identifier, as kernels before 6.9 want it of a section");
        return {};
    }

    Result<void> check_name(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        switch (btf::kind_info(t).naming) {
        case btf::Naming::any:
            return {};
        case btf::Naming::none:
            if (t.name_off)
                return bad(id, "has a name");
            return {};
        case btf::Naming::text:
            if (btf_.name(id).empty())
                return bad(id, "tag is empty");
            return {};
        case btf::Naming::section:
            return check_section_name(id);
        case btf::Naming::optional:
            if (!t.name_off)
                return {};
            break;
        case btf::Naming::identifier:
            break;
        }
        if (!is_identifier_at(t.name_off))
            return bad(id, identifier_fault(t.name_off));
        return {};
    }

    Result<void> check_int(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        uint32_t word = btf::tail_of(t)[0], encoding = word >> 24;
        IntLayout layout = layout_of(t);
        uint32_t end = layout.offset + layout.bits;
        if (word & ~int_data_bits)
            return bad(id, strf("reserved bits are set (0x%08x)", word));
        if (end > max_int_bits)
            return bad(id, strf("bits end at %u, more than 128", end));
        if ((end + 7) / 8 > t.size)
            return bad(id, strf("bits end at %u, size is %u bytes", end, t.size));
        if (encoding & (encoding - 1) || encoding > BTF_INT_BOOL)
            return bad(id, strf("encoding 0x%x is none of SIGNED, CHAR, BOOL", encoding));
        return {};
    }

    static uint32_t bit_offset(const btf_type &t, const btf_member &m)
    {
        return btf::kflag_of(t) ? BTF_MEMBER_BIT_OFFSET(m.offset) : m.offset;
    }

    template <typename Element>
    static std::span<const Element> elements(const btf_type &t)
    {
        return {reinterpret_cast<const Element *>(btf::tail_of(t)), btf::vlen_of(t)};
    }

    Result<void> check_member_offsets(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        uint32_t last = 0, i = 0;
        for (const btf_member &m : elements<btf_member>(t)) {
            uint32_t offset = bit_offset(t, m);
            if (m.name_off && !is_identifier_at(m.name_off))
                return bad_element(id, i, identifier_fault(m.name_off));
            if (m.type == 0)
                return bad_element(id, i, "type is void");
            if (btf::kind_of(t) == btf::Kind::UNION && offset)
                return bad_element(id, i, strf("bit offset is %u, must be 0", offset));
            if (offset < last)
                return bad_element(
                    id, i, strf("bit offset is %u, less than %u of the one before", offset, last));
            if ((uint64_t{offset} + 7) / 8 > t.size)
                return bad_element(id, i,
                                   strf("bit offset is %u, size is %u bytes", offset, t.size));
            last = offset;
            ++i;
        }
        return {};
    }

    Result<void> check_section_layout(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        if (t.size == 0)
            return bad(id, "size is 0");
        uint64_t end = 0;
        uint32_t i = 0;
        for (const btf_var_secinfo &entry : elements<btf_var_secinfo>(t)) {
            if (entry.type == 0)
                return bad_element(id, i, "type is void");
            if (entry.offset < end)
                return bad_element(id, i,
                                   strf("offset is %u, the one before ends at %u", entry.offset,
                                        static_cast<uint32_t>(end)));
            end = uint64_t{entry.offset} + entry.size;
            if (entry.size == 0)
                return bad_element(id, i, "size is 0");
            if (end > t.size)
                return bad_element(id, i,
                                   strf("ends at %llu, the section at %u",
                                        static_cast<unsigned long long>(end), t.size));
            ++i;
        }
        return {};
    }

    /// Asked for by few.
    const KernelForms &forms()
    {
        if (!forms_)
            forms_ = kernel_forms(kernel_, btf_);
        return *forms_;
    }

    // A type against its targets.

    Result<void> check_targets(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        TypeId target{t.type};
        switch (btf::kind_of(t)) {
        case btf::Kind::PTR:
        case btf::Kind::TYPEDEF:
        case btf::Kind::CONST:
        case btf::Kind::VOLATILE:
        case btf::Kind::RESTRICT:
        case btf::Kind::TYPE_TAG: {
            btf::Kind kind = btf_.kind(sizes_.behind_modifiers(target));
            // (A kernel takes a FUNC here if it happens to have looked at that one before.)
            if (!btf::is_type(kind))
                return bad(id, strf("refers to a %s, which is no type", btf::kind_info(kind).name));
            return {};
        }
        case btf::Kind::ARRAY:
            return check_array(id);
        case btf::Kind::STRUCT:
        case btf::Kind::UNION: {
            uint32_t i = 0;
            for (const btf_member &m : elements<btf_member>(t)) {
                if (std::string rule = member_rule(t, m); !rule.empty())
                    return bad_element(id, i, rule);
                ++i;
            }
            return {};
        }
        case btf::Kind::FUNC:
            return check_func(id);
        case btf::Kind::FUNC_PROTO:
            return check_proto(id);
        case btf::Kind::VAR:
            if (sizes_.of(target) == unsized)
                return bad(id, "type has no size");
            return {};
        case btf::Kind::DATASEC:
            return check_section_entries(id);
        case btf::Kind::DECL_TAG:
            return check_decl_tag(id);
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

    Result<void> check_array(TypeId id)
    {
        const uint32_t *tail = btf::tail_of(btf_.type(id));
        auto is_odd_int = [&](TypeId type) {
            return btf_.kind(type) == btf::Kind::INT && !layout_of(btf_.type(type)).regular;
        };
        TypeId element = sizes_.behind_modifiers(TypeId{tail[0]}),
               index = sizes_.behind_modifiers(TypeId{tail[1]});
        if (btf_.kind(index) != btf::Kind::INT || is_odd_int(index))
            return bad(id, "index type is no plain INT");
        if (sizes_.of(element) == unsized)
            return bad(id, "element type has no size");
        if (is_odd_int(element))
            return bad(id, "element type is an INT of odd bits");
        if (sizes_.of(id) > UINT32_MAX)
            return bad(id, "is larger than 4 GB");
        return {};
    }

    /// The rule that a member violates, or "".
    std::string member_rule(const btf_type &t, const btf_member &m) const
    {
        TypeId type = sizes_.behind_modifiers(TypeId{m.type});
        uint64_t size = sizes_.of(type), offset = bit_offset(t, m);
        if (size == unsized)
            return "type has no size";
        btf::Kind kind = btf_.kind(type);
        bool kflag = btf::kflag_of(t);
        uint32_t bitfield = kflag ? BTF_MEMBER_BITFIELD_SIZE(m.offset) : 0;
        uint64_t bits = size * 8; // that the member occupies
        bool bit_aligned = bitfield != 0;
        uint32_t max_bitfield = 0;
        if (kind == btf::Kind::INT) {
            IntLayout layout = layout_of(btf_.type(type));
            if (kflag && !layout.regular)
                return "type is an INT of odd bits, and kflag is set";
            bit_aligned |= !kflag; // the old way of bitfields: by such INTs
            offset += layout.offset;
            bits = max_bitfield = layout.bits;
        } else if (btf::is_enum(kind)) {
            max_bitfield = max_enum_bitfield;
            if (kflag)
                bits = max_enum_bitfield;
        }
        if (bitfield > max_bitfield)
            return strf("bitfield size is %u, its type allows %u", bitfield, max_bitfield);
        if (bitfield)
            bits = bitfield;
        if (!bit_aligned && offset % 8)
            return strf("bit offset is %llu, no multiple of 8",
                        static_cast<unsigned long long>(offset));
        if (kind == btf::Kind::INT && bits + offset % 8 > max_int_bits)
            return "bits span more than 16 bytes";
        if (kind == btf::Kind::FLOAT && size == 0) // of the base: its types were not checked
            return "type is a FLOAT of no bytes";
        if (kind == btf::Kind::FLOAT && offset % (std::min<uint64_t>(pointer_size_, size) * 8))
            return strf("FLOAT at bit offset %llu is not aligned",
                        static_cast<unsigned long long>(offset));
        if ((offset + bits + 7) / 8 > t.size)
            return strf("ends at bit %llu, the %s at byte %u",
                        static_cast<unsigned long long>(offset) + bits,
                        btf::kind_of(t) == btf::Kind::UNION ? "union" : "struct", t.size);
        return "";
    }

    Result<void> check_func(TypeId id)
    {
        TypeId proto{btf_.type(id).type};
        if (btf_.kind(proto) != btf::Kind::FUNC_PROTO)
            return bad(id, strf("refers to type %u, which is no FUNC_PROTO", raw(proto)));
        uint32_t i = 0;
        for (const btf_param &p : elements<btf_param>(btf_.type(proto))) {
            if (p.name_off == 0 && p.type != 0)
                return bad(id, strf("parameter %u has no name", i));
            ++i;
        }
        return {};
    }

    Result<void> check_proto(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        if (t.type && sizes_.of(TypeId{t.type}) == unsized)
            return bad(id, "result type has no size");
        auto params = elements<btf_param>(t);
        for (uint32_t i = 0; i < params.size(); ++i) {
            const btf_param &p = params[i];
            if (p.type == 0 && i + 1 == params.size()) {
                if (p.name_off)
                    return bad_element(id, i, "'...' has a name");
                break;
            }
            if (p.name_off && !is_identifier_at(p.name_off))
                return bad_element(id, i, identifier_fault(p.name_off));
            if (sizes_.of(TypeId{p.type}) == unsized)
                return bad_element(id, i, "type has no size");
        }
        return {};
    }

    Result<void> check_section_entries(TypeId id)
    {
        uint32_t i = 0;
        for (const btf_var_secinfo &entry : elements<btf_var_secinfo>(btf_.type(id))) {
            TypeId var{entry.type};
            if (btf_.kind(var) != btf::Kind::VAR)
                return bad_element(id, i, strf("type %u is no VAR", raw(var)));
            uint64_t size = sizes_.of(TypeId{btf_.type(var).type});
            if (size == unsized || entry.size < size)
                return bad_element(id, i, strf("size is %u, less than its variable's", entry.size));
            ++i;
        }
        return {};
    }

    Result<void> check_decl_tag(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        TypeId target{t.type};
        btf::Kind kind = btf_.kind(target);
        if (kind != btf::Kind::FUNC && kind != btf::Kind::VAR && kind != btf::Kind::TYPEDEF &&
            !btf::is_composite(kind))
            return bad(id,
                       strf("refers to type %u, which cannot have declaration tags", raw(target)));
        auto component = static_cast<int32_t>(btf::tail_of(t)[0]);
        if (component == -1)
            return {};
        uint32_t count = 0; // of components
        if (btf::is_composite(kind))
            count = btf::vlen_of(btf_.type(target));
        else if (kind == btf::Kind::FUNC &&
                 btf_.kind(TypeId{btf_.type(target).type}) == btf::Kind::FUNC_PROTO)
            count = btf::vlen_of(btf_.type(TypeId{btf_.type(target).type}));
        if (static_cast<uint32_t>(component) >= count)
            return bad(id, strf("component index is %d, of %u components", component, count));
        return {};
    }

    Result<void> check_modifier_chain(TypeId first)
    {
        // A chain counts as far as its types come behind `first`; the others were looked at before.
        TypeId id = first;
        for (uint32_t length = 0; btf::is_modifier(btf_.kind(id)); ++length) {
            if (length == max_modifiers)
                return bad(first, "begins a chain of more than 32 modifiers");
            TypeId target{btf_.type(id).type};
            if (btf_.kind(id) != btf::Kind::TYPE_TAG && btf_.kind(target) == btf::Kind::TYPE_TAG &&
                !forms().tags_anywhere)
                return bad(id, "a TYPE_TAG follows it, which kernels before 7.2 refuse");
            if (raw(id) < raw(first))
                break;
            id = target;
        }
        return {};
    }

    Bytes blob_;
    const Btf &btf_;
    const Where &where_;
    uint32_t pointer_size_;
    TypeSizes sizes_;
    std::optional<KernelVersion> kernel_;
    std::optional<KernelForms> forms_; // once asked for
    std::vector<bool> identifiers_;    // strings that are known to be, by their own offset
    std::vector<Error> found_;
    size_t most_ = 1;
};

} // namespace

Result<void> check_btf(Bytes blob, const Btf &btf, const Where &where, uint32_t pointer_size,
                       std::optional<KernelVersion> kernel)
{
    std::vector<Error> found = Checker(blob, btf, where, pointer_size, kernel).run(1);
    if (found.empty())
        return {};
    return fail(std::move(found.front()));
}

std::vector<Error> find_violations(Bytes blob, const Btf &btf, const Where &where,
                                   uint32_t pointer_size, size_t most,
                                   std::optional<KernelVersion> kernel)
{
    return Checker(blob, btf, where, pointer_size, kernel).run(most);
}

} // namespace btflink
