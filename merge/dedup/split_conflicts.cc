// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the classes of equal stub hashes final: splits those whose types reach different
// definitions of a name, and resolves forward declarations. README.md tells the algorithm.
//
// Method.
//  1. Types that reach no conflict are final. A forward declaration of a name with one definition
//     is that definition.
//  2. Each group of nodes (join_groups.cc) is a final class.
//  3. A forward declaration that a struct refers to resolves to what that struct's group resolved
//     it to. A typedef that leads to others of its name means what it means where they are defined
//     (resolve_typedefs.cc). What is left resolves to the only definition, or, if structs or
//     typedefs showed one or it is an enum's, to the definition that adds the fewest types
//     (resolve_forwards.cc). The rest stay declarations: several definitions fit, and nothing tells
//     which is meant.
//  4. Types between nodes are equal if their classes are, and the final classes that they refer to.
//  5. A group whose forward declarations were resolved refers to other types than its
//     representative does in its object. These references are computed last, and are new types only
//     if no object has them.
//
// If nodes can be joined in several ways (join_groups.cc), all this is done for each, and the
// result with the fewest types is taken.
//
// Cost. Nodes, slots and types between nodes, once per way, in addition to join_groups.cc.
#include "merge/dedup/split_conflicts.h"

#include "common/graph/post_order.h"
#include "common/io/trace.h"
#include "merge/dedup/join_groups.h"
#include "merge/dedup/resolve_typedefs.h"

#include <optional>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

constexpr size_t many_refs = 32; // more than nearly all prototypes have

/// Stands in keys for a class that is equal to none of another source.
ClassId of_this_source_only(uint32_t source)
{
    return ClassId{raw(ClassId::none) - 1 - source};
}

class Splitter
{
public:
    /// `groups`: null if there are no conflicts.
    Splitter(const Sources &sources, Classes classes, const ClassGraph &graph,
             const ConflictGraph &conflicts, const Groups *groups)
        : sources_(sources), classes_(std::move(classes)), graph_(graph), conflicts_(conflicts),
          groups_(groups)
    {
    }

    Partition run()
    {
        out_.conflicts = conflicts_.count;
        out_.affected_classes = conflicts_.affected_class_count;
        out_.affected_types = conflicts_.affected_type_count;
        out_.alias = graph_.alias;
        out_.classes.reserve(graph_.size());
        // A class that is not final now becomes live when the first type is assigned to it.
        for (ClassId c : graph_.classes())
            out_.classes.push_back({classes_.first[c], classes_.first[c],
                                    !conflicts_.count || conflicts_.role[c] == role_final});
        resolve_unique_forwards();
        if (conflicts_.count) {
            out_.rounds = groups_->rounds();
            assign_structs();
            resolve_nodes();
            assign_refs();
        }
        set_final_classes();
        if (conflicts_.count) {
            resolve_references();
            const auto shown = resolve_typedefs(unresolved_, graph_, keys_, out_);
            for (UnresolvedForward &f : unresolved_)
                if (auto of = shown.find(f.forward);
                    of != shown.end() && f.preferred == ClassId::none)
                    f.preferred = of->second;
            std::erase_if(unresolved_, [](const UnresolvedForward &f) {
                return f.preferred == ClassId::none && !f.is_enum;
            });
            resolve_forwards(unresolved_, keys_, out_);
        }
        return std::move(out_);
    }

private:
    ClassId class_of(size_t index) const { return graph_.alias[classes_.of[index]]; }

    void resolve_unique_forwards()
    {
        for (NameId n : graph_.names.ids()) {
            const StructName &name = graph_.names[n];
            if (!conflicts_.affected_names[n] && name.forward != ClassId::none &&
                !name.definitions.empty())
                out_.alias[name.forward] = name.definitions.front();
        }
    }

    ClassId new_class(ClassId c, TypeAt first, TypeAt canonical)
    {
        if (first == out_.classes[c].first && !out_.classes[c].live) {
            out_.classes[c].canonical = canonical;
            out_.classes[c].live = true;
            return c;
        }
        const ClassId number = out_.classes.next_id();
        origin_.push_back(c);
        out_.classes.push_back({first, canonical, true});
        out_.alias.push_back(number);
        return number;
    }

    /// The class of the class graph that a final class was split from.
    ClassId origin(ClassId c) const
    {
        return graph_.alias[raw(c) < graph_.size() ? c : origin_[raw(c) - graph_.size()]];
    }

    TypeAt place(NodeId n) const { return {conflicts_.nodes[n].source, conflicts_.nodes[n].type}; }

    void assign_structs()
    {
        trace::Phase phase("assign_structs");
        final_.assign(conflicts_.nodes.size(), ClassId::none);
        for (NodeId n : conflicts_.nodes.ids()) {
            if (conflicts_.nodes[n].is_forward())
                continue;
            const NodeId first = representative(groups_->of(n));
            ClassId &made = final_[first]; // may be asked for before its own turn
            if (made == ClassId::none)
                made = new_class(conflicts_.nodes[n].cls, place(n), place(first));
            final_[n] = made;
        }
    }

    ClassId final_of(GroupId group) const { return final_[representative(group)]; }

    void resolve_nodes()
    {
        trace::Phase phase("resolve_nodes");
        // Per name: what the first struct that refers to its forward declaration resolved it to.
        IdVector<NameId, ClassId> needed(conflicts_.slot_names, ClassId::none);
        for (NodeId n : conflicts_.nodes.ids()) {
            if (conflicts_.nodes[n].is_forward() || sources_.is_base(conflicts_.nodes[n].source))
                continue;
            const std::span slots = conflicts_.slots[conflicts_.nodes[n].cls];
            const std::span targets = conflicts_.edges_of(n);
            for (uint32_t i = 0; i < targets.size(); ++i) {
                if (needed[slots[i]] != ClassId::none || targets[i] == NodeId::none ||
                    !conflicts_.nodes[targets[i]].is_forward())
                    continue;
                GroupId found = groups_->at_slot(groups_->of(n), SlotId{i});
                if (found != GroupId::none)
                    needed[slots[i]] = final_of(found);
            }
        }
        for (NodeId n : conflicts_.nodes.ids()) {
            if (!conflicts_.nodes[n].is_forward())
                continue;
            const NameId name = conflicts_.nodes[n].name;
            const ClassId forward = graph_.names[name].forward;
            if (sources_.is_base(conflicts_.nodes[n].source))
                final_[n] = forward;
            else if (groups_->of_name(name).size() == 1)
                final_[n] = final_of(groups_->of_name(name).front());
            else if (base_declares(sources_, classes_, graph_, name))
                final_[n] = needed[name] != ClassId::none ? needed[name] : forward;
            else {
                final_[n] = forward;
                const bool is_enum = graph_.names[name].is_enum;
                if (!groups_->of_name(name).empty() && !out_.classes[forward].live) {
                    unresolved_.push_back({forward, needed[name], is_enum, {}});
                    for (GroupId group : groups_->of_name(name))
                        unresolved_.back().candidates.push_back(final_of(group));
                }
            }
            if (final_[n] == forward)
                out_.classes[forward].live = true;
        }
    }

    /// A walk over the types between the nodes of one object. Vertices are classes, or, in
    /// ambiguous objects, types.
    template <typename Vertex>
    struct Between {
        explicit Between(size_t vertices) : memo(vertices, ClassId::none), state(vertices) {}
        IdVector<Vertex, ClassId> memo; // final classes
        IdVector<Vertex, uint8_t> state;
        std::vector<Vertex> stack;
        std::vector<uint32_t> key;
    };

    /// Find the final classes of `root` and of all that it refers to, in post-order.
    /// for_refs(vertex, at_final, at_vertex) calls one of the two for each reference that is not
    /// final from the start: at_final(its final class; none: not known) or at_vertex(vertex).
    /// class_at(vertex); type_at(vertex).
    template <typename Vertex>
    void settle(Between<Vertex> &between, uint32_t s, Vertex root, auto for_refs, auto class_at,
                auto type_at)
    {
        auto skip = [](ClassId) {};
        auto expand = [&](Vertex at, auto need) { for_refs(at, skip, need); };
        auto close = [&](Vertex at) {
            const ClassId c = class_at(at);
            between.key.assign(1, raw(c));
            auto add = [&](ClassId to) {
                if (to == ClassId::none) // a cycle without a struct
                    to = of_this_source_only(s);
                between.key.push_back(raw(to));
            };
            for_refs(at, add, [&](Vertex to) { add(between.memo[to]); });
            auto [number, added] = keys_.keys.add(between.key);
            if (added) {
                TypeAt here{s, type_at(at)};
                keys_.final_class.push_back(new_class(c, here, here));
            }
            between.memo[at] = keys_.final_class[number];
        };
        post_order(
            root, [&](Vertex at) -> uint8_t & { return between.state[at]; }, between.stack, expand,
            close);
    }

    void assign_refs()
    {
        trace::Phase phase("assign_refs");
        size_t most = 0; // types of a source
        for (const Source &source : sources_.list)
            most = std::max<size_t>(most, source.count);
        Between<ClassId> classes(graph_.size());
        std::optional<Between<TypeId>> types; // as large as a base, and seldom needed
        IdVector<ClassId, TypeId> type_of(graph_.size(), void_id);
        IdVector<NameId, NodeId> of_name(conflicts_.slot_names, NodeId::none);
        for (uint32_t s = 0; s < sources_.list.size(); ++s) {
            bool ambiguous = false; // two nodes of one name
            for (NodeId n : conflicts_.nodes_of(s))
                ambiguous |= std::exchange(of_name[conflicts_.nodes[n].name], n) != NodeId::none;
            if (ambiguous && !types)
                types.emplace(most + 1);
            if (ambiguous)
                assign_by_type(s, *types);
            else
                assign_by_class(s, classes, type_of, of_name);
            for (NodeId n : conflicts_.nodes_of(s)) {
                of_name[conflicts_.nodes[n].name] = NodeId::none;
                if (final_[n] != ClassId::none)
                    split_.emplace_back(sources_.index(s, conflicts_.nodes[n].type), final_[n]);
            }
        }
    }

    /// From here on out_.of says which final class each type has.
    void set_final_classes()
    {
        out_.of = std::move(classes_.of);
        for (auto [index, final_class] : split_)
            out_.of[index] = final_class;
    }

    std::span<const TypeId> refs_of(uint32_t s) const
    {
        return {conflicts_.refs.data() + conflicts_.ref_begin[s],
                conflicts_.refs.data() + conflicts_.ref_begin[s + 1]};
    }

    /// Reads no types: a class has the same references in all these objects, and a name is one
    /// node. Only classes with many references are checked against the type of the object, so that
    /// a few bytes with false hashes do not cost as much as a type of any size. `type_of`: all
    /// void, before and after.
    void assign_by_class(uint32_t s, Between<ClassId> &between, IdVector<ClassId, TypeId> &type_of,
                         const IdVector<NameId, NodeId> &of_name)
    {
        const std::span refs = refs_of(s);
        for (size_t i = refs.size(); i--;)
            type_of[class_of(sources_.index(s, refs[i]))] = refs[i];
        auto for_refs = [&](ClassId c, auto at_final, auto at_vertex) {
            const std::span targets = graph_.refs[c];
            if (targets.size() > many_refs) {
                size_t own = 0;
                btf::for_each_type_id(sources_.list[s].btf->type(type_of[c]),
                                      [&](uint32_t) { ++own; });
                if (own != targets.size())
                    return at_final(ClassId::none);
            }
            for (ClassId to : targets) {
                if (to == ClassId::none || conflicts_.role[to = graph_.alias[to]] == role_final)
                    continue;
                if (NameId name = conflicts_.slot_name[to]; name != NameId::none) {
                    const NodeId n = of_name[name];
                    at_final(n == NodeId::none ? ClassId::none : final_[n]);
                } else if (type_of[to] == void_id) { // no such type: the object's hashes are false
                    at_final(ClassId::none);
                } else {
                    at_vertex(to);
                }
            }
        };
        for (TypeId id : refs)
            settle(
                between, s, class_of(sources_.index(s, id)), for_refs, [](ClassId c) { return c; },
                [&](ClassId c) { return type_of[c]; });
        std::vector<ClassId> &met = between.stack; // before their classes become others
        for (TypeId id : refs) {
            const size_t index = sources_.index(s, id);
            met.push_back(class_of(index));
            split_.emplace_back(index, between.memo[met.back()]);
        }
        for (ClassId c : met) {
            between.memo[c] = ClassId::none;
            between.state[c] = walk::fresh;
            type_of[c] = void_id;
        }
        met.clear();
    }

    void assign_by_type(uint32_t s, Between<TypeId> &between)
    {
        for (NodeId n : conflicts_.nodes_of(s))
            between.memo[conflicts_.nodes[n].type] = final_[n];
        auto class_at = [&](TypeId id) { return class_of(sources_.index(s, id)); };
        auto role = [&](TypeId id) {
            return id == void_id || classes_.of[sources_.index(s, id)] == ClassId::none
                       ? role_final
                       : conflicts_.role[class_at(id)];
        };
        auto for_refs = [&](TypeId id, auto at_final, auto at_vertex) {
            btf::for_each_type_id(sources_.list[s].btf->type(id), [&](uint32_t ref) {
                const TypeId to{ref};
                if (role(to) == role_between)
                    at_vertex(to);
                else if (role(to) != role_final)
                    at_final(between.memo[to]);
            });
        };
        for (TypeId id : refs_of(s))
            settle(between, s, id, for_refs, class_at, [](TypeId at) { return at; });
        auto reset = [&](TypeId id) {
            between.state[id] = walk::fresh;
            return std::exchange(between.memo[id], ClassId::none);
        };
        for (NodeId n : conflicts_.nodes_of(s))
            reset(conflicts_.nodes[n].type);
        for (TypeId id : refs_of(s))
            split_.emplace_back(sources_.index(s, id), reset(id));
    }

    /// Computes the references of groups whose forward declarations were resolved. These, and the
    /// types between nodes on the way, differ from those in the representatives' objects.
    void resolve_references()
    {
        trace::Phase phase("resolve_references");
        for (NodeId n : conflicts_.nodes.ids()) {
            if (conflicts_.nodes[n].is_forward())
                continue;
            const GroupId group = groups_->of(n);
            if (representative(group) != n || !groups_->any_resolved(group))
                continue;
            const auto at = static_cast<uint32_t>(out_.refs.size());
            out_.classes[final_[n]].refs = at;
            out_.refs.emplace_back();
            between_ = {}; // clear() would take as long as for the largest
            std::vector<ClassId> refs = refs_in(group, conflicts_.nodes[n].type, 0);
            out_.refs[at] = std::move(refs);
        }
    }

    uint32_t source_of(GroupId group) const { return place(representative(group)).source; }

    /// The classes that a type of the representative's object refers to, as the group sees them.
    std::vector<ClassId> refs_in(GroupId group, TypeId type, uint32_t depth)
    {
        std::vector<ClassId> out;
        btf::for_each_type_id(sources_.type({source_of(group), type}), [&](uint32_t ref) {
            out.push_back(ref ? class_in(group, TypeId{ref}, depth) : ClassId::none);
        });
        return out;
    }

    ClassId class_in(GroupId group, TypeId type, uint32_t depth)
    {
        constexpr uint32_t max_depth = 1000; // between two structs; more is a cycle
        uint32_t s = source_of(group);
        size_t index = sources_.index(s, type);
        if (NodeId n = conflicts_.node_at(s, type); n != NodeId::none) {
            GroupId meant =
                conflicts_.nodes[n].is_forward() ? groups_->resolved(group, n) : GroupId::none;
            return meant != GroupId::none ? final_of(meant) : out_.of[index];
        }
        ClassId c = origin(out_.of[index]);
        if (conflicts_.role[c] != role_between || depth > max_depth)
            return out_.of[index];
        // Computed once for all paths. On a cycle, which only false hashes make, it is this:
        auto [memo, is_new] = between_.emplace(type, out_.of[index]);
        if (!is_new)
            return memo->second;
        std::vector<ClassId> refs = refs_in(group, type, depth + 1);
        std::vector<uint32_t> key{raw(c)};
        size_t next = 0;
        btf::for_each_type_id(sources_.list[s].btf->type(type), [&](uint32_t ref) {
            ClassId to = refs[next++];
            if (ref &&
                (conflicts_.node_at(s, TypeId{ref}) != NodeId::none ||
                 conflicts_.role[origin(out_.of[sources_.index(s, TypeId{ref})])] == role_between))
                key.push_back(raw(to));
        });
        auto [number, added] = keys_.keys.add(key);
        if (added) {
            ClassId made = new_class(c, {s, type}, {s, type});
            keys_.final_class.push_back(made);
            out_.classes[made].refs = static_cast<uint32_t>(out_.refs.size());
            out_.refs.push_back(std::move(refs));
        }
        return between_[type] = keys_.final_class[number];
    }

    const Sources &sources_;
    Classes classes_; // of the class graph; moved from once final classes are set
    const ClassGraph &graph_;
    const ConflictGraph &conflicts_;
    const Groups *const groups_;
    Partition out_;
    IdVector<NodeId, ClassId> final_;
    std::vector<std::pair<size_t, ClassId>> split_; // types (by index) that change their class
    RefKeys keys_;                                  // of types between nodes
    std::vector<UnresolvedForward> unresolved_;     // forward declarations that no struct resolves
    std::vector<ClassId> origin_;                   // of classes that were added
    std::unordered_map<TypeId, ClassId> between_;   // what class_in() found for a representative
};

} // namespace

Partition split_conflicts(const Sources &sources, Classes classes, const ClassGraph &graph,
                          unsigned threads)
{
    const ConflictGraph conflicts = make_conflict_graph(sources, classes, graph, threads);
    if (!conflicts.count)
        return Splitter(sources, std::move(classes), graph, conflicts, nullptr).run();
    const std::vector<Groups> ways = join_groups(sources, graph, conflicts, threads);
    Partition best;
    size_t fewest = SIZE_MAX;
    for (const Groups &way : ways) {
        const bool last = &way == &ways.back();
        Partition made =
            Splitter(sources, last ? std::move(classes) : Classes(classes), graph, conflicts, &way)
                .run();
        if (const size_t types = made.live_count(); types < fewest) {
            best = std::move(made);
            fewest = types;
        }
    }
    return best;
}

} // namespace btflink::merge
