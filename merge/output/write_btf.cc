// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the result: one type id per final class, one offset per string.
//
// Problem. Final classes are scattered over thousands of blobs. The result must not depend on the
// engine or the threads, and must have the order of btf__dedup.
//
// Method. First ids: classes in the order of their lowest types; each object's VARs follow its
// classes. Then words: each class is a copy of its canonical type with translated ids and strings.
// Then functions by name, and DATASECs. Prototypes, FUNCs and tags on functions are compared by
// their final words with each other, with prototypes among the plain types, and with those of the
// base: a module's FUNC that the base also has is left out.
//
// Strings get their offsets in the order in which the inputs first refer to them, even from types
// that are not in the result, such as resolved forward declarations.
//
// Cost. Proportional to the result, not to the input.
#include "merge/output/write_btf.h"

#include "common/btf/btf_builder.h"
#include "merge/dedup/hash_bits.h"
#include "merge/link/link_part.h"
#include "merge/output/string_table.h"

#include <algorithm>

namespace btflink::merge
{

namespace
{

/// Finds types by their words.
class WordIndex
{
public:
    /// `base`: an index of the base, whose types count as added; may be null.
    explicit WordIndex(const BaseIndex *base) : base_(base) {}

    /// The id of the type with these words: that of an earlier one, or `id`.
    uint32_t add(std::span<const uint32_t> words, uint32_t id)
    {
        auto [number, is_new] = types_.add(words);
        if (is_new) {
            const TypeId found = base_ ? base_->find_words(words) : void_id;
            ids_.push_back(found != void_id ? raw(found) : id);
        }
        return ids_[number];
    }
    /// Adds a type that does not equal any of the base.
    void add_own(std::span<const uint32_t> words, uint32_t id)
    {
        if (types_.add(words).second)
            ids_.push_back(id);
    }

private:
    const BaseIndex *base_;
    VectorIndex types_;
    std::vector<uint32_t> ids_; // by number
};

class ResultWriter
{
public:
    ResultWriter(const std::vector<Object> &objects, const Sources &sources,
                 const Partition &partition, const Functions &functions, const Variables &variables,
                 const BaseIndex *index)
        : objects_(objects), sources_(sources), partition_(partition), functions_(functions),
          variables_(variables), base_(sources.has_base ? sources.list[0].btf : nullptr),
          strings_(base_, index, 2 * partition.classes.size() + functions.selected.size()),
          index_(index), ids_(partition.classes.size()), var_ids_(objects.size())
    {
    }

    Result<std::vector<std::byte>> run(ByteOrder order, const Where &where,
                                       std::launch second_thread)
    {
        sort_classes();
        number();
        auto collected = std::async(second_thread, [this] {
            return collect_functions(objects_, functions_, [this](uint32_t object, uint32_t type) {
                return id(object, type);
            });
        });
        write_plain();
        const FunctionWords function_words = collected.get();
        LinkPart(objects_, functions_, function_words, variables_, *this).write();
        if (out_.size() > UINT32_MAX / 4 || strings_.blob().size() > INT32_MAX)
            return fail(where, "the result has more BTF than one blob can hold");
        return btf_blob(out_, strings_.blob(), order);
    }

private:
    void sort_classes()
    {
        order_.reserve(partition_.classes.size());
        for (ClassId c : partition_.classes.ids())
            order_.push_back(c);
        auto first = [&](ClassId c) { return std::pair(partition_.classes[c].first, c); };
        // Nearly all are sorted; only classes appended by split_conflicts() are not.
        auto before = [&](ClassId a, ClassId b) { return first(a) < first(b); };
        auto rest = std::is_sorted_until(order_.begin(), order_.end(), before);
        std::sort(rest, order_.end(), before);
        std::inplace_merge(order_.begin(), rest, order_.end(), before);
    }

    /// Calls visit(tag id) for the DECL_TAGs of a variable, once for equal tags.
    template <typename Visit>
    static void for_tags(const Object &o, TypeId target, Visit visit)
    {
        auto tags = o.tags_of(target);
        for (auto it = tags.begin(); it != tags.end(); ++it) {
            bool seen = std::any_of(tags.begin(), it, [&](const auto &other) {
                const btf_type &a = o.btf.type(it->second), &b = o.btf.type(other.second);
                return a.info == b.info && btf::tail_of(a)[0] == btf::tail_of(b)[0] &&
                       o.btf.str(a.name_off) == o.btf.str(b.name_off);
            });
            if (!seen)
                visit(it->second);
        }
    }

    void number()
    {
        next_id_ = base_ ? raw(base_->end_id()) : 1;
        size_t next = 0;
        auto number_source = [&](uint32_t s) {
            for (; next < order_.size() && partition_.classes[order_[next]].first.source == s;
                 ++next) {
                ClassId c = order_[next];
                if (partition_.is_live(c))
                    ids_[c] =
                        sources_.is_base(s) ? raw(partition_.classes[c].first.type) : next_id_++;
            }
        };
        if (sources_.has_base)
            number_source(0);
        for (size_t i = 0; i < objects_.size(); ++i) {
            if (sources_.of_object[i] == UINT32_MAX)
                continue;
            number_source(sources_.of_object[i]);
            const Object &o = objects_[i];
            var_ids_[i].resize(o.variables.size());
            for (size_t v = 0; v < o.variables.size(); ++v) {
                if (!variables_.kept[i][v])
                    continue;
                var_ids_[i][v] = next_id_++;
                for_tags(o, o.variables[v].var, [&](TypeId) { ++next_id_; });
            }
        }
    }

    uint32_t id_in(uint32_t source, uint32_t type) const
    {
        return type ? ids_[partition_.class_of(sources_.index(source, TypeId{type}))] : 0;
    }

    /// Appends a type of a source, with translated ids and strings.
    void copy(uint32_t source, const btf_type &t)
    {
        const size_t begin = out_.size();
        append_words(out_, t);
        auto &mine = *reinterpret_cast<btf_type *>(out_.data() + begin);
        const Btf &btf = *sources_.list[source].btf;
        btf::for_each_str_off(mine, [&](uint32_t &off) { off = strings_.add(btf.str(off)); });
        btf::for_each_type_id(mine, [&](uint32_t &ref) { ref = id_in(source, ref); });
    }

    static void append_words(std::vector<uint32_t> &to, const btf_type &t)
    {
        const auto *words = reinterpret_cast<const uint32_t *>(&t);
        const size_t begin = to.size(), count = btf::words_of(t);
        to.insert(to.end(), words, words + count);
        // If this fails, a mapped input file has changed.
        CHECK(btf::words_of(*reinterpret_cast<const btf_type *>(to.data() + begin)) == count);
    }

    void write_plain()
    {
        // More words than the average type has; unused pages cost nothing.
        out_.reserve(order_.size() * 16);
        size_t next = 0;
        while (next < order_.size() && sources_.is_base(first_of(next).source))
            ++next;
        for (size_t i = 0; i < objects_.size(); ++i) {
            uint32_t s = sources_.of_object[i];
            if (s == UINT32_MAX)
                continue;
            for (; next < order_.size() && first_of(next).source == s; ++next)
                write_class(order_[next]);
            const Object &o = objects_[i];
            for (size_t v = 0; v < o.variables.size(); ++v) {
                if (!variables_.kept[i][v])
                    continue;
                copy(s, o.btf.type(o.variables[v].var));
                for_tags(o, o.variables[v].var, [&](TypeId tag) {
                    append_tag(strings_.add(o.btf.name(tag)), o.btf.type(tag).info, var_ids_[i][v],
                               btf::tail_of(o.btf.type(tag))[0]);
                });
            }
        }
    }

    TypeAt first_of(size_t place) const { return partition_.classes[order_[place]].first; }

    /// A type that is not in the result still gives its strings offsets.
    void write_class(ClassId number)
    {
        const FinalClass &c = partition_.classes[number];
        const bool is_live = partition_.is_live(number);
        const TypeAt at = is_live ? c.canonical : c.first;
        const Btf &btf = *sources_.list[at.source].btf;
        const btf_type &t = sources_.type(at);
        if (!is_live)
            return btf::for_each_str_off(t, [&](uint32_t off) { strings_.add(btf.str(off)); });
        const size_t begin = out_.size();
        append_words(out_, t);
        auto &mine = *reinterpret_cast<btf_type *>(out_.data() + begin);
        const bool recurs = may_recur(btf, mine); // before ids are translated
        btf::for_each_str_off(mine, [&](uint32_t &off) { off = strings_.add(btf.str(off)); });
        if (c.refs == no_refs)
            btf::for_each_type_id(mine, [&](uint32_t &ref) { ref = id_in(at.source, ref); });
        else
            btf::for_each_type_id(
                mine, [&, next = partition_.refs[c.refs].begin()](uint32_t &ref) mutable {
                    const ClassId to = *next++;
                    ref = to == ClassId::none ? 0 : ids_[partition_.alias[to]];
                });
        if (recurs)
            index_.add_own(std::span(out_).subspan(begin), ids_[number]);
    }

    /// The words from `begin` on are a type of the link part. Drops them if there is an equal type.
    uint32_t finish(size_t begin)
    {
        uint32_t found = index_.add(std::span(out_).subspan(begin), next_id_);
        if (found == next_id_)
            ++next_id_;
        else
            out_.resize(begin);
        return found;
    }

    void append_tag(uint32_t text, uint32_t info, uint32_t target, uint32_t component)
    {
        out_.insert(out_.end(), {text, info, target, component});
    }

    // The interface for LinkPart.
    friend class LinkPart<ResultWriter>;
    std::vector<uint32_t> &words() { return out_; }
    // Without a base there is one per name, so none are equal.
    uint32_t finish_named(size_t begin) { return base_ ? finish(begin) : next_id_++; }
    uint32_t finish_unique(size_t) { return next_id_++; }
    uint32_t id(uint32_t object, uint32_t type) const
    {
        return id_in(sources_.of_object[object], type);
    }
    uint32_t text(uint32_t object, uint32_t offset)
    {
        return strings_.add(objects_[object].btf.str(offset));
    }
    uint32_t text(std::string_view text) { return strings_.add(text); }
    uint32_t var(const SelectedVariable &v) const { return var_ids_[v.object][v.index]; }
    const std::vector<Object> &objects_;
    const Sources &sources_;
    const Partition &partition_;
    const Functions &functions_;
    const Variables &variables_;
    const Btf *base_;
    ResultStrings strings_;
    WordIndex index_;
    IdVector<ClassId, uint32_t> ids_;            // of types in the result
    std::vector<std::vector<uint32_t>> var_ids_; // per object and variable
    std::vector<ClassId> order_;                 // classes by their lowest types
    std::vector<uint32_t> out_;
    uint32_t next_id_ = 1;
};

} // namespace

Result<std::vector<std::byte>> write_types(const std::vector<Object> &objects,
                                           const Sources &sources, const Partition &partition,
                                           const Functions &functions, const Variables &variables,
                                           const BaseIndex *index, ByteOrder order,
                                           const Where &where, std::launch second_thread)
{
    return ResultWriter(objects, sources, partition, functions, variables, index)
        .run(order, where, second_thread);
}

} // namespace btflink::merge
