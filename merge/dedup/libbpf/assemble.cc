// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Assembles one blob, with all duplicates, as btf__dedup wants it.
//
// Problem. Thousands of blobs, hundreds of megabytes, each with ids and string offsets of its own,
// become one.
//
// Method. Plain types of an object are copied as they stand, ids and string offsets shifted by what
// came before; behind them its selected VARs. All sizes are known beforehand, so each object has
// its own part of the result and all are filled independently. Then the functions, sorted by name,
// and the DATASECs.
//
// Invariant. Types stand in the order of objects and, within one, of its blob; dedup keeps the
// first of equal types, so the final order depends on link order alone.
//
// Cost. Each word is copied once and looked at once more.
#include "merge/dedup/libbpf/assemble.h"

#include "merge/parallel.h"

#include <algorithm>
#include <cstring>

namespace btflink::merge
{

namespace
{

/// Where an object's part goes, and how its ids and strings are to be shifted.
struct Slot {
    size_t word = 0;          // first word of its part
    size_t string = 0;        // first byte of its strings
    uint32_t first_id = 0;    // id of its first type
    uint32_t plain_count = 0; // plain types; its VARs follow
    uint32_t plain_words = 0;
    uint32_t string_shift = 0;
    std::vector<uint32_t> ids;  // new id by old id - first; empty: contiguous, see new_id()
    std::vector<uint32_t> vars; // new id by variable; 0: left out
};

class Assembler
{
public:
    Assembler(const std::vector<Object> &objects, const Located &located,
              const Functions &functions, const Variables &variables, const Btf *base,
              unsigned threads)
        : objects_(objects), located_(located), functions_(functions), variables_(variables),
          base_(base), threads_(threads), slots_(objects.size())
    {
    }

    Result<Assembled> run()
    {
        RETURN_IF_ERROR(plan());
        parallel_for(objects_.size(), threads_, [&](size_t i) {
            if (!located_.not_linked[i])
                fill(objects_[i], slots_[i], variables_.kept[i]);
        });
        for (const SelectedFunction &f : functions_.selected)
            add_function(f);
        for (const DataSection &section : variables_.sections)
            add_datasec(section);
        if (out_.words.size() > UINT32_MAX / 4 || string_base() + out_.strings.size() > INT32_MAX)
            return fail(objects_.front().where, too_much);
        out_.types = next_id_ - first_id();
        return std::move(out_);
    }

private:
    static constexpr const char *too_much = "the inputs together have more BTF than one blob "
                                            "can hold (4 GB of types, 2 GB of strings)";

    uint32_t first_id() const { return base_ ? raw(base_->end_id()) : 1; }
    uint64_t string_base() const { return base_ ? base_->str_base() + base_->str_size() : 0; }

    static uint32_t words_of(const btf_type &t)
    {
        return btf::words_of(btf::kinds[btf::kind_of(t)], btf::vlen_of(t));
    }

    Result<void> plan()
    {
        uint64_t word = 0;
        uint64_t id = first_id();
        uint64_t string = base_ ? 0 : 1; // without a base the first string is empty
        for (size_t i = 0; i < objects_.size(); ++i) {
            if (located_.not_linked[i])
                continue;
            const Object &o = objects_[i];
            Slot &slot = slots_[i];
            slot.word = word;
            slot.string = string;
            slot.first_id = static_cast<uint32_t>(id);
            slot.string_shift = static_cast<uint32_t>(string_base() + string);
            plan_plain(o, slot);
            word += slot.plain_words;
            id += slot.plain_count;
            slot.vars.resize(o.variables.size());
            for (size_t v = 0; v < o.variables.size(); ++v) {
                if (!variables_.kept[i][v])
                    continue;
                slot.vars[v] = static_cast<uint32_t>(id++);
                word += words_of(o.btf.type(o.variables[v].var));
                for (auto [var, tag] : o.tags_of(o.variables[v].var)) {
                    word += words_of(o.btf.type(tag));
                    ++id;
                }
            }
            string += o.btf.str_size();
            if (word > UINT32_MAX / 4 || string_base() + string > INT32_MAX)
                return fail(o.where, too_much);
        }
        next_id_ = static_cast<uint32_t>(id);
        out_.words.resize(word);
        out_.strings.resize(string);
        return {};
    }

    static void plan_plain(const Object &o, Slot &slot)
    {
        if (o.has_trailer) {
            TypeId end = o.trailer.plain_end;
            slot.plain_count = raw(end) - raw(o.btf.first_id());
            slot.plain_words = end == o.btf.end_id() ? static_cast<uint32_t>(o.btf.words().size())
                                                     : o.btf.word_index(end);
            return;
        }
        slot.ids.resize(o.btf.size());
        for (TypeId t = o.btf.first_id(); t < o.btf.end_id(); t = TypeId{raw(t) + 1}) {
            if (!o.is_plain(t))
                continue;
            slot.ids[raw(t) - raw(o.btf.first_id())] = slot.first_id + slot.plain_count++;
            slot.plain_words += words_of(o.btf.type(t));
        }
    }

    /// Ids of plain types and void.
    static uint32_t new_id(const Slot &slot, uint32_t id)
    {
        if (id == 0)
            return 0;
        return slot.ids.empty() ? slot.first_id + (id - 1) : slot.ids[id - 1];
    }
    static uint32_t new_str(const Slot &slot, uint32_t offset)
    {
        return offset ? offset + slot.string_shift : 0;
    }

    static void shift(const Slot &slot, btf_type &t)
    {
        btf::for_each_type_id(t, [&](uint32_t &id) { id = new_id(slot, id); });
        btf::for_each_str_off(t, [&](uint32_t &off) { off = new_str(slot, off); });
    }

    void fill(const Object &o, const Slot &slot, const std::vector<bool> &kept)
    {
        std::memcpy(out_.strings.data() + slot.string, o.btf.strings().data(), o.btf.str_size());
        uint32_t *out = out_.words.data() + slot.word;
        if (slot.ids.empty()) {
            std::copy_n(o.btf.words().data(), slot.plain_words, out); // may be none, at no place
            uint32_t *end = out + slot.plain_words;
            while (out != end) {
                auto &t = *reinterpret_cast<btf_type *>(out);
                shift(slot, t);
                out += words_of(t);
            }
        } else {
            for (TypeId t = o.btf.first_id(); t < o.btf.end_id(); t = TypeId{raw(t) + 1})
                if (o.is_plain(t))
                    shift(slot, copy(o.btf.type(t), out));
        }
        for (size_t v = 0; v < o.variables.size(); ++v) {
            if (!kept[v])
                continue;
            shift(slot, copy(o.btf.type(o.variables[v].var), out));
            for (auto [var, tag] : o.tags_of(o.variables[v].var)) {
                btf_type &t = copy(o.btf.type(tag), out);
                t.name_off = new_str(slot, t.name_off);
                t.type = slot.vars[v];
            }
        }
    }

    static btf_type &copy(const btf_type &t, uint32_t *&out)
    {
        uint32_t words = words_of(t);
        std::memcpy(out, &t, size_t{words} * 4);
        auto &copied = *reinterpret_cast<btf_type *>(out);
        out += words;
        return copied;
    }

    uint32_t append(std::initializer_list<uint32_t> words)
    {
        out_.words.insert(out_.words.end(), words);
        return next_id_++;
    }

    uint32_t add_string(std::string_view text)
    {
        auto offset = static_cast<uint32_t>(string_base() + out_.strings.size());
        out_.strings += text;
        out_.strings += '\0';
        return offset;
    }

    /// Ids of marked pointers in place of those that `arena` names; 0: none.
    std::array<uint32_t, arena_slots> add_arena_pointers(const Object &o, const Slot &slot,
                                                         const LinkFunction &f, uint8_t arena)
    {
        std::array<uint32_t, arena_slots> pointers{};
        if (!arena)
            return pointers;
        std::vector<TypeId> types = prototype_of(o, f);
        if (!arena_string_)
            arena_string_ = add_string(arena_tag);
        for (uint32_t i = 0; i < arena_slots; ++i) {
            if (!(arena >> i & 1))
                continue;
            uint32_t tag = append({arena_string_, btf::make_info(BTF_KIND_TYPE_TAG, 0, true),
                                   new_id(slot, o.btf.type(types[i]).type)});
            pointers[i] = append({0, btf::make_info(BTF_KIND_PTR, 0, false), tag});
        }
        return pointers;
    }

    /// The prototype of a function; of its own if it has arena pointers.
    uint32_t add_prototype(const Object &o, const Slot &slot, const LinkFunction &f, uint8_t arena)
    {
        auto pointers = add_arena_pointers(o, slot, f, arena);
        size_t begin = out_.words.size();
        uint32_t id = add_plain_prototype(o, slot, f, arena != 0);
        if (arena)
            set_pointers(*reinterpret_cast<btf_type *>(&out_.words[begin]), pointers);
        return id;
    }

    uint32_t add_plain_prototype(const Object &o, const Slot &slot, const LinkFunction &f, bool own)
    {
        if (f.func != void_id) {
            TypeId id{o.btf.type(f.func).type};
            if (o.is_plain(id) && !own)
                return new_id(slot, raw(id));
            const btf_type &t = o.btf.type(id);
            size_t at = out_.words.size();
            out_.words.resize(at + words_of(t));
            uint32_t *place = out_.words.data() + at;
            shift(slot, copy(t, place));
            return next_id_++;
        }
        const uint32_t *w = &o.trailer.proto_words[f.proto];
        uint32_t count = w[1];
        uint32_t id =
            append({0, btf::make_info(BTF_KIND_FUNC_PROTO, count, false), new_id(slot, w[0])});
        for (w += 2; count; --count, w += 2) {
            out_.words.push_back(new_str(slot, w[0]));
            out_.words.push_back(new_id(slot, w[1]));
        }
        return id;
    }

    void add_function(const SelectedFunction &selected)
    {
        const Object &o = objects_[selected.object];
        const Slot &slot = slots_[selected.object];
        const LinkFunction &f = o.trailer.functions[selected.record];
        uint32_t proto = add_prototype(o, slot, f, selected.arena);
        uint32_t name =
            selected.clone.empty() ? new_str(slot, raw(f.name)) : add_string(selected.clone);
        uint32_t func =
            append({name, btf::make_info(BTF_KIND_FUNC, BTF_FUNC_STATIC, false), proto});
        for (const Instance &tagged : functions_.tagged_of(selected))
            for (auto [target, tag] : tags_of(objects_, tagged)) {
                const btf_type &t = objects_[tagged.object].btf.type(tag);
                append(
                    {new_str(slots_[tagged.object], t.name_off), t.info, func, btf::tail_of(t)[0]});
            }
        if (!selected.is_kfunc)
            return;
        constexpr uint32_t kf_fastcall = 0x1000;
        constexpr auto whole = static_cast<uint32_t>(-1); // not one of its parameters
        uint32_t info = btf::make_info(BTF_KIND_DECL_TAG, 0, false);
        if (!kfunc_string_)
            kfunc_string_ = add_string("bpf_kfunc");
        append({kfunc_string_, info, func, whole});
        if (!(selected.kfunc_flags & kf_fastcall))
            return;
        if (!fastcall_string_)
            fastcall_string_ = add_string("bpf_fastcall");
        append({fastcall_string_, info, func, whole});
    }

    void add_datasec(const DataSection &section)
    {
        append(
            {add_string(section.name),
             btf::make_info(BTF_KIND_DATASEC, static_cast<uint32_t>(section.entries.size()), false),
             section.size});
        for (const SelectedVariable &v : section.entries)
            out_.words.insert(out_.words.end(), {slots_[v.object].vars[v.index], v.offset,
                                                 objects_[v.object].variables[v.index].size});
    }

    const std::vector<Object> &objects_;
    const Located &located_;
    const Functions &functions_;
    const Variables &variables_;
    const Btf *base_;
    unsigned threads_;
    std::vector<Slot> slots_;
    Assembled out_;
    uint32_t next_id_ = 1;
    uint32_t kfunc_string_ = 0, fastcall_string_ = 0, arena_string_ = 0;
};

} // namespace

void set_pointers(btf_type &proto, const std::array<uint32_t, arena_slots> &pointers)
{
    uint32_t slot = 0;
    btf::for_each_type_id(proto, [&](uint32_t &id) {
        if (slot < arena_slots && pointers[slot])
            id = pointers[slot];
        ++slot;
    });
}

Result<Assembled> assemble(const std::vector<Object> &objects, const Located &located,
                           const Functions &functions, const Variables &variables, const Btf *base,
                           unsigned threads)
{
    return Assembler(objects, located, functions, variables, base, threads).run();
}

std::vector<std::byte> to_blob(std::span<const uint32_t> words, std::string_view strings,
                               ByteOrder order)
{
    std::vector<std::byte> blob(btf::header_size + words.size_bytes() + strings.size());
    auto type_len = static_cast<uint32_t>(words.size_bytes());
    std::byte *p = blob.data();
    store<uint16_t>(p, BTF_MAGIC, order);
    p[2] = std::byte{BTF_VERSION};
    store<uint32_t>(p + 4, btf::header_size, order);
    store<uint32_t>(p + 12, type_len, order);
    store<uint32_t>(p + 16, type_len, order);
    store<uint32_t>(p + 20, static_cast<uint32_t>(strings.size()), order);
    p += btf::header_size;
    if (order == host_order)
        std::ranges::copy(std::as_bytes(words), p); // memcpy() takes no null, of nothing either
    else
        for (size_t i = 0; i < words.size(); ++i)
            store(p + i * 4, words[i], order);
    if (!strings.empty())
        std::memcpy(p + words.size_bytes(), strings.data(), strings.size());
    return blob;
}

} // namespace btflink::merge
