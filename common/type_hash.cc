// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. The merge wants to know which types of thousands of objects are the same without
// looking at them, so each object brings a hash per type. C type graphs have cycles, and a plain
// hash of a graph with cycles does not end.
//
// Method. Every cycle in C passes through a named struct or union. A reference to one (or to a
// forward declaration of one) therefore hashes as its kind and name alone: the stub. All other
// references hash in full. The definition of a named struct hashes its members. So the walk ends.
//
// Invariant. A hash depends on the type's meaning only: never on ids, string offsets or order of
// types. What other languages may bring, a cycle that passes no name, is noticed when the walk
// meets itself, and what reaches such a cycle hashed anew by cycle_hash.cc. If there is more of
// that than can be told apart in reasonable time, cycles are cut where the walk meets itself; then
// equal types may get different hashes (they are not merged), never different types equal ones.
//
// Cost. Each type is hashed once, its bytes gathered in one buffer; the walk keeps its own stack,
// for chains may be as deep as there are types.
#include "common/type_hash.h"
#include "common/cycle_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#define XXH_INLINE_ALL // most types are short: a call costs as much as hashing them
#include <xxhash.h>

namespace btflink
{

namespace
{

enum : uint8_t { fresh, open, done };

/// Gathers what is to be hashed; integers are little-endian on every host.
class Digest
{
public:
    explicit Digest(const Btf &btf) : btf_(btf) {}

    void word(uint32_t value)
    {
        value = in_order(value, ByteOrder::little);
        append(&value, sizeof value);
    }
    /// A string of the blob, with its NUL byte.
    void text(uint32_t offset)
    {
        const char *s = btf_.text(offset);
        // Eight bytes at a time: the lowest of them that is zero is the lowest high bit of `zeros`.
        if (host_order == ByteOrder::little && offset >= btf_.str_base()) {
            const char *end = btf_.strings().data() + btf_.str_size();
            for (uint64_t bytes; end - s >= static_cast<ptrdiff_t>(sizeof bytes);) {
                std::memcpy(&bytes, s, sizeof bytes);
                std::memcpy(room(sizeof bytes), &bytes, sizeof bytes);
                uint64_t zeros = (bytes - 0x0101010101010101) & ~bytes & 0x8080808080808080;
                if (zeros) {
                    used_ += static_cast<size_t>(std::countr_zero(zeros)) / 8 + 1;
                    return;
                }
                used_ += sizeof bytes;
                s += sizeof bytes;
            }
        }
        append(s, std::strlen(s) + 1);
    }
    void hash(const Hash128 &h)
    {
        uint64_t halves[2] = {in_order(h.low, ByteOrder::little),
                              in_order(h.high, ByteOrder::little)};
        append(halves, sizeof halves);
    }
    Hash128 finish()
    {
        XXH128_hash_t h = XXH3_128bits(buffer_.data(), used_);
        used_ = 0;
        return {h.low64, h.high64};
    }

private:
    char *room(size_t n)
    {
        if (n > buffer_.size() - used_)
            buffer_.resize((used_ + n) * 2);
        return buffer_.data() + used_;
    }
    void append(const void *p, size_t n)
    {
        std::memcpy(room(n), p, n);
        used_ += n;
    }

    const Btf &btf_;
    std::vector<char> buffer_ = std::vector<char>(4096); // only grows
    size_t used_ = 0;
};

/// Post-order walk with its own stack: `expand(id, need)` calls need(child) for each child whose
/// hash must be known first; `close(id)` then hashes `id`.
template <typename Expand, typename Close>
void post_order(TypeId root, std::vector<uint8_t> &state, std::vector<TypeId> &stack, Expand expand,
                Close close)
{
    if (root == void_id || state[raw(root)] == done)
        return;
    stack.push_back(root);
    while (!stack.empty()) {
        TypeId id = stack.back();
        uint8_t &mine = state[raw(id)];
        if (mine == fresh) {
            mine = open;
            expand(id, [&](TypeId child) {
                if (child != void_id && state[raw(child)] == fresh)
                    stack.push_back(child);
            });
            if (stack.back() != id)
                continue;
        }
        stack.pop_back();
        if (mine == open) { // not closed through another path meanwhile
            close(id);
            state[raw(id)] = done;
        }
    }
}

class StubHasher
{
public:
    explicit StubHasher(const Btf &btf)
        : btf_(btf), hashes_(raw(btf.end_id())), stubs_(raw(btf.end_id())),
          state_(raw(btf.end_id())), classes_(raw(btf.end_id())), digest_(btf), stub_(btf)
    {
        for (uint32_t id = 1; id < classes_.size(); ++id)
            classes_[id] = stub_class(btf, TypeId{id});
    }

    std::vector<Hash128> run(std::span<const Hash128> known = {},
                             const std::vector<bool> *wanted = nullptr)
    {
        auto first = TypeId{raw(btf_.first_id()) + static_cast<uint32_t>(known.size())};
        std::copy(known.begin(), known.end(), hashes_.begin() + raw(btf_.first_id()));
        std::fill(state_.begin() + raw(btf_.first_id()), state_.begin() + raw(first), done);
        for (TypeId id = first; id != btf_.end_id(); id = TypeId{raw(id) + 1}) {
            if (wanted && !(*wanted)[raw(id) - raw(btf_.first_id())])
                continue;
            post_order(
                id, state_, stack_,
                [&](TypeId t, auto need) {
                    btf::for_each_type_id(btf_.type(t), [&](uint32_t child) {
                        if (!classes_[child])
                            need(TypeId{child});
                    });
                },
                [&](TypeId t) { hashes_[raw(t)] = hash(t); });
        }
        if (met_cycle_)
            hash_cycles(first);
        return {hashes_.begin() + raw(btf_.first_id()), hashes_.end()};
    }

private:
    Hash128 ref(TypeId id)
    {
        if (id == void_id)
            return {};
        if (char c = classes_[raw(id)]) {
            Hash128 &stub = stubs_[raw(id)];
            if (stub == Hash128{}) {
                stub_.word(static_cast<uint32_t>(c));
                stub_.text(btf_.type(id).name_off);
                stub = stub_.finish();
            }
            return stub;
        }
        if (state_[raw(id)] != done) { // a cycle that passes no name
            met_cycle_ = true;
            stub_.word('C');
            stub_.word(btf_.kind(id));
            stub_.text(btf_.type(id).name_off);
            return stub_.finish();
        }
        return hashes_[raw(id)];
    }

    /// Types from `first` on that reach a cycle. What does not is hashed already.
    void hash_cycles(TypeId first)
    {
        auto is_part = [&](TypeId t) {
            return t >= first && state_[raw(t)] == done && !stub_class(btf_, t);
        };
        auto for_parts = [&](TypeId t, auto visit) {
            btf::for_each_type_id(btf_.type(t), [&](uint32_t child) {
                if (child && is_part(TypeId{child}))
                    visit(child);
            });
        };
        // Take away what refers to nothing of the rest, until nothing is left but what is wanted.
        std::vector<uint32_t> waits(hashes_.size()), ends(hashes_.size() + 1), users, ready;
        for (TypeId t = first; t < btf_.end_id(); t = TypeId{raw(t) + 1})
            if (state_[raw(t)] == done)
                for_parts(t, [&](uint32_t child) { ++ends[child + 1]; });
        for (size_t i = 1; i < ends.size(); ++i)
            ends[i] += ends[i - 1];
        users.resize(ends.back());
        std::vector<uint32_t> at(ends.begin(), ends.end() - 1);
        for (TypeId t = first; t < btf_.end_id(); t = TypeId{raw(t) + 1}) {
            if (state_[raw(t)] != done)
                continue;
            for_parts(t, [&](uint32_t child) {
                users[at[child]++] = raw(t);
                ++waits[raw(t)];
            });
            if (waits[raw(t)] == 0)
                ready.push_back(raw(t));
        }
        while (!ready.empty()) {
            uint32_t t = ready.back();
            ready.pop_back();
            for (uint32_t i = ends[t]; i < ends[t + 1]; ++i)
                if (--waits[users[i]] == 0)
                    ready.push_back(users[i]);
        }
        std::vector<uint32_t> members, number(hashes_.size());
        for (TypeId t = first; t < btf_.end_id(); t = TypeId{raw(t) + 1})
            if (waits[raw(t)]) {
                number[raw(t)] = static_cast<uint32_t>(members.size());
                members.push_back(raw(t));
                state_[raw(t)] = open; // to others it is a part of a cycle
            }
        std::vector<std::vector<uint32_t>> refs(members.size());
        std::vector<Hash128> own;
        for (size_t i = 0; i < members.size(); ++i) {
            TypeId t{members[i]};
            own.push_back(hash(t));
            btf::for_each_type_id(btf_.type(t), [&](uint32_t child) {
                if (child && state_[child] == open && !stub_class(btf_, TypeId{child}))
                    refs[i].push_back(number[child]);
            });
        }
        std::vector<Hash128> made = cycle_hashes(refs, own);
        for (size_t i = 0; i < made.size(); ++i)
            hashes_[members[i]] = made[i];
    }

    Hash128 hash(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        const btf::KindInfo &kind = btf::kinds[btf::kind_of(t)];
        const uint32_t *tail = btf::tail_of(t);
        digest_.word(t.info);
        digest_.text(t.name_off);
        if (kind.third == btf::Third::size)
            digest_.word(t.size);
        else if (kind.third == btf::Third::type)
            digest_.hash(ref(TypeId{t.type}));
        if (btf::kind_of(t) == BTF_KIND_ARRAY) {
            digest_.hash(ref(TypeId{tail[0]}));
            digest_.hash(ref(TypeId{tail[1]}));
            digest_.word(tail[2]);
            return digest_.finish();
        }
        if (btf::kind_of(t) == BTF_KIND_STRUCT || btf::kind_of(t) == BTF_KIND_UNION) {
            // The same as below; most words are of these.
            for (uint32_t n = btf::vlen_of(t); n; --n, tail += 3) {
                digest_.text(tail[0]);
                digest_.hash(ref(TypeId{tail[1]}));
                digest_.word(tail[2]);
            }
            return digest_.finish();
        }
        for (uint32_t i = 0; i < kind.fixed_words; ++i)
            digest_.word(tail[i]);
        tail += kind.fixed_words;
        if (kind.element_words) {
            for (uint32_t n = btf::vlen_of(t); n; --n, tail += kind.element_words)
                for (int w = 0; w < kind.element_words; ++w) {
                    if (w == kind.element_name)
                        digest_.text(tail[w]);
                    else if (w == kind.element_type)
                        digest_.hash(ref(TypeId{tail[w]}));
                    else
                        digest_.word(tail[w]);
                }
        }
        return digest_.finish();
    }

    const Btf &btf_;
    std::vector<Hash128> hashes_;
    std::vector<Hash128> stubs_; // of named structs and unions; zeros: not computed yet
    std::vector<uint8_t> state_;
    std::vector<char> classes_; // stub_class() of each
    std::vector<TypeId> stack_;
    Digest digest_, stub_;
    bool met_cycle_ = false;
};

} // namespace

char stub_class(const Btf &btf, TypeId id)
{
    if (id == void_id)
        return 0;
    const btf_type &t = btf.type(id);
    switch (btf::kind_of(t)) {
    case BTF_KIND_FWD:
        return btf::kflag_of(t) ? 'U' : 'S';
    case BTF_KIND_STRUCT:
        return *btf.text(t.name_off) ? 'S' : 0;
    case BTF_KIND_UNION:
        return *btf.text(t.name_off) ? 'U' : 0;
    default:
        return 0;
    }
}

std::vector<Hash128> stub_hashes(const Btf &btf)
{
    return StubHasher(btf).run();
}

std::vector<Hash128> stub_hashes(const Btf &btf, const std::vector<bool> &wanted)
{
    return StubHasher(btf).run({}, &wanted);
}

void complete_stub_hashes(const Btf &btf, std::vector<Hash128> &known)
{
    known = StubHasher(btf).run(known);
}

struct LooseHasher::Buffers {
    explicit Buffers(const Btf &btf) : types(btf), prototype(btf) {}
    Digest types, prototype;
    std::vector<TypeId> stack;
};

LooseHasher::LooseHasher(const Btf &btf)
    : btf_(btf), memo_(raw(btf.end_id())), state_(raw(btf.end_id())),
      buffers_(std::make_unique<Buffers>(btf))
{
}

LooseHasher::~LooseHasher() = default;

Hash128 LooseHasher::of(TypeId root)
{
    if (root == void_id || state_[raw(root)] == done)
        return root == void_id ? Hash128{} : memo_[raw(root)];
    Digest &digest = buffers_->types;
    std::vector<TypeId> &stack = buffers_->stack;
    auto ref = [&](TypeId id) { return id == void_id ? Hash128{} : memo_[raw(id)]; };
    auto expand = [&](TypeId id, auto need) {
        switch (btf_.kind(id)) {
        case BTF_KIND_PTR:
        case BTF_KIND_CONST:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_RESTRICT:
        case BTF_KIND_TYPE_TAG:
            need(TypeId{btf_.type(id).type});
            break;
        case BTF_KIND_ARRAY:
            need(TypeId{btf::tail_of(btf_.type(id))[0]});
            break;
        case BTF_KIND_FUNC_PROTO:
            btf::for_each_type_id(btf_.type(id), [&](uint32_t child) { need(TypeId{child}); });
            break;
        default:
            break;
        }
    };
    auto close = [&](TypeId id) {
        const btf_type &t = btf_.type(id);
        uint32_t kind = btf::kind_of(t);
        if (kind == BTF_KIND_CONST) {
            // const is transparent, but "const void" is not "void".
            TypeId target{t.type};
            if (target != void_id) {
                memo_[raw(id)] = ref(target);
                return;
            }
        }
        if (kind == BTF_KIND_FWD)
            kind = btf::kflag_of(t) ? BTF_KIND_UNION : BTF_KIND_STRUCT;
        digest.word(kind);
        switch (kind) {
        case BTF_KIND_INT:
            digest.word(t.size);
            digest.word(btf::tail_of(t)[0]);
            digest.text(t.name_off);
            break;
        case BTF_KIND_FLOAT:
            digest.word(t.size);
            digest.text(t.name_off);
            break;
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
        case BTF_KIND_ENUM:
        case BTF_KIND_ENUM64:
            digest.text(t.name_off);
            break;
        case BTF_KIND_PTR:
        case BTF_KIND_CONST:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_RESTRICT:
        case BTF_KIND_TYPE_TAG:
            digest.hash(ref(TypeId{t.type}));
            break;
        case BTF_KIND_ARRAY:
            digest.word(btf::tail_of(t)[2]);
            digest.hash(ref(TypeId{btf::tail_of(t)[0]}));
            break;
        case BTF_KIND_FUNC_PROTO:
            digest.word(btf::vlen_of(t));
            btf::for_each_type_id(t, [&](uint32_t child) { digest.hash(ref(TypeId{child})); });
            break;
        default:
            break;
        }
        memo_[raw(id)] = digest.finish();
    };
    post_order(root, state_, stack, expand, close);
    return ref(root);
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
