// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds the class graph, and merges classes that differ only by the declarable enums to which they
// refer.
//
// Problem. In the stub hash of a type, a reference to a struct counts by the struct's name only. So
// the type has one class, however the struct is declared or defined. A reference to an enum counts
// with the whole enum, but gcc allows declarations of enums, too. If one header declares an enum
// and three sources define it differently, every struct that refers to the enum through a pointer
// or a prototype is in four classes.
//
// Method. The graph has one vertex per class, read from the lowest type of the class: some hundred
// thousand vertices for millions of types. Declarations and definitions of a struct share a name.
// In the graph, an enum has a name only if some object, or the base, declares it. Kernels have a
// handful of these *declarable* enums.
//
// The classes that reach a declarable enum are partitioned again. The search for them stops at
// named structs, because references to these are by name. Partition refinement first compares the
// contents of the classes, with references to named types by name. Then it splits blocks until the
// classes of a block refer to equal blocks. The classes of a block become aliases of the lowest.
// From then on a declarable enum is treated like a struct that some object only declares, except by
// declare_enum_slots() (conflicts/make_edges.cc) and resolve_rest() (split/split_conflicts.cc).
//
// Rejected. Merging upwards from the enums: misses cycles without a named type.
//
// Cost. Each reference of a class once, or three times if an enum is declarable. The rounds of
// refinement touch only classes that reach a declarable enum.
#include "merge/dedup/classes/classes.h"

#include "common/graph/graphs.h"
#include "merge/dedup/hash_bits.h"

#include <algorithm>
#include <unordered_map>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

struct NameHash {
    size_t operator()(const std::pair<std::string_view, bool> &s) const
    {
        return XXH3_64bits_withSeed(s.first.data(), s.first.size(), s.second);
    }
};

/// Fills `kind` and `refs`.
void read_references(const Sources &sources, const Classes &classes, ClassGraph &out)
{
    out.kind.reserve(classes.first.size());
    out.refs.ends.reserve(classes.first.size());
    for (const TypeAt &at : classes.first) {
        const btf_type &t = sources.type(at);
        out.kind.push_back(btf::kind_of(t));
        btf::for_each_type_id(t, [&](uint32_t ref) {
            out.refs.items.push_back(ref ? classes.of[sources.index(at.source, TypeId{ref})]
                                         : ClassId::none);
        });
        out.refs.ends.push_back(static_cast<uint32_t>(out.refs.items.size()));
    }
}

/// Numbers the names of structs and unions.
void name_structs(const Sources &sources, const Classes &classes, ClassGraph &out)
{
    std::unordered_map<std::pair<std::string_view, bool>, NameId, NameHash> index;
    index.reserve(out.size() / 4);
    for (ClassId c : out.classes()) {
        const bool is_forward = out.kind[c] == btf::Kind::FWD;
        if (!is_forward && !btf::is_composite(out.kind[c]))
            continue;
        const btf_type &t = sources.type(classes.first[c]);
        const std::string_view text = sources.str(classes.first[c], t.name_off);
        if (text.empty() && !is_forward)
            continue;
        auto [it, added] = index.emplace(std::pair(text, btf::is_union(t)), out.names.next_id());
        if (added)
            out.names.push_back({text, {}});
        out.name[c] = it->second;
        if (is_forward)
            out.names[it->second].forward = c;
        else
            out.names[it->second].definitions.push_back(c);
    }
}

/// Numbers the names of declarable enums. Returns whether there are any.
bool name_declarable_enums(const Sources &sources, const Classes &classes, ClassGraph &out)
{
    std::unordered_map<std::string_view, NameId> declared;
    auto text_of = [&](ClassId c) { return sources.name(classes.first[c]); };
    std::vector<ClassId> definitions;
    for (ClassId c : out.classes()) {
        if (!btf::is_enum(out.kind[c]) || text_of(c).empty())
            continue;
        if (!btf::is_declaration(sources.type(classes.first[c]))) {
            definitions.push_back(c);
            continue;
        }
        auto [it, added] = declared.emplace(text_of(c), out.names.next_id());
        if (added)
            out.names.push_back({text_of(c), {}, c, true});
        else // a declaration with another size, kind or sign, which mean nothing without values
            out.alias[c] = out.names[it->second].forward;
        out.name[c] = it->second;
    }
    for (ClassId c : definitions) {
        auto it = declared.find(text_of(c));
        if (it == declared.end())
            continue;
        out.name[c] = it->second;
        out.names[it->second].definitions.push_back(c);
    }
    return !declared.empty();
}

bool has_name(const ClassGraph &graph, ClassId c)
{
    return graph.name[c] != NameId::none;
}

/// Which classes reach a declarable enum without passing a named struct?
IdVector<ClassId, bool> find_classes_above_enums(const ClassGraph &graph)
{
    const auto users = Lists<ClassId, ClassId>::make(graph.size(), [&](auto put) {
        for (ClassId c : graph.classes())
            for (ClassId ref : graph.refs[c])
                if (ref != ClassId::none)
                    put(ref, c);
    });
    IdVector<ClassId, bool> above(graph.size(), false);
    std::vector<ClassId> open; // enums and classes that reach them; their users come next
    for (ClassId c : graph.classes())
        if (btf::is_enum(graph.kind[c]) && has_name(graph, c))
            open.push_back(c);
    while (!open.empty()) {
        const std::span next = users[open.back()];
        open.pop_back();
        for (ClassId user : next) {
            if (above[user])
                continue;
            above[user] = true;
            if (!has_name(graph, user))
                open.push_back(user);
        }
    }
    return above;
}

/// Does `ref` lead to a class that is partitioned again? References by name do not count.
bool is_open(const ClassGraph &graph, const IdVector<ClassId, bool> &above, ClassId ref)
{
    return ref != ClassId::none && !has_name(graph, ref) && above[ref];
}

/// The word that represents a reference in the contents of a class. All references with is_open()
/// have the same word, and so have all references to one name.
uint32_t reference_word(const ClassGraph &graph, const IdVector<ClassId, bool> &above, ClassId ref)
{
    constexpr uint32_t open = raw(ClassId::none) - 1;
    if (ref == ClassId::none)
        return raw(ref);
    if (is_open(graph, above, ref))
        return open;
    if (!has_name(graph, ref))
        return raw(ref);
    const StructName &name = graph.names[graph.name[ref]];
    return raw(name.forward != ClassId::none ? name.forward : name.definitions.front());
}

using TextNumbers = std::unordered_map<std::string_view, uint32_t>;

/// The contents of a class: the words of its type `at`, where reference_word() replaces each
/// reference, and the number that `texts` gives to a name replaces its offset. So references with
/// is_open() make no difference. Types of the base that do not take part are in no class, but
/// differ from void and from each other.
std::vector<uint32_t> content(const Sources &sources, TypeAt at, const ClassGraph &graph,
                              const IdVector<ClassId, bool> &above, std::span<const ClassId> refs,
                              TextNumbers &texts)
{
    const std::span words = btf::all_words(sources.type(at));
    std::vector<uint32_t> out(words.begin(), words.end());
    auto &type = *reinterpret_cast<btf_type *>(out.data());
    btf::for_each_str_off(type, [&](uint32_t &off) {
        const auto number = static_cast<uint32_t>(texts.size());
        off = texts.emplace(sources.str(at, off), number).first->second;
    });
    size_t next = 0;
    btf::for_each_type_id(type, [&](uint32_t &ref) {
        const ClassId to = refs[next++];
        const bool takes_part = !ref || to != ClassId::none;
        ref = takes_part ? reference_word(graph, above, to) : raw(ClassId::none) - 1 - ref;
    });
    return out;
}

void merge_classes_above_enums(const Sources &sources, const Classes &classes, ClassGraph &out)
{
    const IdVector<ClassId, bool> is_above = find_classes_above_enums(out);
    std::vector<ClassId> above;
    IdVector<ClassId, uint32_t> block(out.size(), no_number);
    VectorIndex contents;
    TextNumbers texts;
    for (ClassId c : out.classes()) {
        if (!is_above[c])
            continue;
        above.push_back(c);
        const std::vector<uint32_t> words =
            content(sources, classes.first[c], out, is_above, out.refs[c], texts);
        block[c] = contents.add(words).first;
    }
    const size_t count = refine<VectorIndex>(above, block, contents.size(),
                                             [&](ClassId c, std::vector<uint32_t> &key) {
                                                 for (ClassId ref : out.refs[c])
                                                     if (is_open(out, is_above, ref))
                                                         key.push_back(block[ref]);
                                             });
    std::vector<ClassId> lowest(count, ClassId::none);
    for (ClassId c : above) {
        ClassId &same = lowest[block[c]];
        if (same == ClassId::none) {
            same = c;
            continue;
        }
        out.alias[c] = same;
        if (has_name(out, c))
            std::erase(out.names[out.name[c]].definitions, c);
    }
}

} // namespace

ClassGraph make_class_graph(const Sources &sources, const Classes &classes)
{
    ClassGraph out;
    read_references(sources, classes, out);
    out.name.assign(out.size(), NameId::none);
    for (ClassId c : out.classes())
        out.alias.push_back(c);
    name_structs(sources, classes, out);
    if (name_declarable_enums(sources, classes, out))
        merge_classes_above_enums(sources, classes, out);
    return out;
}

} // namespace btflink::merge
