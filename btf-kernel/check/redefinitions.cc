// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out why a module has a type that vmlinux also has.
//
// Problem. Split BTF should refer to types of the base. If a module has its own `struct
// task_struct`, this is a different type for the kernel: programs cannot pass a task to the
// module's kfuncs, and programs that read the module's type are refused. A single difference far
// down is sufficient. Users need to know where it is.
//
// Method. Each struct, union and enum of the module is compared with the base's type of the same
// name, member by member. If anything except references differs (names, offsets, sizes), the type
// itself is a clash. Otherwise references are followed through unnamed types. They may lead to the
// same id; to two types with the same name, which is an edge from the first pair of types to the
// second; or to types that differ, which is a clash, too. The root of a type is the nearest clash
// along edges; a type without root is a copy.
//
// Cost. Linear in the module's own types.
#include "btf-kernel/check/check_kernel.h"

#include "merge/explain/c_text.h"

#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_pairs = 10'000; // pairs that why_two() compares

bool may_be_redefined(const btf_type &t)
{
    const btf::Kind kind = btf::kind_of(t);
    return t.name_off && (btf::is_composite(kind) || btf::is_enum(kind)) && !btf::is_declaration(t);
}

/// "struct s", "a pointer", "INT int".
std::string shown(const Btf &btf, TypeId id)
{
    const std::string name(btf.name(id));
    const btf::Kind kind = btf.kind(id);
    if (kind == btf::Kind::FWD)
        return "the declaration of " + name;
    if (kind == btf::Kind::PTR)
        return "a pointer";
    if (kind == btf::Kind::ARRAY)
        return "an array";
    if (kind == btf::Kind::FUNC_PROTO)
        return "a function";
    if (id == void_id || btf::is_composite(kind) || btf::is_enum(kind))
        return merge::c_name(btf, id);
    return name.empty() ? btf.kind_name(id) : btf.kind_name(id) + (" " + name);
}

/// The result of comparing two types.
struct TypeDifference {
    std::string text;      // empty if only references differ
    bool declared = false; // a declaration differs from a definition
    // Pairs of types with one name that the two refer to.
    std::vector<std::pair<TypeId, TypeId>> edges;
};

/// What to call both sides in texts.
struct SideNames {
    std::string own = "here", base = "in vmlinux";
};

class TypeComparison
{
public:
    explicit TypeComparison(const Btf &split, SideNames names = {})
        : btf_(split), names_(std::move(names))
    {
    }

    TypeDifference run(TypeId own, TypeId base)
    {
        difference_ = {};
        elements(own, base, "", 0);
        return std::move(difference_);
    }

private:
    static constexpr unsigned most_depth = 64; // of unnamed types in each other

    void differ(const std::string &place, const std::string &text)
    {
        if (difference_.text.empty())
            difference_.text = (place.empty() ? "" : place + ": ") + text;
    }

    std::string counts(const char *what, uint32_t own, uint32_t base) const
    {
        return strf("%u %s %s, %u %s", own, what, names_.own.c_str(), base, names_.base.c_str());
    }

    /// Compares two types of one kind.
    void elements(TypeId own, TypeId base, const std::string &place, unsigned depth)
    {
        const btf_type &a = btf_.type(own), &b = btf_.type(base);
        const btf::KindInfo &kind = btf::kind_info(a);
        if (kind.third == btf::Word::size && a.size != b.size)
            differ(place, counts("bytes", a.size, b.size));
        const uint32_t n = std::min(btf::vlen_of(a), btf::vlen_of(b));
        const uint32_t *x = btf::tail_of(a), *y = btf::tail_of(b);
        const bool is_array = kind.family == btf::Family::array;
        for (uint32_t i = 0; i < kind.fixed.count; ++i)
            if (kind.fixed.roles[i] == btf::Word::value && x[i] != y[i])
                differ(place, is_array ? counts("elements", x[i], y[i]) : "another encoding");
        if (is_array)
            return reference(TypeId{x[0]}, TypeId{y[0]}, place, depth);
        if (kind.third == btf::Word::ref)
            reference(TypeId{a.type}, TypeId{b.type}, place, depth);
        x += kind.fixed.count;
        y += kind.fixed.count;
        for (uint32_t i = 0; i < n; ++i, x += kind.element.count, y += kind.element.count)
            if (!element(kind, x, y, place, depth, i))
                return;
        if (btf::vlen_of(a) != btf::vlen_of(b))
            differ(place, counts("members", btf::vlen_of(a), btf::vlen_of(b)));
    }

    /// Returns false if member names differ, so that the rest cannot be compared.
    bool element(const btf::KindInfo &kind, const uint32_t *x, const uint32_t *y,
                 const std::string &place, unsigned depth, uint32_t index)
    {
        std::string here = strf("parameter %u", index);
        if (kind.element.name >= 0) {
            const std::string_view name = btf_.str(x[kind.element.name]),
                                   other = btf_.str(y[kind.element.name]);
            const bool parameter = kind.family == btf::Family::prototype;
            if (name != other && !parameter) {
                differ(place,
                       strf("member %u is '%s' %s, '%s' %s", index, std::string(name).c_str(),
                            names_.own.c_str(), std::string(other).c_str(), names_.base.c_str()));
                return false;
            }
            if (!parameter)
                here = name.empty() ? strf("member %u", index) : "member " + std::string(name);
        }
        if (!place.empty())
            here = place + ", " + here;
        for (uint32_t i = 0; i < kind.element.count; ++i)
            if (kind.element.roles[i] == btf::Word::value && x[i] != y[i])
                differ(here, kind.element.refs ? "another offset" : "another value");
        if (uint32_t at = kind.element.first_ref; kind.element.refs)
            reference(TypeId{x[at]}, TypeId{y[at]}, here, depth);
        return true;
    }

    void reference(TypeId own, TypeId base, const std::string &place, unsigned depth)
    {
        if (own == base || depth > most_depth || !difference_.text.empty())
            return;
        if (own == void_id || base == void_id || btf_.kind(own) != btf_.kind(base) ||
            btf_.name(own) != btf_.name(base)) {
            if (difference_.text.empty())
                difference_.declared = declares_other(own, base) || declares_other(base, own);
            return differ(place, shown(btf_, own) + " " + names_.own + ", " + shown(btf_, base) +
                                     " " + names_.base);
        }
        const btf_type &t = btf_.type(own);
        if (may_be_redefined(t)) {
            if (own >= btf_.first_id())
                difference_.edges.emplace_back(own, base);
            else
                differ(place, "another " + shown(btf_, own));
            return;
        }
        if (own < btf_.first_id() && t.name_off) // vmlinux has two types with this name
            return differ(place, "another " + shown(btf_, own));
        elements(own, base, place, depth + 1);
    }

    bool declares_other(TypeId a, TypeId b) const
    {
        return a != void_id && b != void_id && btf_.kind(a) == btf::Kind::FWD &&
               btf::is_composite(btf_.kind(b)) && btf_.name(a) == btf_.name(b);
    }

    const Btf &btf_;
    SideNames names_;
    TypeDifference difference_;
};

/// A redefinition, and how it differs.
struct Entry {
    Redefinition result;
    TypeDifference difference;
    size_t root = SIZE_MAX; // index of the clash that causes it
};

/// Each type of the module that vmlinux also has, by id.
std::vector<Entry> compare_all(const Btf &split, const NameIndex &names)
{
    TypeComparison comparison(split);
    std::vector<Entry> entries;
    for (TypeId id : split.ids()) {
        if (!may_be_redefined(split.type(id)))
            continue;
        std::optional<Entry> best;
        for (TypeId base : names.of(split.name(id))) {
            if (split.kind(base) != split.kind(id) || !may_be_redefined(split.type(base)))
                continue;
            Entry entry{{id, base, {}, {}, {}}, comparison.run(id, base)};
            if (!best || (!best->difference.text.empty() && entry.difference.text.empty()))
                best = std::move(entry);
        }
        if (best)
            entries.push_back(std::move(*best));
    }
    return entries;
}

/// Breadth first from all clashes, against the edges, so that the nearest clash reaches each entry
/// first.
void find_roots(std::vector<Entry> &entries)
{
    std::unordered_map<uint32_t, size_t> places; // by own id
    for (size_t i = 0; i < entries.size(); ++i)
        places[raw(entries[i].result.own)] = i;
    std::vector<std::vector<size_t>> users(entries.size());
    std::deque<size_t> next;
    for (size_t i = 0; i < entries.size(); ++i) {
        for (const auto &[id, base] : entries[i].difference.edges)
            if (auto it = places.find(raw(id)); it != places.end())
                users[it->second].push_back(i);
        if (!entries[i].difference.text.empty()) {
            entries[i].root = i;
            next.push_back(i);
        }
    }
    for (; !next.empty(); next.pop_front())
        for (size_t user : users[next.front()])
            if (entries[user].root == SIZE_MAX) {
                entries[user].root = entries[next.front()].root;
                next.push_back(user);
            }
}

} // namespace

std::vector<Redefinition> find_redefinitions(const Btf &split, const NameIndex &names)
{
    std::vector<Entry> entries = compare_all(split, names);
    find_roots(entries);
    std::vector<Redefinition> out;
    for (size_t i = 0; i < entries.size(); ++i) {
        Redefinition &r = out.emplace_back(entries[i].result);
        if (entries[i].root == SIZE_MAX)
            continue;
        const Entry &root = entries[entries[i].root];
        r.cause = root.difference.text;
        r.declared = root.difference.declared;
        r.why = Redefinition::Why::clash;
        if (&root != &entries[i]) {
            r.why = Redefinition::Why::derived;
            r.root = shown(split, root.result.own);
        }
    }
    return out;
}

std::string why_two(const Btf &btf, TypeId a, TypeId b)
{
    std::vector<std::pair<TypeId, TypeId>> pairs{{a, b}};
    std::set<std::pair<TypeId, TypeId>> seen{{a, b}};
    for (size_t i = 0; i < pairs.size() && i < most_pairs; ++i) {
        const auto [x, y] = pairs[i];
        TypeComparison comparison(btf, {strf("in type %u", raw(x)), strf("in type %u", raw(y))});
        const TypeDifference difference = comparison.run(x, y);
        if (!difference.text.empty())
            return i ? "because of " + shown(btf, x) + " (" + difference.text + ")"
                     : difference.text;
        for (const auto &edge : difference.edges)
            if (seen.insert(edge).second)
                pairs.push_back(edge);
    }
    return "nothing differs";
}

} // namespace btflink::kernel
