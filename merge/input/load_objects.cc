// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Loads objects from their contributions.
//
// Problem. Some contributions have a link trailer; those of other tools do not. Later passes need
// one form.
//
// Method. The blob is parsed. The trailer is decoded, or its contents are computed: the link part
// (functions and variables, with the prototypes and tags that only these use), the loose hashes of
// prototypes and, with ParseMode::by_samples, the stub hashes. Then the link part is checked, and
// its variables and tags are listed.
//
// Invariant. After load(), plain types, variables and prototypes of functions refer only to plain
// types; each DECL_TAG in the link part is on a FUNC or VAR. So the plain types of all objects can
// be copied as they are, and functions and variables can be left out one by one. Types that are
// found by position samples are checked on access (Btf::sampled()); at the end, check_sampled()
// reports malformed ones.
//
// Cost. With samples: trailer and link part. Without: every word of the BTF. Contributions are
// loaded in parallel.
#include "merge/input/load_objects.h"

#include "common/io/parallel.h"
#include "merge/input/inputs.h"

#include <cstring>

namespace btflink::merge
{

namespace
{

Where where_of(const Object &o, TypeId id)
{
    return o.where.after(o.btf.types_offset() + uint64_t{o.btf.word_index(id)} * 4);
}

Failure bad_type(const Object &o, TypeId id, const std::string &what)
{
    return fail(where_of(o, id), strf("type %u (%s) ", raw(id), o.btf.kind_name(id)) + what);
}

/// Checks the plain types of a blob that has a trailer and was parsed completely.
Result<void> check_plain_part(const Object &o)
{
    const TypeId end = o.trailer.plain_end;
    for (TypeId id : IdRange(o.btf.first_id(), end)) {
        if (btf::is_of_link(o.btf.kind(id)))
            return bad_type(o, id, "is among the plain types");
        bool ok = true;
        btf::for_each_type_id(o.btf.type(id), [&](uint32_t ref) { ok &= ref < raw(end); });
        if (!ok)
            return bad_type(o, id, "is a plain type, but refers to one that is not");
    }
    return {};
}

Result<void> take_trailer(const InputPart &part, Object &o)
{
    const Contribution &from = part.bytes;
    const Where where = part.where.at(from.trailer_offset);
    // The hashes are not decoded: o.hashes has them as they are in the trailer.
    o.trailer = TRY(decode_trailer(from.trailer, o.btf, where, false));
    // Each pool entry belongs to a function or variable; more entries would only cost memory.
    const size_t users = o.trailer.functions.size() + o.trailer.variables.size();
    if (o.trailer.pool_entries > users)
        return fail(where, strf("link trailer claims %u pool entries for %zu functions and "
                                "variables",
                                o.trailer.pool_entries, users));
    o.hashes = trailer_hashes(from.trailer, o.btf.order());
    o.blob_bytes = from.blob;
    o.trailer_bytes = from.trailer;
    // The last entry of a pool may be padding. A pool with too few entries is not used.
    if (part.pool.size() >= o.trailer.pool_entries) {
        o.pool = part.pool;
        o.pool.resize(o.trailer.pool_entries);
    }
    return o.btf.is_sampled() ? Result<void>() : check_plain_part(o);
}

/// For blobs of other tools: finds the FUNCs, VARs and DATASECs, the tags on these, and the
/// prototypes that only FUNCs use.
void find_link_part(Object &o)
{
    std::vector<bool> link(o.btf.size()), used_by_others(o.btf.size()), used_by_func(o.btf.size());
    const uint32_t first = raw(o.btf.first_id());
    for (TypeId id : o.btf.ids()) {
        const btf_type &t = o.btf.type(id);
        if (btf::kind_of(t) == btf::Kind::FUNC && t.type)
            used_by_func[t.type - first] = true;
        link[raw(id) - first] = o.btf.is_of_link(id);
        if (!btf::is_of_link(btf::kind_of(t)))
            btf::for_each_type_id(t, [&](uint32_t ref) {
                if (ref)
                    used_by_others[ref - first] = true;
            });
    }
    for (TypeId id : o.btf.ids())
        if (o.btf.kind(id) == btf::Kind::FUNC_PROTO)
            link[raw(id) - first] =
                used_by_func[raw(id) - first] && !used_by_others[raw(id) - first];
    o.in_link_part = std::move(link);
}

/// For blobs of other tools: adds each FUNC to the trailer's functions.
void add_functions(Object &o)
{
    PrototypeHasher hasher(o, o.btf);
    for (TypeId id : o.btf.ids()) {
        if (o.btf.kind(id) != btf::Kind::FUNC)
            continue;
        if (o.btf.kind(TypeId{o.btf.type(id).type}) != btf::Kind::FUNC_PROTO)
            continue; // reported by read_type()
        LinkFunction f;
        f.name = StrOff{o.btf.type(id).name_off};
        f.func = id;
        f.loose_hash = hasher.hash(f);
        o.trailer.functions.push_back(f);
    }
}

Result<void> check_refs(const Object &o, TypeId id)
{
    uint32_t wrong = 0;
    btf::for_each_type_id(o.btf.type(id), [&](uint32_t ref) {
        if (!wrong && ref && !o.is_plain(TypeId{ref}))
            wrong = ref;
    });
    if (!wrong)
        return {};
    return bad_type(o, id,
                    strf("refers to type %u (%s), which is not a plain type", wrong,
                         o.btf.kind_name(TypeId{wrong})));
}

/// Checks a type of the link part, or any type of a blob without a trailer; lists variables, tags
/// on functions and variables, and DATASECs.
Result<void> read_type(Object &o, TypeId id, std::vector<TypeId> &datasecs)
{
    if (!o.has_trailer && o.is_plain(id))
        return check_refs(o, id);
    const btf_type &t = o.btf.type(id);
    switch (btf::kind_of(t)) {
    case btf::Kind::FUNC:
        if (o.btf.kind(TypeId{t.type}) != btf::Kind::FUNC_PROTO)
            return bad_type(o, id, "has no FUNC_PROTO");
        return {};
    case btf::Kind::VAR:
        o.variables.push_back({.var = id});
        return check_refs(o, id);
    case btf::Kind::FUNC_PROTO:
        return check_refs(o, id);
    case btf::Kind::DECL_TAG: {
        const btf::Kind kind = o.btf.kind(TypeId{t.type});
        if (kind != btf::Kind::FUNC && kind != btf::Kind::VAR)
            return bad_type(o, id, "is on neither a function nor a variable");
        o.link_tags.emplace_back(TypeId{t.type}, id);
        return {};
    }
    case btf::Kind::DATASEC:
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            const TypeId entry{btf::tail_of(t)[i * 3]};
            // clang also lists extern functions (kfuncs of BPF programs).
            if (o.btf.kind(entry) != btf::Kind::VAR && o.btf.kind(entry) != btf::Kind::FUNC)
                return bad_type(
                    o, id,
                    strf("lists type %u, which is neither a variable nor a function", raw(entry)));
        }
        datasecs.push_back(id);
        return {};
    case btf::Kind::VOID:
    case btf::Kind::INT:
    case btf::Kind::PTR:
    case btf::Kind::ARRAY:
    case btf::Kind::STRUCT:
    case btf::Kind::UNION:
    case btf::Kind::ENUM:
    case btf::Kind::FWD:
    case btf::Kind::TYPEDEF:
    case btf::Kind::VOLATILE:
    case btf::Kind::CONST:
    case btf::Kind::RESTRICT:
    case btf::Kind::FLOAT:
    case btf::Kind::TYPE_TAG:
    case btf::Kind::ENUM64:
        break;
    }
    return bad_type(o, id, "is among functions and variables, which come after the plain types");
}

/// Checks prototypes that are words of the trailer.
Result<void> check_trailer_prototypes(const Object &o, const std::vector<LinkFunction> &functions,
                                      const Where &trailer)
{
    for (const LinkFunction &f : functions) {
        if (f.func != void_id)
            continue;
        const Prototype proto = prototype_of(o, f);
        for (uint32_t slot = 0; slot < proto.slots(); ++slot)
            if (proto.type(slot) && !o.is_plain(TypeId{proto.type(slot)}))
                return fail(trailer,
                            strf("prototype of function %s refers to type %u, which is not a plain "
                                 "type",
                                 o.btf.str(f.name).data(), proto.type(slot)));
    }
    return {};
}

/// The address that a DATASEC entry states. `field`: where in the .BTF section the entry's offset
/// is stored. `written`: the value there, which counts only if no relocation replaces it.
UnresolvedAddress address_of(const Object &o, const InputPart &part, const Input &input,
                             uint64_t field, uint32_t written)
{
    const auto reloc = std::ranges::lower_bound(part.relocs, field, {}, &Reloc::offset);
    if (reloc != part.relocs.end() && reloc->offset == field)
        return {UnresolvedAddress::symbol, reloc->symbol, reloc->addend};
    // In the output of `ld -r`, the section may have relocations although this blob, of another
    // tool, has none.
    if (part.has_relocs && (o.has_trailer || !part.relocs.empty()))
        return {}; // other entries have relocations, this one has none
    // `written` is an offset in the section in three cases: another tool wrote it; the input is raw
    // BTF, which no link has changed; the BTF was made from a linked image. In the first two cases
    // the offset may be wrong for the image (gcc -gbtf always writes 0), so resolve_addresses.cc
    // compares it with symbols.
    if (!o.has_trailer || !input.elf || (o.trailer.flags & trailer_final_addresses))
        return {UnresolvedAddress::named, 0, written};
    if (input.elf->is_relocatable())
        return {};                                   // something removed the relocations
    return {UnresolvedAddress::address, 0, written}; // a linker applied the relocations
}

Variable *find_variable(Object &o, TypeId var)
{
    auto found = std::ranges::lower_bound(o.variables, var, {}, &Variable::var);
    return found != o.variables.end() && found->var == var ? &*found : nullptr;
}

/// Sets the addresses and sizes of a DATASEC's variables. Error: a variable is listed twice.
Result<void> read_datasec(Object &o, const InputPart &part, const Input &input, TypeId id)
{
    const btf_type &t = o.btf.type(id);
    for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
        const uint32_t *entry = btf::tail_of(t) + i * 3;
        Variable *v = find_variable(o, TypeId{entry[0]});
        if (!v)
            continue; // a FUNC
        if (v->datasec != void_id)
            return fail(where_of(o, id), strf("type %u (VAR) is listed twice", entry[0]));
        v->datasec = id;
        v->size = entry[2];
        const uint64_t field = part.bytes.offset + o.btf.types_offset() +
                               (uint64_t{o.btf.word_index(id)} + 3 + i * 3 + 1) * 4;
        v->address = address_of(o, part, input, field, entry[1]);
    }
    return {};
}

/// Checks the link part, and sets the object's variables and link_tags.
Result<void> read_link_part(Object &o, const InputPart &part, const Input &input)
{
    std::vector<TypeId> datasecs;
    for (TypeId id : o.around_link_part())
        TRY(read_type(o, id, datasecs));
    std::ranges::sort(o.link_tags);
    const Where trailer = o.where.at(part.bytes.trailer_offset);
    for (const auto *functions : {&o.trailer.functions, &o.trailer.true_signatures}) {
        TRY(check_trailer_prototypes(o, *functions, trailer));
        size_t tags = 0; // each function of the result gets all tags of its FUNC
        for (const LinkFunction &f : *functions)
            if (f.func != void_id && (tags += o.tags_of(f.func).size()) > o.link_tags.size())
                return fail(trailer, "functions share a FUNC that has tags");
    }
    for (const LinkVariable &v : o.trailer.variables) {
        Variable *out = find_variable(o, v.var);
        CHECK(out);
        out->pool_index = v.pool_index;
        out->size = v.size;
        out->weak = v.flags & var_weak;
    }
    for (TypeId id : datasecs)
        TRY(read_datasec(o, part, input, id));
    return {};
}

/// With `by_hash`, a blob without a trailer gets stub hashes.
Result<Object> make_object(const InputPart &part, const Input &input, Btf btf,
                           std::unique_ptr<MalformedFlag> malformed, bool by_hash)
{
    Object o{part.where, part.input, std::move(btf), std::move(malformed)};
    o.has_trailer = !part.bytes.trailer.empty();
    if (o.has_trailer) {
        TRY(take_trailer(part, o));
    } else {
        find_link_part(o);
        add_functions(o);
        if (by_hash)
            o.rehash();
    }
    TRY(read_link_part(o, part, input));
    return o;
}

/// Loads an object that has position samples: the usual case. Nothing if the samples cannot be
/// used, or if anything is wrong. A complete parse then loads the object or reports the error.
std::optional<Object> load_by_samples(const InputPart &part, const Input &input)
{
    const auto [samples, count, plain_end] = trailer_samples(part.bytes.trailer);
    if (samples.empty() || plain_end == 0 || plain_end > count + 1 ||
        samples.size() != sample_count(count))
        return std::nullopt;
    auto types = types_in_place(part.bytes.blob, count);
    if (!types)
        return std::nullopt;
    types->samples = samples;
    types->plain_end = plain_end;
    auto malformed = std::make_unique<MalformedFlag>();
    Btf btf = Btf::sampled(*types, *malformed);
    auto o = make_object(part, input, std::move(btf), std::move(malformed), true);
    if (!o || o->malformed->is_set())
        return std::nullopt;
    return std::move(*o);
}

Result<Object> load_object(const InputPart &part, const Input &input, ParseMode mode)
{
    if (mode == ParseMode::by_samples)
        if (auto o = load_by_samples(part, input))
            return std::move(*o);
    auto btf = Btf::parse(part.bytes.blob, part.where);
    if (!btf && Btf::seems_split(part.bytes.blob))
        return fail(part.where, "is split BTF, perhaps from an earlier --update; an input needs "
                                "object BTF or BTF without a base");
    if (!btf)
        return fail(btf.error());
    return make_object(part, input, std::move(*btf), nullptr, mode == ParseMode::by_samples);
}

} // namespace

std::string Object::describe() const
{
    // Many messages may name one object, so a name of megabytes is cut.
    const char *text = btf.text(raw(trailer.source));
    const std::string source(text, ::strnlen(text, long_name));
    return source.empty() ? where.str() : where.str() + " (" + source + ")";
}

void Object::rehash()
{
    own_hashes = stub_hashes(btf);
    for (Hash128 &h : own_hashes)
        h = {in_order(h.low, ByteOrder::little), in_order(h.high, ByteOrder::little)};
    hashes = std::as_bytes(std::span(own_hashes));
}

TypeId func_proto_of(const Object &object, const LinkFunction &f)
{
    return f.func == void_id ? void_id : TypeId{object.btf.type(f.func).type};
}

Prototype prototype_of(const Object &object, const LinkFunction &f)
{
    return prototype_of(object, f, func_proto_of(object, f));
}

Prototype prototype_of(const Object &object, const LinkFunction &f, TypeId func_proto)
{
    if (func_proto != void_id) {
        const btf_type &proto = object.btf.type(func_proto);
        // Read once, because the mapped file may change: `info` must agree with `params`.
        const btf_type head = proto;
        return {head.name_off,
                head.info,
                head.type,
                {btf::tail_of(proto), size_t{btf::vlen_of(head)} * 2}};
    }
    const uint32_t *w = &object.trailer.proto_words[f.proto];
    return {0, btf::make_info(btf::Kind::FUNC_PROTO, w[1], false), w[0], {w + 2, size_t{w[1]} * 2}};
}

uint64_t PrototypeHasher::hash(const LinkFunction &f)
{
    const TypeId id = func_proto_of(object_, f);
    if (const auto known = known_.find(id); known != known_.end())
        return known->second;
    const Prototype proto = prototype_of(object_, f, id);
    std::vector<TypeId> params;
    for (uint32_t slot = 1; slot < proto.slots(); ++slot)
        params.push_back(TypeId{proto.type(slot)});
    const uint64_t hash = hasher_.prototype(TypeId{proto.result}, params);
    if (id != void_id)
        known_.emplace(id, hash);
    return hash;
}

Result<Object> adopt(Where where, Btf btf, LinkTrailer trailer)
{
    const InputPart part{0, std::move(where), {}, false, {}, {}};
    Object o{part.where, 0, std::move(btf), nullptr};
    o.has_trailer = true;
    o.trailer = std::move(trailer);
    TRY(read_link_part(o, part, Input{}));
    return o;
}

Result<LoadedObjects> load(const std::vector<Input> &inputs, ParseMode mode, unsigned threads)
{
    auto parts = TRY(find_contributions(inputs, threads));
    LoadedObjects out;
    std::vector<const InputPart *> all;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (parts[i].list.empty())
            out.without_btf.push_back(inputs[i].where.file);
        for (const InputPart &part : parts[i].list)
            all.push_back(&part);
    }
    std::vector<std::optional<Object>> slots(all.size());
    auto load = [&](size_t i) -> Result<void> {
        slots[i] = TRY(load_object(*all[i], inputs[all[i]->input], mode));
        return {};
    };
    TRY(parallel_try(all.size(), threads, load));
    out.objects.reserve(slots.size());
    for (std::optional<Object> &slot : slots)
        out.objects.push_back(std::move(*slot));
    for (InputParts &of_input : parts)
        for (SectionContents &contents : of_input.contents)
            if (contents.owned)
                out.owners.push_back(std::move(contents.owned));
    return out;
}

void use_true_signatures(std::vector<Object> &objects)
{
    for (Object &o : objects)
        for (const LinkFunction &f : o.trailer.true_signatures)
            o.trailer.functions[f.instance] = f;
}

Result<void> check_number_of_types(const Object &object, const Btf &parsed)
{
    if (parsed.size() == object.btf.size())
        return {};
    return fail(object.where, strf("the blob has %u types, but its link trailer states %u",
                                   parsed.size(), object.btf.size()));
}

Result<void> check_sampled(const std::vector<Object> &objects, const std::vector<bool> &not_linked)
{
    auto is_malformed = [&](const Object &o) {
        return !not_linked[static_cast<size_t>(&o - objects.data())] && o.malformed &&
               o.malformed->is_set();
    };
    const auto first = std::ranges::find_if(objects, is_malformed);
    if (first == objects.end())
        return {};
    // A complete parse finds the malformed type, unless only the trailer is wrong: its number of
    // types (so far only known to fit into the blob), its plain end, or its samples.
    Btf btf = TRY(Btf::parse(first->blob_bytes, first->where));
    TRY(check_number_of_types(*first, btf));
    Object whole{first->where, first->input, std::move(btf), nullptr};
    whole.trailer.plain_end = first->trailer.plain_end;
    TRY(check_plain_part(whole));
    return fail(first->where, "the position samples in its link trailer do not point at its types");
}

} // namespace btflink::merge
