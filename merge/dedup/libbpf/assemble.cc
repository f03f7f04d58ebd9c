// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Assembles one blob with all duplicates, the input of btf__dedup.
//
// Problem. Thousands of blobs, hundreds of megabytes, each with its own ids and string offsets,
// become one blob.
//
// Method. The plain types of an object are copied, with ids and string offsets shifted by the size
// of everything before; its selected VARs follow. All sizes are known beforehand, so each object
// has its own part of the result, and all parts are filled independently. Then come the functions,
// sorted by name, and the DATASECs.
//
// Invariant. Types are in the order of objects and, within an object, of its blob. btf__dedup keeps
// the first of equal types, so the final order depends only on link order.
//
// Cost. Each word is copied once and read once more.
#include "merge/dedup/libbpf/assemble.h"

#include "common/io/parallel.h"
#include "merge/link/link_part.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

/// The position of an object's part, and the shift of its ids and strings.
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
    Assembler(const std::vector<Object> &objects, const Locations &locations,
              const Functions &functions, const Variables &variables, const Btf *base,
              unsigned threads)
        : objects_(objects), locations_(locations), functions_(functions), variables_(variables),
          base_(base), threads_(threads), slots_(objects.size())
    {
    }

    Result<Assembled> run()
    {
        TRY(plan());
        parallel_for(objects_.size(), threads_, [&](size_t i) {
            if (!locations_.not_linked[i])
                fill(objects_[i], slots_[i], variables_.kept[i]);
        });
        LinkPart(objects_, functions_, variables_, *this).write();
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

    Result<void> plan()
    {
        uint64_t word = 0;
        uint64_t id = first_id();
        uint64_t string = base_ ? 0 : 1; // without a base the first string is empty
        for (size_t i = 0; i < objects_.size(); ++i) {
            if (locations_.not_linked[i])
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
                word += btf::words_of(o.btf.type(o.variables[v].var));
                for (auto [var, tag] : o.tags_of(o.variables[v].var)) {
                    word += btf::words_of(o.btf.type(tag));
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
        for (TypeId t : o.btf.ids()) {
            if (!o.is_plain(t))
                continue;
            slot.ids[raw(t) - raw(o.btf.first_id())] = slot.first_id + slot.plain_count++;
            slot.plain_words += btf::words_of(o.btf.type(t));
        }
    }

    /// The new ids of plain types and void.
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
            std::copy_n(o.btf.words().data(), slot.plain_words, out); // an empty span may be null
            uint32_t *end = out + slot.plain_words;
            while (out != end) {
                auto &t = *reinterpret_cast<btf_type *>(out);
                shift(slot, t);
                out += btf::words_of(t);
            }
        } else {
            for (TypeId t : o.btf.ids())
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
        uint32_t words = btf::words_of(t);
        std::memcpy(out, &t, size_t{words} * 4);
        auto &copied = *reinterpret_cast<btf_type *>(out);
        out += words;
        return copied;
    }

    uint32_t add_string(std::string_view text)
    {
        auto offset = static_cast<uint32_t>(string_base() + out_.strings.size());
        out_.strings += text;
        out_.strings += '\0';
        return offset;
    }

    // The interface for LinkPart.
    friend class LinkPart<Assembler>;
    std::vector<uint32_t> &words() { return out_.words; }
    uint32_t finish(size_t) { return next_id_++; }
    uint32_t finish_named(size_t) { return next_id_++; }
    uint32_t finish_unique(size_t) { return next_id_++; }
    uint32_t id(uint32_t object, uint32_t type) const { return new_id(slots_[object], type); }
    uint32_t text(uint32_t object, uint32_t offset) const
    {
        return new_str(slots_[object], offset);
    }
    uint32_t text(std::string_view text)
    {
        auto [found, is_new] = added_.try_emplace(text);
        if (is_new)
            found->second = add_string(text);
        return found->second;
    }
    uint32_t var(const SelectedVariable &v) const { return slots_[v.object].vars[v.index]; }
    const SelectedFunction &next_function(const SelectedFunction &f) const { return f; }
    uint32_t prototype_id(const SelectedFunction &f) const
    {
        const TypeId plain = plain_prototype(objects_, f);
        return plain == void_id ? 0 : id(f.object, raw(plain));
    }
    void append_prototype(const SelectedFunction &f)
    {
        const Object &o = objects_[f.object];
        merge::append_prototype(
            prototype_of(o, o.trailer.functions[f.record]), out_.words,
            [&](uint32_t type) { return id(f.object, type); },
            [&](uint32_t offset) { return text(f.object, offset); });
    }
    uint32_t function_name(const SelectedFunction &f)
    {
        const LinkFunction &record = objects_[f.object].trailer.functions[f.record];
        return f.clone.empty() ? text(f.object, raw(record.name)) : text(f.clone);
    }

    const std::vector<Object> &objects_;
    const Locations &locations_;
    const Functions &functions_;
    const Variables &variables_;
    const Btf *base_;
    unsigned threads_;
    std::vector<Slot> slots_;
    Assembled out_;
    uint32_t next_id_ = 1;
    std::unordered_map<std::string_view, uint32_t> added_; // strings that no object has
};

} // namespace

Result<Assembled> assemble(const std::vector<Object> &objects, const Locations &locations,
                           const Functions &functions, const Variables &variables, const Btf *base,
                           unsigned threads)
{
    return Assembler(objects, locations, functions, variables, base, threads).run();
}

} // namespace btflink::merge
