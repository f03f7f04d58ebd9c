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

/// The prototypes and names of the selected functions, in the order in which they are written. They
/// are all over the inputs, so that collecting them is mostly waiting for memory, which another
/// thread can do.
struct FunctionWords {
    // For each function: 0 and the id of its prototype if this is a plain type; otherwise the
    // prototype's info and the ids of its types.
    std::vector<uint32_t> words;
    // For each function: the names of its prototype and parameters, unless this is a plain type,
    // and the function's own name; each with its NUL.
    std::string names;
};

/// `id`: see LinkPart.
template <typename Id>
FunctionWords collect_functions(const std::vector<Object> &objects, const Functions &functions,
                                Id id)
{
    FunctionWords out;
    auto add_name = [&](std::string_view name) { out.names.append(name).push_back('\0'); };
    for (const SelectedFunction &f : functions.selected) {
        const Object &o = objects[f.object];
        const LinkFunction &record = record_of(objects, f);
        if (f.func_proto != void_id && !f.arena && o.is_plain(f.func_proto)) {
            out.words.insert(out.words.end(), {0, id(f.object, raw(f.func_proto))});
        } else {
            const Prototype proto = prototype_of(o, record, f.func_proto);
            out.words.push_back(proto.info);
            add_name(o.btf.str(proto.name));
            for (uint32_t slot = 0; slot < proto.slots(); ++slot)
                out.words.push_back(id(f.object, proto.type(slot)));
            for (uint32_t slot = 1; slot < proto.slots(); ++slot)
                add_name(o.btf.str(proto.param_name(slot)));
        }
        add_name(f.clone.empty() ? o.btf.str(record.name) : f.clone);
    }
    return out;
}

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
    /// `function_words`: of collect_functions(), with the ids of `out`.
    LinkPart(const std::vector<Object> &objects, const Functions &functions,
             const FunctionWords &function_words, const Variables &variables, Out &out)
        : objects_(objects), functions_(functions), words_(function_words.words.data()),
          names_(function_words.names.data()), variables_(variables), out_(out)
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
        const uint32_t proto = add_prototype(f);
        const size_t begin =
            append({add_name(), btf::make_info(btf::Kind::FUNC, BTF_FUNC_STATIC, false), proto});
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

    uint32_t add_name()
    {
        const std::string_view name(names_);
        names_ += name.size() + 1;
        return out_.text(name);
    }

    uint32_t add_prototype(const SelectedFunction &f)
    {
        const uint32_t info = *words_++;
        if (!info)
            return *words_++;
        const uint32_t *types = words_;
        const uint32_t params = info & btf::max_long_vlen;
        words_ += 1 + params;
        std::array<uint32_t, arena_slots> pointers{}; // in place of the prototype's; 0: these stay
        for (uint32_t slot = 0; slot < arena_slots; ++slot)
            if (f.arena >> slot & 1)
                pointers[slot] = add_arena_pointer(f, slot);
        auto type = [&](uint32_t slot) {
            return slot < arena_slots && pointers[slot] ? pointers[slot] : types[slot];
        };
        const size_t begin = append({add_name(), info, type(0)});
        for (uint32_t slot = 1; slot <= params; ++slot)
            append({add_name(), type(slot)});
        return out_.finish(begin);
    }

    /// Adds a pointer like that in a slot of the prototype, but with a type tag with kflag between
    /// the pointer and its target.
    uint32_t add_arena_pointer(const SelectedFunction &f, uint32_t slot)
    {
        const Object &o = objects_[f.object];
        const Prototype proto = prototype_of(o, record_of(objects_, f), f.func_proto);
        const uint32_t target = out_.id(f.object, o.btf.type(TypeId{proto.type(slot)}).type);
        const uint32_t tag = out_.finish(
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
    const uint32_t *words_; // the next of FunctionWords
    const char *names_;     // the same
    const Variables &variables_;
    Out &out_;
};

} // namespace btflink::merge
