// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Assembles one blob with all duplicates, the input of btf__dedup.
//
// Problem. Thousands of blobs, hundreds of megabytes, each with its own ids and string offsets,
// become one blob.
//
// Method. Object by object, its plain types and then its selected VARs get the next ids; all are
// copied with these ids, and with string offsets shifted by what came before. Then the functions,
// sorted by name, and the DATASECs.
//
// Invariant. Types are in the order of objects and, within an object, of its blob. btf__dedup keeps
// the first of equal types, so the final order depends only on link order.
//
// Cost. Each word is copied once and looked at once more. libbpf takes far longer.
#include "merge/dedup/libbpf/assemble.h"

#include "merge/link/link_part.h"

#include <algorithm>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

constexpr size_t most_words = UINT32_MAX / 4;

/// The numbers of an object's types and strings in the result.
struct NewNumbers {
    std::vector<uint32_t> ids;  // by id; 0: void, or of the link part
    std::vector<uint32_t> vars; // by variable; 0: left out
    uint32_t string_shift = 0;

    uint32_t text(uint32_t offset) const { return offset ? offset + string_shift : 0; }
};

class Assembler
{
public:
    Assembler(const std::vector<Object> &objects, const Locations &locations,
              const Functions &functions, const Variables &variables, const Btf *base)
        : objects_(objects), locations_(locations), functions_(functions), variables_(variables),
          string_base_(base ? base->str_base() + uint64_t{base->str_size()} : 0),
          first_id_(base ? raw(base->end_id()) : 1), next_id_(first_id_), numbers_(objects.size())
    {
        if (!base)
            out_.strings.push_back('\0');
    }

    Result<Assembled> run()
    {
        size_t words = 0;
        for (const Object &o : objects_)
            words += o.btf.words().size();
        out_.words.reserve(std::min(words, most_words));
        for (size_t i = 0; i < objects_.size(); ++i)
            if (!locations_.not_linked[i]) {
                add(objects_[i], variables_.kept[i], numbers_[i]);
                TRY(check_size(objects_[i]));
            }
        LinkPart(objects_, functions_, variables_, *this).write();
        TRY(check_size(objects_.front()));
        out_.types = next_id_ - first_id_;
        return std::move(out_);
    }

private:
    Result<void> check_size(const Object &blamed) const
    {
        if (out_.words.size() <= most_words && string_base_ + out_.strings.size() <= INT32_MAX)
            return {};
        return fail(blamed.where, "the inputs together have more BTF than one blob can hold (4 GB "
                                  "of types, 2 GB of strings)");
    }

    void add(const Object &o, const std::vector<bool> &kept, NewNumbers &numbers)
    {
        numbers.string_shift = static_cast<uint32_t>(string_base_ + out_.strings.size());
        out_.strings += o.btf.strings();
        numbers.ids.resize(raw(o.btf.end_id()));
        for (TypeId id : o.btf.ids())
            if (o.is_plain(id))
                numbers.ids[raw(id)] = next_id_++;
        numbers.vars.resize(o.variables.size());
        for (size_t v = 0; v < o.variables.size(); ++v)
            if (kept[v]) {
                numbers.vars[v] = next_id_++;
                next_id_ += static_cast<uint32_t>(o.tags_of(o.variables[v].var).size());
            }
        for (TypeId id : o.btf.ids())
            if (o.is_plain(id))
                copy(o.btf.type(id), numbers);
        for (size_t v = 0; v < o.variables.size(); ++v) {
            if (!kept[v])
                continue;
            copy(o.btf.type(o.variables[v].var), numbers);
            for (auto [var, tag] : o.tags_of(o.variables[v].var))
                copy(o.btf.type(tag), numbers).type = numbers.vars[v];
        }
    }

    btf_type &copy(const btf_type &t, const NewNumbers &numbers)
    {
        const std::span words = btf::all_words(t);
        const size_t begin = out_.words.size();
        out_.words.insert(out_.words.end(), words.begin(), words.end());
        auto &copied = *reinterpret_cast<btf_type *>(out_.words.data() + begin);
        btf::for_each_type_id(copied, [&](uint32_t &id) { id = numbers.ids[id]; });
        btf::for_each_str_off(copied, [&](uint32_t &off) { off = numbers.text(off); });
        return copied;
    }

    uint32_t add_string(std::string_view text)
    {
        auto offset = static_cast<uint32_t>(string_base_ + out_.strings.size());
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
    uint32_t id(uint32_t object, uint32_t type) const { return numbers_[object].ids[type]; }
    uint32_t text(uint32_t object, uint32_t offset) const { return numbers_[object].text(offset); }
    uint32_t text(std::string_view text)
    {
        auto [found, is_new] = added_.try_emplace(text);
        if (is_new)
            found->second = add_string(text);
        return found->second;
    }
    uint32_t var(const SelectedVariable &v) const { return numbers_[v.object].vars[v.index]; }
    const std::vector<Object> &objects_;
    const Locations &locations_;
    const Functions &functions_;
    const Variables &variables_;
    const uint64_t string_base_;
    const uint32_t first_id_;
    uint32_t next_id_;
    std::vector<NewNumbers> numbers_; // by object
    Assembled out_;
    std::unordered_map<std::string_view, uint32_t> added_; // strings that no object has
};

} // namespace

Result<Assembled> assemble(const std::vector<Object> &objects, const Locations &locations,
                           const Functions &functions, const Variables &variables, const Btf *base)
{
    return Assembler(objects, locations, functions, variables, base).run();
}

} // namespace btflink::merge
