// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares a type of a BPF program with one of a kernel, by libbpf's rules. Types that are nested
// more than 32 deep do not match; libbpf refuses a program with such a relocation.
#include "btf-kernel/bpf/bpf_program.h"

#include "btf-kernel/diff/types.h"

namespace btflink::kernel::bpf
{

namespace
{

using namespace diff;

constexpr int max_depth = 32;
// Limits the visited types, members and enumerators; types that need more do not match. libbpf has
// no such limit, but prototypes whose parameters refer to prototypes can take time that is
// exponential in max_depth.
constexpr size_t max_looks = 1 << 20;

/// `a` and `p` are types of the program, `b` and `q` types of the kernel. `level`: how much deeper
/// the types may be nested.
class TypeComparer
{
public:
    TypeComparer(const Btf &local, const Btf &target) : local_(local), target_(target) {}

    bool compatible(uint32_t a, uint32_t b, int level)
    {
        for (int i = 0; i < max_depth && ++looks_ < max_looks; ++i) {
            a = behind_modifiers(local_, a);
            b = behind_modifiers(target_, b);
            if (!same_kind(a, b))
                return false;
            if (!a)
                return true;
            const btf_type &p = local_.type(TypeId{a}), &q = target_.type(TypeId{b});
            const btf::Family family = btf::kind_info(p).family;
            if (family == btf::Family::number) // libbpf does not accept FLOATs
                return btf::kind_of(p) == btf::Kind::INT && no_offset(p) && no_offset(q);
            if (family == btf::Family::array) {
                a = btf::tail_of(p)[0];
                b = btf::tail_of(q)[0];
                continue;
            }
            if (family == btf::Family::prototype) {
                if (btf::vlen_of(p) != btf::vlen_of(q) || (level <= 0 && btf::vlen_of(p)))
                    return false;
                for (uint32_t k = 0; k < btf::vlen_of(p); ++k)
                    if (!compatible(btf::tail_of(p)[k * 2 + 1], btf::tail_of(q)[k * 2 + 1],
                                    level - 1))
                        return false;
            } else if (family != btf::Family::pointer) {
                return true;
            }
            a = p.type;
            b = q.type;
        }
        return false;
    }

    bool match(uint32_t a, uint32_t b, bool behind_pointer, int level)
    {
        if (level <= 0)
            return false;
        for (int i = 0; i < max_depth && ++looks_ < max_looks; ++i) {
            a = behind_modifiers(local_, a);
            b = behind_modifiers(target_, b);
            if (essential_name(local_.name(TypeId{a})) != essential_name(target_.name(TypeId{b})))
                return false;
            if (!a || !b)
                return a == b;
            const btf_type &p = local_.type(TypeId{a}), &q = target_.type(TypeId{b});
            const btf::Family family = btf::kind_info(p).family;
            if (family == btf::Family::composite || family == btf::Family::forward)
                return match_composites(p, q, behind_pointer, level);
            if (!same_kind(a, b))
                return false;
            if (family == btf::Family::enumeration)
                return match_enums(a, b);
            if (family == btf::Family::number)
                return btf::kind_of(p) == btf::Kind::INT && p.size == q.size &&
                       is_signed(p) == is_signed(q);
            if (family == btf::Family::array) {
                if (btf::tail_of(p)[2] != btf::tail_of(q)[2])
                    return false;
                a = btf::tail_of(p)[0];
                b = btf::tail_of(q)[0];
                continue;
            }
            if (family == btf::Family::prototype) {
                if (btf::vlen_of(p) != btf::vlen_of(q))
                    return false;
                for (uint32_t k = 0; k < btf::vlen_of(p); ++k)
                    if (!match(btf::tail_of(p)[k * 2 + 1], btf::tail_of(q)[k * 2 + 1],
                               behind_pointer, level - 1))
                        return false;
            } else if (family != btf::Family::pointer) {
                return false;
            }
            behind_pointer |= family == btf::Family::pointer;
            a = p.type;
            b = q.type;
        }
        return false;
    }

private:
    bool same_kind(uint32_t a, uint32_t b) const
    {
        const btf::Kind kind = local_.kind(TypeId{a}), other = target_.kind(TypeId{b});
        return kind == other || (btf::is_enum(kind) && btf::is_enum(other));
    }
    static bool no_offset(const btf_type &t) { return BTF_INT_OFFSET(btf::tail_of(t)[0]) == 0; }
    static bool is_signed(const btf_type &t)
    {
        return BTF_INT_ENCODING(btf::tail_of(t)[0]) & BTF_INT_SIGNED;
    }
    bool match_composites(const btf_type &p, const btf_type &q, bool behind_pointer, int level)
    {
        const btf::Kind kind = btf::kind_of(p), other = btf::kind_of(q);
        if (!btf::is_composite(other) && other != btf::Kind::FWD)
            return false;
        if (!behind_pointer && kind != other)
            return false;
        if (behind_pointer || kind == btf::Kind::FWD)
            return btf::is_union(p) == btf::is_union(q);
        return each_has_one(p, q, [&](uint32_t i, uint32_t j) {
            const uint32_t *m = btf::tail_of(p) + i * 3, *n = btf::tail_of(q) + j * 3;
            return essential_name(local_.str(m[0])) == essential_name(target_.str(n[0])) &&
                   match(m[1], n[1], false, level - 1);
        });
    }

    bool match_enums(uint32_t a, uint32_t b)
    {
        const btf_type &p = local_.type(TypeId{a}), &q = target_.type(TypeId{b});
        return p.size == q.size && each_has_one(p, q, [&](uint32_t i, uint32_t j) {
                   return essential_name(enum_value(local_, a, i).name) ==
                          essential_name(enum_value(target_, b, j).name);
               });
    }

    /// Does `q` have at least as many elements as `p`, and for each element `i` of `p` an element
    /// `j` for which same(i, j) holds?
    template <typename Same>
    bool each_has_one(const btf_type &p, const btf_type &q, Same same)
    {
        for (uint32_t i = 0; i < btf::vlen_of(p); ++i) {
            bool found = false;
            for (uint32_t j = 0; j < btf::vlen_of(q) && !found && ++looks_ < max_looks; ++j)
                found = same(i, j);
            if (!found)
                return false;
        }
        return btf::vlen_of(p) <= btf::vlen_of(q);
    }

    const Btf &local_, &target_;
    size_t looks_ = 0;
};

} // namespace

bool types_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                          uint32_t target)
{
    const btf::Kind kind = local_btf.kind(TypeId{local}), other = target_btf.kind(TypeId{target});
    if (kind != other && !(btf::is_enum(kind) && btf::is_enum(other)))
        return false;
    return TypeComparer(local_btf, target_btf).compatible(local, target, max_depth);
}

bool types_match(const Btf &local_btf, uint32_t local, const Btf &target_btf, uint32_t target)
{
    return TypeComparer(local_btf, target_btf).match(local, target, false, max_depth);
}

} // namespace btflink::kernel::bpf
