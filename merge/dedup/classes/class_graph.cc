// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds the class graph, and merges classes that differ only by the declarable enums they refer
// to.
//
// Problem. The stub hash of a reference to a struct covers only its name, so a declaration of a
// struct and all of its definitions leave the types that refer to them in one class. The stub hash
// of a reference to an enum covers all of the enum, but gcc lets enums be declared, too. If one
// header declares an enum and three sources define it differently, every struct that passes the
// name is in four classes.
//
// Method. The graph has one node per class, read from its lowest type: some ten thousand for
// millions of types. Structs and unions have names, which declarations and definitions share; enums
// have one if any object declares them, which kernels do for a handful. References to named structs
// go by name, so they end the search for classes that reach such an enum. These classes are
// partitioned anew, by partition refinement: first by their own contents, with references to named
// types by name, then by the blocks that they refer to, until no block splits. The classes of a
// block become aliases of the lowest. (Merging upwards from the enums would miss cycles that pass
// no name.) From here on a declared enum is treated as a declared struct is.
//
// Cost. Edges once. The rounds touch only classes that reach a declarable enum.
#include "merge/dedup/classes/class_graph.h"

#include "common/graph/refine.h"
#include "common/io/parallel.h"
#include "merge/dedup/vectors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

constexpr size_t batch = 512; // classes that a thread reads at a time

struct NameHash {
    size_t operator()(const std::pair<std::string_view, bool> &s) const
    {
        return XXH3_64bits_withSeed(s.first.data(), s.first.size(), s.second);
    }
};

class ClassGraphBuilder
{
public:
    ClassGraphBuilder(const Sources &sources, const Classes &classes, unsigned threads)
        : sources_(sources), classes_(classes), threads_(threads)
    {
    }

    ClassGraph run()
    {
        size_t count = classes_.first.size();
        out_.kind.resize(count);
        out_.name.assign(count, NameId::none);
        out_.refs.ends.resize(count);
        out_.alias.resize(count);
        for (ClassId c : out_.classes())
            out_.alias[c] = c;
        read_edges();
        read_names();
        name_enums();
        return std::move(out_);
    }

private:
    void read_edges()
    {
        size_t count = classes_.first.size(), batches = (count + batch - 1) / batch;
        std::vector<std::vector<ClassId>> parts(batches);
        parallel_for(batches, threads_, [&](size_t b) {
            for (ClassId c : classes_of(b)) {
                TypeAt at = classes_.first[c];
                const btf_type &t = sources_.type(at);
                out_.kind[c] = btf::kind_of(t);
                btf::for_each_type_id(t, [&](uint32_t ref) {
                    parts[b].push_back(ref ? classes_.of[sources_.index(at.source, TypeId{ref})]
                                           : ClassId::none);
                });
                out_.refs.ends[raw(c)] = static_cast<uint32_t>(parts[b].size());
            }
        });
        for (size_t b = 0; b < batches; ++b) {
            auto shift = static_cast<uint32_t>(out_.refs.items.size());
            for (ClassId c : classes_of(b))
                out_.refs.ends[raw(c)] += shift;
            out_.refs.items.insert(out_.refs.items.end(), parts[b].begin(), parts[b].end());
        }
    }

    IdRange<ClassId> classes_of(size_t b) const
    {
        return {ClassId{static_cast<uint32_t>(b * batch)},
                ClassId{static_cast<uint32_t>(std::min(out_.size(), (b + 1) * batch))}};
    }

    void read_names()
    {
        std::unordered_map<std::pair<std::string_view, bool>, NameId, NameHash> index;
        index.reserve(out_.size() / 4);
        for (ClassId c : out_.classes()) {
            const bool is_forward = out_.kind[c] == btf::Kind::FWD;
            if (!is_forward && !btf::is_composite(out_.kind[c]))
                continue;
            const btf_type &t = sources_.type(classes_.first[c]);
            std::string_view text = sources_.str(classes_.first[c], t.name_off);
            if (text.empty() && !is_forward)
                continue;
            auto [it, added] =
                index.emplace(std::pair(text, btf::is_union(t)), out_.names.next_id());
            if (added)
                out_.names.push_back({text, {}});
            out_.name[c] = it->second;
            if (is_forward)
                out_.names[it->second].forward = c;
            else
                out_.names[it->second].definitions.push_back(c);
        }
    }

    /// Enums that are declared get names, and what refers to them goes by these.
    void name_enums()
    {
        std::unordered_map<std::string_view, NameId> declared;
        for_named_enums([&](ClassId c, std::string_view text, bool is_declaration) {
            if (!is_declaration)
                return;
            auto [it, added] = declared.emplace(text, out_.names.next_id());
            if (added)
                out_.names.push_back({text, {}, c, true});
            else // of another size, which says nothing
                out_.alias[c] = out_.names[it->second].forward;
            out_.name[c] = it->second;
        });
        if (declared.empty())
            return;
        for_named_enums([&](ClassId c, std::string_view text, bool is_declaration) {
            auto it = declared.find(text);
            if (is_declaration || it == declared.end())
                return;
            out_.name[c] = it->second;
            out_.names[it->second].definitions.push_back(c);
        });
        merge_classes_above_enums();
    }

    template <typename Visit>
    void for_named_enums(Visit visit) const
    {
        for (ClassId c : out_.classes()) {
            if (!is_enum(c))
                continue;
            const btf_type &t = sources_.type(classes_.first[c]);
            std::string_view text = sources_.str(classes_.first[c], t.name_off);
            if (!text.empty())
                visit(c, text, btf::is_declaration(t));
        }
    }

    bool is_enum(ClassId c) const { return btf::is_enum(out_.kind[c]); }

    void merge_classes_above_enums()
    {
        auto goes_by_name = [&](ClassId c) { return out_.name[c] != NameId::none && !is_enum(c); };
        auto users = Lists<ClassId, ClassId>::make(out_.size(), [&](auto put) {
            for (ClassId c : out_.classes())
                for (ClassId ref : out_.refs[c])
                    if (ref != ClassId::none && !goes_by_name(ref))
                        put(ref, c);
        });
        // The classes that reach one.
        IdVector<ClassId, uint32_t> block(out_.size(), no_number);
        std::vector<ClassId> pending, above;
        auto reach = [&](ClassId c) {
            for (ClassId user : users[c])
                if (block[user] == no_number) {
                    block[user] = 0;
                    pending.push_back(user);
                }
        };
        for (ClassId c : out_.classes())
            if (is_enum(c) && out_.name[c] != NameId::none)
                reach(c);
        while (!pending.empty()) {
            above.push_back(pending.back());
            pending.pop_back();
            reach(above.back());
        }
        std::sort(above.begin(), above.end());
        // Partition by their own contents, then by what they refer to, until no block splits.
        std::map<std::string, uint32_t> contents;
        std::vector<uint32_t> first;
        for (ClassId c : above)
            first.push_back(
                contents.emplace(content(c, block), static_cast<uint32_t>(contents.size()))
                    .first->second);
        for (size_t i = 0; i < above.size(); ++i)
            block[above[i]] = first[i];
        size_t count = refine<VectorIndex>(
            above, block, contents.size(), [&](ClassId c, std::vector<uint32_t> &key) {
                for (ClassId ref : out_.refs[c])
                    if (ref != ClassId::none && out_.name[ref] == NameId::none &&
                        block[ref] != no_number)
                        key.push_back(block[ref]);
            });
        std::vector<ClassId> lowest(count, ClassId::none);
        for (ClassId c : above) {
            ClassId &same = lowest[block[c]];
            if (same == ClassId::none) {
                same = c;
                continue;
            }
            out_.alias[c] = same;
            if (out_.name[c] != NameId::none)
                std::erase(out_.names[out_.name[c]].definitions, c);
        }
    }

    /// Equal for classes that differ only in the references to classes that have a block.
    std::string content(ClassId c, const IdVector<ClassId, uint32_t> &block) const
    {
        TypeAt at = classes_.first[c];
        const btf_type &t = sources_.type(at);
        size_t words = btf::words_of(t);
        std::vector<uint32_t> copy(words);
        std::memcpy(copy.data(), &t, words * 4);
        auto &own = *reinterpret_cast<btf_type *>(copy.data());
        std::string names;
        btf::for_each_str_off(own, [&](uint32_t &off) {
            names += sources_.str(at, off);
            names += '\0';
            off = 0;
        });
        size_t next = 0;
        auto refs = out_.refs[c];
        btf::for_each_type_id(own, [&](uint32_t &ref) {
            ClassId target = refs[next++];
            const bool is_void = target == ClassId::none;
            bool by_name = !is_void && out_.name[target] != NameId::none;
            bool open = !is_void && !by_name && block[target] != no_number;
            ref = is_void || open ? 0 : by_name ? raw(out_.name[target]) : raw(target);
            names += is_void ? 'v' : open ? 'o' : by_name ? 'n' : 't';
        });
        return std::string(reinterpret_cast<const char *>(copy.data()), words * 4) + names;
    }

    const Sources &sources_;
    const Classes &classes_;
    unsigned threads_;
    ClassGraph out_;
};

} // namespace

ClassGraph make_class_graph(const Sources &sources, const Classes &classes, unsigned threads)
{
    return ClassGraphBuilder(sources, classes, threads).run();
}

} // namespace btflink::merge
