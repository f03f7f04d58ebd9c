// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the classes of equal stub hashes final: splits those whose types reach different
// definitions of a name, and resolves forward declarations. README.md tells the algorithm.
//
// Method.
//  1. Types that reach no conflict are final. A forward declaration of a name with one definition
//     is that definition.
//  2. Each group of nodes (join_groups.cc) is a final class.
//  3. A forward declaration that a struct refers to resolves to what that struct's group resolved
//     it to. Others of its name resolve to the only definition, or, if structs resolved the name or
//     it is an enum's, to the definition that adds the fewest types (resolve_forwards.cc). The rest
//     stay declarations: several definitions fit, and nothing tells which is meant.
//  4. Types between nodes are equal if their classes are, and the final classes that they refer to.
//  5. A group whose forward declarations were resolved refers to other types than its
//     representative does in its object. These references are computed last, and are new types only
//     if no object has them.
//
// Cost. Nodes, slots and types between nodes, once, in addition to join_groups.cc.
#include "merge/dedup/split_conflicts.h"

#include "common/graph/post_order.h"
#include "merge/dedup/join_groups.h"
#include "merge/dedup/resolve_forwards.h"

#include <optional>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

constexpr size_t many_refs = 32; // more than nearly all prototypes have

class Splitter
{
public:
    Splitter(const Sources &sources, Classes &classes, const ClassGraph &graph, unsigned threads)
        : sources_(sources), classes_(classes), graph_(graph),
          conflicts_(make_conflict_graph(sources, classes, graph, threads))
    {
        if (conflicts_.count)
            groups_.emplace(sources, graph, conflicts_, threads);
    }

    Partition run()
    {
        out_.conflicts = conflicts_.count;
        out_.affected_classes = conflicts_.affected_class_count;
        out_.affected_types = conflicts_.affected_type_count;
        out_.alias = graph_.alias;
        out_.classes.reserve(graph_.size());
        // A class that is not final now becomes live when the first type is assigned to it.
        for (uint32_t c = 0; c < graph_.size(); ++c)
            out_.classes.push_back({classes_.first[c], classes_.first[c],
                                    !conflicts_.count || conflicts_.role[c] == role_final});
        resolve_unique_forwards();
        if (conflicts_.count) {
            out_.rounds = groups_->rounds();
            assign_structs();
            resolve_nodes();
            assign_refs();
            resolve_references();
            resolve_forwards(unresolved_, keys_, out_);
        }
        out_.of = std::move(classes_.of);
        return std::move(out_);
    }

private:
    uint32_t class_of(size_t index) const { return graph_.alias[classes_.of[index]]; }

    void resolve_unique_forwards()
    {
        for (uint32_t n = 0; n < graph_.names.size(); ++n) {
            const StructName &name = graph_.names[n];
            if (!conflicts_.affected_names[n] && name.forward != no_class &&
                !name.definitions.empty())
                out_.alias[name.forward] = name.definitions.front();
        }
    }

    uint32_t new_class(uint32_t c, TypeAt first, TypeAt canonical)
    {
        if (first == out_.classes[c].first && !out_.classes[c].live) {
            out_.classes[c].canonical = canonical;
            out_.classes[c].live = true;
            return c;
        }
        auto number = static_cast<uint32_t>(out_.classes.size());
        origin_.push_back(c);
        out_.classes.push_back({first, canonical, true});
        out_.alias.push_back(number);
        return number;
    }

    /// The class of the class graph that a final class was split from.
    uint32_t origin(uint32_t c) const
    {
        return graph_.alias[c < graph_.size() ? c : origin_[c - graph_.size()]];
    }

    TypeAt place(uint32_t n) const
    {
        return {conflicts_.nodes[n].source, conflicts_.nodes[n].type};
    }

    void assign_structs()
    {
        final_.assign(conflicts_.nodes.size(), none);
        for (uint32_t n = 0; n < conflicts_.nodes.size(); ++n) {
            if (conflicts_.nodes[n].is_forward())
                continue;
            uint32_t &made =
                final_[groups_->representative(n)]; // may be asked for before its own turn
            if (made == none)
                made =
                    new_class(conflicts_.nodes[n].cls, place(n), place(groups_->representative(n)));
            final_[n] = made;
        }
    }

    /// The value of a slot; of several by different paths, the first that is resolved.
    static uint32_t value_of_slot(const std::vector<uint32_t> &vector, uint32_t slot)
    {
        if (vector[0] != irregular)
            return vector[slot];
        for (size_t i = 1; i + 1 < vector.size(); i += 2)
            if (vector[i] == slot && vector[i + 1] != unresolved)
                return vector[i + 1];
        return unresolved;
    }

    void resolve_nodes()
    {
        // Per name: what the first struct that refers to its forward declaration resolved it to.
        std::vector<uint32_t> needed(conflicts_.slot_names, none), representative;
        for (uint32_t n = 0; n < conflicts_.nodes.size(); ++n) {
            if (conflicts_.nodes[n].is_forward() || sources_.is_base(conflicts_.nodes[n].source))
                continue;
            auto slots = conflicts_.slots[conflicts_.nodes[n].cls];
            representative.clear();
            for (size_t i = 0; i < conflicts_.edge_begin[n + 1] - conflicts_.edge_begin[n]; ++i) {
                uint32_t forward_node = conflicts_.edges[conflicts_.edge_begin[n] + i];
                if (needed[slots[i]] != none || forward_node == none ||
                    !conflicts_.nodes[forward_node].is_forward())
                    continue;
                if (representative.empty())
                    groups_->slot_values(groups_->representative(n), representative);
                uint32_t v = value_of_slot(representative, static_cast<uint32_t>(i));
                if (v != unresolved)
                    needed[slots[i]] = final_[v];
            }
        }
        for (uint32_t n = 0; n < conflicts_.nodes.size(); ++n) {
            if (!conflicts_.nodes[n].is_forward())
                continue;
            uint32_t name = conflicts_.nodes[n].name, forward = graph_.names[name].forward;
            if (sources_.is_base(conflicts_.nodes[n].source))
                final_[n] = forward;
            else if (groups_->of_name(name).size() == 1)
                final_[n] = final_[groups_->of_name(name).front()];
            else if (base_declares(sources_, classes_, graph_, name))
                final_[n] = needed[name] != none ? needed[name] : forward;
            else {
                final_[n] = forward;
                const bool is_enum = graph_.names[name].is_enum;
                if ((needed[name] != none || is_enum) && !out_.classes[forward].live) {
                    unresolved_.push_back({forward, needed[name], {}});
                    for (uint32_t group : groups_->of_name(name))
                        unresolved_.back().candidates.push_back(final_[group]);
                }
            }
            if (final_[n] == forward)
                out_.classes[forward].live = true;
        }
    }

    /// What a reference leads to: a final class, or else a vertex of the Walk; `none`: neither.
    struct Reference {
        uint32_t final_class, vertex = none;
    };

    /// A walk over the types between the nodes of one object. Vertices are classes, or, in
    /// ambiguous objects, type ids less one.
    struct Between {
        explicit Between(size_t vertices) : memo(vertices, none), state(vertices) {}
        std::vector<uint32_t> memo; // per vertex: its final class
        std::vector<uint8_t> state;
        std::vector<uint32_t> stack, key;
        std::vector<uint32_t> met; // vertices to forget
    };

    /// Find the final classes of `root` and of all that it refers to, in post-order.
    /// for_refs(vertex, visit) visits its References to what is not final; class_at(vertex);
    /// type_at(vertex).
    void settle(Between &between, uint32_t s, uint32_t root, auto for_refs, auto class_at,
                auto type_at)
    {
        auto expand = [&](uint32_t at, auto need) {
            for_refs(at, [&](Reference r) {
                if (r.vertex != none)
                    need(r.vertex);
            });
        };
        auto close = [&](uint32_t at) {
            uint32_t c = class_at(at);
            between.key.assign(1, c);
            for_refs(at, [&](Reference r) {
                uint32_t known = r.vertex == none ? r.final_class : between.memo[r.vertex];
                if (known != none)
                    between.key.push_back(known);
                else // a cycle without a struct: equal to none of another object
                    between.key.insert(between.key.end(), {irregular, s});
            });
            auto [number, added] = keys_.keys.add(between.key);
            if (added) {
                TypeAt here{s, type_at(at)};
                keys_.final_class.push_back(new_class(c, here, here));
            }
            between.memo[at] = keys_.final_class[number];
        };
        post_order(
            root, [&](uint32_t at) -> uint8_t & { return between.state[at]; }, between.stack,
            expand, close);
    }

    void assign_refs()
    {
        size_t most = 0; // types of a source
        for (const Source &source : sources_.list)
            most = std::max<size_t>(most, source.count);
        Between classes(graph_.size()), types(most);
        std::vector<TypeId> type_of(graph_.size(), void_id);
        std::vector<uint32_t> of_name(conflicts_.slot_names, none);
        for (uint32_t s = 0; s < sources_.list.size(); ++s) {
            bool ambiguous = false; // two nodes of one name
            for (uint32_t n = conflicts_.node_begin[s]; n < conflicts_.node_begin[s + 1]; ++n)
                ambiguous |= std::exchange(of_name[conflicts_.nodes[n].name], n) != none;
            if (ambiguous)
                assign_by_type(s, types);
            else
                assign_by_class(s, classes, type_of, of_name);
            for (uint32_t n = conflicts_.node_begin[s]; n < conflicts_.node_begin[s + 1]; ++n) {
                of_name[conflicts_.nodes[n].name] = none;
                if (final_[n] != none)
                    classes_.of[sources_.index(s, conflicts_.nodes[n].type)] = final_[n];
            }
        }
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
    void assign_by_class(uint32_t s, Between &between, std::vector<TypeId> &type_of,
                         const std::vector<uint32_t> &of_name)
    {
        const std::span refs = refs_of(s);
        const size_t offset = sources_.list[s].offset;
        for (size_t i = refs.size(); i--;)
            type_of[class_of(offset + raw(refs[i]) - 1)] = refs[i];
        auto for_refs = [&](uint32_t c, auto visit) {
            const std::span targets = graph_.refs[c];
            if (targets.size() > many_refs) {
                size_t own = 0;
                btf::for_each_type_id(sources_.list[s].btf->type(type_of[c]),
                                      [&](uint32_t) { ++own; });
                if (own != targets.size())
                    return visit(Reference{none});
            }
            for (uint32_t to : targets) {
                if (to == no_class || conflicts_.role[to = graph_.alias[to]] == role_final)
                    continue;
                if (uint32_t name = conflicts_.slot_name[to]; name != none)
                    visit(Reference{of_name[name] == none ? none : final_[of_name[name]]});
                else // void: the object has no such type, its hashes are false
                    visit(Reference{none, type_of[to] == void_id ? none : to});
            }
        };
        for (TypeId id : refs)
            settle(
                between, s, class_of(offset + raw(id) - 1), for_refs, [](uint32_t c) { return c; },
                [&](uint32_t c) { return type_of[c]; });
        std::vector<uint32_t> &met = between.met; // before their classes become others
        for (TypeId id : refs) {
            uint32_t c = class_of(offset + raw(id) - 1);
            met.push_back(c);
            classes_.of[offset + raw(id) - 1] = between.memo[c];
        }
        for (uint32_t c : met) {
            between.memo[c] = none;
            between.state[c] = walk::fresh;
            type_of[c] = void_id;
        }
        met.clear();
    }

    void assign_by_type(uint32_t s, Between &between)
    {
        const Source &source = sources_.list[s];
        for (uint32_t n = conflicts_.node_begin[s]; n < conflicts_.node_begin[s + 1]; ++n)
            between.memo[raw(conflicts_.nodes[n].type) - 1] = final_[n];
        auto role = [&](uint32_t i) {
            return classes_.of[source.offset + i] == no_class
                       ? role_final
                       : Role{conflicts_.role[class_of(source.offset + i)]};
        };
        auto for_refs = [&](uint32_t i, auto visit) {
            btf::for_each_type_id(source.btf->type(TypeId{i + 1}), [&](uint32_t ref) {
                if (!ref || role(ref - 1) == role_final)
                    return;
                if (role(ref - 1) == role_between)
                    visit(Reference{none, ref - 1});
                else
                    visit(Reference{between.memo[ref - 1]});
            });
        };
        for (TypeId id : refs_of(s))
            settle(
                between, s, raw(id) - 1, for_refs,
                [&](uint32_t i) { return class_of(source.offset + i); },
                [](uint32_t i) { return TypeId{i + 1}; });
        auto reset = [&](TypeId id) {
            between.state[raw(id) - 1] = walk::fresh;
            return std::exchange(between.memo[raw(id) - 1], none);
        };
        for (uint32_t n = conflicts_.node_begin[s]; n < conflicts_.node_begin[s + 1]; ++n)
            reset(conflicts_.nodes[n].type);
        for (TypeId id : refs_of(s))
            classes_.of[source.offset + raw(id) - 1] = reset(id);
    }

    /// Computes the references of groups whose forward declarations were resolved. These, and the
    /// types between nodes on the way, differ from those in the representatives' objects.
    void resolve_references()
    {
        for (uint32_t n = 0; n < conflicts_.nodes.size(); ++n) {
            if (conflicts_.nodes[n].is_forward() || groups_->representative(n) != n ||
                !groups_->any_resolved(n))
                continue;
            out_.classes[final_[n]].refs = static_cast<uint32_t>(out_.refs.size());
            uint32_t at = out_.classes[final_[n]].refs;
            out_.refs.emplace_back();
            between_ = {}; // clear() would take as long as for the largest
            std::vector<uint32_t> refs = refs_in(n, conflicts_.nodes[n].type, 0);
            out_.refs[at] = std::move(refs);
        }
    }

    /// The classes that a type refers to, as the representative's group sees them.
    std::vector<uint32_t> refs_in(uint32_t representative, TypeId type, uint32_t depth)
    {
        uint32_t s = conflicts_.nodes[representative].source;
        const btf_type &t = sources_.list[s].btf->type(type);
        std::vector<uint32_t> out;
        btf::for_each_type_id(t, [&](uint32_t ref) {
            out.push_back(ref ? class_in(representative, TypeId{ref}, depth) : no_class);
        });
        return out;
    }

    uint32_t class_in(uint32_t representative, TypeId type, uint32_t depth)
    {
        constexpr uint32_t max_depth = 1000; // between two structs; more is a cycle
        uint32_t s = conflicts_.nodes[representative].source;
        size_t index = sources_.index(s, type);
        if (uint32_t n = conflicts_.node_at(s, type); n != none) {
            uint32_t group =
                conflicts_.nodes[n].is_forward() ? groups_->resolved(representative, n) : none;
            return group != none ? final_[group] : classes_.of[index];
        }
        uint32_t c = origin(classes_.of[index]);
        if (conflicts_.role[c] != role_between || depth > max_depth)
            return classes_.of[index];
        // Computed once for all paths. On a cycle, which only false hashes make, it is this:
        auto [memo, is_new] = between_.emplace(type, classes_.of[index]);
        if (!is_new)
            return memo->second;
        std::vector<uint32_t> refs = refs_in(representative, type, depth + 1), key{c};
        size_t next = 0;
        btf::for_each_type_id(sources_.list[s].btf->type(type), [&](uint32_t ref) {
            uint32_t to = refs[next++];
            if (ref && (conflicts_.node_at(s, TypeId{ref}) != none ||
                        conflicts_.role[origin(classes_.of[sources_.index(s, TypeId{ref})])] ==
                            role_between))
                key.push_back(to);
        });
        auto [number, added] = keys_.keys.add(key);
        if (added) {
            uint32_t made = new_class(c, {s, type}, {s, type});
            keys_.final_class.push_back(made);
            out_.classes[made].refs = static_cast<uint32_t>(out_.refs.size());
            out_.refs.push_back(std::move(refs));
        }
        return between_[type] = keys_.final_class[number];
    }

    const Sources &sources_;
    Classes &classes_;
    const ClassGraph &graph_;
    const ConflictGraph conflicts_;
    std::optional<const Groups> groups_; // if there are conflicts
    Partition out_;
    std::vector<uint32_t> final_;                  // per node: its final class
    RefKeys keys_;                                 // of types between nodes
    std::vector<UnresolvedForward> unresolved_;    // forward declarations that no struct resolves
    std::vector<uint32_t> origin_;                 // of classes that were added
    std::unordered_map<TypeId, uint32_t> between_; // what class_in() found for a representative
};

} // namespace

Partition split_conflicts(const Sources &sources, Classes classes, const ClassGraph &graph,
                          unsigned threads)
{
    return Splitter(sources, classes, graph, threads).run();
}

} // namespace btflink::merge
