// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Computes stub hashes of types, and loose hashes of prototypes. The following is about stub
// hashes.
//
// Problem. The merge must know which types of thousands of objects are equal without reading them,
// so each object has a hash per type. Graphs of C types have cycles, and a plain recursive hash of
// a cycle does not end.
//
// Method. Every cycle in C passes through a named struct or union. A reference to one, or to its
// forward declaration, is hashed as its kind and name alone: the stub. All other references are
// hashed in full, and the hash of a named struct itself covers its members. The walk does not
// follow references to named structs and unions, so it ends. Other languages may have cycles
// without a named struct or union. The walk notices when it meets itself. cycle_hash.cc then
// rehashes cyclic types: those from which references that are hashed in full lead to a cycle.
//
// Invariant. A hash depends only on what the type means, never on ids, string offsets or the order
// of types. Exceptions: cyclic types for which cycle_hash.cc takes too long, and cyclic types that
// complete_stub_hashes() adds.
//
// Cost. Each type is hashed once, cyclic types twice, and these also cost what cycle_hash.cc says.
// The walk keeps its own stack, because a chain may have as many links as there are types.
#include "common/object_btf/type_hash.h"

#include "common/graph/graphs.h"
#include "common/object_btf/digest.h"

#include <algorithm>

namespace btflink
{

namespace
{

using walk::done;
using walk::open;

class StubHasher
{
public:
    /// Hashes the types below `end`. In damaged objects they may refer to types from `end` on; the
    /// hashes are well-defined even then.
    StubHasher(const Btf &btf, TypeId end)
        : btf_(btf), end_(end), hashes_(raw(btf.end_id())), refs_(hashes_.size()),
          state_(hashes_.size()), by_name_(hashes_.size())
    {
        state_[raw(void_id)] = done;
        for_types(TypeId{1}, [&](TypeId id) {
            if (const char c = reference_letter(btf, id)) {
                refs_[raw(id)] = stub(static_cast<uint32_t>(c), id);
                state_[raw(id)] = done;
                by_name_[raw(id)] = true;
            }
        });
    }

    /// Returns the hashes by id. `known`: hashes of the first types, without the base.
    std::vector<Hash128> run(std::span<const Hash128> known)
    {
        auto first = TypeId{raw(btf_.first_id()) + static_cast<uint32_t>(known.size())};
        for (uint32_t i = 0, id = raw(btf_.first_id()); i < known.size(); ++i, ++id) {
            hashes_[id] = known[i];
            if (!by_name_[id])
                refs_[id] = known[i];
            state_[id] = done;
        }
        for_types(first, [&](TypeId id) {
            if (!by_name_[raw(id)])
                return hash_with_parts(id);
            btf::for_each_type_id(btf_.type(id), [&](uint32_t part) {
                if (state_[part] != done)
                    hash_with_parts(TypeId{part});
            });
            hashes_[raw(id)] = hash(id);
        });
        if (met_cycle_)
            hash_cycles(first);
        return std::move(hashes_);
    }

private:
    template <typename Visit>
    void for_types(TypeId first, Visit visit) const
    {
        for (TypeId id = first; id < end_; id = TypeId{raw(id) + 1})
            visit(id);
    }

    /// Hashes a type after all types whose hashes are part of its own.
    void hash_with_parts(TypeId root)
    {
        post_order(
            root, [&](TypeId t) -> uint8_t & { return state_[raw(t)]; }, stack_,
            [&](TypeId t, auto need) {
                btf::for_each_type_id(btf_.type(t), [&](uint32_t part) { need(TypeId{part}); });
            },
            [&](TypeId t) { refs_[raw(t)] = hashes_[raw(t)] = hash(t); });
    }

    /// Hashes what stub_ already contains, then `first`, then the name of the type.
    Hash128 stub(uint32_t first, TypeId id)
    {
        stub_.word(first);
        stub_.text(btf_.text(btf_.type(id).name_off));
        return stub_.finish();
    }

    Hash128 ref(TypeId id)
    {
        Hash128 &known = refs_[raw(id)];
        if (state_[raw(id)] == done)
            return known;
        met_cycle_ = true;        // without a named struct or union
        if (known == Hash128{}) { // kept, because many references may lead to one long name
            stub_.word('C');
            known = stub(static_cast<uint32_t>(btf_.kind(id)), id);
        }
        return known;
    }

    /// Rehashes all cyclic types from `first` on. Other hashes are final.
    void hash_cycles(TypeId first)
    {
        const std::vector<TypeId> members = reopen_cycles(first);
        std::vector<uint32_t> number(hashes_.size());
        for (size_t i = 0; i < members.size(); ++i)
            number[raw(members[i])] = static_cast<uint32_t>(i);
        std::vector<std::vector<uint32_t>> refs(members.size());
        std::vector<Hash128> own;
        for (size_t i = 0; i < members.size(); ++i) {
            own.push_back(hash(members[i]));
            for_parts(members[i], [&](TypeId part) {
                if (state_[raw(part)] == open)
                    refs[i].push_back(number[raw(part)]);
            });
        }
        const std::vector<Hash128> hashes = cycle_hashes(refs, own);
        for (size_t i = 0; i < hashes.size(); ++i)
            hashes_[raw(members[i])] = hashes[i];
    }

    /// Returns all cyclic types from `first` on. Resets state and refs_ of those that are not
    /// by_name_, so that ref() treats references to them as parts of a cycle.
    std::vector<TypeId> reopen_cycles(TypeId first)
    {
        const std::vector<uint32_t> left = peel(hashes_.size(), [&](auto put) {
            for_types(first, [&](TypeId t) {
                for_parts(t, [&](TypeId part) {
                    if (part >= first)
                        put(raw(part), raw(t));
                });
            });
        });
        std::vector<TypeId> members;
        for_types(first, [&](TypeId t) {
            if (left[raw(t)]) {
                members.push_back(t);
                if (!by_name_[raw(t)]) {
                    state_[raw(t)] = open;
                    refs_[raw(t)] = {};
                }
            }
        });
        return members;
    }

    /// Visits the types whose hashes are part of the hash of `t`.
    template <typename Visit>
    void for_parts(TypeId t, Visit visit) const
    {
        btf::for_each_type_id(btf_.type(t), [&](uint32_t child) {
            const TypeId part{child};
            if (child && !by_name_[child])
                visit(part);
        });
    }

    Hash128 hash(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        digest_.word(t.info);
        btf::for_each_word(t, [&](btf::Word role, uint32_t word) {
            switch (role) {
            case btf::Word::unused:
                break;
            case btf::Word::name:
                digest_.text(btf_.text(word));
                break;
            case btf::Word::ref:
                digest_.hash(ref(TypeId{word}));
                break;
            case btf::Word::size:
            case btf::Word::value:
                digest_.word(word);
            }
        });
        return digest_.finish();
    }

    const Btf &btf_;
    const TypeId end_;
    // Vectors by id.
    std::vector<Hash128> hashes_;
    std::vector<Hash128> refs_;    // what a reference to the type counts as; 0: not known yet
    std::vector<uint8_t> state_;   // done: refs_ is final
    std::vector<uint8_t> by_name_; // references count by name: reference_letter() is not 0

    std::vector<TypeId> stack_;
    Digest digest_, stub_;
    bool met_cycle_ = false;
};

} // namespace

std::vector<Hash128> stub_hashes(const Btf &btf)
{
    std::vector<Hash128> hashes;
    complete_stub_hashes(btf, hashes);
    return hashes;
}

std::vector<Hash128> stub_hashes(const Btf &btf, TypeId plain_end)
{
    auto by_id = StubHasher(btf, plain_end).run({});
    std::vector<Hash128> hashes(by_id.begin() + raw(btf.first_id()),
                                by_id.begin() + raw(plain_end));
    complete_stub_hashes(btf, hashes);
    return hashes;
}

void complete_stub_hashes(const Btf &btf, std::vector<Hash128> &known)
{
    auto by_id = StubHasher(btf, btf.end_id()).run(known);
    known.assign(by_id.begin() + raw(btf.first_id()), by_id.end());
}

struct LooseHasher::Buffers {
    Digest types, prototype;
    std::vector<TypeId> stack;
};

LooseHasher::LooseHasher(const Btf &btf)
    : btf_(btf), memo_(raw(btf.end_id())), state_(raw(btf.end_id())),
      buffers_(std::make_unique<Buffers>())
{
    state_[raw(void_id)] = done;
}

LooseHasher::~LooseHasher() = default;

namespace
{

/// Visits the types whose loose hashes are part of the loose hash of `t`.
template <typename Visit>
void for_loose_parts(const btf_type &t, Visit visit)
{
    switch (btf::kind_info(t).family) {
    case btf::Family::pointer:
    case btf::Family::modifier:
        if (btf::kind_of(t) != btf::Kind::TYPEDEF)
            visit(TypeId{t.type});
        break;
    case btf::Family::array:
        visit(TypeId{btf::tail_of(t)[0]});
        break;
    case btf::Family::prototype:
        btf::for_each_type_id(t, [&](uint32_t child) { visit(TypeId{child}); });
        break;
    case btf::Family::none:
    case btf::Family::number:
    case btf::Family::composite:
    case btf::Family::enumeration:
    case btf::Family::forward:
    case btf::Family::link:
    case btf::Family::tag:
        break;
    }
}

/// The loose hash of a type. `known`: the loose hashes of its parts, by id; zeros for a part that
/// is still open, which happens only on a cycle without names (not in C).
Hash128 loose_hash(const Btf &btf, TypeId id, const std::vector<Hash128> &known, Digest &digest)
{
    const btf_type &t = btf.type(id);
    btf::Kind kind = btf::kind_of(t);
    if (kind == btf::Kind::CONST && t.type) // "const void" is not "void"
        return known[t.type];
    if (kind == btf::Kind::FWD)
        kind = btf::kflag_of(t) ? btf::Kind::UNION : btf::Kind::STRUCT;
    digest.word(static_cast<uint32_t>(kind));
    switch (btf::kind_info(kind).family) {
    case btf::Family::number:
        digest.word(t.size);
        for (uint32_t i = 0; i < btf::kind_info(kind).fixed.count; ++i)
            digest.word(btf::tail_of(t)[i]);
        [[fallthrough]];
    case btf::Family::composite:
    case btf::Family::forward:
    case btf::Family::enumeration:
        digest.text(btf.text(t.name_off));
        break;
    case btf::Family::modifier:
        if (kind == btf::Kind::TYPEDEF)
            digest.text(btf.text(t.name_off));
        break;
    case btf::Family::array:
        digest.word(btf::tail_of(t)[2]);
        break;
    case btf::Family::prototype:
        digest.word(btf::vlen_of(t));
        break;
    case btf::Family::none:
    case btf::Family::pointer:
    case btf::Family::link: // no prototype refers to these
    case btf::Family::tag:
        break;
    }
    for_loose_parts(t, [&](TypeId part) { digest.hash(known[raw(part)]); });
    return digest.finish();
}

} // namespace

Hash128 LooseHasher::of(TypeId root)
{
    post_order(
        root, [&](TypeId id) -> uint8_t & { return state_[raw(id)]; }, buffers_->stack,
        [&](TypeId id, auto need) { for_loose_parts(btf_.type(id), need); },
        [&](TypeId id) { memo_[raw(id)] = loose_hash(btf_, id, memo_, buffers_->types); });
    return memo_[raw(root)];
}

uint64_t LooseHasher::prototype(TypeId result, std::span<const TypeId> params)
{
    Digest &digest = buffers_->prototype;
    digest.word(static_cast<uint32_t>(params.size()));
    digest.hash(of(result));
    for (TypeId param : params)
        digest.hash(of(param));
    return digest.finish().low;
}

} // namespace btflink
