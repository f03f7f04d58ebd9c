// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the link part of a result: prototypes, FUNCs and their tags by function name, then
// DATASECs.
#include "merge/output/write_steps.h"

#include "common/btf/id_symbols.h"

#include <array>
#include <map>
#include <tuple>

namespace btflink::merge
{

namespace
{

// Texts of the tags that the merge adds. Objects need not contain these strings.
constexpr std::string_view kfunc_tag = "bpf_kfunc", fastcall_tag = "bpf_fastcall";
constexpr std::string_view arena_tag = "address_space(1)";

// A tag on the function itself, not on one of its parameters.
constexpr uint32_t whole_tag = btf::make_info(btf::Kind::DECL_TAG, 0, false);
constexpr auto whole = static_cast<uint32_t>(-1);

// Many functions of an object may share a FUNC_PROTO. If it has more slots (result and parameters)
// than this, its new id is remembered, so it is written once per object. A shorter one is written
// for each function, and finish() removes it if an equal type exists.
constexpr size_t few_slots = 16;

struct LinkPartWriter {
    const ResultParts &parts;
    const ResultIds &ids;
    ResultTypes &out;
    // By object, type and SelectedFunction::arena.
    std::map<std::tuple<uint32_t, TypeId, uint8_t>, uint32_t> long_prototypes = {};

    const Object &object(const Instance &i) const { return parts.objects[i.object]; }
    uint32_t text(std::string_view s) { return out.strings.add(s); }
};

/// Adds a copy of a pointer of the object, with a type tag with kflag between the pointer and its
/// target.
uint32_t add_arena_pointer(LinkPartWriter &w, uint32_t object, TypeId pointer)
{
    const uint32_t target =
        w.ids.of_object(w.parts, object, w.parts.objects[object].btf.type(pointer).type);
    const uint32_t tag = w.out.finish(
        w.out.append({w.text(arena_tag), btf::make_info(btf::Kind::TYPE_TAG, 0, true), target}));
    return w.out.finish(w.out.append({0, btf::make_info(btf::Kind::PTR, 0, false), tag}));
}

uint32_t add_prototype(LinkPartWriter &w, const SelectedFunction &f)
{
    const Object &o = w.object(f);
    const bool in_blob = f.func_proto != void_id;
    if (in_blob && !f.arena && o.is_plain(f.func_proto))
        return w.ids.of_object(w.parts, f.object, raw(f.func_proto));
    const Prototype proto = prototype_of(o, record_of(w.parts.objects, f), f.func_proto);
    uint32_t unshared = 0, *id = &unshared;
    if (in_blob && proto.slots() > few_slots)
        id = &w.long_prototypes[{f.object, f.func_proto, f.arena}];
    if (*id)
        return *id;
    std::array<uint32_t, arena_slots> pointers{}; // new types of slots; 0: the slot's type stays
    for (uint32_t slot = 0; slot < arena_slots; ++slot)
        if (f.arena >> slot & 1)
            pointers[slot] = add_arena_pointer(w, f.object, TypeId{proto.type(slot)});
    auto type = [&](uint32_t slot) {
        return slot < arena_slots && pointers[slot]
                   ? pointers[slot]
                   : w.ids.of_object(w.parts, f.object, proto.type(slot));
    };
    const size_t begin = w.out.append({w.text(o.btf.str(proto.name)), proto.info, type(0)});
    for (uint32_t slot = 1; slot < proto.slots(); ++slot)
        w.out.append({w.text(o.btf.str(proto.param_name(slot))), type(slot)});
    return *id = w.out.finish(begin);
}

void add_tag(LinkPartWriter &w, std::string_view text, uint32_t info, uint32_t func,
             uint32_t component)
{
    w.out.finish(w.out.append({w.text(text), info, func, component}));
}

void add_function(LinkPartWriter &w, const SelectedFunction &f)
{
    const uint32_t proto = add_prototype(w, f);
    const std::string_view name = f.clone.empty() ? source_name(w.parts.objects, f) : f.clone;
    const size_t begin = w.out.append(
        {w.text(name), btf::make_info(btf::Kind::FUNC, BTF_FUNC_STATIC, false), proto});
    // With a linkage tag, an equal FUNC is not used instead: it may belong to another symbol.
    const uint32_t func = f.linkage.empty() ? w.out.finish_function(begin) : w.out.next_id++;
    if (!f.linkage.empty())
        add_tag(w, f.linkage, whole_tag, func, whole);
    for (const Instance &tagged : w.parts.functions.tagged_of(f))
        for (auto [target, tag] : tags_of(w.parts.objects, tagged)) {
            const Object &o = w.object(tagged);
            const btf_type &t = o.btf.type(tag);
            if (linkage_text(o, tag).empty())
                add_tag(w, o.btf.str(t.name_off), t.info, func, btf::tail_of(t)[0]);
        }
    if (f.is_kfunc)
        add_tag(w, kfunc_tag, whole_tag, func, whole);
    if (f.is_kfunc && (f.kfunc_flags & kf_fastcall))
        add_tag(w, fastcall_tag, whole_tag, func, whole);
}

void add_datasec(LinkPartWriter &w, const DataSection &section)
{
    const auto count = static_cast<uint32_t>(section.entries.size());
    w.out.append(
        {w.text(section.name), btf::make_info(btf::Kind::DATASEC, count, false), section.size});
    for (const SelectedVariable &v : section.entries)
        w.out.append({w.ids.of_variable[v.object][v.index], v.offset,
                      w.parts.objects[v.object].variables[v.index].size});
    ++w.out.next_id;
}

} // namespace

void write_link_part(const ResultParts &parts, const ResultIds &ids, ResultTypes &out)
{
    LinkPartWriter writer{parts, ids, out};
    for (const SelectedFunction &f : parts.functions.selected)
        add_function(writer, f);
    for (const DataSection &section : parts.variables.sections)
        add_datasec(writer, section);
}

} // namespace btflink::merge
