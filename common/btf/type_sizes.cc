// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Computes the size of each type, and finds loops of types.
//
// Problem. The size of an array or modifier depends on another type. (Structs, unions, enums and
// numbers have their sizes in the BTF.) But unchecked BTF may have types that contain themselves,
// and chains of pointers and modifiers that never end.
//
// Method. Two walks. The first follows the blob's own pointers and modifiers, which have one target
// each, and finds chains that never end. The second follows members, modifiers, the types of
// variables, and the element and index types of arrays, also into the base, and finds types that
// contain themselves. The second walk finishes a type after its parts, so that the sizes of the
// parts are known.
//
// Cost. Linear in types and members. The walks are not recursive, because a chain may have as many
// links as there are types.
#include "common/btf/btf_check_rules.h"

namespace btflink
{

Failure fail_type(const Btf &btf, TypeId id, const Where &where, const std::string &rule,
                  size_t words)
{
    std::string name(btf.name(id));
    std::string type = strf("type %u (%s '%s')", raw(id), btf.kind_name(id), name.c_str());
    if (id < btf.first_id()) // `where` is not the position of the base
        return fail(where, type + " of its base: " + rule);
    uint64_t at = btf.types_offset() + (uint64_t{btf.word_index(id)} + words) * 4;
    return fail(where.after(at), type + ": " + rule);
}

class TypeSizer
{
public:
    TypeSizer(const Btf &btf, const Where &where, uint32_t pointer_size)
        : btf_(btf), where_(where), pointer_size_(pointer_size), passed_(btf.size()),
          state_(btf.size())
    {
        out_.first_ = raw(btf.first_id());
        out_.sizes_.resize(btf.size());
        out_.targets_.resize(btf.size());
    }

    Result<TypeSizes> run()
    {
        const bool has_base = raw(btf_.first_id()) > 1;
        for (TypeId id : btf_.ids())
            TRY(follow_pointers(id));
        for (TypeId id : btf_.ids()) {
            TRY(measure_with_parts(id));
            if (!has_base)
                continue;
            // Measure all types of the base to which this type refers, also those that are not its
            // parts, such as types of parameters.
            Result<void> ok;
            btf::for_each_type_id(btf_.type(id), [&](uint32_t ref) {
                if (ok && ref && ref < raw(btf_.first_id()))
                    ok = measure_with_parts(TypeId{ref});
            });
            TRY(ok);
        }
        return std::move(out_);
    }

private:
    enum State : uint8_t { fresh, open, done };

    Result<void> follow_pointers(TypeId first)
    {
        for (TypeId id = first; id >= btf_.first_id(); id = TypeId{btf_.type(id).type}) {
            uint32_t &passed = passed_[raw(id) - raw(btf_.first_id())];
            if (passed == raw(first))
                return fail_type(btf_, id, where_, "is in a loop of pointers and modifiers");
            if (passed || (btf_.kind(id) != btf::Kind::PTR && !btf::is_modifier(btf_.kind(id))))
                break;
            passed = raw(first);
        }
        return {};
    }

    /// Index of a type's state, size and target in their vectors. A type of the base gets an index
    /// when this function is first called for it.
    size_t place(TypeId id)
    {
        if (id < btf_.first_id() && !out_.base_places_.contains(raw(id)))
            add_place(id);
        return out_.place(id);
    }
    void add_place(TypeId id)
    {
        out_.base_places_.emplace(raw(id), static_cast<uint32_t>(state_.size()));
        state_.push_back(fresh);
        out_.sizes_.emplace_back();
        out_.targets_.emplace_back();
    }

    /// Measures `root` and all its parts. (post_order() of common/graph does not fit: it needs
    /// states that do not move, but state_ grows when the walk meets types of the base; and it does
    /// not report loops.)
    Result<void> measure_with_parts(TypeId root)
    {
        stack_.push_back(root);
        while (!stack_.empty()) {
            TypeId id = stack_.back();
            State &state = state_[place(id)];
            if (state != fresh) {
                stack_.pop_back();
                if (state == open)
                    measure(id);
                state = done;
                continue;
            }
            state = open;
            if (!has_parts(btf_.kind(id)))
                continue;
            bool loop = false;
            btf::for_each_type_id(btf_.type(id), [&](uint32_t part) {
                if (!part)
                    return;
                State of_part = state_[place(TypeId{part})];
                loop |= of_part == open;
                if (of_part == fresh)
                    stack_.push_back(TypeId{part});
            });
            if (loop)
                return fail_type(btf_, id, where_,
                                 "is in a loop of structs, unions, arrays and modifiers");
        }
        return {};
    }

    static bool has_parts(btf::Kind kind)
    {
        return btf::is_composite(kind) || kind == btf::Kind::ARRAY || btf::is_modifier(kind) ||
               kind == btf::Kind::VAR;
    }

    void measure(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        TypeId target = id;
        uint64_t size = TypeSizes::unsized;
        switch (btf::kind_info(t).family) {
        case btf::Family::modifier:
            target = out_.behind_modifiers(TypeId{t.type});
            size = out_.of(target);
            break;
        case btf::Family::pointer:
            size = pointer_size_;
            break;
        case btf::Family::array: {
            constexpr uint64_t too_large = uint64_t{UINT32_MAX} + 1;
            uint64_t element = out_.of(TypeId{btf::tail_of(t)[0]});
            uint32_t count = btf::tail_of(t)[2];
            if (element != TypeSizes::unsized)
                size = count && element > UINT32_MAX / count ? too_large : element * count;
            break;
        }
        case btf::Family::number:
        case btf::Family::composite:
        case btf::Family::enumeration:
            size = t.size;
            break;
        case btf::Family::none:
        case btf::Family::forward:
        case btf::Family::prototype:
        case btf::Family::link:
        case btf::Family::tag:
            break;
        }
        out_.targets_[out_.place(id)] = target;
        out_.sizes_[out_.place(id)] = size;
    }

    const Btf &btf_;
    const Where &where_;
    uint32_t pointer_size_;
    TypeSizes out_;
    // For each type of the blob itself: the argument of the follow_pointers() call that passed it;
    // 0: none has passed it.
    std::vector<uint32_t> passed_;
    std::vector<State> state_;
    std::vector<TypeId> stack_;
};

Result<TypeSizes> TypeSizes::compute(const Btf &btf, const Where &where, uint32_t pointer_size)
{
    return TypeSizer(btf, where, pointer_size).run();
}

} // namespace btflink
