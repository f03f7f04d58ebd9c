// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Members, sizes and C text of types. Compares types by meaning, and by CO-RE's rules for fields.
#include "btf-kernel/diff/types.h"

#include "merge/explain/c_text.h"

namespace btflink::kernel::diff
{

namespace
{

constexpr size_t max_members = 1 << 20;  // visited members of one struct or union
constexpr size_t max_looks = 10'000;     // visited pairs when two types are compared
constexpr size_t shown_characters = 160; // of one type

/// `offset`: of the struct or union `id` in the outermost one, in bits. `left`: how many members
/// may still be visited.
void add_members(const Btf &btf, uint32_t id, uint32_t offset, unsigned depth, size_t &left,
                 std::vector<Member> &out)
{
    const btf_type &t = btf.type(TypeId{id});
    for (uint32_t i = 0; i < btf::vlen_of(t) && left; ++i, --left) {
        Member member = member_at(btf, t, i);
        member.offset += offset;
        if (!member.name.empty()) {
            out.push_back(member);
            continue;
        }
        const uint32_t inner = behind_modifiers(btf, member.type);
        if (depth < max_depth && btf::is_composite(btf.kind(TypeId{inner})))
            add_members(btf, inner, member.offset, depth + 1, left, out);
        if (!left) // the inner members were the last that may be visited
            return;
    }
}

/// "struct s" for a named struct, union, enum or forward declaration; or "".
std::string tag_name(const Btf &btf, uint32_t id)
{
    return id && btf::has_tag_name(btf.type(TypeId{id})) ? type_name(btf, id) : "";
}

class MeaningComparer
{
public:
    MeaningComparer(const Btf &a, const Btf &b) : a_(a), b_(b) {}

    bool equal(uint32_t a, uint32_t b, bool behind_pointer, unsigned depth)
    {
        if (depth > max_depth || ++looked_at_ > max_looks)
            return false;
        a = behind_modifiers(a_, a);
        b = behind_modifiers(b_, b);
        if (!a || !b)
            return behind_pointer || a == b;
        const btf_type &ta = a_.type(TypeId{a}), &tb = b_.type(TypeId{b});
        if (std::string name = tag_name(a_, a); !name.empty() || !tag_name(b_, b).empty())
            return name == tag_name(b_, b);
        if (btf::kind_of(ta) != btf::kind_of(tb))
            return false;
        const uint32_t *wa = btf::tail_of(ta), *wb = btf::tail_of(tb);
        const btf::Family family = btf::kind_info(ta).family;
        // The signedness of bytes does not matter: they may be text.
        if (family == btf::Family::number)
            return ta.size == tb.size && (btf::kind_of(ta) == btf::Kind::FLOAT || ta.size == 1 ||
                                          is_signed(wa[0]) == is_signed(wb[0]));
        if (family == btf::Family::pointer)
            return equal(ta.type, tb.type, true, depth + 1);
        if (family == btf::Family::array)
            return wa[2] == wb[2] && equal(wa[0], wb[0], behind_pointer, depth + 1);
        if (family == btf::Family::prototype)
            return prototypes_equal(ta, tb, depth);
        // unnamed structs, unions and enums
        return ta.size == tb.size && btf::vlen_of(ta) == btf::vlen_of(tb);
    }

private:
    static bool is_signed(uint32_t int_word) { return BTF_INT_ENCODING(int_word) & BTF_INT_SIGNED; }

    bool prototypes_equal(const btf_type &a, const btf_type &b, unsigned depth)
    {
        if (btf::vlen_of(a) != btf::vlen_of(b) || !equal(a.type, b.type, false, depth + 1))
            return false;
        const uint32_t *pa = btf::tail_of(a), *pb = btf::tail_of(b);
        for (uint32_t i = 0; i < btf::vlen_of(a); ++i)
            if (!equal(pa[i * 2 + 1], pb[i * 2 + 1], false, depth + 1))
                return false;
        return true;
    }

    const Btf &a_, &b_;
    size_t looked_at_ = 0;
};

} // namespace

bool mean_the_same(const Btf &a_btf, uint32_t a, const Btf &b_btf, uint32_t b)
{
    return MeaningComparer(a_btf, b_btf).equal(a, b, false, 0);
}

std::string one_line(const Btf &btf, uint32_t id, std::string_view name)
{
    std::string out;
    for (char c : merge::c_declaration(btf, TypeId{id}, name)) {
        const bool space = c == '\n' || c == '\t' || c == ' ';
        if (!space)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    if (out.size() > shown_characters)
        out = out.substr(0, shown_characters) + "...";
    return out;
}

std::string type_name(const Btf &btf, uint32_t id)
{
    return merge::c_name(btf, TypeId{id});
}

std::string prototype_text(const Btf &btf, uint32_t func)
{
    return one_line(btf, btf.type(TypeId{func}).type, btf.name(TypeId{func}));
}

uint32_t behind_modifiers(const Btf &btf, uint32_t id)
{
    for (unsigned i = 0; i < max_steps; ++i) {
        if (id == 0 || !btf::is_modifier(btf.kind(TypeId{id})))
            return id;
        id = btf.type(TypeId{id}).type;
    }
    return 0;
}

std::optional<uint64_t> size_of(const Btf &btf, uint32_t id)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < max_steps; ++i) {
        id = behind_modifiers(btf, id);
        const btf::Kind kind = btf.kind(TypeId{id});
        const bool is_array = kind == btf::Kind::ARRAY, is_pointer = kind == btf::Kind::PTR;
        // A DATASEC has a size, too, but it is not the type of a member or parameter.
        if (!is_array && !is_pointer &&
            (btf::kind_info(kind).third != btf::Word::size || btf::is_of_link(kind)))
            return std::nullopt;
        const btf_type &t = btf.type(TypeId{id});
        const uint64_t factor = is_pointer ? 8 // wrong for 32-bit kernels (docs/limits.md)
                                : is_array ? btf::tail_of(t)[2]
                                           : t.size;
        if (__builtin_mul_overflow(count, factor, &count))
            return std::nullopt;
        if (!is_array)
            return count;
        id = btf::tail_of(t)[0];
    }
    return std::nullopt;
}

bool is_anonymous_aggregate(const Btf &btf, uint32_t id)
{
    const btf::Kind kind = btf.kind(TypeId{id});
    return (btf::is_composite(kind) || btf::is_enum(kind)) && btf.name(TypeId{id}).empty();
}

Member member_at(const Btf &btf, const btf_type &type, uint32_t index)
{
    const uint32_t *m = btf::tail_of(type) + index * 3;
    const bool kflag = btf::kflag_of(type), is_last = index + 1 == btf::vlen_of(type);
    return {btf.str(m[0]), m[1], kflag ? m[2] & 0xffffff : m[2], kflag ? m[2] >> 24 : 0, is_last};
}

std::vector<Member> members_of(const Btf &btf, uint32_t id)
{
    std::vector<Member> out;
    out.reserve(btf::vlen_of(btf.type(TypeId{id})));
    size_t left = max_members;
    add_members(btf, id, 0, 0, left, out);
    return out;
}

EnumValue enum_value(const Btf &btf, uint32_t id, uint32_t index)
{
    const btf_type &t = btf.type(TypeId{id});
    const bool is_unsigned = !btf::kflag_of(t);
    if (btf::kind_of(t) == btf::Kind::ENUM64) {
        const uint32_t *v = btf::tail_of(t) + index * 3;
        return {btf.str(v[0]), static_cast<int64_t>(uint64_t{v[2]} << 32 | v[1]), is_unsigned};
    }
    const uint32_t *v = btf::tail_of(t) + index * 2;
    const auto narrow = static_cast<int32_t>(v[1]);
    return {btf.str(v[0]), is_unsigned ? int64_t{v[1]} : int64_t{narrow}, is_unsigned};
}

std::string number_text(int64_t value, bool is_unsigned)
{
    return is_unsigned ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value);
}

// As bpf_core_essential_name_len() of libbpf.
std::string_view essential_name(std::string_view name)
{
    for (size_t at = name.size(); at-- > 1;)
        if (name.substr(at).starts_with("___") && at + 3 < name.size() && name[at - 1] != '_' &&
            name[at + 3] != '_')
            return name.substr(0, at);
    return name;
}

// As bpf_core_fields_are_compat() of libbpf.
bool fields_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                           uint32_t target)
{
    for (unsigned i = 0; i < max_steps; ++i) {
        local = behind_modifiers(local_btf, local);
        target = behind_modifiers(target_btf, target);
        const btf::Kind kind = local_btf.kind(TypeId{local}),
                        other = target_btf.kind(TypeId{target});
        if (btf::is_composite(kind) && btf::is_composite(other))
            return true;
        if (kind != other && !(btf::is_enum(kind) && btf::is_enum(other)))
            return false;
        if (!local || !target)
            return false;
        if (kind == btf::Kind::PTR)
            return true;
        if (btf::is_enum(kind) || kind == btf::Kind::FWD) {
            std::string_view a = essential_name(local_btf.name(TypeId{local})),
                             b = essential_name(target_btf.name(TypeId{target}));
            return a.empty() || b.empty() || a == b;
        }
        const uint32_t *here = btf::tail_of(local_btf.type(TypeId{local})),
                       *there = btf::tail_of(target_btf.type(TypeId{target}));
        if (kind == btf::Kind::INT)
            return BTF_INT_OFFSET(here[0]) == 0 && BTF_INT_OFFSET(there[0]) == 0;
        if (kind != btf::Kind::ARRAY)
            return kind == btf::Kind::FLOAT;
        local = here[0];
        target = there[0];
    }
    return false;
}

} // namespace btflink::kernel::diff
