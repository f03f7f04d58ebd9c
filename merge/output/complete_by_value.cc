// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Only BTF that failed the last check comes here: one pass finds the declarations that prototypes
// take or return by value, a second one rewrites their kind and size in place. Nothing moves.
#include "merge/output/complete_by_value.h"

#include "common/btf/type_sizes.h"

#include <set>

namespace btflink::merge
{

namespace
{

std::set<TypeId> forwards_by_value(const Btf &btf)
{
    std::set<TypeId> found;
    const auto sizes = TypeSizes::compute(btf, {}, sizeof(uint64_t)); // no pointer is looked at
    if (!sizes)
        return found; // the check has said why
    for (TypeId id = btf.first_id(); id < btf.end_id(); id = TypeId{raw(id) + 1}) {
        if (btf.kind(id) != BTF_KIND_FUNC_PROTO)
            continue;
        btf::for_each_type_id(btf.type(id), [&](uint32_t ref) {
            const TypeId target = sizes->behind_modifiers(TypeId{ref});
            if (target >= btf.first_id() && btf.kind(target) == BTF_KIND_FWD)
                found.insert(target);
        });
    }
    return found;
}

} // namespace

std::vector<std::string> complete_by_value(std::vector<std::byte> &blob, const Btf &btf,
                                           ByteOrder order)
{
    const std::set<TypeId> forwards = forwards_by_value(btf);
    std::vector<std::string> names;
    uint64_t offset = btf.types_offset();
    for (TypeId id = btf.first_id(); id < btf.end_id(); id = TypeId{raw(id) + 1}) {
        const btf_type &t = btf.type(id);
        if (forwards.contains(id)) {
            const bool is_union = btf::kflag_of(t);
            const uint32_t kind = is_union ? BTF_KIND_UNION : BTF_KIND_STRUCT;
            store<uint32_t>(blob.data() + offset + offsetof(btf_type, info), kind << 24, order);
            store<uint32_t>(blob.data() + offset + offsetof(btf_type, size), 0, order);
            names.push_back((is_union ? "union " : "struct ") + std::string(btf.name(id)));
        }
        offset += btf::words_of(t) * 4;
    }
    return names;
}

} // namespace btflink::merge
