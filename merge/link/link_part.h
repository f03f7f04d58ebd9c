// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the link part of a result: prototypes, FUNCs and their tags by function
// name, then DATASECs.
#pragma once

#include "merge/input/tag_texts.h"
#include "merge/link/select_functions.h"
#include "merge/link/select_variables.h"

#include <array>

namespace btflink::merge
{

/// `Out` translates ids and strings of objects, and takes the types:
///
///     std::vector<uint32_t> &words()       where types are appended
///     uint32_t finish(size_t begin)        gives the type there an id; equal types may share one
///     uint32_t finish_named(size_t begin)  the same for a FUNC or DATASEC, whose names are unique
///     uint32_t finish_unique(size_t begin) the same for a type that is never shared
///     uint32_t id(object, type)            of a plain type; 0 for void
///     uint32_t text(object, offset)
///     uint32_t text(std::string_view)
///     uint32_t var(selected variable)      id of its VAR
template <typename Out>
class LinkPart
{
public:
    LinkPart(const std::vector<Object> &objects, const Functions &functions,
             const Variables &variables, Out &out)
        : objects_(objects), functions_(functions), variables_(variables), out_(out)
    {
    }

    void write()
    {
        for (const SelectedFunction &f : functions_.selected)
            add_function(f);
        for (const DataSection &section : variables_.sections)
            add_datasec(section);
    }

private:
    // A tag on the function itself, not on one of its parameters.
    static constexpr uint32_t whole_tag = btf::make_info(btf::Kind::DECL_TAG, 0, false);
    static constexpr auto whole = static_cast<uint32_t>(-1);

    /// Returns the position where the words of a new type begin.
    size_t append(std::initializer_list<uint32_t> words)
    {
        size_t begin = out_.words().size();
        out_.words().insert(out_.words().end(), words);
        return begin;
    }

    void add_function(const SelectedFunction &f)
    {
        const TypeId plain = plain_prototype(f);
        const uint32_t proto = plain == void_id ? add_prototype(f) : out_.id(f.object, raw(plain));
        const size_t begin = append(
            {function_name(f), btf::make_info(btf::Kind::FUNC, BTF_FUNC_STATIC, false), proto});
        uint32_t func = f.linkage.empty() ? out_.finish_named(begin) : out_.finish_unique(begin);
        if (!f.linkage.empty())
            out_.finish(append({out_.text(f.linkage), whole_tag, func, whole}));
        for (const Instance &tagged : functions_.tagged_of(f))
            for (auto [target, tag] : tags_of(objects_, tagged)) {
                if (!linkage_text(objects_[tagged.object], tag).empty())
                    continue;
                const btf_type &t = objects_[tagged.object].btf.type(tag);
                out_.finish(append(
                    {out_.text(tagged.object, t.name_off), t.info, func, btf::tail_of(t)[0]}));
            }
        if (f.is_kfunc)
            add_kfunc_tags(f, func);
    }

    void add_kfunc_tags(const SelectedFunction &f, uint32_t func)
    {
        constexpr uint32_t kf_fastcall = 0x1000;
        out_.finish(append({out_.text(kfunc_tag), whole_tag, func, whole}));
        if (f.kfunc_flags & kf_fastcall)
            out_.finish(append({out_.text(fastcall_tag), whole_tag, func, whole}));
    }

    uint32_t function_name(const SelectedFunction &f)
    {
        return f.clone.empty() ? out_.text(f.object, raw(record_of(objects_, f).name))
                               : out_.text(f.clone);
    }

    /// The plain type that is a function's prototype; void if the function gets its own prototype.
    TypeId plain_prototype(const SelectedFunction &f) const
    {
        const Object &o = objects_[f.object];
        const TypeId func = record_of(objects_, f).func;
        if (func == void_id || f.arena)
            return void_id;
        const TypeId proto{o.btf.type(func).type};
        return o.is_plain(proto) ? proto : void_id;
    }

    uint32_t add_prototype(const SelectedFunction &f)
    {
        const Prototype proto = prototype_of(objects_[f.object], record_of(objects_, f));
        std::array<uint32_t, arena_slots> pointers{}; // in place of the prototype's; 0: these stay
        for (uint32_t slot = 0; slot < arena_slots; ++slot)
            if (f.arena >> slot & 1)
                pointers[slot] = add_arena_pointer(f.object, TypeId{proto.type(slot)});
        auto type = [&](uint32_t slot) {
            return slot < arena_slots && pointers[slot] ? pointers[slot]
                                                        : out_.id(f.object, proto.type(slot));
        };
        const size_t begin = append({out_.text(f.object, proto.name), proto.info, type(0)});
        for (uint32_t slot = 1; slot < proto.slots(); ++slot)
            append({out_.text(f.object, proto.param_name(slot)), type(slot)});
        return out_.finish(begin);
    }

    /// Adds a pointer like `pointer`, but with a type tag with kflag in between.
    uint32_t add_arena_pointer(uint32_t object, TypeId pointer)
    {
        uint32_t target = out_.id(object, objects_[object].btf.type(pointer).type);
        uint32_t tag = out_.finish(
            append({out_.text(arena_tag), btf::make_info(btf::Kind::TYPE_TAG, 0, true), target}));
        return out_.finish(append({0, btf::make_info(btf::Kind::PTR, 0, false), tag}));
    }

    void add_datasec(const DataSection &section)
    {
        auto count = static_cast<uint32_t>(section.entries.size());
        size_t begin = append({out_.text(section.name),
                               btf::make_info(btf::Kind::DATASEC, count, false), section.size});
        for (const SelectedVariable &v : section.entries)
            append({out_.var(v), v.offset, objects_[v.object].variables[v.index].size});
        out_.finish_named(begin);
    }

    const std::vector<Object> &objects_;
    const Functions &functions_;
    const Variables &variables_;
    Out &out_;
};

} // namespace btflink::merge
