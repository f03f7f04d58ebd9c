// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Lists the names in a BTF (types, functions, variables, constants), and computes the shapes of
// types: hashes of their meaning (compare.h). The time is linear in the size of the BTF, except for
// sorting.
#include "btf-kernel/diff/compare.h"

#include "btf-kernel/diff/types.h"
#include "common/graph/graphs.h"

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

/// Hashes a sequence of numbers.
class HashInput
{
public:
    explicit HashInput(uint64_t first) { add(first); }
    void add(uint64_t value) { words_.push_back(value); }
    void add(std::string_view text) { add(XXH3_64bits(text.data(), text.size())); }
    /// Never 0: Shapes::compute() takes 0 for a shape that is not computed yet.
    Shape result() const { return XXH3_64bits(words_.data(), words_.size() * 8) | 1; }
    void restart(uint64_t first)
    {
        words_.clear();
        add(first);
    }

private:
    std::vector<uint64_t> words_;
};

/// First words of the hashes of names of structs, unions and enums. They differ from all BTF kinds,
/// with which other hashes begin.
enum NameOnlyKind : uint64_t { named_struct = 100, named_union, named_enum };

/// Does a reference to the type contribute only the type's kind and name to a shape?
bool is_by_name(const btf_type &t)
{
    const btf::Family family = btf::kind_info(t).family;
    return btf::has_tag_name(t) || family == btf::Family::forward ||
           btf::kind_of(t) == btf::Kind::TYPEDEF || (family == btf::Family::number && t.name_off);
}

class ShapeHasher
{
public:
    ShapeHasher(const Btf &btf, const Shapes &known) : btf_(btf), known_(known) {}

    Shape named(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        const btf::Kind kind = btf::kind_of(t);
        if (btf::is_composite(kind) || kind == btf::Kind::FWD)
            input_.restart(btf::is_union(t) ? named_union : named_struct);
        else
            input_.restart(btf::is_enum(kind) ? uint64_t{named_enum} : static_cast<uint64_t>(kind));
        input_.add(plain_int_name(btf_.name(id)));
        return input_.result();
    }

    Shape defined(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        const btf::Kind kind = btf::kind_of(t);
        const btf::KindInfo &info = btf::kind_info(kind);
        input_.restart(static_cast<uint64_t>(btf::is_enum(kind) ? btf::Kind::ENUM : kind));
        switch (info.family) {
        case btf::Family::number:
            input_.add(plain_int_name(btf_.name(id)));
            input_.add(t.size);
            for (uint32_t i = 0; i < info.fixed.count; ++i)
                input_.add(btf::tail_of(t)[i]);
            break;
        case btf::Family::composite:
            add_members(t);
            break;
        case btf::Family::enumeration:
            add_values(id);
            break;
        case btf::Family::array:
            input_.add(known_.reference(btf::tail_of(t)[0]));
            input_.add(btf::tail_of(t)[2]);
            break;
        case btf::Family::prototype:
            add_prototype(t);
            break;
        case btf::Family::modifier:
            if (info.naming == btf::Naming::text)
                input_.add(btf_.name(id));
            [[fallthrough]];
        case btf::Family::none:
        case btf::Family::pointer:
        case btf::Family::forward:
        case btf::Family::link: // a FUNC's prototype, a VAR's type
        case btf::Family::tag:
            if (info.third == btf::Word::ref)
                input_.add(known_.reference(t.type));
        }
        return input_.result();
    }

private:
    void add_members(const btf_type &t)
    {
        input_.add(t.size);
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            const Member m = member_at(btf_, t, i);
            input_.add(m.name);
            input_.add(known_.reference(m.type));
            input_.add(m.offset);
            input_.add(m.bits);
        }
    }

    void add_values(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        input_.add(t.size);
        // Values of an ENUM are 32 bits, even if its size is 8 bytes.
        const bool wide = btf::kind_of(t) == btf::Kind::ENUM64 && t.size > 4;
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            const EnumValue v = enum_value(btf_, raw(id), i);
            input_.add(v.name);
            input_.add(wide ? static_cast<uint64_t>(v.value) : static_cast<uint32_t>(v.value));
        }
    }

    void add_prototype(const btf_type &t)
    {
        input_.add(known_.reference(t.type));
        const uint32_t *p = btf::tail_of(t);
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i, p += 2) {
            input_.add(known_.reference(p[1]));
            input_.add(name_for_verifier(btf_.str(p[0])));
        }
    }

    const Btf &btf_;
    const Shapes &known_;
    HashInput input_{0};
};

} // namespace

uint64_t number_of(const Name &name, Shape shape)
{
    return XXH3_64bits_withSeed(name.text.data(), name.text.size(),
                                static_cast<uint64_t>(name.space)) *
               31 +
           shape;
}

Side::Side(std::shared_ptr<const Btf> of, const Side *base)
    : btf(std::move(of)), shapes(*btf, base ? &base->shapes : nullptr)
{
    find_tags_and_sections();
    find_names(); // needs the sections of variables
}

void Side::find_tags_and_sections()
{
    for (TypeId id : btf->ids()) {
        const btf_type &t = btf->type(id);
        if (btf::kind_of(t) == btf::Kind::DECL_TAG)
            tags.push_back({t.type, static_cast<int32_t>(btf::tail_of(t)[0]), btf->name(id)});
        if (btf::kind_of(t) == btf::Kind::DATASEC)
            btf::for_each_type_id(t, [&](uint32_t var) { sections_.push_back({var, raw(id)}); });
    }
    std::sort(tags.begin(), tags.end());
    std::ranges::sort(sections_);
}

void Side::find_names()
{
    const std::vector<bool> is_used = referred_to(*btf);
    for (TypeId id : btf->ids()) {
        const btf_type &t = btf->type(id);
        const std::string_view name = btf->name(id);
        auto add = [&](Space space, std::string_view text) -> Definition & {
            return names[{space, text}].emplace_back(
                Definition{shapes.definition(raw(id)), raw(id)});
        };
        const btf::Kind kind = btf::kind_of(t);
        if (btf::is_enum(kind))
            add_constants(id, name.empty() && !is_used[raw(id) - raw(btf->first_id())]);
        if (btf::is_composite(kind) || btf::is_enum(kind)) {
            if (!name.empty() && !btf::is_declaration(t))
                add(Space::type, name);
        } else if (btf::kind_info(kind).family == btf::Family::number) {
            if (!name.empty())
                add(Space::type, plain_int_name(name));
        } else if (kind == btf::Kind::TYPEDEF) {
            add(Space::alias, name);
        } else if (kind == btf::Kind::FUNC) {
            add(Space::function, name);
        } else if (kind == btf::Kind::VAR) {
            add(Space::variable, name).shape +=
                number_of({Space::variable, section_of(raw(id))}, 0);
        }
    }
    for (auto &[name, list] : names) {
        // Of constants with the same value, those in bare enums come first, because only the first
        // one is kept.
        std::ranges::sort(list, [](const Definition &a, const Definition &b) {
            return std::tie(a.shape, b.in_bare_enum, a.id) <
                   std::tie(b.shape, a.in_bare_enum, b.id);
        });
        auto same = [](const Definition &a, const Definition &b) { return a.shape == b.shape; };
        list.erase(std::unique(list.begin(), list.end(), same), list.end());
    }
}

void Side::add_constants(TypeId id, bool in_bare_enum)
{
    const btf_type &t = btf->type(id);
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
        const EnumValue v = enum_value(*btf, raw(id), i);
        const auto value = static_cast<uint64_t>(v.value);
        // -1 in an ENUM, -1 in an ENUM64 and 4294967295 in an unsigned ENUM are the same.
        const bool is_int = !v.is_unsigned && v.value == static_cast<int32_t>(v.value);
        names[{Space::constant, v.name}].push_back(
            {is_int ? value & UINT32_MAX : value, raw(id), in_bare_enum, i});
    }
}

std::span<const Definition> Side::find(const Name &name) const
{
    auto found = names.find(name);
    return found == names.end() ? std::span<const Definition>() : found->second;
}

std::span<const Tag> Side::tags_of(uint32_t id) const
{
    auto begin = std::ranges::lower_bound(tags, id, {}, &Tag::target);
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
    auto at = std::ranges::lower_bound(sections_, std::pair{id, 0u});
    return at != sections_.end() && at->first == id ? btf->name(TypeId{at->second})
                                                    : std::string_view();
}

Shapes::Shapes(const Btf &btf, const Shapes *base)
    : base_(base), first_(raw(btf.first_id())), types_(btf.size())
{
    compute(btf);
    add_tags(btf);
}

void Shapes::compute(const Btf &btf)
{
    ShapeHasher shaper(btf, *this);
    // First the references to named types. They need only the names, and every cycle of valid BTF
    // has a named type. Then the definitions, each after the unnamed types to which it refers.
    for (uint32_t i = 0; i < types_.size(); ++i)
        if (is_by_name(btf.type(TypeId{first_ + i})))
            types_[i].reference = shaper.named(TypeId{first_ + i});
    std::vector<uint8_t> state(types_.size());
    std::vector<uint32_t> stack;
    auto expand = [&](uint32_t id, auto need) {
        btf::for_each_type_id(btf.type(TypeId{id}), [&](uint32_t ref) {
            if (ref >= first_ && !is_by_name(btf.type(TypeId{ref})))
                need(ref);
        });
    };
    auto close = [&](uint32_t id) {
        TypeShapes &mine = types_[id - first_];
        mine.definition = shaper.defined(TypeId{id});
        if (!mine.reference)
            mine.reference = mine.definition;
    };
    auto state_of = [&](uint32_t id) -> uint8_t & { return state[id - first_]; };
    for (uint32_t id = first_; id < first_ + types_.size(); ++id)
        post_order(id, state_of, stack, expand, close);
}

/// Adds the hashes of tags to the definitions of their targets, except targets in the base. A sum
/// does not depend on the order of tags.
void Shapes::add_tags(const Btf &btf)
{
    HashInput input(0);
    for (uint32_t id = first_; id < first_ + types_.size(); ++id) {
        const btf_type &t = btf.type(TypeId{id});
        if (btf::kind_of(t) != btf::Kind::DECL_TAG || t.type < first_)
            continue;
        input.restart(static_cast<uint32_t>(btf::Kind::DECL_TAG));
        input.add(btf.str(t.name_off));
        input.add(btf::tail_of(t)[0]);
        types_[t.type - first_].definition += input.result();
    }
}

std::string_view plain_int_name(std::string_view name)
{
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"short int", "short"},
        {"short unsigned int", "unsigned short"},
        {"long int", "long"},
        {"long unsigned int", "unsigned long"},
        {"long long int", "long long"},
        {"long long unsigned int", "unsigned long long"},
        {"__int128 unsigned", "unsigned __int128"},
        {"_Bool", "bool"},
    };
    for (const auto &[written, plain] : names)
        if (name == written)
            return plain;
    return name;
}

std::string_view name_for_verifier(std::string_view parameter)
{
    // The lists are from the verifier (is_kfunc_arg_*()), btf.c and bpf_struct_ops.c of Linux 6.1,
    // 6.12 and 7.3. __prog is of releases between 6.12 and 7.3.
    static constexpr std::string_view names[] = {"rdonly_buf_size", "rdwr_buf_size"};
    static constexpr std::string_view suffixes[] = {"__alloc",
                                                    "__arena",
                                                    "__const_map",
                                                    "__ign",
                                                    "__irq_flag",
                                                    "__iter",
                                                    "__k",
                                                    "__map",
                                                    "__nullable",
                                                    "__opt",
                                                    "__prog",
                                                    "__ref",
                                                    "__str",
                                                    "__sz",
                                                    "__szk",
                                                    "__uninit",
                                                    "__nonown_allowed",
                                                    "__arena__nullable",
                                                    "__refcounted_kptr"};
    if (std::ranges::find(names, parameter) != std::end(names))
        return parameter;
    std::string_view longest;
    for (std::string_view suffix : suffixes)
        if (suffix.size() > longest.size() && parameter.size() > suffix.size() &&
            parameter.ends_with(suffix))
            longest = suffix;
    return longest;
}

} // namespace btflink::kernel::diff
