// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Lists the names in a BTF: types, functions, variables, constants.
#include "btf-kernel/diff/side.h"

#include "btf-kernel/diff/types.h"

#include <algorithm>
#include <xxhash.h>

namespace btflink::kernel::diff
{

namespace
{

constexpr std::string_view kfunc_tag = "bpf_kfunc";

/// By index of a type: does another type refer to it?
std::vector<bool> referred_to(const Btf &btf)
{
    std::vector<bool> seen(btf.size());
    const uint32_t first = raw(btf.first_id());
    for (TypeId id : btf.ids())
        btf::for_each_type_id(btf.type(id), [&](uint32_t ref) {
            if (ref >= first)
                seen[ref - first] = true;
        });
    return seen;
}

void add_constants(const Btf &btf, TypeId id, bool in_unnamed_enum, std::vector<Definition> &names)
{
    const btf_type &t = btf.type(id);
    const bool wide = btf::kind_of(t) == btf::Kind::ENUM64;
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
        const EnumValue v = enum_value(btf, raw(id), i);
        const auto value = static_cast<uint64_t>(v.value);
        names.push_back({key_of(Space::constant, v.name), wide ? value : value & UINT32_MAX,
                         Space::constant, in_unnamed_enum, raw(id), i});
    }
}

} // namespace

uint64_t key_of(Space space, std::string_view name)
{
    return XXH3_64bits_withSeed(name.data(), name.size(), static_cast<uint64_t>(space));
}

Side::Side(std::shared_ptr<const Btf> of, const Side *base)
    : btf(std::move(of)), shapes(*btf, base ? &base->shapes : nullptr)
{
    find_tags();
    find_names();
}

void Side::find_tags()
{
    for (TypeId id : btf->ids()) {
        const btf_type &t = btf->type(id);
        if (btf::kind_of(t) == btf::Kind::DECL_TAG)
            tags.push_back({t.type, static_cast<int32_t>(btf::tail_of(t)[0]), btf->name(id)});
        if (btf::kind_of(t) == btf::Kind::DATASEC)
            btf::for_each_type_id(t, [&](uint32_t var) { sections_.push_back({var, raw(id)}); });
    }
    std::sort(tags.begin(), tags.end());
    std::sort(sections_.begin(), sections_.end());
}

void Side::find_names()
{
    const std::vector<bool> seen = referred_to(*btf);
    names.reserve(btf->size());
    for (TypeId id : btf->ids()) {
        const btf_type &t = btf->type(id);
        std::string_view name = btf->name(id);
        auto add = [&](Space space) {
            names.push_back(
                {key_of(space, name), shapes.definition(raw(id)), space, true, raw(id)});
        };
        const btf::Kind kind = btf::kind_of(t);
        if (btf::is_enum(kind))
            add_constants(*btf, id, name.empty() && !seen[raw(id) - raw(btf->first_id())], names);
        if (btf::is_composite(kind) || btf::is_enum(kind)) {
            if (!name.empty() && !btf::is_declaration(t))
                add(Space::type);
        } else if (btf::kind_info(kind).family == btf::Family::number) {
            name = plain_int_name(name);
            if (!name.empty())
                add(Space::type);
        } else if (kind == btf::Kind::TYPEDEF) {
            add(Space::alias);
        } else if (kind == btf::Kind::FUNC) {
            add(Space::function);
        } else if (kind == btf::Kind::VAR) {
            add(Space::variable);
            names.back().shape += key_of(Space::variable, section_of(raw(id)));
        }
    }
    std::sort(names.begin(), names.end(), [](const Definition &a, const Definition &b) {
        return std::tie(a.key, a.shape, b.in_unnamed_enum, a.id) <
               std::tie(b.key, b.shape, a.in_unnamed_enum, b.id);
    });
    auto same = [](const Definition &a, const Definition &b) {
        return a.key == b.key && a.shape == b.shape;
    };
    names.erase(std::unique(names.begin(), names.end(), same), names.end());
}

std::string_view Side::name_of(const Definition &named) const
{
    return named.space == Space::constant ? enum_value(*btf, named.id, named.index).name
                                          : btf->name(TypeId{named.id});
}

std::span<const Definition> Side::find(uint64_t key) const
{
    auto less = [](const Definition &named, uint64_t wanted) { return named.key < wanted; };
    auto begin = std::lower_bound(names.begin(), names.end(), key, less);
    auto end = begin;
    while (end != names.end() && end->key == key)
        ++end;
    return {begin, end};
}

std::span<const Tag> Side::tags_of(uint32_t id) const
{
    auto begin =
        std::lower_bound(tags.begin(), tags.end(), id,
                         [](const Tag &tag, uint32_t target) { return tag.target < target; });
    auto end = begin;
    while (end != tags.end() && end->target == id)
        ++end;
    return {begin, end};
}

bool Side::is_kfunc(uint32_t id) const
{
    for (const Tag &tag : tags_of(id))
        if (tag.text == kfunc_tag && tag.component == -1)
            return true;
    return false;
}

std::string_view Side::section_of(uint32_t id) const
{
    auto at = std::lower_bound(sections_.begin(), sections_.end(), std::pair{id, 0u});
    return at != sections_.end() && at->first == id ? btf->name(TypeId{at->second})
                                                    : std::string_view();
}

} // namespace btflink::kernel::diff
