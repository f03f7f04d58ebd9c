// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the link part of a result: prototypes, FUNCs and their tags by function name, then
// DATASECs.
#include "merge/output/write_steps.h"

#include "common/btf/id_symbols.h"

#include <array>
#include <map>

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

// Any number of functions of an object may share a FUNC_PROTO. If it has more slots than this, it
// is collected once.
constexpr size_t few_slots = 16;
// The first words of an entry of FunctionWords without a prototype of its own.
constexpr uint32_t plain_type = 0, same_as_earlier = 1;

/// Reads FunctionWords from front to back.
struct FunctionReader {
    const uint32_t *words;
    const char *names;

    std::string_view name()
    {
        const std::string_view name(names);
        names += name.size() + 1;
        return name;
    }
};

struct LinkPartWriter {
    const ResultParts &parts;
    const ResultIds &ids;
    ResultTypes &out;
    std::vector<uint32_t> prototypes = {}; // by number of the function

    const Object &object(const Instance &i) const { return parts.objects[i.object]; }
    uint32_t text(std::string_view s) { return out.strings.add(s); }
};

/// Adds a copy of the pointer in a slot of the prototype, with a type tag with kflag between the
/// pointer and its target.
uint32_t add_arena_pointer(LinkPartWriter &w, const SelectedFunction &f, uint32_t slot)
{
    const Object &o = w.object(f);
    const Prototype proto = prototype_of(o, record_of(w.parts.objects, f), f.func_proto);
    const uint32_t target =
        w.ids.of_object(w.parts, f.object, o.btf.type(TypeId{proto.type(slot)}).type);
    const uint32_t tag = w.out.finish(
        w.out.append({w.text(arena_tag), btf::make_info(btf::Kind::TYPE_TAG, 0, true), target}));
    return w.out.finish(w.out.append({0, btf::make_info(btf::Kind::PTR, 0, false), tag}));
}

uint32_t add_prototype(LinkPartWriter &w, const SelectedFunction &f, FunctionReader &from)
{
    const uint32_t info = *from.words++;
    if (info == plain_type)
        return *from.words++;
    if (info == same_as_earlier)
        return w.prototypes[*from.words++];
    const uint32_t *types = from.words;
    const uint32_t params = info & btf::max_long_vlen;
    from.words += 1 + params;
    std::array<uint32_t, arena_slots> pointers{}; // new types of slots; 0: the slot's type stays
    for (uint32_t slot = 0; slot < arena_slots; ++slot)
        if (f.arena >> slot & 1)
            pointers[slot] = add_arena_pointer(w, f, slot);
    auto type = [&](uint32_t slot) {
        return slot < arena_slots && pointers[slot] ? pointers[slot] : types[slot];
    };
    const size_t begin = w.out.append({w.text(from.name()), info, type(0)});
    for (uint32_t slot = 1; slot <= params; ++slot)
        w.out.append({w.text(from.name()), type(slot)});
    return w.out.finish(begin);
}

void add_tag(LinkPartWriter &w, std::string_view text, uint32_t info, uint32_t func,
             uint32_t component)
{
    w.out.finish(w.out.append({w.text(text), info, func, component}));
}

void add_function(LinkPartWriter &w, const SelectedFunction &f, FunctionReader &from)
{
    const uint32_t proto = w.prototypes.emplace_back(add_prototype(w, f, from));
    const size_t begin = w.out.append(
        {w.text(from.name()), btf::make_info(btf::Kind::FUNC, BTF_FUNC_STATIC, false), proto});
    const uint32_t func = f.linkage.empty() ? w.out.finish_named(begin) : w.out.next_id++;
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
    const size_t begin = w.out.append(
        {w.text(section.name), btf::make_info(btf::Kind::DATASEC, count, false), section.size});
    for (const SelectedVariable &v : section.entries)
        w.out.append({w.ids.of_variable[v.object][v.index], v.offset,
                      w.parts.objects[v.object].variables[v.index].size});
    w.out.finish_named(begin);
}

class FunctionCollector
{
public:
    FunctionCollector(const ResultParts &parts, const ResultIds &ids) : parts_(parts), ids_(ids) {}

    FunctionWords run()
    {
        uint32_t number = 0;
        for (const SelectedFunction &f : parts_.functions.selected) {
            const Object &o = parts_.objects[f.object];
            const LinkFunction &record = record_of(parts_.objects, f);
            add_prototype(o, record, f, number++);
            add_name(f.clone.empty() ? o.btf.str(record.name) : f.clone);
        }
        return std::move(out_);
    }

private:
    void add_name(std::string_view name) { out_.names.append(name).push_back('\0'); }
    void add_words(std::initializer_list<uint32_t> words)
    {
        out_.words.insert(out_.words.end(), words);
    }

    void add_prototype(const Object &o, const LinkFunction &record, const SelectedFunction &f,
                       uint32_t number)
    {
        auto id = [&](uint32_t type) { return ids_.of_object(parts_, f.object, type); };
        const bool in_blob = f.func_proto != void_id && !f.arena;
        if (in_blob && o.is_plain(f.func_proto))
            return add_words({plain_type, id(raw(f.func_proto))});
        const Prototype proto = prototype_of(o, record, f.func_proto);
        if (in_blob && proto.slots() > few_slots) {
            auto [first, is_new] = long_ones_.try_emplace({f.object, f.func_proto}, number);
            if (!is_new)
                return add_words({same_as_earlier, first->second});
        }
        out_.words.push_back(proto.info);
        add_name(o.btf.str(proto.name));
        for (uint32_t slot = 0; slot < proto.slots(); ++slot)
            out_.words.push_back(id(proto.type(slot)));
        for (uint32_t slot = 1; slot < proto.slots(); ++slot)
            add_name(o.btf.str(proto.param_name(slot)));
    }

    const ResultParts &parts_;
    const ResultIds &ids_;
    FunctionWords out_;
    // The first function with each long prototype, by object and type.
    std::map<std::pair<uint32_t, TypeId>, uint32_t> long_ones_;
};

} // namespace

FunctionWords collect_function_words(const ResultParts &parts, const ResultIds &ids)
{
    return FunctionCollector(parts, ids).run();
}

void write_link_part(const ResultParts &parts, const ResultIds &ids, const FunctionWords &functions,
                     ResultTypes &out)
{
    LinkPartWriter writer{parts, ids, out};
    FunctionReader from{functions.words.data(), functions.names.data()};
    for (const SelectedFunction &f : parts.functions.selected)
        add_function(writer, f, from);
    for (const DataSection &section : parts.variables.sections)
        add_datasec(writer, section);
}

} // namespace btflink::merge
