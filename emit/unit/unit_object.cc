// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes over one unit in order, from entries to contribution.
#include "emit/unit/unit_object.h"
#include "common/btf/btf_check.h"
#include "common/io/trace.h"
#include "common/object_btf/address_pool.h"
#include "common/object_btf/features.h"
#include "common/object_btf/link_trailer.h"
#include "emit/unit/unit_passes.h"

#include <algorithm>
#include <deque>
#include <dwarf.h>
#include <map>
#define XXH_INLINE_ALL // short inputs: a call costs as much as the hash
#include <xxhash.h>

namespace btflink::emit
{

namespace
{

/// The contribution under construction. Types, variables and functions are added in this order,
/// each with its part of the trailer. DATASECs come last.
struct NewContribution {
    const UnitFile &file;
    BtfBuilder btf;
    LinkTrailer trailer;
    std::vector<TypeId> ids; // id in the unit's types -> id in `btf`
    std::vector<AddressRef> pool;
    // {symbol, addend} -> index in `pool` + 1
    std::map<std::pair<uint32_t, int64_t>, uint32_t> pool_slots;

    TypeId id_of(TypeId of_unit) const { return ids[raw(of_unit)]; }
};

/// A variable in a DATASEC.
struct SectionEntry {
    TypeId id;
    const VariableCandidate *candidate;
};
using Sections = std::map<std::string_view, std::vector<SectionEntry>>; // by name

/// A function's record in the trailer (LinkFunction): the candidate that describes the function,
/// and the candidate's flags with the shared_flags of all candidates that share the record.
struct Record {
    const FunctionCandidate *candidate;
    uint32_t flags;
};

uint32_t trailer_flags(const UnitFile &file, const UnitOptions &options)
{
    return (options.address_pool && file.relocatable ? trailer_has_pool : 0u) |
           (file.relocatable ? 0u : trailer_final_addresses) |
           (options.by_compiler ? trailer_by_compiler : 0u) |
           (options.no_dwarf ? trailer_no_dwarf : 0u);
}

/// Starts a contribution with the types, without duplicates. `hashes`: stub hashes of `types`.
NewContribution take_types(const UnitFile &file, const UnitOptions &options, BtfBuilder types,
                           const UnitDedup &dedup, std::vector<Hash128> hashes, const char *source)
{
    std::vector<TypeId> ids(raw(types.next_id()), void_id);
    uint32_t next = 1;
    for (uint32_t id = 1; id < ids.size(); ++id) {
        const TypeId first = dedup.representative[id];
        ids[id] = first == TypeId{id} ? TypeId{next++} : ids[raw(first)];
    }
    if (dedup.has_duplicates) {
        types.renumber(std::span(ids).subspan(1));
        for (uint32_t id = 1; id < ids.size(); ++id) // moves hashes only towards the front
            if (dedup.representative[id] == TypeId{id})
                hashes[raw(ids[id]) - 1] = hashes[id - 1];
        hashes.resize(next - 1);
    }
    NewContribution contribution{file, std::move(types), {}, std::move(ids), {}, {}};
    contribution.trailer.hashes = std::move(hashes);
    contribution.trailer.plain_end = contribution.btf.next_id();
    for (const std::string &name : dedup.ambiguous)
        contribution.trailer.ambiguous.push_back(contribution.btf.str(name));
    contribution.trailer.features = options.features;
    contribution.trailer.emitter = BTFLINK_VERSION_NUMBER;
    contribution.trailer.flags |= trailer_flags(file, options);
    contribution.trailer.source = contribution.btf.str(source ? source : "");
    return contribution;
}

/// The number of the address in contribution.pool, from 1 on; a new address is added. Returns 0 if
/// the contribution has neither an address pool nor final addresses.
uint32_t pool_index(NewContribution &contribution, const AddressRef &address)
{
    if (!(contribution.trailer.flags & (trailer_has_pool | trailer_final_addresses)))
        return 0;
    auto [it, added] =
        contribution.pool_slots.emplace(std::pair(address.symbol, address.addend),
                                        static_cast<uint32_t>(contribution.pool.size()) + 1);
    if (added)
        contribution.pool.push_back(address);
    return it->second;
}

Sections add_variables(NewContribution &contribution,
                       const std::vector<VariableCandidate> &candidates)
{
    Sections sections;
    for (const VariableCandidate &v : candidates) {
        uint32_t linkage = v.flags & var_external ? BTF_VAR_GLOBAL_ALLOCATED : BTF_VAR_STATIC;
        TypeId id = contribution.btf.add_var(v.name, contribution.id_of(v.type), linkage);
        for (std::string_view tag : v.tags)
            contribution.btf.add_decl_tag(tag, id, -1);
        contribution.trailer.variables.push_back({id, contribution.btf.str(v.section),
                                                  pool_index(contribution, v.address), v.size,
                                                  v.flags});
        if (v.address.section || v.address.is_final)
            sections[v.section].push_back({id, &v});
    }
    return sections;
}

bool has_code(const FunctionCandidate &f)
{
    return f.flags & (fn_has_address | fn_has_ranges);
}

// Without the feature true_signature, the merge leaves out a function if any instance of its name
// has one of these flags.
constexpr uint32_t shared_flags = fn_unexpected_reg | fn_uncertain_loc | fn_reordered;

bool are_equal(const FunctionCandidate &a, const FunctionCandidate &b)
{
    return a.result == b.result && a.params == b.params && a.tags == b.tags && a.symbol == b.symbol;
}

/// May `f` share `record`? An abstract instance and its out-of-line copy may, if they are equal;
/// two instances with code may not. With the feature true_signature, the merge judges a clone by
/// the flags of some instances only, so the shared flags must be equal, too; and an instance with a
/// true signature has its own record.
bool can_share_record(const Record &record, const FunctionCandidate &f, FeatureSet features)
{
    const FunctionCandidate &other = *record.candidate;
    if (has_code(f) && has_code(other))
        return false;
    if (features.has(Feature::true_signature) &&
        (f.true_signature || other.true_signature || ((f.flags ^ record.flags) & shared_flags)))
        return false;
    return are_equal(f, other);
}

/// The common record has the shared flags of both; the rest comes from the one with code, or from
/// `record` if neither has code.
Record share_record(const Record &record, const FunctionCandidate &f)
{
    Record both = has_code(f) ? Record{&f, f.flags} : record;
    both.flags |= (record.flags | f.flags) & shared_flags;
    return both;
}

/// Joins candidates to records. A candidate is compared only with the last record of its name.
std::vector<Record> make_records(const std::vector<FunctionCandidate> &candidates,
                                 FeatureSet features)
{
    std::vector<Record> out;
    FlatIndex names(candidates.size());
    std::vector<size_t> last_of_name;
    for (const FunctionCandidate &f : candidates) {
        const auto next = static_cast<uint32_t>(last_of_name.size());
        auto [name, is_new] =
            names.find_or_add(XXH3_64bits(f.name.data(), f.name.size()), next, [&](uint32_t known) {
                return out[last_of_name[known]].candidate->name == f.name;
            });
        if (is_new)
            last_of_name.push_back(out.size());
        size_t &last = last_of_name[name];
        if (!is_new && can_share_record(out[last], f, features)) {
            out[last] = share_record(out[last], f);
            continue;
        }
        last = out.size();
        out.push_back({&f, f.flags});
    }
    return out;
}

StrOff name_of(BtfBuilder &btf, const FunctionParam &p)
{
    if (p.member.empty())
        return btf.stable_str(p.name.data());
    return btf.str(std::string(p.name) + "__" + std::string(p.member));
}

/// Finds equal prototypes of the blob.
struct Prototypes {
    FlatIndex known{256};        // ids
    std::vector<uint32_t> words; // scratch: of the prototype to add
};

/// The words of a prototype's parameters: each has a name and a type.
std::span<const uint32_t> param_words(BtfBuilder &btf, TypeId proto)
{
    const btf_type &t = btf.type(proto);
    return {btf::tail_of(t), size_t{btf::vlen_of(t)} * 2};
}

/// The id of the recorded prototype with this result and these words. If none is recorded, records
/// and returns `fresh`: the id at which the blob already has this prototype, or at which the caller
/// adds it next.
TypeId find_or_add(Prototypes &prototypes, BtfBuilder &btf, TypeId result,
                   std::span<const uint32_t> words, TypeId fresh)
{
    uint64_t hash = XXH3_64bits_withSeed(words.data(), words.size_bytes(), raw(result));
    auto [id, is_new] = prototypes.known.find_or_add(hash, raw(fresh), [&](uint32_t known) {
        return btf.type(TypeId{known}).type == raw(result) &&
               std::ranges::equal(param_words(btf, TypeId{known}), words);
    });
    return TypeId{id};
}

Prototypes collect_prototypes(BtfBuilder &btf)
{
    Prototypes out;
    for (TypeId id : IdRange(TypeId{1}, btf.next_id()))
        if (const btf_type &t = btf.type(id); btf::kind_of(t) == btf::Kind::FUNC_PROTO)
            find_or_add(out, btf, TypeId{t.type}, param_words(btf, id), id);
    return out;
}

/// Appends name and type of each parameter to `words`.
void append_params(NewContribution &contribution, const FunctionCandidate &f,
                   std::vector<uint32_t> &words)
{
    for (const FunctionParam &p : f.params) {
        words.push_back(raw(name_of(contribution.btf, p)));
        words.push_back(raw(contribution.id_of(p.type)));
    }
}

TypeId add_prototype(NewContribution &contribution, Prototypes &prototypes,
                     const FunctionCandidate &f)
{
    const TypeId result = contribution.id_of(f.result), fresh = contribution.btf.next_id();
    std::vector<uint32_t> &words = prototypes.words;
    words.clear();
    append_params(contribution, f, words);
    const TypeId id = find_or_add(prototypes, contribution.btf, result, words, fresh);
    if (id == fresh) {
        contribution.btf.add_func_proto(result);
        for (size_t i = 0; i < words.size(); i += 2)
            contribution.btf.add_param(StrOff{words[i]}, TypeId{words[i + 1]});
    }
    return id;
}

/// An instance with code, tags or a linkage name becomes a FUNC in the blob. Of other instances the
/// merge needs only the prototype, to compare it with others; such a prototype is in the trailer.
LinkFunction add_function(NewContribution &contribution, Prototypes &prototypes,
                          const FunctionCandidate &f, uint32_t flags)
{
    LinkFunction out;
    out.name = contribution.btf.stable_str(f.name.data());
    out.flags = flags;
    if (f.address)
        out.pool_index = pool_index(contribution, *f.address);
    if (has_code(f) || !f.tags.empty() || !f.symbol.empty()) {
        const TypeId proto = add_prototype(contribution, prototypes, f);
        out.func = contribution.btf.add_func(out.name, proto, BTF_FUNC_STATIC);
        if (!f.symbol.empty())
            contribution.btf.add_decl_tag(linkage_tag(f.language, f.symbol), out.func, -1);
        for (const FunctionTag &tag : f.tags)
            contribution.btf.add_decl_tag(tag.text, out.func, tag.component);
    } else {
        std::vector<uint32_t> &words = contribution.trailer.proto_words;
        out.proto = static_cast<uint32_t>(words.size());
        words.push_back(raw(contribution.id_of(f.result)));
        words.push_back(static_cast<uint32_t>(f.params.size()));
        append_params(contribution, f, words);
    }
    return out;
}

void add_functions(NewContribution &contribution, const std::vector<Record> &records)
{
    Prototypes prototypes = collect_prototypes(contribution.btf);
    for (const Record &record : records)
        contribution.trailer.functions.push_back(
            add_function(contribution, prototypes, *record.candidate, record.flags));
    for (uint32_t i = 0; i < records.size(); ++i)
        if (const FunctionCandidate *true_signature = records[i].candidate->true_signature.get()) {
            contribution.trailer.true_signatures.push_back(
                add_function(contribution, prototypes, *true_signature, true_signature->flags));
            contribution.trailer.true_signatures.back().instance = i;
        }
}

/// The address at which a section begins in a linked file; 0 in an object.
uint64_t base_of(const UnitFile &file, std::string_view section)
{
    uint64_t base = 0;
    if (!file.relocatable)
        for (const ElfSection &s : file.sections)
            if (s.name == section)
                base = s.head.sh_addr;
    return base;
}

/// Adds a DATASEC for each section. Returns the relocations that give the variables their offsets;
/// none for a linked file.
std::vector<Reloc> add_datasecs(NewContribution &contribution, Sections &&sections)
{
    std::vector<Reloc> relocs;
    for (auto &[name, entries] : sections) {
        std::ranges::stable_sort(entries, {},
                                 [](const SectionEntry &v) { return v.candidate->address.offset; });
        const uint64_t base = base_of(contribution.file, name);
        const TypeId sec = contribution.btf.add_datasec(name, 0);
        const size_t first_word = contribution.btf.word_index(sec);
        uint64_t end = 0;
        for (size_t i = 0; i < entries.size(); ++i) {
            const VariableCandidate &v = *entries[i].candidate;
            const uint64_t offset = v.address.offset - base;
            contribution.btf.add_secinfo(entries[i].id, static_cast<uint32_t>(offset), v.size);
            end = std::max(end, offset + v.size);
            if (contribution.file.relocatable) {
                // The head of a DATASEC has 3 words, and so has each entry. The second word of an
                // entry is the offset.
                const size_t offset_word = first_word + 3 + i * 3 + 1;
                relocs.push_back(
                    {btf::header_size + offset_word * 4, v.address.symbol, v.address.addend});
            }
        }
        contribution.btf.type(sec).size = static_cast<uint32_t>(end);
    }
    return relocs;
}

void hash_prototypes(NewContribution &contribution, const Btf &view,
                     const std::vector<Record> &records)
{
    LooseHasher hasher(view);
    std::vector<TypeId> params;
    auto hash = [&](const FunctionCandidate &f) {
        params.clear();
        for (const FunctionParam &p : f.params)
            params.push_back(contribution.id_of(p.type));
        return hasher.prototype(contribution.id_of(f.result), params);
    };
    for (size_t i = 0; i < records.size(); ++i)
        contribution.trailer.functions[i].loose_hash = hash(*records[i].candidate);
    for (LinkFunction &f : contribution.trailer.true_signatures)
        f.loose_hash = hash(*records[f.instance].candidate->true_signature);
}

void add_pool(const NewContribution &contribution, UnitObject &out)
{
    if (!(contribution.trailer.flags & trailer_has_pool))
        return;
    out.has_pool = true;
    out.pool_entries = contribution.trailer.pool_entries;
    for (uint32_t i = 0; i < contribution.pool.size(); ++i)
        out.pool_relocs.push_back({pool_entry_offset(i + 1, contribution.file.arch.address_size),
                                   contribution.pool[i].symbol, contribution.pool[i].addend});
}

void serialize(NewContribution &contribution, UnitObject &out)
{
    const ByteOrder order = contribution.file.order;
    out.contribution = contribution.btf.serialize(order, trailer_room(contribution.trailer));
    out.blob_size = out.contribution.size();
    std::vector<std::byte> trailer = encode_trailer(contribution.trailer, out.contribution, order);
    out.contribution.resize(align_up(out.contribution.size(), 8));
    out.contribution.insert(out.contribution.end(), trailer.begin(), trailer.end());
    out.size = out.contribution.size();
    out.object_id = contribution.trailer.object_id;
}

void leave_open(NewContribution &contribution, const std::shared_ptr<StringTable> &strings,
                UnitObject &out)
{
    out.blob_size = contribution.btf.words() * sizeof(uint32_t);
    out.size = out.blob_size + trailer_room(contribution.trailer);
    out.open = std::make_unique<OpenUnit>(OpenUnit{std::move(contribution.btf),
                                                   std::move(contribution.trailer),
                                                   contribution.file.order, strings});
}

/// Fails if the names are more than a StringTable holds, or if so many types have long names that
/// reading all names would take far longer than reading the file.
Result<void> check_names(const BtfBuilder &btf, const Where &where)
{
    if (btf.is_full())
        return fail(where,
                    strf("its names take more than %u MB in all", StringTable::most_bytes >> 20));
    if (btf.longest_name() >= long_name)
        TRY(check_long_names(btf.view(), where.in(".BTF")));
    return {};
}

/// Builds the contribution. `shared`: UnitOptions::strings; if set, the contribution is returned as
/// an OpenUnit.
Result<UnitObject> assemble(NewContribution contribution,
                            const std::vector<VariableCandidate> &variables,
                            const std::vector<FunctionCandidate> &functions,
                            const std::shared_ptr<StringTable> &shared)
{
    UnitObject out;
    Sections sections = add_variables(contribution, variables);
    const std::vector<Record> records = make_records(functions, contribution.trailer.features);
    add_functions(contribution, records);
    out.btf_relocs = add_datasecs(contribution, std::move(sections));
    CHECK(!contribution.btf.too_large());
    TRY(check_names(contribution.btf, contribution.file.where));
    if (contribution.btf.next_id() == TypeId{1} && contribution.trailer.functions.empty())
        return out;
    // The blob is complete now.
    {
        const Btf view = contribution.btf.view();
        if (!shared)
            complete_stub_hashes(view, contribution.trailer.hashes);
        hash_prototypes(contribution, view, records);
    }
    contribution.trailer.pool_entries = static_cast<uint32_t>(contribution.pool.size());
    if (contribution.trailer.flags & trailer_final_addresses)
        for (const AddressRef &address : contribution.pool)
            contribution.trailer.addresses.push_back(address.offset);
    out.types_before = static_cast<uint32_t>(contribution.ids.size()) - 1;
    out.types = raw(contribution.btf.next_id()) - 1;
    out.functions = static_cast<uint32_t>(contribution.trailer.functions.size());
    for (const LinkFunction &f : contribution.trailer.functions)
        out.inline_only += f.func == void_id;
    out.variables = static_cast<uint32_t>(contribution.trailer.variables.size());
    add_pool(contribution, out);
    if (shared)
        leave_open(contribution, shared, out);
    else
        serialize(contribution, out);
    return out;
}

/// Owns names that make_names_legal() has changed. Entries of the tree point to them.
using LegalNames = std::deque<std::string>;

/// Makes the names in `tree` legal by legal_name(). Base types keep their names, because INTs and
/// FLOATs may have any name. In C only names of typedefs are changed, because compilers define some
/// with illegal names for their own types. Counts changed names.
LegalNames make_names_legal(DieTree &tree, Skips &skips)
{
    LegalNames names;
    for (DieIndex i = 1; i < tree.dies.size(); ++i) {
        Die &d = tree.dies[i];
        if (tree.c_names && d.tag != DW_TAG_typedef)
            continue;
        const size_t length_limit = d.tag == DW_TAG_variable ? max_variable_name : max_legal_name;
        if (!d.name || !*d.name || d.tag == DW_TAG_base_type || is_legal_name(d.name, length_limit))
            continue;
        names.push_back(legal_name(d.name, length_limit));
        d.name = names.back().c_str();
    }
    if (!names.empty())
        skips[Skip::name_made_legal] += names.size();
    return names;
}

/// Adds the types of which a name has an odd character.
void add_misnamed(const Btf &btf, std::vector<TypeId> &suspect)
{
    for (TypeId id : btf.ids()) {
        bool is_odd = false;
        btf::for_each_str_off(btf.type(id),
                              [&](uint32_t off) { is_odd |= has_odd_character(btf.str(off)); });
        if (is_odd)
            suspect.push_back(id);
    }
}

/// Changes types that kernels would refuse. The merge would change them, too, but its messages
/// could not name the source file. The same type must be changed in each object or in none, so only
/// suspect and misnamed types are changed: the type alone shows that it is one of them. All others
/// are left to the merge, as are too long names and long chains of modifiers. (Checking all types
/// of each unit would take a tenth more instructions.)
void mend_types(UnitTypes &types, const DieTree &tree, const Where &where, Skips &skips)
{
    if (types.btf.has_odd_character()) // of this unit or, in a shared table, of an earlier one
        add_misnamed(types.btf.view(), types.suspect);
    if (types.suspect.empty())
        return;
    std::vector<bool> suspects(raw(types.btf.next_id()) - 1);
    for (TypeId id : types.suspect)
        suspects[raw(id) - 1] = true;
    auto mended = mend_btf(types.btf.view(), tree.address_size, &suspects);
    if (!mended)
        return;
    skips[Skip::mended] += mended->changes.size();
    const std::string source = tree.source ? tree.source : "";
    for (const std::string &change : mended->changes)
        types.left_out.push_back({where, source + ": " + change});
    types.btf = std::move(mended->btf);
}

/// Leaves out functions with more parameters than BTF can count, and functions of C whose name has
/// a character that BTF does not allow: a changed name could be the name of another function.
void drop_inexpressible_functions(std::vector<FunctionCandidate> &functions, const Where &where,
                                  std::vector<Error> &left_out, Skips &skips)
{
    std::erase_if(functions, [&](const FunctionCandidate &f) {
        // A true signature does not have more parameters.
        const bool is_long = f.params.size() > btf::max_vlen;
        if (!is_long && !has_odd_character(f.name)) [[likely]]
            return false;
        ++skips[Skip::inexpressible];
        const std::string what =
            is_long ? strf("more than %u parameters", btf::max_vlen) : "its name";
        // The name is cut, because any number of functions may share a long one.
        left_out.push_back(
            {where, strf("function '%s' is left out, as BTF cannot express %s",
                         std::string(f.name.substr(0, max_legal_name)).c_str(), what.c_str())});
        return true;
    });
}

/// Leaves out the last variables of a section that has more variables than BTF can count.
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
                               Skips skips)
{
    const char *source = tree.source;
    const auto dies = static_cast<uint32_t>(tree.dies.size() - 1);
    trace::Phase phase("types", source ? source : "");
    LegalNames names;
    // gcc 16 for PowerPC makes a typedef called "long double".
    if (!tree.c_names || file.arch.machine == EM_PPC64)
        names = make_names_legal(tree, skips);
    // Only C units in which no name was changed share the table (see UnitOptions::strings).
    StringTable *strings = tree.c_names && names.empty() ? options.strings.get() : nullptr;
    UnitTypes types = encode_types(tree, options.features, file.order, file.where, skips, strings);
    TRY(check_names(types.btf, file.where));
    mend_types(types, tree, file.where, skips);
    phase.next("variables");
    std::vector<RejectedVariable> rejected;
    auto variables = collect_variables(file, tree, types, options.features, skips, rejected);
    if (!rejected.empty() && !options.features.has(Feature::encode_force))
        return fail(std::move(rejected.front().why));
    phase.next("functions");
    auto functions = collect_functions(file, tree, types, options.features, skips);

    drop_surplus_variables(variables, file.where, types.left_out, skips);
    drop_inexpressible_functions(functions, file.where, types.left_out, skips);

    // The names are not owned by the tree, but by the file, the gcc plugin or `names`.
    tree = {};
    std::vector<TypeId>().swap(types.ids); // = {} keeps the memory

    std::vector<Hash128> hashes;
    UnitDedup dedup;
    {
        Btf view = types.btf.view();
        phase.next("hashes");
        hashes = stub_hashes(view);
        phase.next("duplicates");
        dedup = find_duplicates(view, hashes);
    }
    phase.next("assemble");
    NewContribution contribution =
        take_types(file, options, std::move(types.btf), dedup, std::move(hashes), source);
    auto object = TRY(assemble(std::move(contribution), variables, functions, options.strings));
    object.skips = std::move(skips);
    object.dies = dies;
    object.rejected = std::move(rejected);
    object.left_out = std::move(types.left_out);
    return object;
}

} // namespace btflink::emit
