// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A stub hash says of a reference to `struct s` only its name. Where all objects agree on
// `struct s` that is enough. Where they do not, types with equal stub hashes may mean different
// things: `struct s *` in one object and in another, and whatever contains it, up to a task_struct
// that differs three pointers deep. And objects that only declare `struct s;` mean any of them.
//
// Method.
//  1. Names with more than one definition are the conflicts. (With a base, so are names that the
//     base only declares and somebody defines: the base cannot be completed, so what refers to the
//     name means two things. Structs of the base that do are the base's all the same: its
//     declaration agrees with any definition.) A class is tainted if
//     it reaches a conflict in the class graph; a name is hot if it is a conflict or its only
//     definition is tainted. All else is final as it is.
//  2. Nodes are the definitions of hot names, and tainted structs without a name, in each object.
//     The slots of a class are the hot names that it refers to, directly or through pointers,
//     prototypes, unnamed structs. In an object a hot name stands for one node, so a class has the
//     same slots everywhere and needs no look at the object's types. Objects with two definitions
//     of one name are exact: their types are walked.
//  3. Objects join one by one; nodes that agree in all that both know are one group
//     (join_groups.cc). What an object only declares is a hole and agrees with any; a group's holes
//     are filled by the members that know.
//  4. A forward declaration that a struct refers to means what that struct's group has there. All
//     other forward declarations of a name mean the same: the only variant, or, if structs took it
//     for one, the variant that makes the fewest new types (resolve_forwards.cc). If there are
//     several and no struct tells, they stay what they are.
//  5. All other tainted types are equal if their classes and the final classes of what they refer
//     to are. Groups whose holes were filled refer to other types than their leaders' objects do;
//     these references are made last, and are new types only if no object has them.
//
// Why it is right. Let two types be equal if they have equal words and names and refer to equal
// types, position by position; of all relations with this property the largest is wanted. Stub
// hashes give a coarser one: equal types have equal stub hashes, for what a stub hash covers is
// words, names and what names references reach. Where nothing is only declared, nodes are one if
// and only if they have one class and see the same definitions (reachable_conflicts.cc says why),
// which is the largest such relation. Slots instead of references do not change that: what lies
// between a class and its slots is equal by the stub hash. Holes make agreement non-transitive, so
// a choice is needed; ours never merges what differs in a slot known in both, which is what
// btf__dedup accepts, too.
//
// Cost. Proportional to the nodes and slots that are hot, times the sides of the conflicts; never a
// walk through the graph per candidate, where btf__dedup and pahole hang if one field of a central
// struct differs.
//
// Rejected. Refinement of all types instead of definitions: ten times the nodes, and holes get
// their variants at the pointer, before the struct around it has said which it needs. Propagating
// "conflicted" to all users and keeping them per object (libctf): thousands of copies.
#include "merge/dedup/split_conflicts.h"

#include "merge/dedup/join_groups.h"
#include "merge/dedup/resolve_forwards.h"

#include <optional>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

constexpr size_t many_refs = 32; // more than nearly all prototypes have

class Refiner
{
public:
    Refiner(const Sources &sources, Classes &classes, const ClassGraph &graph, unsigned threads)
        : sources_(sources), classes_(classes), graph_(graph),
          hot_(make_hot_graph(sources, classes, graph, threads))
    {
        if (hot_.conflicts)
            colours_.emplace(sources, graph, hot_, threads);
    }

    Partition run()
    {
        out_.conflicts = hot_.conflicts;
        out_.tainted_classes = hot_.tainted_classes;
        out_.tainted_types = hot_.tainted_types;
        out_.alias = graph_.alias;
        out_.classes.reserve(graph_.size());
        // What is not final by its class is not live until a type stays in it.
        for (uint32_t c = 0; c < graph_.size(); ++c)
            out_.classes.push_back({classes_.first[c], classes_.first[c],
                                    !hot_.conflicts || hot_.role[c] == role_plain});
        resolve_unique_forwards();
        if (hot_.conflicts) {
            out_.rounds = colours_->rounds();
            assign_structs();
            resolve_holes();
            assign_refs();
            fill_holes();
            choose_forwards(open_, keys_, out_);
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
            if (!hot_.hot[n] && name.forward != no_class && !name.definitions.empty())
                out_.alias[name.forward] = name.definitions.front();
        }
    }

    uint32_t new_class(uint32_t c, TypeAt first, TypeAt donor)
    {
        if (first == out_.classes[c].first && !out_.classes[c].live) {
            out_.classes[c].donor = donor;
            out_.classes[c].live = true;
            return c;
        }
        auto number = static_cast<uint32_t>(out_.classes.size());
        origin_.push_back(c);
        out_.classes.push_back({first, donor, true});
        out_.alias.push_back(number);
        return number;
    }

    /// The class in the graph that a final class came from.
    uint32_t origin(uint32_t c) const
    {
        return graph_.alias[c < graph_.size() ? c : origin_[c - graph_.size()]];
    }

    TypeAt place(uint32_t n) const { return {hot_.nodes[n].source, hot_.nodes[n].type}; }

    void assign_structs()
    {
        final_.assign(hot_.nodes.size(), none);
        for (uint32_t n = 0; n < hot_.nodes.size(); ++n) {
            if (hot_.nodes[n].is_hole())
                continue;
            uint32_t &led = final_[colours_->of(n)]; // may be asked for before its own turn
            if (led == none)
                led = new_class(hot_.nodes[n].cls, place(n), place(colours_->of(n)));
            final_[n] = led;
        }
    }

    /// What a vector of Colours has for a slot; of several by different paths the first.
    static uint32_t known_at(const std::vector<uint32_t> &vector, uint32_t slot)
    {
        if (vector[0] != irregular)
            return vector[slot];
        for (size_t i = 1; i + 1 < vector.size(); i += 2)
            if (vector[i] == slot && vector[i + 1] != wild)
                return vector[i + 1];
        return wild;
    }

    void resolve_holes()
    {
        // What the first struct that has a hole of this name as a slot needed.
        std::vector<uint32_t> needed(hot_.slot_names, none), leader;
        for (uint32_t n = 0; n < hot_.nodes.size(); ++n) {
            if (hot_.nodes[n].is_hole() || sources_.is_base(hot_.nodes[n].source))
                continue;
            auto slots = hot_.slots[hot_.nodes[n].cls];
            leader.clear();
            for (size_t i = 0; i < hot_.edge_begin[n + 1] - hot_.edge_begin[n]; ++i) {
                uint32_t hole = hot_.edges[hot_.edge_begin[n] + i];
                if (needed[slots[i]] != none || hole == none || !hot_.nodes[hole].is_hole())
                    continue;
                if (leader.empty())
                    colours_->vector_of(colours_->of(n), leader);
                uint32_t v = known_at(leader, static_cast<uint32_t>(i));
                if (v != wild)
                    needed[slots[i]] = final_[v];
            }
        }
        for (uint32_t n = 0; n < hot_.nodes.size(); ++n) {
            if (!hot_.nodes[n].is_hole())
                continue;
            uint32_t name = hot_.nodes[n].name, forward = graph_.names[name].forward;
            if (sources_.is_base(hot_.nodes[n].source))
                final_[n] = forward;
            else if (colours_->groups(name).size() == 1)
                final_[n] = final_[colours_->groups(name).front()];
            else if (base_declares(sources_, classes_, graph_, name))
                final_[n] = needed[name] != none ? needed[name] : forward;
            else {
                final_[n] = forward;
                const bool is_enum = graph_.names[name].is_enum;
                if ((needed[name] != none || is_enum) && !out_.classes[forward].live) {
                    open_.push_back({forward, needed[name], {}});
                    for (uint32_t group : colours_->groups(name))
                        open_.back().variants.push_back(final_[group]);
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

    /// A walk through what lies between the nodes of one object. Vertices: classes, or in exact
    /// objects types, less one.
    struct Walk {
        enum : uint8_t { fresh, open, done };
        explicit Walk(size_t vertices) : memo(vertices, none), state(vertices) {}
        std::vector<uint32_t> memo; // per vertex: its final class
        std::vector<uint8_t> state;
        std::vector<uint32_t> stack, key;
    };

    /// Find the final classes of `root` and of what it leads to. for_refs(vertex, visit) visits
    /// References to what is not plain; class_at(vertex); type_at(vertex).
    void settle(Walk &walk, uint32_t s, uint32_t root, auto for_refs, auto class_at, auto type_at)
    {
        std::vector<uint32_t> &memo = walk.memo, &stack = walk.stack, &key = walk.key;
        std::vector<uint8_t> &state = walk.state;
        if (state[root] == Walk::done)
            return;
        stack.assign(1, root);
        while (!stack.empty()) {
            uint32_t at = stack.back();
            if (state[at] == Walk::fresh) {
                state[at] = Walk::open;
                for_refs(at, [&](Reference r) {
                    if (r.vertex != none && state[r.vertex] == Walk::fresh)
                        stack.push_back(r.vertex);
                });
                if (stack.back() != at)
                    continue;
            }
            stack.pop_back();
            if (state[at] == Walk::done)
                continue;
            uint32_t c = class_at(at);
            key.assign(1, c);
            for_refs(at, [&](Reference r) {
                uint32_t known = r.vertex == none ? r.final_class : memo[r.vertex];
                if (known != none)
                    key.push_back(known);
                else // a cycle without a struct: equal to none of another object
                    key.insert(key.end(), {irregular, s});
            });
            auto [number, added] = keys_.keys.add(key);
            if (added) {
                TypeAt here{s, type_at(at)};
                keys_.final_class.push_back(new_class(c, here, here));
            }
            memo[at] = keys_.final_class[number];
            state[at] = Walk::done;
        }
    }

    void assign_refs()
    {
        size_t most = 0; // types of a source
        for (const Source &source : sources_.list)
            most = std::max<size_t>(most, source.count);
        Walk classes(graph_.size()), types(most);
        std::vector<TypeId> type_of(graph_.size(), void_id);
        std::vector<uint32_t> of_name(hot_.slot_names, none);
        for (uint32_t s = 0; s < sources_.list.size(); ++s) {
            bool exact = false; // two nodes of one name
            for (uint32_t n = hot_.node_begin[s]; n < hot_.node_begin[s + 1]; ++n)
                exact |= std::exchange(of_name[hot_.nodes[n].name], n) != none;
            if (exact)
                assign_by_type(s, types);
            else
                assign_by_class(s, classes, type_of, of_name);
            for (uint32_t n = hot_.node_begin[s]; n < hot_.node_begin[s + 1]; ++n) {
                of_name[hot_.nodes[n].name] = none;
                if (final_[n] != none)
                    classes_.of[sources_.index(s, hot_.nodes[n].type)] = final_[n];
            }
        }
    }

    std::span<const TypeId> refs_of(uint32_t s) const
    {
        return {hot_.refs.data() + hot_.ref_begin[s], hot_.refs.data() + hot_.ref_begin[s + 1]};
    }

    /// Without looking at the types: a class has the same references in all these objects, and a
    /// name is one node. Only where these are many a look makes sure that the object has as many,
    /// else a few bytes that lie would cost as much as a type of any size. `type_of`: all void
    /// before and after.
    void assign_by_class(uint32_t s, Walk &walk, std::vector<TypeId> &type_of,
                         const std::vector<uint32_t> &of_name)
    {
        const std::span refs = refs_of(s);
        const size_t offset = sources_.list[s].offset;
        for (size_t i = refs.size(); i--;)
            type_of[class_of(offset + raw(refs[i]) - 1)] = refs[i];
        auto for_refs = [&](uint32_t c, auto visit) {
            const std::span targets = graph_.refs_of(c);
            if (targets.size() > many_refs) {
                size_t own = 0;
                btf::for_each_type_id(sources_.list[s].btf->type(type_of[c]),
                                      [&](uint32_t) { ++own; });
                if (own != targets.size())
                    return visit(Reference{none});
            }
            for (uint32_t to : targets) {
                if (to == no_class || hot_.role[to = graph_.alias[to]] == role_plain)
                    continue;
                if (uint32_t name = hot_.slot_name[to]; name != none)
                    visit(Reference{of_name[name] == none ? none : final_[of_name[name]]});
                else // void: the object has no such type, it lies about its hashes
                    visit(Reference{none, type_of[to] == void_id ? none : to});
            }
        };
        for (TypeId id : refs)
            settle(
                walk, s, class_of(offset + raw(id) - 1), for_refs, [](uint32_t c) { return c; },
                [&](uint32_t c) { return type_of[c]; });
        walk.stack.clear();
        for (TypeId id : refs) {
            uint32_t c = class_of(offset + raw(id) - 1);
            walk.stack.push_back(c);
            classes_.of[offset + raw(id) - 1] = walk.memo[c];
        }
        for (uint32_t c : walk.stack) {
            walk.memo[c] = none;
            walk.state[c] = Walk::fresh;
            type_of[c] = void_id;
        }
    }

    void assign_by_type(uint32_t s, Walk &walk)
    {
        const Source &source = sources_.list[s];
        for (uint32_t n = hot_.node_begin[s]; n < hot_.node_begin[s + 1]; ++n)
            walk.memo[raw(hot_.nodes[n].type) - 1] = final_[n];
        auto role = [&](uint32_t i) {
            return classes_.of[source.offset + i] == no_class
                       ? role_plain
                       : Role{hot_.role[class_of(source.offset + i)]};
        };
        auto for_refs = [&](uint32_t i, auto visit) {
            btf::for_each_type_id(source.btf->type(TypeId{i + 1}), [&](uint32_t ref) {
                if (!ref || role(ref - 1) == role_plain)
                    return;
                if (role(ref - 1) == role_ref)
                    visit(Reference{none, ref - 1});
                else
                    visit(Reference{walk.memo[ref - 1]});
            });
        };
        for (TypeId id : refs_of(s))
            settle(
                walk, s, raw(id) - 1, for_refs,
                [&](uint32_t i) { return class_of(source.offset + i); },
                [](uint32_t i) { return TypeId{i + 1}; });
        auto reset = [&](TypeId id) {
            walk.state[raw(id) - 1] = Walk::fresh;
            return std::exchange(walk.memo[raw(id) - 1], none);
        };
        for (uint32_t n = hot_.node_begin[s]; n < hot_.node_begin[s + 1]; ++n)
            reset(hot_.nodes[n].type);
        for (TypeId id : refs_of(s))
            classes_.of[source.offset + raw(id) - 1] = reset(id);
    }

    /// Groups whose leaders have holes that members filled: their references, and what lies between
    /// these and the structs, are not those of the leaders' objects.
    void fill_holes()
    {
        for (uint32_t n = 0; n < hot_.nodes.size(); ++n) {
            if (hot_.nodes[n].is_hole() || colours_->of(n) != n || !colours_->any_filled(n))
                continue;
            out_.classes[final_[n]].refs = static_cast<uint32_t>(out_.refs.size());
            uint32_t at = out_.classes[final_[n]].refs;
            out_.refs.emplace_back();
            between_ = {}; // not clear(): that takes as long as the largest took
            std::vector<uint32_t> refs = refs_in(n, hot_.nodes[n].type, 0);
            out_.refs[at] = std::move(refs);
        }
    }

    /// The classes that a type refers to, as the leader's group sees them.
    std::vector<uint32_t> refs_in(uint32_t leader, TypeId type, uint32_t depth)
    {
        uint32_t s = hot_.nodes[leader].source;
        const btf_type &t = sources_.list[s].btf->type(type);
        std::vector<uint32_t> out;
        btf::for_each_type_id(t, [&](uint32_t ref) {
            out.push_back(ref ? class_in(leader, TypeId{ref}, depth) : no_class);
        });
        return out;
    }

    uint32_t class_in(uint32_t leader, TypeId type, uint32_t depth)
    {
        constexpr uint32_t max_depth = 1000; // of what lies between structs: a cycle without any
        uint32_t s = hot_.nodes[leader].source;
        size_t index = sources_.index(s, type);
        if (uint32_t n = hot_.node_at(s, type); n != none) {
            uint32_t group = hot_.nodes[n].is_hole() ? colours_->filled(leader, n) : none;
            return group != none ? final_[group] : classes_.of[index];
        }
        uint32_t c = origin(classes_.of[index]);
        if (hot_.role[c] != role_ref || depth > max_depth)
            return classes_.of[index];
        // What many paths lead to is looked at once. On a cycle, which only liars have, it is this:
        auto [memo, is_new] = between_.emplace(type, classes_.of[index]);
        if (!is_new)
            return memo->second;
        std::vector<uint32_t> refs = refs_in(leader, type, depth + 1), key{c};
        size_t next = 0;
        btf::for_each_type_id(sources_.list[s].btf->type(type), [&](uint32_t ref) {
            uint32_t to = refs[next++];
            if (ref && (hot_.node_at(s, TypeId{ref}) != none ||
                        hot_.role[origin(classes_.of[sources_.index(s, TypeId{ref})])] == role_ref))
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
    const HotGraph hot_;
    std::optional<const Colours> colours_; // if there are conflicts
    Partition out_;
    std::vector<uint32_t> final_;   // per node: its final class
    RefKeys keys_;                  // of types between structs
    std::vector<OpenForward> open_; // declarations that no struct tells the meaning of
    std::vector<uint32_t> origin_;  // of classes that were added
    std::unordered_map<TypeId, uint32_t> between_; // what class_in() found for a leader
};

} // namespace

Partition refine(const Sources &sources, Classes classes, const ClassGraph &graph, unsigned threads)
{
    return Refiner(sources, classes, graph, threads).run();
}

} // namespace btflink::merge
