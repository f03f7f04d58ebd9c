// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the differences between two definitions. Named types to which they refer are compared by
// name only. Unnamed types are compared as parts of the definitions.
#include "btf-kernel/diff/compare.h"

#include "btf-kernel/diff/types.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace btflink::kernel::diff
{

namespace
{

using Kind = Detail::Kind;

/// A type inside pointers, arrays, const and volatile. `how` has these as text, from the outside
/// in: "c->[4]" for a const pointer to an array of four.
struct WrappedType {
    std::string how;
    uint32_t inner;
};

WrappedType unwrap(const Btf &btf, uint32_t id)
{
    WrappedType out{"", id};
    for (unsigned i = 0; i < max_steps && out.inner; ++i) {
        const btf_type &t = btf.type(TypeId{out.inner});
        const btf::Kind kind = btf::kind_of(t);
        if (kind == btf::Kind::ARRAY) {
            out.how += strf("[%u]", btf::tail_of(t)[2]);
            out.inner = btf::tail_of(t)[0];
            continue;
        }
        if (kind != btf::Kind::PTR && kind != btf::Kind::CONST && kind != btf::Kind::VOLATILE)
            break;
        out.how += kind == btf::Kind::PTR ? "->" : kind == btf::Kind::CONST ? "c" : "v";
        out.inner = t.type;
    }
    return out;
}

bool has_same_low_half(const EnumValue &a, const EnumValue &b)
{
    return static_cast<uint32_t>(a.value) == static_cast<uint32_t>(b.value);
}

/// In an enum of up to 4 bytes the sign does not count: -1 in one BTF may be 4294967295 in the
/// other.
bool same_value(const SideType &before, const EnumValue &a, const SideType &after,
                const EnumValue &b)
{
    auto bits = [](const SideType &of, const EnumValue &v) {
        return of.type().size > 4 ? v.value : int64_t{static_cast<int32_t>(v.value)};
    };
    return a.value == b.value || bits(before, a) == bits(after, b);
}

/// A change of an enumerator's value, with an empty Detail::place.
Detail changed_value(const SideType &before, const EnumValue &a, const SideType &after,
                     const EnumValue &b)
{
    // An ENUM has 32 bits for each value, even if its size is 8 bytes. Only an ENUM64 has more.
    auto may_be_cut = [](const SideType &of) {
        return of.kind() == btf::Kind::ENUM && of.type().size == 8;
    };
    Kind kind = Kind::value_changed;
    if (may_be_cut(before) != may_be_cut(after) && has_same_low_half(a, b))
        kind = may_be_cut(after) ? Kind::value_cut : Kind::value_mended;
    return {.kind = kind,
            .old_number = a.value,
            .new_number = b.value,
            .old_unsigned = a.is_unsigned,
            .new_unsigned = b.is_unsigned};
}

class Comparison
{
public:
    std::vector<Detail> details;

    void compare(const SideType &before, const SideType &after)
    {
        const btf::Kind kind = before.kind();
        if (kind == btf::Kind::FUNC)
            compare_prototypes(before.at(before.type().type), after.at(after.type().type));
        else if (kind == btf::Kind::VAR || kind == btf::Kind::TYPEDEF)
            compare_targets(before, after);
        else if (btf::kind_info(kind).family == btf::Family::number)
            compare_numbers(before, after);
        else
            compare_aggregates(before, after, "", 0);
        if (kind == btf::Kind::VAR)
            compare_sections(before, after);
        compare_tags(before, after);
    }

    void compare_aggregates(const SideType &before, const SideType &after, const std::string &place,
                            unsigned depth)
    {
        const bool both_enums = btf::is_enum(before.kind()) && btf::is_enum(after.kind());
        if (before.kind() != after.kind() && !both_enums) {
            add_texts(Kind::kind, place, type_name(before.btf(), before.id),
                      type_name(after.btf(), after.id));
            // A member may change from struct to union or back: CO-RE looks for the members inside
            // it by name.
            details.back().fits = !place.empty() && btf::is_composite(before.kind()) &&
                                  btf::is_composite(after.kind());
            if (!details.back().fits)
                return;
        }
        if (before.type().size != after.type().size) {
            add_numbers(Kind::size, place, before.type().size, after.type().size);
            details.back().same_size = !both_enums;
        }
        if (both_enums) {
            if (depth)
                spend(btf::vlen_of(before.type()) + btf::vlen_of(after.type()));
            compare_enumerators(before, after, place);
        } else {
            compare_members(before, after, place, depth);
        }
    }

private:
    // Work that may still be done in unnamed types: members and enumerators that are compared, and
    // types that are printed. Without a limit, nested types with several members of one type could
    // take exponential time.
    size_t left_ = 1'000'000;
    void spend(size_t work) { left_ -= std::min(left_, work); }

    static const char *encoding_name(const SideType &of)
    {
        if (of.kind() != btf::Kind::INT)
            return of.kind() == btf::Kind::FLOAT ? "floating point" : "not a number";
        const uint32_t encoding = BTF_INT_ENCODING(btf::tail_of(of.type())[0]);
        return encoding & BTF_INT_SIGNED ? "signed"
               : encoding & BTF_INT_BOOL ? "boolean"
               : encoding & BTF_INT_CHAR ? "character"
                                         : "unsigned";
    }
    void compare_numbers(const SideType &before, const SideType &after)
    {
        if (before.type().size != after.type().size) {
            add_numbers(Kind::size, "", before.type().size, after.type().size);
            details.back().same_size = false;
        }
        if (std::string a = encoding_name(before), b = encoding_name(after); a != b)
            add_texts(Kind::encoding, "", a, b);
    }

    void add_texts(Kind kind, const std::string &place, std::string a, std::string b)
    {
        details.push_back({kind, place, std::move(a), std::move(b)});
    }
    void add_numbers(Kind kind, const std::string &place, int64_t a, int64_t b)
    {
        details.push_back({kind, place, "", "", a, b});
    }

    static std::string inside(const std::string &place, std::string_view name)
    {
        return place.empty() ? std::string(name) : place + "." + std::string(name);
    }

    void compare_enumerators(const SideType &before, const SideType &after,
                             const std::string &place)
    {
        std::unordered_map<std::string_view, EnumValue> found;
        for (uint32_t i = 0; i < btf::vlen_of(before.type()); ++i) {
            EnumValue v = enum_value(before.btf(), before.id, i);
            found.emplace(v.name, v);
        }
        std::vector<Detail> added;
        for (uint32_t i = 0; i < btf::vlen_of(after.type()); ++i) {
            EnumValue v = enum_value(after.btf(), after.id, i);
            auto old = found.find(v.name);
            if (old == found.end()) {
                added.push_back({Kind::value_added, inside(place, v.name), "", "", 0, v.value});
                added.back().new_unsigned = v.is_unsigned;
                continue;
            }
            if (!same_value(before, old->second, after, v)) {
                details.push_back(changed_value(before, old->second, after, v));
                details.back().place = inside(place, v.name);
            }
            found.erase(old);
        }
        for (uint32_t i = 0; i < btf::vlen_of(before.type()); ++i) {
            EnumValue v = enum_value(before.btf(), before.id, i);
            if (found.count(v.name))
                details.push_back({.kind = Kind::value_removed,
                                   .place = inside(place, v.name),
                                   .old_number = v.value,
                                   .old_unsigned = v.is_unsigned});
        }
        details.insert(details.end(), added.begin(), added.end());
    }

    void compare_members(const SideType &before, const SideType &after, const std::string &place,
                         unsigned depth)
    {
        const std::vector<Member> old_list = members_of(before.btf(), before.id),
                                  new_list = members_of(after.btf(), after.id);
        if (depth)
            spend(old_list.size() + new_list.size());
        std::unordered_map<std::string_view, const Member *> found; // null: paired
        for (const Member &m : new_list)
            found.emplace(m.name, &m);
        std::vector<const Member *> removed;
        for (const Member &m : old_list) {
            auto now = found.find(m.name);
            if (now == found.end()) {
                removed.push_back(&m);
                continue;
            }
            if (now->second) {
                compare_member(before, m, after, *now->second, inside(place, m.name), depth);
                now->second = nullptr;
            }
        }
        std::vector<const Member *> added;
        for (const Member &m : new_list)
            if (auto at = found.find(m.name); at->second == &m)
                added.push_back(&m);
        pair_renamed(before, after, removed, added, place);
        for (const Member *m : removed)
            details.push_back({Kind::member_removed, inside(place, m->name),
                               one_line(before.btf(), m->type, m->name), "", m->offset, 0});
        for (const Member *m : added)
            details.push_back({Kind::member_added, inside(place, m->name), "",
                               one_line(after.btf(), m->type, m->name), 0, m->offset});
    }

    /// An added and a removed member with the same type, position and width are one renamed member.
    void pair_renamed(const SideType &before, const SideType &after,
                      std::vector<const Member *> &removed, std::vector<const Member *> &added,
                      const std::string &place)
    {
        auto key = [](const SideType &of, const Member &m) {
            return std::tuple(m.offset, m.bits, of.side.shapes.reference(m.type));
        };
        std::multimap<std::tuple<uint32_t, uint32_t, Shape>, const Member **> unpaired;
        for (const Member *&n : added)
            unpaired.emplace(key(after, *n), &n);
        for (const Member *&m : removed) {
            auto [same, end] = unpaired.equal_range(key(before, *m));
            if (same == end)
                continue;
            const Member *&n = *same->second;
            add_texts(Kind::member_renamed, inside(place, m->name), std::string(m->name),
                      std::string(n->name));
            m = n = nullptr;
            unpaired.erase(same);
        }
        std::erase(removed, nullptr);
        std::erase(added, nullptr);
    }

    void compare_member(const SideType &before, const Member &m, const SideType &after,
                        const Member &n, const std::string &place, unsigned depth)
    {
        if (m.offset != n.offset)
            add_numbers(Kind::member_moved, place, m.offset, n.offset);
        if (m.bits != n.bits)
            add_numbers(Kind::member_bits, place, m.bits, n.bits);
        compare_type(Kind::member_type, before.at(m.type), after.at(n.type), place, depth);
    }

    /// Compares the types to which two definitions refer at `place`. `kind`: of the Detail to add.
    void compare_type(Kind kind, const SideType &before, const SideType &after,
                      const std::string &place, unsigned depth)
    {
        if (before.side.shapes.reference(before.id) == after.side.shapes.reference(after.id))
            return;
        WrappedType a = unwrap(before.btf(), before.id), b = unwrap(after.btf(), after.id);
        constexpr size_t longest_place = 1000; // every detail inside repeats the place
        if (depth < max_depth && left_ && place.size() < longest_place && a.how == b.how &&
            is_anonymous_aggregate(before.btf(), a.inner) &&
            is_anonymous_aggregate(after.btf(), b.inner)) {
            spend(1);
            std::string how; // "member->[4]": const and volatile are not part of a place
            std::copy_if(a.how.begin(), a.how.end(), std::back_inserter(how),
                         [](char c) { return c != 'c' && c != 'v'; });
            return compare_aggregates(before.at(a.inner), after.at(b.inner), place + how,
                                      depth + 1);
        }
        if (depth)
            spend(100);
        Detail d{kind, place, one_line(before.btf(), before.id), one_line(after.btf(), after.id)};
        // A typedef of a function type is used only behind pointers, which CO-RE always accepts.
        auto is_function = [](const SideType &of) {
            const uint32_t id = behind_modifiers(of.btf(), of.id);
            return of.btf().kind(TypeId{id}) == btf::Kind::FUNC_PROTO;
        };
        d.fits = (is_function(before) && is_function(after)) ||
                 fields_are_compatible(before.btf(), before.id, after.btf(), after.id);
        d.same_size = size_of(before.btf(), before.id) == size_of(after.btf(), after.id);
        d.same_meaning = mean_the_same(before.btf(), before.id, after.btf(), after.id);
        details.push_back(std::move(d));
    }

    void compare_targets(const SideType &before, const SideType &after)
    {
        compare_type(Kind::target, before.at(before.type().type), after.at(after.type().type), "",
                     0);
    }

    void compare_sections(const SideType &before, const SideType &after)
    {
        std::string a(before.side.section_of(before.id)), b(after.side.section_of(after.id));
        if (a != b)
            add_texts(Kind::section, "", a, b);
    }

    struct Parameter {
        std::string_view name;
        uint32_t type;
        Shape shape;
    };
    static std::vector<Parameter> parameters(const SideType &of)
    {
        std::vector<Parameter> out;
        const uint32_t *p = btf::tail_of(of.type());
        for (uint32_t i = 0; i < btf::vlen_of(of.type()); ++i, p += 2)
            out.push_back({of.btf().str(p[0]), p[1], of.side.shapes.reference(p[1])});
        return out;
    }
    static std::string parameter_place(const std::vector<Parameter> &list, size_t i)
    {
        std::string text = strf("parameter %zu", i + 1);
        return list[i].name.empty() ? text : text + " (" + std::string(list[i].name) + ")";
    }

    void compare_prototypes(const SideType &before, const SideType &after)
    {
        if (before.kind() != btf::Kind::FUNC_PROTO || after.kind() != btf::Kind::FUNC_PROTO)
            return;
        const std::vector<Parameter> a = parameters(before), b = parameters(after);
        auto declared = [](const SideType &of, const Parameter &p) {
            return p.type ? one_line(of.btf(), p.type, p.name) : std::string("...");
        };
        // If the number of parameters changed, those of equal types at the front and at the back
        // are skipped. The rest are compared in order. Those without a partner were removed or
        // added.
        size_t front = 0, back = 0;
        auto equal = [&](size_t i, size_t j) { return a[i].shape == b[j].shape; };
        if (a.size() != b.size()) {
            while (front < std::min(a.size(), b.size()) && equal(front, front))
                ++front;
            while (back < std::min(a.size(), b.size()) - front &&
                   equal(a.size() - 1 - back, b.size() - 1 - back))
                ++back;
        }
        const size_t a_end = a.size() - back, b_end = b.size() - back;
        size_t i = front;
        for (; i < std::min(a_end, b_end); ++i) {
            if (!equal(i, i))
                compare_type(Kind::parameter_type, before.at(a[i].type), after.at(b[i].type),
                             parameter_place(a, i), 0);
            compare_names_for_verifier(a[i].name, b[i].name, parameter_place(a, i));
        }
        for (size_t k = i; k < a_end; ++k)
            add_texts(Kind::parameter_removed, parameter_place(a, k), declared(before, a[k]), "");
        for (size_t k = i; k < b_end; ++k)
            add_texts(Kind::parameter_added, parameter_place(b, k), "", declared(after, b[k]));
        compare_type(Kind::result, before.at(before.type().type), after.at(after.type().type), "",
                     0);
    }

    void compare_names_for_verifier(std::string_view a, std::string_view b,
                                    const std::string &place)
    {
        if (name_for_verifier(a) != name_for_verifier(b))
            add_texts(Kind::meaning, place, std::string(name_for_verifier(a)),
                      std::string(name_for_verifier(b)));
    }

    void compare_tags(const SideType &before, const SideType &after)
    {
        auto keys = [](const SideType &of) {
            std::vector<std::pair<int32_t, std::string_view>> out;
            for (const Tag &tag : of.side.tags_of(of.id))
                out.emplace_back(tag.component, tag.text);
            return out; // sorted, as the tags are
        };
        auto a = keys(before), b = keys(after);
        auto place = [&](const SideType &of, int32_t component) {
            if (component < 0)
                return std::string();
            if (btf::is_composite(of.kind()) && uint32_t(component) < btf::vlen_of(of.type()))
                return std::string(of.btf().str(btf::tail_of(of.type())[component * 3]));
            return strf("parameter %u", static_cast<uint32_t>(component) + 1);
        };
        for (const auto &[component, text] : a)
            if (!std::ranges::binary_search(b, std::pair(component, text)))
                add_texts(Kind::tag_removed, place(before, component), std::string(text), "");
        for (const auto &[component, text] : b)
            if (!std::ranges::binary_search(a, std::pair(component, text)))
                add_texts(Kind::tag_added, place(after, component), "", std::string(text));
    }
};

/// Of a member with the old type `x` and the new type `y`: the type that changed, without arrays
/// and modifiers around it. This is the first typedef that stands for another type than before,
/// otherwise the innermost type. Returns its ids in `before` and `after`.
std::pair<uint32_t, uint32_t> type_that_changed(const SideType &before, uint32_t x,
                                                const SideType &after, uint32_t y)
{
    for (unsigned n = 0; n < max_steps; ++n) {
        x = unwrap(before.btf(), x).inner;
        y = unwrap(after.btf(), y).inner;
        if (!x || !y || !btf::is_modifier(before.btf().kind(TypeId{x})) ||
            !btf::is_modifier(after.btf().kind(TypeId{y})))
            break;
        const uint32_t p = before.btf().type(TypeId{x}).type, q = after.btf().type(TypeId{y}).type;
        if (before.side.shapes.reference(p) != after.side.shapes.reference(q))
            break;
        x = p;
        y = q;
    }
    return {x, y};
}

/// Pairs of types (ids in the old and the new BTF) that has_same_order() has seen.
using SeenPairs = std::set<std::pair<uint32_t, uint32_t>>;

/// Do two definitions have members of the same names in the same order? The same is asked of the
/// unnamed structs and unions in their members' types (also behind pointers and arrays) if these
/// differ. False if these are nested too deeply (max_depth), or are too many (max_pairs). A pair in
/// `seen` counts as equal, because a difference ends the whole search.
bool has_same_order(const SideType &before, const SideType &after, unsigned depth, SeenPairs &seen)
{
    constexpr size_t max_pairs = 10'000;
    if (depth > max_depth || seen.size() >= max_pairs)
        return false;
    if (!seen.emplace(before.id, after.id).second)
        return true;
    const std::vector<Member> a = members_of(before.btf(), before.id),
                              b = members_of(after.btf(), after.id);
    if (!std::ranges::equal(a, b, {}, &Member::name, &Member::name))
        return false;
    auto is_unnamed = [](const SideType &t) {
        return t.id && btf::is_composite(t.kind()) && is_anonymous_aggregate(t.btf(), t.id);
    };
    for (size_t i = 0; i < a.size(); ++i) {
        if (before.side.shapes.reference(a[i].type) == after.side.shapes.reference(b[i].type))
            continue;
        const SideType p = before.at(unwrap(before.btf(), a[i].type).inner),
                       q = after.at(unwrap(after.btf(), b[i].type).inner);
        if (is_unnamed(p) && is_unnamed(q) && !has_same_order(p, q, depth + 1, seen))
            return false;
    }
    return true;
}

/// find_cause() for definitions that differ only in sizes and offsets. "" if unnamed types are
/// nested too deeply (max_depth), as in a loop, or if inner types differ in their number of
/// members, which is possible only in malformed BTF. Precondition: has_same_order().
std::string cause_between(const SideType &before, const SideType &after, unsigned depth)
{
    const std::vector<Member> a = members_of(before.btf(), before.id),
                              b = members_of(after.btf(), after.id);
    if (depth > max_depth || a.size() != b.size())
        return {};
    for (size_t i = 0; i < a.size(); ++i) {
        if (size_of(before.btf(), a[i].type) == size_of(after.btf(), b[i].type))
            continue;
        const auto [x, y] = type_that_changed(before, a[i].type, after, b[i].type);
        const SideType p = before.at(x), q = after.at(y);
        if (is_anonymous_aggregate(p.btf(), x) && btf::is_composite(p.kind()) &&
            btf::is_composite(q.kind()))
            return cause_between(p, q, depth + 1);
        return p.btf().name(TypeId{x}).empty() ? one_line(p.btf(), a[i].type)
                                               : type_name(p.btf(), x);
    }
    return {};
}

} // namespace

std::vector<Detail> compare_types(const SideType &before, const SideType &after)
{
    Comparison comparison;
    comparison.compare(before, after);
    return std::move(comparison.details);
}

Detail compare_constants(const SideType &before, uint32_t old_index, const SideType &after,
                         uint32_t new_index)
{
    return changed_value(before, enum_value(before.btf(), before.id, old_index), after,
                         enum_value(after.btf(), after.id, new_index));
}

std::string find_cause(const SideType &before, const SideType &after,
                       const std::vector<Detail> &details)
{
    bool only_places = !details.empty() && btf::is_composite(before.kind());
    for (const Detail &d : details)
        only_places &= (d.kind == Kind::size || d.kind == Kind::member_moved);
    if (!only_places || before.kind() != after.kind())
        return {};
    SeenPairs seen;
    if (!has_same_order(before, after, 0, seen))
        return {}; // members changed places, or are nested too deeply or too many
    return cause_between(before, after, 0);
}

size_t similarity(const SideType &before, const SideType &after)
{
    size_t alike = before.kind() == after.kind() ? 1 : 0;
    if (!btf::is_composite(before.kind()) || !btf::is_composite(after.kind()))
        return alike;
    std::unordered_map<std::string_view, Shape> found;
    for (const Member &m : members_of(before.btf(), before.id))
        found.emplace(m.name, before.side.shapes.reference(m.type));
    for (const Member &m : members_of(after.btf(), after.id))
        if (auto old = found.find(m.name); old != found.end())
            alike += old->second == after.side.shapes.reference(m.type) ? 3 : 2;
    return alike;
}

} // namespace btflink::kernel::diff
