// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Numbers the plain types of all inputs, and chooses which types of the base take part.
#include "merge/dedup/type_space.h"

namespace btflink::merge
{

namespace
{

/// Types of a base that are not wanted or not plain (FUNC, VAR, DATASEC and the tags on them).
Result<std::vector<bool>> base_skip(const Btf &base, const Selection &wanted, const Where &where)
{
    std::vector<bool> skip(base.size(), true);
    auto is_link_kind = [&](TypeId id) {
        uint32_t kind = base.kind(id);
        return kind == BTF_KIND_FUNC || kind == BTF_KIND_VAR || kind == BTF_KIND_DATASEC;
    };
    uint32_t bad = 0;
    wanted.for_each(0, [&](uint32_t i) {
        TypeId id{i + 1};
        const btf_type &t = base.type(id);
        if (is_link_kind(id) ||
            (btf::kind_of(t) == BTF_KIND_DECL_TAG && t.type && is_link_kind(TypeId{t.type})))
            return;
        skip[i] = false;
        btf::for_each_type_id(t, [&](uint32_t ref) {
            uint32_t kind = base.kind(TypeId{ref});
            if (!bad && (kind == BTF_KIND_FUNC || kind == BTF_KIND_VAR ||
                         kind == BTF_KIND_DATASEC || kind == BTF_KIND_DECL_TAG))
                bad = raw(id);
        });
    });
    if (bad)
        return fail(where, strf("type %u (%s) refers to one that is no type proper", bad,
                                base.kind_name(TypeId{bad})));
    return skip;
}

} // namespace

Result<Sources> make_sources(const std::vector<Object> &objects,
                             const std::vector<bool> &not_linked, const Btf *base,
                             const Where &base_where)
{
    Sources out;
    if (base) {
        if (base->base())
            return fail(base_where, "a base that is split BTF itself is not supported");
        out.base_part = std::make_unique<BasePart>(make_base_part(*base, objects));
        auto skip = base_skip(*base, out.base_part->wanted, base_where);
        if (!skip)
            return tl::unexpected(skip.error());
        out.has_base = true;
        out.base_skip = std::make_unique<const std::vector<bool>>(std::move(*skip));
        out.base_hashes = stub_hashes(*base, out.base_part->wanted);
        for (Hash128 &h : out.base_hashes)
            h = {in_order(h.low, ByteOrder::little), in_order(h.high, ByteOrder::little)};
        out.list.push_back({base, reinterpret_cast<const std::byte *>(out.base_hashes.data()),
                            &out.base_part->wanted, base->size(), out.base_skip.get(), 0});
        out.types = base->size();
    }
    out.of_object.assign(objects.size(), UINT32_MAX);
    out.views.resize(objects.size());
    for (size_t i = 0; i < objects.size(); ++i) {
        if (not_linked[i])
            continue;
        const Object &o = objects[i];
        uint32_t count = o.has_trailer ? raw(o.trailer.plain_end) - 1 : o.btf.size();
        out.of_object[i] = static_cast<uint32_t>(out.list.size());
        if (o.btf.is_marked())
            out.views[i] = std::make_unique<const Sources::OwnView>(o.btf);
        const Btf &btf = out.views[i] ? out.views[i]->btf : o.btf;
        out.list.push_back({&btf, o.hashes.data(), nullptr, count,
                            o.has_trailer ? nullptr : &o.in_link_part, out.types});
        out.types += count;
    }
    return out;
}

} // namespace btflink::merge
