// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Contributions come one per object file, many in an `ld -r` result, or bare; with a link
// trailer or, made by another tool, without. The passes that follow want one shape.
//
// Method. Per input: find the `.BTF` sections, walk their contributions, attach the relocations
// that fall into each and the address pools of the same file by object id (equal ids pair up in
// order). Per contribution: parse the blob, decode the trailer or compute one: functions and
// variables, what only they use, and loose prototype hashes.
//
// Invariant. After load, plain types refer to plain types only, variables and prototypes of
// functions too; DECL_TAGs in the link part have a FUNC or VAR as target. So plain types of all
// objects can be copied as they are, and functions and variables be left out one by one. Plain
// types that are found by marks are checked when they are looked at (Btf::marked()); in the end
// check_marked() tells whether any was malformed.
//
// Cost. Contributions with marks: a look at trailer and link part. Others: a look at every word of
// BTF, once. Contributions are independent and run in parallel.
#include "merge/input/load_objects.h"

#include "common/io/parallel.h"
#include "common/object_btf/contributions.h"

#include <algorithm>
#include <deque>
#include <elf.h>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

/// A contribution before it is parsed.
struct Pending {
    uint32_t input;
    Where where;
    Contribution part;
    bool relocatable = false;      // the section has relocations of its own
    std::span<const Reloc> relocs; // those inside the blob, offsets relative to the section
    std::vector<Place> pool;
};

/// All that one input holds; keeps relocations and decompressed sections alive.
struct InputParts {
    std::vector<Pending> pending;
    std::vector<SectionContents> contents;
    std::deque<std::vector<Reloc>> relocs;
};

Result<void> split_section(const Input &input, uint32_t number, uint32_t section, unsigned threads,
                           InputParts &out)
{
    const ElfFile &elf = *input.elf;
    auto contents = TRY(elf.contents(section));
    Where where{input.where.file, std::string(elf.sections()[section].name), 0};
    auto parts = TRY(split_contributions(contents.bytes, where, threads));
    out.contents.push_back(contents);
    out.relocs.emplace_back();
    std::vector<Reloc> &relocs = out.relocs.back();
    if (elf.is_relocatable() && !parts.empty()) {
        auto found = TRY(elf.relocations(section, 4));
        relocs = std::move(found);
    }
    size_t next = 0;
    for (const Contribution &part : parts) {
        Pending p{number, where.at(part.offset), part, !relocs.empty(), {}, {}};
        uint64_t end = part.offset + part.blob.size();
        while (next < relocs.size() && relocs[next].offset < part.offset)
            ++next;
        size_t first = next;
        while (next < relocs.size() && relocs[next].offset < end)
            ++next;
        p.relocs = std::span(relocs).subspan(first, next - first);
        out.pending.push_back(std::move(p));
    }
    return {};
}

Result<void> attach_pools(const ElfFile &elf, std::vector<Pending> &pending)
{
    auto pools = TRY(placed_pools(elf));
    std::unordered_map<uint64_t, std::deque<PlacedPool *>> by_id;
    for (PlacedPool &pool : pools)
        by_id[pool.object_id].push_back(&pool);
    for (Pending &p : pending) {
        auto id = stated_object_id(p.part.trailer, elf.order());
        auto found = id ? by_id.find(*id) : by_id.end();
        if (found == by_id.end() || found->second.empty())
            continue;
        p.pool = std::move(found->second.front()->places);
        found->second.pop_front();
    }
    return {};
}

Result<void> split_input(const Input &input, uint32_t number, unsigned threads, InputParts &out)
{
    if (!input.elf) {
        Where where = input.where.at(0);
        auto parts = TRY(split_contributions(input.bytes, where, threads));
        for (const Contribution &part : parts)
            out.pending.push_back({number, where.at(part.offset), part, false, {}, {}});
        return {};
    }
    const ElfFile &elf = *input.elf;
    for (uint32_t i = 0; i < elf.sections().size(); ++i)
        if (elf.sections()[i].name == ".BTF" && elf.sections()[i].type != SHT_NOBITS)
            TRY(split_section(input, number, i, threads, out));
    if (elf.is_relocatable() && !out.pending.empty())
        TRY(attach_pools(elf, out.pending));
    return {};
}

/// Inputs are split beside each other. One that has most of the bytes, as vmlinux.o has, then has
/// all threads.
Result<std::vector<InputParts>> split_inputs(const std::vector<Input> &inputs, unsigned threads)
{
    std::vector<InputParts> parts(inputs.size());
    std::vector<Result<void>> done(inputs.size());
    auto split = [&](size_t i, unsigned of_one) {
        done[i] = split_input(inputs[i], static_cast<uint32_t>(i), of_one, parts[i]);
    };
    auto is_smaller = [](const Input &a, const Input &b) {
        return a.bytes.size() < b.bytes.size();
    };
    auto largest =
        static_cast<size_t>(std::ranges::max_element(inputs, is_smaller) - inputs.begin());
    parallel_for(inputs.size(), threads, [&](size_t i) {
        if (i != largest)
            split(i, 1);
    });
    if (!inputs.empty())
        split(largest, threads);
    for (Result<void> &result : done)
        TRY(std::move(result));
    return parts;
}

/// Turns one Pending into an Object.
class ObjectLoader
{
public:
    ObjectLoader(const Pending &pending, const Input &input) : pending_(pending), input_(input) {}

    Result<Object> run(Reading reading)
    {
        auto damage = std::make_unique<Damage>();
        if (std::optional<Btf> marked; reading == Reading::marked && (marked = by_marks(*damage))) {
            auto o = make(std::move(*marked), std::move(damage), true);
            if (o && !o->damage->found())
                return o;
        }
        auto btf = TRY(Btf::parse(pending_.part.blob, pending_.where));
        types_offset_ = btf.types_offset();
        return make(std::move(btf), nullptr, reading == Reading::marked);
    }

    Result<Object> adopt(Btf btf, LinkTrailer trailer)
    {
        Object o{pending_.where, pending_.input, std::move(btf), nullptr};
        o.has_trailer = true;
        o.trailer = std::move(trailer);
        TRY(read_link_part(o));
        return o;
    }

private:
    /// Ids of types in the link part.
    struct Listed {
        std::vector<TypeId> vars, datasecs;
    };

    Result<Object> make(Btf btf, std::unique_ptr<Damage> damage, bool keep_hashes)
    {
        Object o{pending_.where, pending_.input, std::move(btf), std::move(damage)};
        o.has_trailer = !pending_.part.trailer.empty();
        if (o.has_trailer) {
            auto trailer =
                TRY(decode_trailer(pending_.part.trailer, o.btf,
                                   pending_.where.at(pending_.part.trailer_offset), false));
            o.trailer = std::move(trailer);
            // Each entry belongs to a function or variable; more entries would only cost memory.
            if (o.trailer.pool_entries > o.trailer.functions.size() + o.trailer.variables.size())
                return fail(pending_.where.at(pending_.part.trailer_offset + 36),
                            strf("link trailer claims %u pool entries for %zu functions and "
                                 "variables",
                                 o.trailer.pool_entries,
                                 o.trailer.functions.size() + o.trailer.variables.size()));
            o.hashes = trailer_hashes(pending_.part.trailer, o.btf.order());
            o.blob_bytes = pending_.part.blob;
            o.trailer_bytes = pending_.part.trailer;
            if (!o.btf.is_marked())
                TRY(check_plain_part(o));
        } else {
            find_link_part(o);
            add_functions(o);
            if (keep_hashes)
                o.rehash();
        }
        TRY(read_link_part(o));
        if (pending_.pool.size() >= o.trailer.pool_entries && o.has_trailer) {
            o.pool = pending_.pool;
            o.pool.resize(o.trailer.pool_entries);
        }
        return o;
    }

    /// The usual case, host byte order and a trailer with marks: types are checked when they are
    /// asked for. Empty if the header is wrong: Btf::parse() reports the error.
    std::optional<Btf> by_marks(Damage &damage)
    {
        Bytes blob = pending_.part.blob, trailer = pending_.part.trailer;
        auto word = [&](size_t at) { return load<uint32_t>(blob.data() + at, host_order); };
        std::span<const uint32_t> marks = trailer_marks(trailer);
        if (marks.empty() || load<uint16_t>(blob.data(), host_order) != BTF_MAGIC)
            return std::nullopt;
        // split_contributions() has checked that types and strings are inside the blob.
        uint64_t types = uint64_t{word(4)} + word(8), strings = uint64_t{word(4)} + word(16);
        uint32_t size = word(12), text = word(20);
        auto *words = reinterpret_cast<const uint32_t *>(blob.data() + types);
        auto *chars = reinterpret_cast<const char *>(blob.data() + strings);
        uint32_t plain_end = load<uint32_t>(trailer.data() + 32, host_order);
        uint32_t count = load<uint32_t>(trailer.data() + 44, host_order);
        if (reinterpret_cast<uintptr_t>(words) % 4 || size % 4 || text == 0 || chars[0] ||
            chars[text - 1] || count > size / 12 || plain_end == 0 || plain_end > count + 1 ||
            marks.size() != marks_for(count))
            return std::nullopt;
        types_offset_ = types;
        return Btf::marked({{words, size / 4}, marks, count, plain_end, {chars, text}}, damage);
    }

    Where where_of(const Object &o, TypeId id) const
    {
        return o.where.at(o.where.offset.value_or(0) + types_offset_ +
                          uint64_t{o.btf.word_index(id)} * 4);
    }

    template <typename Visit>
    static void for_ids(const Object &o, Visit visit)
    {
        for (uint32_t id = raw(o.btf.first_id()), end = raw(o.btf.end_id()); id < end; ++id)
            visit(TypeId{id});
    }

    Result<void> check_plain_part(const Object &o) const
    {
        TypeId end = o.trailer.plain_end;
        for (TypeId id = o.btf.first_id(); id < end; id = TypeId{raw(id) + 1}) {
            if (btf::is_of_link(o.btf.kind(id)))
                return fail(where_of(o, id), strf("type %u (%s) is among the plain types", raw(id),
                                                  o.btf.kind_name(id)));
            bool ok = true;
            btf::for_each_type_id(o.btf.type(id), [&](uint32_t ref) { ok &= ref < raw(end); });
            if (!ok)
                return fail(where_of(o, id), strf("plain type %u (%s) refers to one that is not",
                                                  raw(id), o.btf.kind_name(id)));
        }
        return {};
    }

    /// For blobs of other tools: finds FUNCs, VARs, DATASECs, and types that only these use.
    static void find_link_part(Object &o)
    {
        std::vector<bool> link(o.btf.size()), used(o.btf.size()), by_func(o.btf.size());
        uint32_t first = raw(o.btf.first_id());
        for_ids(o, [&](TypeId id) {
            const btf_type &t = o.btf.type(id);
            if (btf::kind_of(t) == btf::Kind::FUNC && t.type)
                by_func[t.type - first] = true;
            link[raw(id) - first] = btf::is_of_link(btf::kind_of(t));
            if (!link[raw(id) - first])
                btf::for_each_type_id(t, [&](uint32_t ref) {
                    if (ref)
                        used[ref - first] = true;
                });
        });
        for_ids(o, [&](TypeId id) {
            uint32_t i = raw(id) - first;
            const btf_type &t = o.btf.type(id);
            if (o.btf.kind(id) == btf::Kind::FUNC_PROTO)
                link[i] = by_func[i] && !used[i];
            else if (o.btf.kind(id) == btf::Kind::DECL_TAG && t.type)
                link[i] = o.btf.kind(TypeId{t.type}) == btf::Kind::FUNC ||
                          o.btf.kind(TypeId{t.type}) == btf::Kind::VAR;
        });
        o.in_link_part = std::move(link);
    }

    static void add_functions(Object &o)
    {
        LooseHasher hasher(o.btf);
        std::vector<TypeId> params;
        for_ids(o, [&](TypeId id) {
            if (o.btf.kind(id) != btf::Kind::FUNC)
                return;
            TypeId proto{o.btf.type(id).type};
            if (o.btf.kind(proto) != btf::Kind::FUNC_PROTO)
                return; // reported by read_link_part()
            const btf_type &t = o.btf.type(proto);
            params.clear();
            for (uint32_t i = 0; i < btf::vlen_of(t); ++i)
                params.push_back(TypeId{btf::tail_of(t)[i * 2 + 1]});
            LinkFunction f;
            f.name = StrOff{o.btf.type(id).name_off};
            f.loose_hash = hasher.prototype(TypeId{t.type}, params);
            f.func = id;
            o.trailer.functions.push_back(f);
        });
    }

    /// Checks it, and adds the object's variables and link_tags.
    Result<void> read_link_part(Object &o) const
    {
        Result<void> ok;
        Listed listed;
        auto bad = [&](TypeId id, const std::string &what) {
            if (ok)
                ok = fail(where_of(o, id),
                          strf("type %u (%s) ", raw(id), o.btf.kind_name(id)) + what);
        };
        auto plain = [&](uint32_t ref) { return ref == 0 || o.is_plain(TypeId{ref}); };
        uint32_t first = o.has_trailer ? raw(o.trailer.plain_end) : raw(o.btf.first_id());
        for (TypeId id{first}; id < o.btf.end_id(); id = TypeId{raw(id) + 1}) {
            const btf_type &t = o.btf.type(id);
            if (!o.has_trailer && o.is_plain(id)) {
                btf::for_each_type_id(t, [&](uint32_t ref) {
                    if (!plain(ref))
                        bad(id, strf("refers to type %u, which is no type proper", ref));
                });
                continue;
            }
            switch (btf::kind_of(t)) {
            case btf::Kind::FUNC:
                if (o.btf.kind(TypeId{t.type}) != btf::Kind::FUNC_PROTO)
                    bad(id, "has no FUNC_PROTO");
                break;
            case btf::Kind::VAR:
                listed.vars.push_back(id);
                if (!plain(t.type))
                    bad(id, strf("refers to type %u, which is no type proper", t.type));
                break;
            case btf::Kind::FUNC_PROTO:
                btf::for_each_type_id(t, [&](uint32_t ref) {
                    if (!plain(ref))
                        bad(id, strf("refers to type %u, which is no type proper", ref));
                });
                break;
            case btf::Kind::DECL_TAG: {
                btf::Kind kind = o.btf.kind(TypeId{t.type});
                if (kind != btf::Kind::FUNC && kind != btf::Kind::VAR)
                    bad(id, "is on neither a function nor a variable");
                o.link_tags.emplace_back(TypeId{t.type}, id);
                break;
            }
            case btf::Kind::DATASEC:
                listed.datasecs.push_back(id);
                for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
                    TypeId entry{btf::tail_of(t)[i * 3]};
                    // clang lists extern functions (kfuncs of BPF programs) too.
                    if (o.btf.kind(entry) != btf::Kind::VAR && o.btf.kind(entry) != btf::Kind::FUNC)
                        bad(id, strf("lists type %u, which is no variable", raw(entry)));
                }
                break;
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
                bad(id, "stands behind the plain types");
            }
        }
        auto check_words = [&](const LinkFunction &f) {
            if (!o.has_trailer || f.func != void_id)
                return;
            const uint32_t *w = &o.trailer.proto_words[f.proto];
            bool fine = plain(w[0]);
            for (uint32_t i = 0; i < w[1]; ++i)
                fine &= plain(w[3 + i * 2]);
            if (!fine && ok)
                ok = fail(o.where.at(pending_.part.trailer_offset),
                          strf("prototype of function %s refers to what is no plain type",
                               std::string(o.btf.str(f.name)).c_str()));
        };
        std::ranges::for_each(o.trailer.functions, check_words);
        std::ranges::for_each(o.trailer.true_signatures, check_words);
        std::sort(o.link_tags.begin(), o.link_tags.end());
        return ok ? add_variables(o, listed) : ok;
    }

    Result<void> add_variables(Object &o, const Listed &listed) const
    {
        std::unordered_map<uint32_t, size_t> index; // VAR id -> o.variables
        for (TypeId id : listed.vars) {
            index.emplace(raw(id), o.variables.size());
            o.variables.emplace_back();
            o.variables.back().var = id;
        }
        for (const LinkVariable &v : o.trailer.variables) {
            Variable &out = o.variables[index.at(raw(v.var))];
            out.pool_index = v.pool_index;
            out.size = v.size;
            out.weak = v.flags & var_weak;
        }
        size_t reloc = 0;
        for (TypeId id : listed.datasecs) {
            const btf_type &t = o.btf.type(id);
            for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
                const uint32_t *entry = btf::tail_of(t) + i * 3;
                auto found = index.find(entry[0]);
                if (found == index.end())
                    continue;
                Variable &out = o.variables[found->second];
                if (out.datasec != void_id)
                    return fail(where_of(o, id), strf("type %u (VAR) is listed twice", entry[0]));
                out.datasec = id;
                out.size = entry[2];
                uint64_t field = pending_.part.offset + types_offset_ +
                                 (uint64_t{o.btf.word_index(id)} + 3 + i * 3 + 1) * 4;
                out.place = place_of(o, field, entry[1], reloc);
            }
        }
        return {};
    }

    /// The place that a DATASEC entry names: by relocation where there are any, else as written.
    Place place_of(const Object &o, uint64_t field, uint32_t written, size_t &next) const
    {
        const auto &relocs = pending_.relocs;
        if (next >= relocs.size() || relocs[next].offset > field)
            next = 0; // entries of several DATASECs need not be in file order
        while (next < relocs.size() && relocs[next].offset < field)
            ++next;
        if (next < relocs.size() && relocs[next].offset == field)
            return {Place::symbol, relocs[next].symbol, relocs[next].addend};
        // No relocation. A blob with a trailer has one per entry unless a linker applied it or took
        // it away. Other tools write offsets that are right for their file.
        if (pending_.relocatable)
            return {};
        if (!o.has_trailer || !input_.elf || (o.trailer.flags & trailer_final_addresses))
            return {Place::named, 0, written};
        if (input_.elf->is_relocatable())
            return {};
        return {Place::address, 0, written};
    }

    const Pending &pending_;
    const Input &input_;
    uint64_t types_offset_ = 0; // of the blob's types part
};

} // namespace

std::string Object::describe() const
{
    std::string_view source = btf.str(trailer.source);
    return source.empty() ? where.str() : where.str() + " (" + std::string(source) + ")";
}

void Object::rehash()
{
    own_hashes = stub_hashes(btf);
    for (Hash128 &h : own_hashes)
        h = {in_order(h.low, ByteOrder::little), in_order(h.high, ByteOrder::little)};
    hashes = std::as_bytes(std::span(own_hashes));
}

Prototype prototype_of(const Object &object, const LinkFunction &f)
{
    if (f.func != void_id) {
        const btf_type &proto = object.btf.type(TypeId{object.btf.type(f.func).type});
        const btf_type head = proto; // read once: number and slots must agree
        return {head.name_off,
                head.info,
                head.type,
                {btf::tail_of(proto), size_t{btf::vlen_of(head)} * 2}};
    }
    const uint32_t *w = &object.trailer.proto_words[f.proto];
    return {0, btf::make_info(btf::Kind::FUNC_PROTO, w[1], false), w[0], {w + 2, size_t{w[1]} * 2}};
}

Result<Object> adopt(Where where, Btf btf, LinkTrailer trailer)
{
    const Pending pending{0, std::move(where), {}, false, {}, {}};
    return ObjectLoader(pending, Input{}).adopt(std::move(btf), std::move(trailer));
}

Result<Loaded> load(const std::vector<Input> &inputs, Reading reading, unsigned threads)
{
    auto parts = TRY(split_inputs(inputs, threads));
    Loaded out;
    std::vector<const Pending *> pending;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (parts[i].pending.empty())
            out.without_btf.push_back(inputs[i].where.file);
        for (const Pending &p : parts[i].pending)
            pending.push_back(&p);
    }
    std::vector<std::optional<Object>> slots(pending.size());
    auto load = [&](size_t i) -> Result<void> {
        auto object = TRY(ObjectLoader(*pending[i], inputs[pending[i]->input]).run(reading));
        slots[i] = std::move(object);
        return {};
    };
    TRY(parallel_try(pending.size(), threads, load));
    out.objects.reserve(slots.size());
    for (std::optional<Object> &slot : slots)
        out.objects.push_back(std::move(*slot));
    for (InputParts &p : parts)
        for (SectionContents &contents : p.contents)
            if (contents.owned)
                out.decompressed.push_back(std::move(contents.owned));
    return out;
}

void use_true_signatures(std::vector<Object> &objects)
{
    for (Object &o : objects)
        for (const LinkFunction &f : o.trailer.true_signatures)
            o.trailer.functions[f.instance] = f;
}

Result<void> check_marked(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                          const std::vector<bool> &damaged, unsigned threads)
{
    auto first = std::ranges::find(damaged, true);
    if (first == damaged.end())
        return {};
    // Reading everything finds the error.
    TRY(load(inputs, Reading::whole, threads));
    return fail(objects[static_cast<size_t>(first - damaged.begin())].where,
                "the marks in its link trailer are not where its types are");
}

} // namespace btflink::merge
