// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the report of --why-dup: the names with several definitions, where the definitions differ,
// and the objects with each.
#include "merge/explain/explain.h"

#include "merge/explain/c_text.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

constexpr size_t objects_named = 3; // for each version
constexpr size_t most_nested = 40;  // levels of unnamed structs; also of pointers to pointers
constexpr size_t most_steps = 100;  // of a path; long ones add up to the square of the input

class DupReport
{
public:
    DupReport(const std::vector<Object> &objects, const MergedTypes &types,
              const std::string &base_name)
        : objects_(objects), sources_(types.sources), partition_(types.partition),
          base_name_(base_name), graph_(types)
    {
    }

    std::string text(std::string_view name)
    {
        const std::optional<Found> found = find(name);
        if (!found)
            return std::string(name) + " is not a struct, union, enum or typedef of the result\n";
        if (found->roots.empty() && found->others.empty())
            return (name.empty() ? "No name has" : std::string(name) + " does not have") +
                   " several definitions.\n";
        find_objects(found->roots);
        std::string out;
        for (TypeName n : found->roots)
            out += root_text(n) + "\n";
        for (TypeName n : found->others)
            out += strf("%s: %zu definitions, because of %s: %s\n", title(n).c_str(),
                        graph_.names[n].classes.size(), title(graph_.names[n].root).c_str(),
                        chain(n).c_str());
        if (const size_t count = unexplained(); count && name.empty())
            out += strf("types split for an unknown reason: %zu\n", count);
        return out;
    }

private:
    /// The names to report: those whose definitions differ, and those that were split because of
    /// another name.
    struct Found {
        std::vector<TypeName> roots, others;
    };

    /// What to report about `name`, or about all names (""); nullopt if there is no such name.
    std::optional<Found> find(std::string_view name) const
    {
        Found out;
        bool known = name.empty();
        for (TypeName n : graph_.names.ids()) {
            const NameUse &use = graph_.names[n];
            if (!use.space || (!name.empty() && name != plain_name(n) && name != title(n)))
                continue;
            known = true;
            if (use.is_root())
                out.roots.push_back(n);
            else if (use.root != TypeName::none)
                out.others.push_back(n);
        }
        if (!known)
            return std::nullopt;
        if (name.empty())
            std::ranges::stable_sort(out.roots, std::ranges::greater(),
                                     [&](TypeName n) { return graph_.names[n].blamed_types; });
        else
            for (TypeName n : out.others)
                if (std::ranges::find(out.roots, graph_.names[n].root) == out.roots.end())
                    out.roots.push_back(graph_.names[n].root);
        std::erase_if(out.roots,
                      [&](TypeName n) { return is_left_out(n, !name.empty(), out.others); });
        return out;
    }

    /// Should a root not be reported? If all definitions are in the base and split nothing, this
    /// merge did not make the duplicates; they are reported only if the user gave a name (`asked`).
    /// A single definition, of a name that the base declares, is reported only if it split a name
    /// of `others`.
    bool is_left_out(TypeName n, bool asked, const std::vector<TypeName> &others) const
    {
        auto is_because = [&](TypeName other) { return graph_.names[other].root == n; };
        return (!asked && !graph_.names[n].blamed_types && is_of_base(n)) ||
               (graph_.names[n].classes.size() == 1 && std::ranges::none_of(others, is_because));
    }

    size_t unexplained() const
    {
        size_t count = 0;
        for (const ShapeUse &shape : graph_.shapes)
            if (shape.split_by == TypeName::none)
                count += shape.classes.size() - 1;
        return count;
    }

    ClassId any_class(TypeName n) const
    {
        const NameUse &use = graph_.names[n];
        return use.classes.empty() ? use.forward : use.classes.front();
    }
    std::string plain_name(TypeName n) const
    {
        const ClassId c = any_class(n);
        return c == ClassId::none ? "" : std::string(sources_.name(graph_.canonical(c)));
    }
    std::string title(TypeName n) const
    {
        const ClassId c = any_class(n);
        if (c == ClassId::none)
            return "";
        return (graph_.names[n].space == 't' ? "typedef " : "") +
               c_name(graph_.btf_of(c), graph_.canonical(c).type);
    }
    bool is_of_base(TypeName n) const
    {
        return std::ranges::all_of(graph_.names[n].classes, [&](ClassId c) {
            return sources_.is_base(partition_.classes[c].first.source);
        });
    }

    /// ".member" if reference number `position` of the class is a named member; otherwise "".
    std::string label(ClassId c, uint32_t position) const
    {
        const btf_type &t = sources_.type(graph_.canonical(c));
        if (!btf::is_composite(btf::kind_of(t)) || position >= btf::vlen_of(t))
            return "";
        std::string_view name = sources_.str(graph_.canonical(c), btf::tail_of(t)[position * 3]);
        return name.empty() ? "" : "." + plain_text(name);
    }

    /// The path from a split name to the root: "struct a .b -> struct c .d -> struct e".
    std::string chain(TypeName n) const
    {
        std::string out = title(n);
        bool behind_title = true; // `out` ends with a title: a label follows after a space
        size_t steps = 0;
        for (TypeName at = n; at != graph_.names[n].root;) {
            if (steps++ == most_steps)
                return out + " -> ... -> " + title(graph_.names[n].root);
            const ShapeUse &shape = graph_.shapes[graph_.names[at].split];
            const std::string text = label(shape.classes[0], shape.position);
            out += (behind_title && !text.empty() ? " " : "") + text;
            at = shape.split_by;
            const bool is_named = graph_.names[at].space;
            behind_title = is_named || (behind_title && text.empty());
            if (is_named)
                out += " -> " + title(at);
        }
        return out;
    }

    struct VersionUsers {
        size_t count = 0;            // of sources with the version
        uint32_t last = UINT32_MAX;  // the source that was counted last
        std::vector<uint32_t> first; // the first of these sources
    };

    /// Finds the objects with each definition of these names.
    void find_objects(const std::vector<TypeName> &names)
    {
        IdVector<ClassId, VersionUsers *> users_of(partition_.classes.size());
        for (TypeName n : names)
            for (Shape s : graph_.names[n].versions)
                for (ClassId c : graph_.shapes[s].classes)
                    users_of[c] = &users_[s];
        object_of_.resize(sources_.list.size());
        for (size_t i = 0; i < objects_.size(); ++i)
            if (const uint32_t source = sources_.of_object[i]; source != UINT32_MAX)
                object_of_[source] = i;
        for (uint32_t source = 0; source < sources_.list.size(); ++source)
            sources_.list[source].for_types([&](TypeId id, size_t index) {
                if (partition_.of[index] == ClassId::none)
                    return;
                const ClassId c = partition_.class_of(index);
                VersionUsers *users = users_of[c];
                if (!users || users->last == source)
                    return;
                // Objects that only declare a type are not listed for its definitions.
                if (btf::is_declaration(sources_.list[source].btf->type(id)) &&
                    !btf::is_declaration(graph_.btf_of(c).type(graph_.canonical(c).type)))
                    return;
                users->last = source;
                if (++users->count <= objects_named)
                    users->first.push_back(source);
            });
    }

    std::string users_text(const VersionUsers &version) const
    {
        std::string names, out;
        size_t count = version.count;
        for (uint32_t source : version.first) {
            if (sources_.is_base(source)) {
                out = "the base " + base_name_;
                --count;
                continue;
            }
            names += (names.empty() ? "" : ", ") + objects_[object_of_[source]].describe();
        }
        if (count)
            out += (out.empty() ? "" : " and ") +
                   strf("%zu object%s: ", count, count == 1 ? "" : "s") + names +
                   (version.count > version.first.size() ? ", ..." : "");
        return out;
    }

    /// The first difference between two types.
    struct Difference {
        std::vector<uint32_t> place; // see c_text.h
        std::string path;            // names of members
        std::string one, other;      // the text at this place in each
    };

    const Btf &btf_at(TypeAt t) const { return *sources_.list[t.source].btf; }

    /// Fills `out` with the first difference. out.place and out.path lead to the two types already,
    /// and are continued from there.
    void find_difference(TypeAt a, TypeAt b, Difference &out) const
    {
        const btf_type &x = sources_.type(a), &y = sources_.type(b);
        const btf::Kind kind = btf::kind_of(x), other = btf::kind_of(y);
        if (kind == btf::Kind::TYPEDEF && other == kind) {
            if (differ_inside({a.source, TypeId{x.type}}, {b.source, TypeId{y.type}}, out))
                return;
            out.one = c_definition(btf_at(a), a.type);
            out.other = c_definition(btf_at(b), b.type);
            return;
        }
        const bool declared = btf::is_declaration(x) || btf::is_declaration(y);
        const bool members = btf::is_composite(kind) && btf::is_composite(other);
        const bool enumerators = btf::is_enum(kind) && btf::is_enum(other);
        const uint32_t count =
            !declared && (members || enumerators) ? std::max(btf::vlen_of(x), btf::vlen_of(y)) : 0;
        for (uint32_t i = 0; i < count; ++i)
            if (differ_at(a, b, i, members, out))
                return;
        out.one = declared ? definedness(x) : kind_and_size(a);
        out.other = declared ? definedness(y) : kind_and_size(b);
    }

    /// Compares member or enumerator `i`. If it differs, fills `out` and returns true.
    bool differ_at(TypeAt a, TypeAt b, uint32_t i, bool is_member, Difference &out) const
    {
        const btf_type &x = sources_.type(a), &y = sources_.type(b);
        out.one = c_element(btf_at(a), a.type, i);
        out.other = c_element(btf_at(b), b.type, i);
        if (!is_member || i >= btf::vlen_of(x) || i >= btf::vlen_of(y)) {
            if (out.one != out.other)
                out.place.push_back(i);
            return out.one != out.other;
        }
        const uint32_t *m = btf::tail_of(x) + i * 3, *n = btf::tail_of(y) + i * 3;
        const std::string_view name = sources_.str(a, m[0]);
        const bool same_name = name == sources_.str(b, n[0]);
        if (out.one == out.other && same_name && m[2] == n[2] &&
            graph_.stub_at(a.source, m[1]) == graph_.stub_at(b.source, n[1]))
            return false;
        out.place.push_back(i);
        if (same_name && !name.empty())
            out.path += "." + plain_text(name);
        if (same_name && m[2] == n[2] &&
            differ_inside({a.source, TypeId{m[1]}}, {b.source, TypeId{n[1]}}, out))
            return true;
        if (out.one == out.other && m[2] != n[2]) {
            out.one += bit_offset(x, m[2]);
            out.other += bit_offset(y, n[2]);
        } else if (out.one == out.other) {
            out.other += " with other types inside";
        }
        return true;
    }

    /// If both types are unnamed structs, unions or enums of one kind, perhaps behind pointers,
    /// modifiers and arrays (see strip_equal()), finds the difference between these and returns
    /// true. Otherwise, or if they are nested too deeply, returns false.
    bool differ_inside(TypeAt a, TypeAt b, Difference &out) const
    {
        strip_equal(a, b);
        auto unnamed = [&](TypeAt t) {
            const btf::Kind kind = btf_at(t).kind(t.type);
            return t.type != void_id && (btf::is_composite(kind) || btf::is_enum(kind)) &&
                   btf_at(t).name(t.type).empty();
        };
        if (!unnamed(a) || !unnamed(b) || out.place.size() > most_nested ||
            btf_at(a).kind(a.type) != btf_at(b).kind(b.type))
            return false;
        find_difference(a, b, out);
        return true;
    }

    /// Goes from both types to those behind the pointers, modifiers and arrays that both have, with
    /// equal names of typedefs and texts of type tags.
    void strip_equal(TypeAt &a, TypeAt &b) const
    {
        for (size_t i = 0; i < most_nested && a.type != void_id && b.type != void_id; ++i) {
            const btf_type &x = sources_.type(a), &y = sources_.type(b);
            const btf::Kind kind = btf::kind_of(x);
            if (kind != btf::kind_of(y))
                return;
            if ((kind == btf::Kind::PTR || btf::is_modifier(kind)) && x.info == y.info &&
                btf_at(a).name(a.type) == btf_at(b).name(b.type)) {
                a.type = TypeId{x.type};
                b.type = TypeId{y.type};
            } else if (kind == btf::Kind::ARRAY && btf::tail_of(x)[2] == btf::tail_of(y)[2]) {
                a.type = TypeId{btf::tail_of(x)[0]};
                b.type = TypeId{btf::tail_of(y)[0]};
            } else {
                return;
            }
        }
    }

    static std::string bit_offset(const btf_type &t, uint32_t word)
    {
        return strf(" at bit %u", btf::kflag_of(t) ? word & 0xffffff : word);
    }
    static std::string definedness(const btf_type &t)
    {
        return btf::is_declaration(t) ? "only declared" : "defined";
    }
    std::string kind_and_size(TypeAt at) const
    {
        const btf_type &t = sources_.type(at);
        return strf("%s of %u bytes%s", btf_at(at).kind_name(at.type), t.size,
                    btf::is_enum(btf::kind_of(t)) && btf::kflag_of(t) ? ", signed" : "");
    }

    std::string root_text(TypeName n) const
    {
        const NameUse &name = graph_.names[n];
        std::string out = strf("%s: %zu versions that differ by themselves\n", title(n).c_str(),
                               name.versions.size());
        auto version = [&](size_t i) {
            return graph_.canonical(graph_.shapes[name.versions[i]].classes[0]);
        };
        std::vector<Difference> from_first(name.versions.size());
        for (size_t i = 1; i < name.versions.size(); ++i) {
            Difference &d = from_first[i];
            find_difference(version(0), version(i), d);
            out += strf("  first difference, %s%s: version 1 has \"%s\", version %zu \"%s\"\n",
                        title(n).c_str(), d.path.c_str(), d.one.c_str(), i + 1, d.other.c_str());
        }
        from_first[0] = from_first[1];
        for (size_t i = 0; i < name.versions.size(); ++i) {
            const TypeAt at = version(i);
            out += strf("  version %zu, in %s\n\t", i + 1,
                        users_text(users_.at(name.versions[i])).c_str()) +
                   c_definition(btf_at(at), at.type, 1, from_first[i].place) + "\n";
        }
        if (name.blamed_types)
            out += strf("  because of it %zu further type%s split, %zu of them named structs or "
                        "unions\n",
                        name.blamed_types, name.blamed_types == 1 ? " was" : "s were",
                        name.blamed_structs);
        return out;
    }

    const std::vector<Object> &objects_;
    const Sources &sources_;
    const Partition &partition_;
    const std::string &base_name_;
    const SplitGraph graph_;
    std::unordered_map<Shape, VersionUsers> users_; // of the versions of roots
    std::vector<size_t> object_of_;                 // by source; that of the base is not used
};

} // namespace

std::string why_dup(const std::vector<Object> &objects, const MergedTypes &types,
                    std::string_view name, const std::string &base_name)
{
    return DupReport(objects, types, base_name).text(name);
}

} // namespace btflink::merge
