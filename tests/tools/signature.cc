// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Computes the signatures of types: hashes that are equal for types that mean the same.
//
// Problem. Two types mean the same if they look the same and refer to types that mean the same. The
// graph of types has cycles.
//
// Method. All signatures begin as 0. In each round, a type's signature becomes a hash of two
// things: the type's own words and names, and the previous signatures of the types to which the
// type refers. After n rounds a signature covers everything within n - 1 references. With
// Depth::names, references to forward declarations and to named structs and unions are cut. Then
// signatures no longer change after as many rounds as the longest chain has types (a dozen in
// kernels), and are exact. With Depth::all, signatures change for ever because of cycles, and are
// taken after max_rounds. This number must not depend on the input, because otherwise signatures of
// two inputs could not be compared.
//
// Limit. Differences that are max_rounds or more references away may not be detected.
//
// Cost. Rounds times references: 0.1 s (names) and 1 s (all) for a kernel with 140,000 types.
#include "tests/tools/signature.h"

#include <algorithm>
#include <xxhash.h>

namespace btflink::tools
{

namespace
{

constexpr int max_rounds = 64;

Signature hash_of(const void *p, size_t size)
{
    XXH128_hash_t h = XXH3_128bits(p, size);
    return {h.low64, h.high64};
}

/// Is the type a forward declaration, or a struct or union with a name? With Depth::names, a
/// reference to such a type counts only by kind (struct or union) and name.
bool is_by_name(const Btf &btf, TypeId id)
{
    btf::Kind kind = btf.kind(id);
    bool composite = kind == btf::Kind::STRUCT || kind == btf::Kind::UNION;
    return kind == btf::Kind::FWD || (composite && !btf.name(id).empty());
}

bool is_union(const Btf &btf, TypeId id)
{
    return btf.kind(id) == btf::Kind::FWD ? btf::kflag_of(btf.type(id))
                                          : btf.kind(id) == btf::Kind::UNION;
}

/// An ARRAY's element type and number of elements.
struct Elements {
    uint32_t type, count;
};

Elements elements_of(const Btf &btf, const uint32_t *array, Arrays arrays)
{
    Elements found{array[0], array[2]};
    // The limit is for malformed BTF, in which ARRAYs may form a cycle.
    for (int i = 0; i < max_rounds && arrays == Arrays::flat; ++i) {
        if (btf.kind(TypeId{found.type}) != btf::Kind::ARRAY)
            break;
        const uint32_t *inner = btf::tail_of(btf.type(TypeId{found.type}));
        found = {inner[0], found.count * inner[2]};
    }
    return found;
}

/// A copy of a type's words. Those of an ARRAY are in the form `arrays`.
std::vector<uint32_t> words_of(const Btf &btf, TypeId id, Arrays arrays)
{
    const btf_type &t = btf.type(id);
    auto *begin = reinterpret_cast<const uint32_t *>(&t);
    std::vector<uint32_t> words(begin, begin + btf::words_of(t));
    if (btf::kind_of(t) == btf::Kind::ARRAY) {
        auto *array = btf::tail_of(*reinterpret_cast<btf_type *>(words.data()));
        Elements elements = elements_of(btf, array, arrays);
        array[0] = elements.type;
        array[2] = elements.count;
    }
    return words;
}

/// A hash of everything in a type except the types to which it refers.
Signature own_hash(const Btf &btf, std::vector<uint32_t> words)
{
    // Hashes the names, and the words with zeros in place of type ids and names.
    auto &blank = *reinterpret_cast<btf_type *>(words.data());
    std::string names;
    btf::for_each_str_off(blank, [&](uint32_t &off) {
        names.append(btf.str(off)).push_back('\0');
        off = 0;
    });
    btf::for_each_type_id(blank, [](uint32_t &ref) { ref = 0; });
    Signature both[2] = {hash_of(words.data(), words.size() * 4),
                         hash_of(names.data(), names.size())};
    return hash_of(both, sizeof both);
}

/// Types from a first id on, as a graph in flat arrays. The index into `own`, `by_name` and `ends`
/// is the id minus the first id.
struct Graph {
    std::vector<Signature> own;
    std::vector<Signature> by_name; // signature of a reference to the type if it is cut, or zeros
    std::vector<uint32_t> refs;     // ids to which the types refer, one type after the other
    std::vector<size_t> ends;       // where each type's refs end
};

Graph make_graph(const Btf &btf, uint32_t first, Depth depth, Arrays arrays)
{
    Graph graph;
    if (first == 0) { // void
        graph.own.emplace_back();
        graph.by_name.emplace_back();
        graph.ends.push_back(0);
    }
    for (uint32_t id = std::max(first, 1u); id < raw(btf.end_id()); ++id) {
        TypeId type{id};
        auto &by_name = graph.by_name.emplace_back();
        if (depth == Depth::names && is_by_name(btf, type)) {
            std::string text = (is_union(btf, type) ? "union " : "struct ");
            text += btf.name(type);
            by_name = hash_of(text.data(), text.size());
        }
        auto words = words_of(btf, type, arrays);
        btf::for_each_type_id(*reinterpret_cast<const btf_type *>(words.data()),
                              [&](uint32_t ref) { graph.refs.push_back(ref); });
        graph.ends.push_back(graph.refs.size());
        graph.own.push_back(own_hash(btf, std::move(words)));
    }
    return graph;
}

} // namespace

SignatureTable::SignatureTable(const Btf &btf, Depth depth, Arrays arrays,
                               const SignatureTable *base)
    : base_(base), first_(base ? raw(btf.first_id()) : 0)
{
    Graph graph = make_graph(btf, first_, depth, arrays);
    by_name_ = std::move(graph.by_name);
    types_.resize(graph.own.size());
    std::vector<Signature> next(types_.size()), parts;
    for (int round = 0; round < max_rounds; ++round) {
        // Void keeps 0. It is in the table if the table begins with id 0.
        for (size_t i = first_ == 0, ref = 0; i < types_.size(); ++i) {
            parts.assign(1, graph.own[i]);
            for (; ref < graph.ends[i]; ++ref)
                parts.push_back(reference(graph.refs[ref]));
            next[i] = digest(parts);
        }
        types_.swap(next);
        if (types_ == next)
            break;
    }
}

namespace
{

std::string reference(const Btf &btf, TypeId id, int depth)
{
    if (id == void_id)
        return "void";
    const btf_type &t = btf.type(id);
    btf::Kind kind = btf::kind_of(t);
    std::string name(btf.name(id));
    if (is_by_name(btf, id))
        return (is_union(btf, id) ? "union " : "struct ") + name;
    if (depth == 0)
        return "...";
    TypeId target{t.type};
    const uint32_t *tail = btf::tail_of(t);
    switch (kind) {
    case btf::Kind::PTR:
        return reference(btf, target, depth - 1) + " *";
    case btf::Kind::CONST:
        return reference(btf, target, depth - 1) + " const";
    case btf::Kind::VOLATILE:
        return reference(btf, target, depth - 1) + " volatile";
    case btf::Kind::RESTRICT:
        return reference(btf, target, depth - 1) + " restrict";
    case btf::Kind::TYPE_TAG:
        return reference(btf, target, depth - 1) + " tag(" + name + ")";
    case btf::Kind::ARRAY:
        return reference(btf, TypeId{tail[0]}, depth - 1) + strf(" [%u]", tail[2]);
    case btf::Kind::FUNC_PROTO: {
        std::string text = reference(btf, target, depth - 1) + " (";
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i)
            text += (i ? ", " : "") + reference(btf, TypeId{tail[2 * i + 1]}, depth - 1) + " " +
                    std::string(btf.str(tail[2 * i]));
        return text + ")";
    }
    default:
        if (!name.empty())
            return name;
        return strf("anonymous %s of %u", btf.kind_name(id), btf::vlen_of(t));
    }
}

} // namespace

std::string describe(const Btf &btf, TypeId id)
{
    constexpr int depth = 6;
    const btf_type &t = btf.type(id);
    const btf::KindInfo &kind = btf::kind_info(t);
    std::string text = strf("[%u] %s %s", raw(id), kind.name, std::string(btf.name(id)).c_str());
    if (btf::kflag_of(t))
        text += " kflag";
    if (kind.third == btf::Word::size)
        text += strf(" size %u", t.size);
    else if (kind.third == btf::Word::ref)
        text += ": " + reference(btf, TypeId{t.type}, depth);
    else
        text += ": " + reference(btf, id, depth);
    const uint32_t *tail = btf::tail_of(t);
    if (btf::kind_of(t) != btf::Kind::ARRAY) // reference() has written element type and count
        for (uint32_t i = 0; i < kind.fixed.count; ++i)
            text += strf(" 0x%x", tail[i]);
    if (!kind.element.count)
        return text + (btf::vlen_of(t) ? strf(" linkage %u", btf::vlen_of(t)) : "");
    text += " {";
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
        const uint32_t *element = tail + kind.fixed.count + i * kind.element.count;
        for (uint32_t w = 0; w < kind.element.count; ++w) {
            if (kind.element.roles[w] == btf::Word::name)
                text += " " + std::string(btf.str(element[w]));
            else if (kind.element.roles[w] == btf::Word::ref)
                text += " " + reference(btf, TypeId{element[w]}, depth);
            else
                text += strf(" %u", element[w]);
        }
        text += ";";
    }
    return text + " }";
}

Signature digest(const std::vector<Signature> &list)
{
    if constexpr (host_order == ByteOrder::little)
        return hash_of(list.data(), list.size() * sizeof(Signature));
    std::vector<Signature> swapped(list);
    for (Signature &s : swapped)
        s = {byte_swap(s[0]), byte_swap(s[1])};
    return hash_of(swapped.data(), swapped.size() * sizeof(Signature));
}

std::string hex(const Signature &signature)
{
    return strf("%016llx%016llx", static_cast<unsigned long long>(signature[1]),
                static_cast<unsigned long long>(signature[0]));
}

} // namespace btflink::tools
