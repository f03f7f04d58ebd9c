// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds the conflict graph: finds what reaches a conflict, the nodes of each object, and the edges
// between them. README.md tells the algorithm.
//
// Method. "Affected" spreads backwards through the class graph, from the names that are conflicts.
// Nodes are found by their classes alone. A class has the same slots in all objects, and a slot is
// a name, which stands for one node of an object; so edges need no look at types. Only objects with
// two definitions of one name ("ambiguous" objects) are walked type by type. Cycles that pass no
// struct, which C does not have, become nodes as unnamed structs do, so what lies between nodes has
// no cycle.
//
// A base has no two equal types. If it has two structs of one name and one stub hash, they differ
// in something that they reach, and that may be nothing of the objects' and take no part. So the
// name is a conflict, too, and these twins are never equal.
//
// Cost. One look at each type's class; the rest is proportional to what is affected. Walks are cut
// off at max_paths steps. A node with more paths equals no other node: this can leave duplicates,
// but never merges types that differ.
#include "merge/dedup/conflicts/conflict_graph.h"

#include "common/graph/peel.h"
#include "common/io/parallel.h"

namespace btflink::merge
{

namespace
{

constexpr size_t max_paths = 4096;

class ConflictGraphBuilder
{
public:
    ConflictGraphBuilder(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                         unsigned threads)
        : sources_(sources), classes_(classes), graph_(graph), threads_(threads)
    {
    }

    ConflictGraph run()
    {
        find_affected();
        if (out_.count) {
            give_roles();
            collect_nodes();
            mark_twins();
            make_slots();
            make_edges();
            declare_enum_slots();
        }
        return std::move(out_);
    }

private:
    ClassId class_of(size_t index) const { return graph_.alias[classes_.of[index]]; }

    bool is_struct(ClassId c) const { return btf::is_composite(graph_.kind[c]); }

    void find_affected()
    {
        trace::Phase phase("find_affected");
        out_.affected_names.assign(graph_.names.size(), false);
        out_.affected_classes.assign(graph_.size(), false);
        std::vector<NameId> names;
        std::vector<ClassId> open;
        const IdVector<NameId, bool> twins = names_with_twins();
        for (NameId n : graph_.names.ids()) {
            const StructName &name = graph_.names[n];
            if (name.definitions.size() > 1 || twins[n] ||
                (!name.definitions.empty() && base_declares(sources_, classes_, graph_, n))) {
                out_.affected_names[n] = true;
                names.push_back(n);
            }
        }
        out_.count = names.size();
        if (names.empty())
            return;
        // Who refers to a name, and who to a class without one.
        auto by_name = Lists<NameId, ClassId>::make(graph_.names.size(), [&](auto put) {
            for_refs([&](ClassId user, ClassId ref) {
                if (graph_.name[ref] != NameId::none)
                    put(graph_.name[ref], user);
            });
        });
        auto by_class = Lists<ClassId, ClassId>::make(graph_.size(), [&](auto put) {
            for_refs([&](ClassId user, ClassId ref) {
                if (graph_.name[ref] == NameId::none)
                    put(ref, user);
            });
        });
        auto affect = [&](ClassId c) {
            if (out_.affected_classes[c])
                return;
            out_.affected_classes[c] = true;
            open.push_back(c);
        };
        while (!names.empty() || !open.empty()) {
            if (!names.empty()) {
                NameId n = names.back();
                names.pop_back();
                for (ClassId user : by_name[n])
                    affect(user);
                continue;
            }
            ClassId c = open.back();
            open.pop_back();
            ++out_.affected_class_count;
            NameId name = graph_.name[c];
            if (name == NameId::none) {
                for (ClassId user : by_class[c])
                    affect(user);
            } else if (!out_.affected_names[name]) {
                out_.affected_names[name] = true;
                names.push_back(name);
            }
        }
    }

    /// Does a base have two definitions of the name with one stub hash?
    IdVector<NameId, bool> names_with_twins() const
    {
        IdVector<NameId, bool> out(graph_.names.size(), false);
        if (!sources_.has_base)
            return out;
        IdVector<ClassId, bool> met(classes_.first.size(), false);
        sources_.list[0].for_types([&](TypeId, size_t index) {
            const ClassId c = classes_.of[index];
            if (c == ClassId::none || graph_.name[c] == NameId::none || graph_.is_forward(c))
                return;
            if (met[c])
                out[graph_.name[c]] = true;
            met[c] = true;
        });
        return out;
    }

    /// Nodes of a base that have the stub hash of an earlier one.
    void mark_twins()
    {
        if (!sources_.has_base)
            return;
        IdVector<ClassId, bool> met(classes_.first.size(), false);
        for (NodeId n : out_.nodes_of(0)) {
            const ClassId c = classes_.of[sources_.index(0, out_.nodes[n].type)];
            out_.twins.push_back(!out_.nodes[n].is_forward() && met[c]);
            met[c] = true;
        }
    }

    template <typename Visit>
    void for_refs(Visit visit) const
    {
        for (ClassId c : graph_.classes())
            for (ClassId ref : graph_.refs[c])
                if (ref != ClassId::none)
                    visit(graph_.alias[c], graph_.alias[ref]);
    }

    void give_roles()
    {
        trace::Phase phase("give_roles");
        out_.role.assign(graph_.size(), role_final);
        for (ClassId c : graph_.classes()) {
            bool affected = graph_.name[c] != NameId::none && out_.affected_names[graph_.name[c]];
            if (graph_.is_forward(graph_.alias[c]))
                out_.role[c] = affected ? role_forward : role_final;
            else if (affected || (is_struct(c) && out_.affected_classes[c]))
                out_.role[c] = role_node;
            else
                out_.role[c] = out_.affected_classes[c] ? role_between : role_final;
        }
        for (ClassId c : on_cycles())
            out_.role[c] = role_node;
        out_.slot_name.assign(graph_.size(), NameId::none);
        out_.slot_names = static_cast<uint32_t>(graph_.names.size());
        for (ClassId c : graph_.classes())
            if (out_.role[c] == role_node || out_.role[c] == role_forward)
                out_.slot_name[c] = graph_.name[c] != NameId::none ? graph_.name[c]
                                    : graph_.alias[c] == c         ? NameId{out_.slot_names++}
                                                                   : NameId::none;
    }

    /// Classes between nodes that lie on a cycle or on a way from one cycle to another: what is
    /// left after peeling off, again and again, classes that no other refers to or that refer to no
    /// other.
    std::vector<ClassId> on_cycles() const
    {
        std::vector<ClassId> left;
        for (ClassId c : graph_.classes())
            if (out_.role[c] == role_between && graph_.alias[c] == c)
                left.push_back(c);
        IdVector<ClassId, uint32_t> place(graph_.size(), no_number);
        for (uint32_t i = 0; i < left.size(); ++i)
            place[left[i]] = i;
        for (bool users : {true, false}) {
            auto each = [&](auto put) { // (what is looked at, who waits for it)
                for (uint32_t i = 0; i < left.size(); ++i)
                    if (place[left[i]] != no_number)
                        for (ClassId ref : graph_.refs[left[i]])
                            if (ref != ClassId::none && place[graph_.alias[ref]] != no_number) {
                                uint32_t to = place[graph_.alias[ref]];
                                put(users ? to : i, users ? i : to);
                            }
            };
            const std::vector<uint32_t> waits = peel(left.size(), each);
            for (uint32_t i = 0; i < left.size(); ++i)
                if (!waits[i])
                    place[left[i]] = no_number;
        }
        std::erase_if(left, [&](ClassId c) { return place[c] == no_number; });
        return left;
    }

    /// Twice over the types: to count, and then to fill in what has its final size and place.
    void collect_nodes()
    {
        trace::Phase phase("collect_nodes");
        const size_t count = sources_.list.size();
        out_.node_begin.resize(count + 1);
        out_.ref_begin.resize(count + 1);
        parallel_for(count, threads_, [&](size_t s) {
            uint32_t nodes = 0, refs = 0;
            for_affected(
                s, [&](TypeId, ClassId c) { (out_.role[c] == role_between ? refs : nodes) += 1; });
            out_.node_begin[s + 1] = NodeId{nodes};
            out_.ref_begin[s + 1] = refs;
        });
        for (size_t s = 0; s < count; ++s) {
            out_.node_begin[s + 1] = NodeId{raw(out_.node_begin[s]) + raw(out_.node_begin[s + 1])};
            out_.ref_begin[s + 1] += out_.ref_begin[s];
        }
        out_.nodes.resize(raw(out_.node_begin[count]));
        out_.refs.resize(out_.ref_begin[count]);
        parallel_for(count, threads_, [&](size_t s) {
            NodeId node = out_.node_begin[s];
            uint32_t ref = out_.ref_begin[s];
            for_affected(s, [&](TypeId id, ClassId c) {
                if (out_.role[c] == role_between) {
                    out_.refs[ref++] = id;
                    return;
                }
                out_.nodes[node] = {static_cast<uint32_t>(s), id,
                                    out_.role[c] == role_node ? c : ClassId::none,
                                    out_.slot_name[c]};
                node = NodeId{raw(node) + 1};
            });
        });
        out_.affected_type_count = out_.nodes.size() + out_.refs.size();
    }

    /// visit(type, its class) for the types of a source that are not final.
    template <typename Visit>
    void for_affected(size_t s, Visit visit) const
    {
        const ClassId *of = classes_.of.data();
        sources_.list[s].for_types([&](TypeId id, size_t index) {
            if (of[index] == ClassId::none)
                return;
            if (ClassId c = graph_.alias[of[index]]; out_.role[c] != role_final)
                visit(id, c);
        });
    }

    void make_slots()
    {
        trace::Phase phase("make_slots");
        // The class that met them last.
        IdVector<ClassId, ClassId> seen(graph_.size(), ClassId::none);
        IdVector<NameId, ClassId> listed(out_.slot_names, ClassId::none);
        std::vector<ClassId> stack;
        out_.slots.ends.resize(graph_.size());
        for (ClassId c : graph_.classes()) {
            if (out_.role[c] == role_node && out_.affected_classes[c] && graph_.alias[c] == c) {
                stack.assign(1, c);
                while (!stack.empty()) {
                    ClassId at = stack.back();
                    stack.pop_back();
                    auto refs = graph_.refs[at];
                    for (size_t i = refs.size(); i--;) {
                        if (refs[i] == ClassId::none)
                            continue;
                        ClassId ref = graph_.alias[refs[i]];
                        NameId name = out_.slot_name[ref];
                        if (name != NameId::none && listed[name] != c) {
                            listed[name] = c;
                            out_.slots.items.push_back(name);
                        } else if (out_.role[ref] == role_between && seen[ref] != c) {
                            seen[ref] = c;
                            stack.push_back(ref);
                        }
                    }
                }
            }
            out_.slots.ends[raw(c)] = static_cast<uint32_t>(out_.slots.items.size());
        }
    }

    /// An object has a node for each name that its types refer to. If a class has more slots than
    /// the object has nodes, the stated hashes are not those of its types.
    bool has_false_hashes(NodeId n) const
    {
        const Node &node = out_.nodes[n];
        return out_.slots[node.cls].size() > out_.nodes_of(node.source).size();
    }

    void make_edges()
    {
        trace::Phase phase("make_edges");
        out_.edge_begin.resize(out_.nodes.size() + 1);
        uint64_t total = 0;
        for (NodeId n : out_.nodes.ids()) {
            out_.edge_begin[n] = total;
            if (!out_.nodes[n].is_forward() && !has_false_hashes(n))
                total += out_.slots[out_.nodes[n].cls].size();
        }
        out_.edge_begin[out_.nodes.next_id()] = total;
        out_.edges.resize(total);
        out_.paths.resize(out_.nodes.size());
        size_t count = sources_.list.size();
        size_t batch = (count + threads_ - 1) / threads_;
        parallel_for((count + batch - 1) / batch, threads_, [&](size_t b) {
            IdVector<NameId, NodeId> of_name(out_.slot_names, NodeId::none);
            for (size_t s = b * batch; s < std::min(count, (b + 1) * batch); ++s)
                make_edges(s, of_name);
        });
    }

    /// `of_name`: all none, before and after.
    void make_edges(size_t s, IdVector<NameId, NodeId> &of_name)
    {
        bool ambiguous = false;
        for (NodeId n : out_.nodes_of(s)) {
            NodeId &mine = of_name[out_.nodes[n].name];
            ambiguous |= mine != NodeId::none;
            mine = n;
        }
        for (NodeId n : out_.nodes_of(s)) {
            if (out_.nodes[n].is_forward())
                continue;
            if (has_false_hashes(n)) {
                out_.paths[n] = std::make_unique<Paths>(); // equal to no other
                continue;
            }
            auto slots = out_.slots[out_.nodes[n].cls];
            for (size_t i = 0; i < slots.size(); ++i)
                out_.edges[out_.edge_begin[n] + i] = of_name[slots[i]];
            if (ambiguous && !slots.empty())
                out_.paths[n] = walk(n, s);
        }
        for (NodeId n : out_.nodes_of(s))
            of_name[out_.nodes[n].name] = NodeId::none;
    }

    /// If some object sees a struct with only the declaration of an enum, the struct refers to the
    /// declaration and agrees with every definition. This holds in all objects, so that their order
    /// does not matter. (Only prototypes and pointers can refer to a declared enum, so no layout
    /// depends on it.)
    void declare_enum_slots()
    {
        auto is_enum = [&](NameId name) {
            return raw(name) < graph_.names.size() && graph_.names[name].is_enum;
        };
        std::vector<bool> open(out_.slots.items.size());
        bool any = false;
        auto for_enums = [&](auto visit) { // (place in `open`, where the edge leads)
            for (NodeId n : out_.nodes.ids()) {
                if (!any || out_.nodes[n].is_forward() || !is_struct(out_.nodes[n].cls))
                    continue;
                const uint32_t first = out_.slots.begin(out_.nodes[n].cls);
                for (size_t i = 0; i < out_.edges_of(n).size(); ++i)
                    if (is_enum(out_.slots.items[first + i]))
                        visit(first + i, out_.edges[out_.edge_begin[n] + i]);
                if (out_.paths[n])
                    for (Path &p : *out_.paths[n])
                        if (is_enum(out_.slots.items[first + raw(p.slot)]))
                            visit(first + raw(p.slot), p.target);
            }
        };
        any = std::ranges::any_of(out_.slots.items, is_enum);
        for_enums([&](size_t at, NodeId to) {
            open[at] = open[at] || (to != NodeId::none && out_.nodes[to].is_forward());
        });
        for_enums([&](size_t at, NodeId &to) {
            if (open[at] && to != NodeId::none && !out_.nodes[to].is_forward())
                to = NodeId::none;
        });
    }

    std::unique_ptr<Paths> walk(NodeId node, size_t s) const
    {
        auto out = std::make_unique<Paths>();
        auto slots = out_.slots[out_.nodes[node].cls];
        const Btf &btf = *sources_.list[s].btf;
        std::vector<TypeId> stack{out_.nodes[node].type};
        size_t steps = 0;
        while (!stack.empty()) {
            TypeId at = stack.back();
            stack.pop_back();
            if (++steps > max_paths) {
                out->clear(); // equal to no other
                return out;
            }
            btf::for_each_type_id(btf.type(at), [&](uint32_t ref) {
                if (!ref)
                    return;
                size_t index = sources_.index(static_cast<uint32_t>(s), TypeId{ref});
                if (classes_.of[index] == ClassId::none) // of a base, and not wanted
                    return;
                ClassId c = class_of(index);
                NameId name = out_.slot_name[c];
                if (name == NameId::none) {
                    if (out_.role[c] == role_between)
                        stack.push_back(TypeId{ref});
                    return;
                }
                auto slot = std::find(slots.begin(), slots.end(), name);
                if (slot != slots.end())
                    out->push_back({SlotId{static_cast<uint32_t>(slot - slots.begin())},
                                    out_.node_at(s, TypeId{ref})});
            });
        }
        return out;
    }

    const Sources &sources_;
    const Classes &classes_;
    const ClassGraph &graph_;
    unsigned threads_;
    ConflictGraph out_;
};

} // namespace

NodeId ConflictGraph::node_at(size_t source, TypeId type) const
{
    auto begin = nodes.begin() + raw(node_begin[source]);
    auto end = nodes.begin() + raw(node_begin[source + 1]);
    auto it =
        std::lower_bound(begin, end, type, [](const Node &n, TypeId t) { return n.type < t; });
    return it != end && it->type == type ? NodeId{static_cast<uint32_t>(it - nodes.begin())}
                                         : NodeId::none;
}

bool base_declares(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   NameId name)
{
    ClassId c = graph.names[name].forward;
    return c != ClassId::none && sources.is_base(classes.first[c].source);
}

ConflictGraph make_conflict_graph(const Sources &sources, const Classes &classes,
                                  const ClassGraph &graph, unsigned threads)
{
    return ConflictGraphBuilder(sources, classes, graph, threads).run();
}

} // namespace btflink::merge
