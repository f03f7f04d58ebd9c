// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes over one unit in order, from its entries to its contribution.
#include "emit/unit/unit_object.h"
#include "common/btf/btf_mend.h"
#include "common/btf/name_rules.h"
#include "common/object_btf/address_pool.h"
#include "common/object_btf/link_trailer.h"
#include "emit/unit/legal_names.h"
#include "emit/unit/unit_dedup.h"
#include "emit/unit/unit_functions.h"
#include "emit/unit/unit_types.h"
#include "emit/unit/unit_variables.h"

#include <algorithm>
#include <map>
#define XXH_INLINE_ALL // short inputs: a call costs as much as the hash
#include <xxhash.h>

namespace btflink::emit
{

namespace
{

/// Lays out the final blob and its trailer from the passes' results.
class UnitAssembler
{
public:
    /// `hashes`: stub hashes of `types`.
    UnitAssembler(const UnitFile &file, const UnitOptions &options, BtfBuilder types,
                  const UnitDedup &dedup, std::vector<Hash128> hashes)
        : file_(file), open_(options.strings), types_before_(raw(types.next_id()) - 1)
    {
        map_.assign(types_before_ + 1, void_id);
        uint32_t next = 1;
        for (uint32_t id = 1; id < map_.size(); ++id) {
            TypeId first = dedup.representative[id];
            map_[id] = first == TypeId{id} ? TypeId{next++} : map_[raw(first)];
        }
        if (dedup.any) {
            types.renumber(std::span(map_).subspan(1));
            for (uint32_t id = 1; id < map_.size(); ++id) // the first of a class comes first
                if (dedup.representative[id] == TypeId{id})
                    hashes[raw(map_[id]) - 1] = hashes[id - 1];
            hashes.resize(next - 1);
        }
        btf_ = std::move(types);
        trailer_.hashes = std::move(hashes);
        trailer_.plain_end = btf_.next_id();
        for (const std::string &name : dedup.ambiguous)
            trailer_.ambiguous.push_back(btf_.str(name));
        trailer_.features = options.features;
        trailer_.emitter = BTFLINK_VERSION_NUMBER;
        if (options.address_pool && file.relocatable)
            trailer_.flags |= trailer_has_pool;
        if (!file.relocatable)
            trailer_.flags |= trailer_final_addresses;
        if (options.by_compiler)
            trailer_.flags |= trailer_by_compiler;
    }

    void source(const char *name) { trailer_.source = btf_.str(name ? name : ""); }

    void variables(const std::vector<VariableCandidate> &candidates)
    {
        for (const VariableCandidate &v : candidates) {
            uint32_t linkage = v.flags & var_external ? BTF_VAR_GLOBAL_ALLOCATED : BTF_VAR_STATIC;
            TypeId id = btf_.add_var(v.name, map_[raw(v.type)], linkage);
            for (std::string_view tag : v.tags)
                btf_.add_decl_tag(tag, id, -1);
            trailer_.variables.push_back(
                {id, btf_.str(v.section), pool_index(v.address), v.size, v.flags});
            if (v.address.section || v.address.is_final)
                sections_[v.section].push_back({id, &v});
        }
    }

    /// Prototypes of functions that may get an address go into the blob as FUNCs; inline-only
    /// instances are needed for comparison alone and stay in the trailer.
    void functions(const std::vector<FunctionCandidate> &candidates)
    {
        for (uint32_t id = 1; id < raw(btf_.next_id()); ++id)
            if (const btf_type &t = btf_.type(TypeId{id}); btf::kind_of(t) == btf::Kind::FUNC_PROTO)
                find_proto(TypeId{t.type}, proto_words(TypeId{id}), TypeId{id});
        fold(candidates);
        for (const Instance &instance : instances_)
            trailer_.functions.push_back(record(*instance.candidate, instance.flags));
        for (uint32_t i = 0; i < instances_.size(); ++i) {
            const FunctionCandidate *truth = instances_[i].candidate->truth.get();
            if (!truth)
                continue;
            trailer_.true_signatures.push_back(record(*truth, truth->flags));
            trailer_.true_signatures.back().instance = i;
        }
    }

    Result<UnitObject> finish(Skips skips)
    {
        datasecs();
        CHECK(!btf_.too_large());
        UnitObject out;
        out.skips = std::move(skips);
        if (btf_.next_id() == TypeId{1} && trailer_.functions.empty())
            return out;
        // From here on the blob is complete.
        Btf view = btf_.view();
        if (!open_)
            complete_stub_hashes(view, trailer_.hashes);
        loose_hashes(view);
        trailer_.pool_entries = static_cast<uint32_t>(pool_.size());
        if (trailer_.flags & trailer_final_addresses)
            for (const AddressRef &address : pool_)
                trailer_.addresses.push_back(address.offset);

        if (!open_)
            serialize(out);
        out.btf_relocs = std::move(btf_relocs_);
        out.object_id = trailer_.object_id;
        if (trailer_.flags & trailer_has_pool) {
            out.has_pool = true;
            out.pool_entries = trailer_.pool_entries;
            for (uint32_t i = 0; i < pool_.size(); ++i)
                out.pool_relocs.push_back({pool_entry_offset(i + 1, file_.arch.address_size),
                                           pool_[i].symbol, pool_[i].addend});
        }
        out.types_before = types_before_;
        out.types = raw(btf_.next_id()) - 1;
        out.functions = static_cast<uint32_t>(trailer_.functions.size());
        for (const LinkFunction &f : trailer_.functions)
            out.inline_only += f.func == void_id;
        out.variables = static_cast<uint32_t>(trailer_.variables.size());
        if (open_) {
            out.blob_size = btf_.words() * sizeof(uint32_t);
            out.size = out.blob_size + trailer_room(trailer_);
            out.open = std::make_unique<OpenUnit>(
                OpenUnit{std::move(btf_), std::move(trailer_), file_.order});
        }
        return out;
    }

private:
    void serialize(UnitObject &out)
    {
        out.contribution = btf_.serialize(file_.order, trailer_room(trailer_));
        out.blob_size = out.contribution.size();
        std::vector<std::byte> trailer = encode_trailer(trailer_, out.contribution, file_.order);
        out.contribution.resize(align_up(out.contribution.size(), 8));
        out.contribution.insert(out.contribution.end(), trailer.begin(), trailer.end());
        out.size = out.contribution.size();
    }

    uint32_t pool_index(const AddressRef &address)
    {
        if (!(trailer_.flags & (trailer_has_pool | trailer_final_addresses)))
            return 0;
        auto key = std::pair(address.symbol, address.addend);
        auto [it, added] = pool_slots_.emplace(key, static_cast<uint32_t>(pool_.size()) + 1);
        if (added)
            pool_.push_back(address);
        return it->second;
    }

    LinkFunction record(const FunctionCandidate &f, uint32_t flags)
    {
        LinkFunction out;
        out.name = btf_.str(f.name);
        out.flags = flags;
        if (f.address)
            out.pool_index = pool_index(*f.address);
        if (is_placed(f) || !f.tags.empty()) {
            out.func = btf_.add_func(f.name, proto(f), BTF_FUNC_STATIC);
            for (const FunctionTag &tag : f.tags)
                btf_.add_decl_tag(tag.text, out.func, tag.component);
        } else {
            out.proto = static_cast<uint32_t>(trailer_.proto_words.size());
            auto &words = trailer_.proto_words;
            words.push_back(raw(map_[raw(f.result)]));
            words.push_back(static_cast<uint32_t>(f.params.size()));
            for (const FunctionParam &p : f.params) {
                words.push_back(raw(name_of(p)));
                words.push_back(raw(map_[raw(p.type)]));
            }
        }
        return out;
    }

    StrOff name_of(const FunctionParam &p)
    {
        if (p.member.empty())
            return btf_.str(p.name);
        return btf_.str(std::string(p.name) + "__" + std::string(p.member));
    }

    /// The words of a prototype but for its head.
    std::span<const uint32_t> proto_words(TypeId id)
    {
        const btf_type &t = btf_.type(id);
        return {btf::tail_of(t), size_t{btf::vlen_of(t)} * 2};
    }

    /// The prototype with these words, or `fresh`.
    TypeId find_proto(TypeId result, std::span<const uint32_t> words, TypeId fresh)
    {
        uint64_t hash = XXH3_64bits_withSeed(words.data(), words.size_bytes(), raw(result));
        auto [id, is_new] = protos_.find_or_add(hash, raw(fresh), [&](uint32_t known) {
            return btf_.type(TypeId{known}).type == raw(result) &&
                   std::ranges::equal(proto_words(TypeId{known}), words);
        });
        return TypeId{id};
    }

    TypeId proto(const FunctionCandidate &f)
    {
        TypeId result = map_[raw(f.result)];
        words_.clear();
        for (const FunctionParam &p : f.params) {
            words_.push_back(raw(name_of(p)));
            words_.push_back(raw(map_[raw(p.type)]));
        }
        TypeId id = find_proto(result, words_, btf_.next_id());
        if (id == btf_.next_id()) {
            btf_.add_func_proto(result);
            for (size_t i = 0; i < words_.size(); i += 2)
                btf_.add_param(StrOff{words_[i]}, TypeId{words_[i + 1]});
        }
        return id;
    }

    static bool is_placed(const FunctionCandidate &f)
    {
        return f.flags & (fn_has_address | fn_has_ranges);
    }

    /// An abstract instance and its out-of-line copy are two instances that mostly say the same.
    /// Then they become one: flags that count for all instances of a name add up, the others are
    /// those of the one that has an address. With true signatures these flags count for some
    /// instances only, so they must not differ.
    void fold(const std::vector<FunctionCandidate> &candidates)
    {
        constexpr uint32_t shared = fn_unexpected_reg | fn_uncertain_loc | fn_reordered;
        FlatIndex names(candidates.size());
        std::vector<size_t> last_of_name;
        for (const FunctionCandidate &f : candidates) {
            auto [name, is_new] = names.find_or_add(
                XXH3_64bits(f.name.data(), f.name.size()),
                static_cast<uint32_t>(last_of_name.size()), [&](uint32_t known) {
                    return instances_[last_of_name[known]].candidate->name == f.name;
                });
            if (is_new) {
                last_of_name.push_back(instances_.size());
            } else {
                Instance &last = instances_[last_of_name[name]];
                const FunctionCandidate &other = *last.candidate;
                const bool alike = !trailer_.features.has(Feature::true_signature) ||
                                   (!f.truth && !other.truth && !((f.flags ^ last.flags) & shared));
                if (alike && (!is_placed(f) || !is_placed(other)) && f.result == other.result &&
                    f.params == other.params && f.tags == other.tags) {
                    bool replace = is_placed(f);
                    last.flags =
                        (replace ? f.flags : last.flags) | ((last.flags | f.flags) & shared);
                    if (replace)
                        last.candidate = &f;
                    continue;
                }
                last_of_name[name] = instances_.size();
            }
            instances_.push_back({&f, f.flags});
        }
    }

    void datasecs()
    {
        for (auto &[name, entries] : sections_) {
            std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
                return a.variable->address.offset < b.variable->address.offset;
            });
            uint64_t base = 0;
            if (!file_.relocatable)
                for (const ElfSection &s : file_.sections)
                    if (s.name == name)
                        base = s.head.sh_addr;
            TypeId sec = btf_.add_datasec(name, 0);
            size_t first_word = btf_.word_index(sec);
            uint64_t end = 0;
            for (size_t i = 0; i < entries.size(); ++i) {
                const VariableCandidate &v = *entries[i].variable;
                uint64_t offset = v.address.offset - base;
                btf_.add_secinfo(entries[i].id, static_cast<uint32_t>(offset), v.size);
                end = std::max(end, offset + v.size);
                if (file_.relocatable)
                    btf_relocs_.push_back({btf::header_size + (first_word + 3 + i * 3 + 1) * 4,
                                           v.address.symbol, v.address.addend});
            }
            btf_.type(sec).size = static_cast<uint32_t>(end);
        }
    }

    void loose_hashes(const Btf &btf)
    {
        LooseHasher hasher(btf);
        std::vector<TypeId> params;
        auto hash = [&](const FunctionCandidate &f) {
            params.clear();
            for (const FunctionParam &p : f.params)
                params.push_back(map_[raw(p.type)]);
            return hasher.prototype(map_[raw(f.result)], params);
        };
        for (size_t i = 0; i < instances_.size(); ++i)
            trailer_.functions[i].loose_hash = hash(*instances_[i].candidate);
        for (LinkFunction &f : trailer_.true_signatures)
            f.loose_hash = hash(*instances_[f.instance].candidate->truth);
    }

    struct Instance {
        const FunctionCandidate *candidate;
        uint32_t flags;
    };
    struct Entry {
        TypeId id;
        const VariableCandidate *variable;
    };

    const UnitFile &file_;
    const bool open_;
    uint32_t types_before_;
    std::vector<TypeId> map_; // id in the unit's types -> id in the blob
    BtfBuilder btf_;
    LinkTrailer trailer_;
    std::map<std::string_view, std::vector<Entry>> sections_;
    std::vector<AddressRef> pool_;
    std::map<std::pair<uint32_t, int64_t>, uint32_t> pool_slots_;
    std::vector<NewReloc> btf_relocs_;
    FlatIndex protos_{256};           // ids in btf_
    std::vector<uint32_t> words_;     // of a prototype
    std::vector<Instance> instances_; // of each of trailer_.functions
};

/// What kernels would refuse is changed here, where it is known which source has it. That structs
/// may be defined elsewhere, and what parameters are called, is left to the merge.
void settle(UnitTypes &types, const DieTree &tree, const Where &where, Skips &skips)
{
    if (!types.suspect && !types.btf.has_odd_character())
        return;
    auto mended = mend_btf(types.btf.view(), tree.address_size, BtfPart::object);
    if (!mended)
        return;
    skips[Skip::mended] += mended->changes.size();
    const std::string source = tree.source ? tree.source : "";
    for (const std::string &change : mended->changes)
        types.left_out.push_back({where, source + ": " + change});
    types.btf = std::move(mended->btf);
}

/// Leaves out the functions that have more parameters than BTF counts, or names that it does not
/// take. (With another name a FUNC would be that of another function, or of none.)
void drop_inexpressible_functions(std::vector<FunctionCandidate> &functions, const Where &where,
                                  std::vector<Error> &left_out, Skips &skips)
{
    std::erase_if(functions, [&](const FunctionCandidate &f) {
        // Its true signature has no more.
        const bool is_long = f.params.size() > btf::max_vlen;
        if (!is_long && is_plain_text(f.name)) [[likely]]
            return false;
        ++skips[Skip::inexpressible];
        const std::string what =
            is_long ? strf("more than %u parameters", btf::max_vlen) : "such a name";
        left_out.push_back({where, strf("function '%s' is left out, as BTF cannot express %s",
                                        std::string(f.name).c_str(), what.c_str())});
        return true;
    });
}

/// Leaves out the variables of a section beyond those that BTF counts.
void drop_surplus_variables(std::vector<VariableCandidate> &variables, const Where &where,
                            std::vector<Error> &left_out, Skips &skips)
{
    std::map<std::string_view, uint32_t> counts;
    std::erase_if(variables, [&](const VariableCandidate &v) {
        if (++counts[v.section] <= btf::max_vlen)
            return false;
        ++skips[Skip::inexpressible];
        left_out.push_back({where, strf("variable '%s' is left out, as BTF cannot express more "
                                        "than %u variables of section %s",
                                        std::string(v.name).c_str(), btf::max_vlen,
                                        std::string(v.section).c_str())});
        return true;
    });
}

} // namespace

Result<UnitObject> encode_tree(const UnitFile &file, DieTree tree, const UnitOptions &options,
                               Skips skips, StepTimes times)
{
    const char *source = tree.source;
    const auto dies = static_cast<uint32_t>(tree.dies.size() - 1);
    StepClock clock(times, source ? source : "");
    clock.begin(Step::types);
    LegalNames names;
    // gcc 16 for PowerPC has a typedef that is called "long double".
    if (!tree.c_names || file.arch.machine == EM_PPC64)
        names = make_names_legal(tree, skips);
    // Names that were made legal end with the unit.
    StringTable *strings = tree.c_names && names.empty() ? options.strings : nullptr;
    UnitTypes types = encode_types(tree, options.features, file.order, file.where, skips, strings);
    settle(types, tree, file.where, skips);
    clock.begin(Step::variables);
    std::vector<RejectedVariable> rejected;
    auto variables = collect_variables(file, tree, types, options.features, skips, rejected);
    if (!rejected.empty() && !options.features.has(Feature::encode_force))
        return fail(std::move(rejected.front().why));
    clock.begin(Step::functions);
    auto functions = collect_functions(file, tree, types, options.features, skips);

    const Where debug_info = file.where;
    drop_surplus_variables(variables, debug_info, types.left_out, skips);
    drop_inexpressible_functions(functions, debug_info, types.left_out, skips);

    // What is named by now is named by the file's own strings, and `names`.
    tree = {};
    types.ids = {};

    // From here on ids of the unit's types are only looked up, never changed.
    std::vector<Hash128> hashes;
    UnitDedup dedup;
    {
        Btf view = types.btf.view();
        clock.begin(Step::hashes);
        hashes = stub_hashes(view);
        clock.begin(Step::duplicates);
        dedup = find_duplicates(view, hashes);
    }
    clock.begin(Step::assemble);
    UnitAssembler assembler(file, options, std::move(types.btf), dedup, std::move(hashes));
    assembler.source(source);
    assembler.variables(variables);
    assembler.functions(functions);
    auto object = assembler.finish(std::move(skips));
    clock.end();
    if (!object)
        return object;
    object->dies = dies;
    object->times = times;
    object->rejected = std::move(rejected);
    object->left_out = std::move(types.left_out);
    return object;
}

} // namespace btflink::emit
