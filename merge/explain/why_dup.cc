// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the report of --why-dup: the names with several definitions, where the definitions differ,
// and the objects with each.
#include "merge/explain/why_dup.h"

#include "merge/explain/c_text.h"
#include "merge/explain/root_cause.h"

#include <unordered_map>

namespace btflink::merge
{

namespace
{

constexpr size_t objects_named = 3; // for each version
constexpr size_t most_nested = 40;  // of unnamed structs in unnamed structs

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
        std::vector<TypeName> roots, others;
        bool known = false;
        for (TypeName n : graph_.names().ids()) {
            if (!name.empty() && name != plain_name(n) && name != title(n))
                continue;
            known = true;
            if (graph_.names()[n].is_root())
                roots.push_back(n);
            else if (graph_.root_of(n) != TypeName::none)
                others.push_back(n);
        }
        if (!name.empty() && !known)
            return std::string(name) + ": no struct, union, enum or typedef of the result\n";
        std::string out;
        if (name.empty())
            std::stable_sort(roots.begin(), roots.end(), [&](TypeName a, TypeName b) {
                return graph_.blame(a).types > graph_.blame(b).types;
            });
        else
            for (TypeName n : others)
                if (std::find(roots.begin(), roots.end(), graph_.root_of(n)) == roots.end())
                    roots.push_back(graph_.root_of(n));
        // Duplicates that are only in the base and have no consequences were not made by this
        // merge. The definition of a name that the base declares is reported only if it causes
        // duplicates.
        std::erase_if(roots, [&](TypeName n) {
            return (!graph_.blame(n).types && is_of_base(n)) ||
                   (graph_.names()[n].classes.size() == 1 &&
                    std::ranges::none_of(others,
                                         [&](TypeName o) { return graph_.root_of(o) == n; }));
        });
        if (roots.empty() && others.empty())
            return (name.empty() ? "No name has" : std::string(name) + " does not have") +
                   " several definitions.\n";
        find_objects(roots);
        for (TypeName n : roots)
            out += root_text(n) + "\n";
        for (TypeName n : others)
            out += strf("%s: %zu definitions, because of %s: %s\n", title(n).c_str(),
                        graph_.names()[n].classes.size(), title(graph_.root_of(n)).c_str(),
                        chain(n).c_str());
        if (graph_.unexplained() && name.empty())
            out +=
                strf("no reason was found for splitting %zu more types.\n", graph_.unexplained());
        return out;
    }

private:
    ClassId any_class(TypeName n) const
    {
        return graph_.names()[n].classes.empty() ? graph_.names()[n].forward
                                                 : graph_.names()[n].classes.front();
    }
    std::string plain_name(TypeName n) const
    {
        ClassId c = any_class(n);
        return c == ClassId::none ? "" : std::string(sources_.name(graph_.canonical(c)));
    }
    std::string title(TypeName n) const
    {
        ClassId c = any_class(n);
        if (c == ClassId::none)
            return "";
        return (graph_.names()[n].space == 't' ? "typedef " : "") +
               c_name(graph_.btf_of(c), graph_.canonical(c).type);
    }
    bool is_of_base(TypeName n) const
    {
        return std::all_of(
            graph_.names()[n].classes.begin(), graph_.names()[n].classes.end(),
            [&](ClassId c) { return sources_.is_base(partition_.classes[c].first.source); });
    }

    /// ".member" if the reference of the class is a member.
    std::string label(ClassId c, uint32_t position) const
    {
        const btf_type &t = sources_.type(graph_.canonical(c));
        if (!btf::is_composite(btf::kind_of(t)) || position >= btf::vlen_of(t))
            return "";
        std::string_view name = sources_.str(graph_.canonical(c), btf::tail_of(t)[position * 3]);
        return name.empty() ? "" : "." + std::string(name);
    }

    /// The path from a split name to the root: "struct a .b -> struct c .d -> struct e".
    std::string chain(TypeName n) const
    {
        std::string out = title(n);
        const Edge *edge = &graph_.parent_of_name(n);
        for (bool behind_title = true;;) {
            std::string text = label(graph_.members(edge->shape)[0], edge->position);
            out += (behind_title && !text.empty() ? " " : "") + text;
            behind_title &= text.empty();
            const TypeName by = graph_.name_of_vertex(edge->by);
            if (by == TypeName::none) {
                edge = &graph_.parent_of_shape(graph_.shape_of_vertex(edge->by));
                continue;
            }
            out += " -> " + title(by);
            if (by == graph_.root_of(n))
                return out;
            edge = &graph_.parent_of_name(by);
            behind_title = true;
        }
    }

    struct VersionUsers {
        size_t count = 0;            // of objects
        uint32_t last = no_number;   // source that was counted last
        std::vector<uint32_t> first; // sources
    };

    /// Finds the objects with each definition of these names.
    void find_objects(const std::vector<TypeName> &names)
    {
        IdVector<ClassId, uint32_t> version_of(partition_.classes.size(), no_number);
        for (TypeName n : names)
            for (Shape s : graph_.names()[n].versions) {
                for (ClassId c : graph_.members(s))
                    version_of[c] = static_cast<uint32_t>(users_.size());
                version_number_[s] = users_.size();
                users_.emplace_back();
            }
        for (uint32_t source = 0; source < sources_.list.size(); ++source)
            sources_.list[source].for_types([&](TypeId id, size_t index) {
                if (partition_.of[index] == ClassId::none)
                    return;
                ClassId c = partition_.class_of(index);
                uint32_t version = version_of[c];
                if (version == no_number || users_[version].last == source)
                    return;
                // Objects that only declare the type are not listed.
                if (btf::is_declaration(sources_.list[source].btf->type(id)) &&
                    !btf::is_declaration(graph_.btf_of(c).type(graph_.canonical(c).type)))
                    return;
                users_[version].last = source;
                ++users_[version].count;
                if (users_[version].first.size() < objects_named)
                    users_[version].first.push_back(source);
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
            auto at = std::find(sources_.of_object.begin(), sources_.of_object.end(), source);
            names += (names.empty() ? "" : ", ") +
                     objects_[static_cast<size_t>(at - sources_.of_object.begin())].describe();
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

    void find_difference(TypeAt a, TypeAt b, Difference &out) const
    {
        const btf_type &x = sources_.type(a), &y = sources_.type(b);
        if (btf::kind_of(x) == btf::Kind::TYPEDEF && btf::kind_of(y) == btf::Kind::TYPEDEF) {
            if (inside({a.source, TypeId{x.type}}, {b.source, TypeId{y.type}}, out))
                return;
            out.one = c_definition(btf_at(a), a.type);
            out.other = c_definition(btf_at(b), b.type);
        } else if (!differ_in_element(a, b, out)) {
            const bool declared = btf::is_declaration(x) || btf::is_declaration(y);
            out.one = declared ? definedness(x) : kind_and_size(a);
            out.other = declared ? definedness(y) : kind_and_size(b);
        }
    }

    /// Finds the first member or enumerator that differs, for two structs or unions, or two enums.
    bool differ_in_element(TypeAt a, TypeAt b, Difference &out) const
    {
        const btf_type &x = sources_.type(a), &y = sources_.type(b);
        const btf::Kind one_kind = btf::kind_of(x), other_kind = btf::kind_of(y);
        const bool members = btf::is_composite(one_kind) && btf::is_composite(other_kind);
        if (!members && !(btf::is_enum(one_kind) && btf::is_enum(other_kind)))
            return false;
        const uint32_t count = std::max(btf::vlen_of(x), btf::vlen_of(y));
        for (uint32_t i = 0; i < count; ++i) {
            const std::string one = element(a, i), other = element(b, i);
            if (one == other && (!members || same_member(a, b, i)))
                continue;
            out.place.push_back(i);
            if (members && i < std::min(btf::vlen_of(x), btf::vlen_of(y)) &&
                differ_inside_member(a, b, i, out))
                return true;
            out.one = with_offset(one, other, a, i);
            out.other = with_offset(other, one, b, i);
            return true;
        }
        return false;
    }

    /// Searches inside a member that has the same name and offset in both.
    bool differ_inside_member(TypeAt a, TypeAt b, uint32_t i, Difference &out) const
    {
        const uint32_t *m = btf::tail_of(sources_.type(a)) + i * 3,
                       *n = btf::tail_of(sources_.type(b)) + i * 3;
        const std::string_view name = sources_.str(a, m[0]);
        if (name != sources_.str(b, n[0]))
            return false;
        if (!name.empty())
            out.path += "." + std::string(name);
        return m[2] == n[2] && inside({a.source, TypeId{m[1]}}, {b.source, TypeId{n[1]}}, out);
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

    /// Searches inside, if both are unnamed structs or unions.
    bool inside(TypeAt a, TypeAt b, Difference &out) const
    {
        auto unnamed = [&](TypeAt t) {
            return t.type != void_id && btf::is_composite(btf_at(t).kind(t.type)) &&
                   btf_at(t).name(t.type).empty();
        };
        if (!unnamed(a) || !unnamed(b) || out.place.size() > most_nested ||
            btf_at(a).kind(a.type) != btf_at(b).kind(b.type))
            return false;
        find_difference(a, b, out);
        return true;
    }

    bool same_member(TypeAt a, TypeAt b, uint32_t i) const
    {
        const btf_type &x = sources_.type(a), &y = sources_.type(b);
        if (i >= btf::vlen_of(x) || i >= btf::vlen_of(y))
            return false;
        const uint32_t *m = btf::tail_of(x) + i * 3, *n = btf::tail_of(y) + i * 3;
        return sources_.str(a, m[0]) == sources_.str(b, n[0]) && m[2] == n[2] &&
               graph_.stub_at(a.source, m[1]) == graph_.stub_at(b.source, n[1]);
    }

    /// A member or enumerator as C; "nothing" after the last.
    std::string element(TypeAt at, uint32_t i) const { return c_element(btf_at(at), at.type, i); }

    /// `mine`, followed by its offset if the texts are equal.
    std::string with_offset(const std::string &mine, const std::string &other, TypeAt at,
                            uint32_t i) const
    {
        const btf_type &t = sources_.type(at);
        if (mine != other || !btf::is_composite(btf::kind_of(t)))
            return mine;
        uint32_t offset = btf::tail_of(t)[i * 3 + 2];
        if (btf::kflag_of(t))
            offset &= 0xffffff;
        return mine + strf(" at bit %u", offset);
    }

    std::string root_text(TypeName n) const
    {
        const NameUse &name = graph_.names()[n];
        std::string out = strf("%s: %zu versions that differ by themselves\n", title(n).c_str(),
                               name.versions.size());
        auto version = [&](size_t i) {
            return graph_.canonical(graph_.members(name.versions[i])[0]);
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
                        users_text(users_[version_number_.at(name.versions[i])]).c_str()) +
                   c_definition(btf_at(at), at.type, 1, from_first[i].place) + "\n";
        }
        const SplitGraph::Blame &b = graph_.blame(n);
        out += strf("  because of it %zu further type%s split, %zu of them named structs or "
                    "unions\n",
                    b.types, b.types == 1 ? " was" : "s were", b.structs);
        return out;
    }

    const std::vector<Object> &objects_;
    const Sources &sources_;
    const Partition &partition_;
    const std::string &base_name_;
    const SplitGraph graph_;
    std::vector<VersionUsers> users_;
    std::unordered_map<Shape, size_t> version_number_;
};

} // namespace

std::string why_dup(const std::vector<Object> &objects, const MergedTypes &types,
                    std::string_view name, const std::string &base_name)
{
    return DupReport(objects, types, base_name).text(name);
}

} // namespace btflink::merge
