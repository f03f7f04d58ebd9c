// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks that the ids in .BTF_ids are those of the right types, and that programs can call each
// kfunc.
//
// The kernel's C code asks for the ids of some types and functions by name
// (include/linux/btf_ids.h). resolve_btfids writes these ids into .BTF_ids after the link. The
// symbol at an id states the kind and name (common/btf/id_symbols.h). If the symbols were stripped,
// only sets of kfuncs can be found, by their form.
//
// resolve_btfids sorts the ids of a set. The symbols in a set therefore show which names it has,
// but not which id belongs to which name.
//
// The kernel finds a kfunc by its id in a set; programs find it by the name of its FUNC. vmlinux.h
// declares functions with the tag bpf_kfunc. If a kfunc has the flag KF_IMPLICIT_ARGS, its last
// arguments are implicit: programs do not pass them. Such a kfunc has two FUNCs: NAME without the
// implicit arguments, for programs, and NAME_impl with them.
#include "btf-kernel/check/check_kernel.h"

#include "common/btf/id_symbols.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace btflink::kernel
{

namespace
{

/// What a symbol in .BTF_ids asks for.
struct NamedType {
    btf::Kind kind;
    std::string name;
};

/// A sorted set of ids: a count, the set's flags if its entries have flags, and the entries.
struct IdSet {
    std::string name = {}; // empty if there is no symbol for it
    uint64_t offset = 0;
    bool of_kfuncs = false;                 // any SET8, unless sets have a flag for this
    size_t width = 1;                       // words of an entry; 2 in a SET8: an id and its flags
    std::span<const uint32_t> entries = {}; // all words of the entries
    std::vector<NamedType> types = {};      // of the entries, in another order; empty: unknown

    size_t size() const { return entries.size() / width; }
    /// 0: resolve_btfids found no type, or the entry is unused.
    uint32_t id(size_t i) const { return entries[i * width]; }
    uint32_t flags(size_t i) const { return entries[i * width + 1]; }
    /// The offset of entry `i`. The words before the entries (the count; in a SET8 also the flags)
    /// take the place of one entry.
    uint64_t entry_offset(size_t i) const { return offset + (i + 1) * width * 4; }
    std::string title() const { return name.empty() ? "a set" : name; }
};

// From this version on, sets of kfuncs have the flag set_of_kfuncs; perhaps also in older kernels
// (see has_backported_flag()).
constexpr KernelVersion first_with_flag{6, 9};
// The size of the largest set that looks_like_kfuncs() accepts, so that a search takes linear time.
// Kernels allow 256 kfuncs for each kind of program (BTF_KFUNC_SET_MAX_CNT).
constexpr uint32_t most_kfuncs = 1024;

constexpr std::string_view kfunc_tag = "bpf_kfunc";

std::unordered_set<uint32_t> tagged_functions(const NameIndex &index)
{
    std::unordered_set<uint32_t> out;
    for (TypeId tag : index.of(kfunc_tag)) {
        const btf_type &t = index.btf().type(tag);
        if (btf::kind_of(t) == btf::Kind::DECL_TAG && btf::tail_of(t)[0] == UINT32_MAX)
            out.insert(t.type);
    }
    return out;
}

class IdsCheck
{
public:
    IdsCheck(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
             std::span<const Redefinition> redefined, std::optional<KernelVersion> kernel,
             bool needs_tags, Findings &out)
        : binary_(binary), btf_(index.btf()), index_(index), of_vmlinux_(of_vmlinux),
          redefined_(redefined), sets_have_flag_(!kernel || *kernel >= first_with_flag),
          needs_tags_(needs_tags), out_(out), tagged_(tagged_functions(index))
    {
        for (size_t at = 0; at + 4 <= binary.btf_ids.size(); at += 4)
            words_.push_back(load<uint32_t>(binary.btf_ids.data() + at, binary.order));
    }

    KfuncCounts run()
    {
        if (!sets_have_flag_)
            sets_have_flag_ = has_backported_flag();
        if (was_never_filled())
            report(Rule::ids, 0, "was never filled in: all ids are 0, resolve_btfids has not run");
        else if (binary_.id_symbols.empty())
            check_by_form();
        else if (auto checked = check_by_symbols(); !checked)
            out_.add(Rule::ids, binary_.name, checked.error());
        return std::move(counts_);
    }

private:
    /// Does a set have the flag set_of_kfuncs in a kernel whose version is too low for it? The
    /// distribution has then backported it, as in newer kernels of RHEL 9 (5.14).
    bool has_backported_flag() const
    {
        if (!binary_.id_symbols.empty())
            return std::ranges::any_of(binary_.id_symbols, [&](const SectionSymbol &symbol) {
                const uint64_t flags = symbol.offset / 4 + 1;
                return parse_id_symbol(symbol.name).kind == "set8" && flags < words_.size() &&
                       words_[flags] & set_of_kfuncs;
            });
        for (size_t at = 0; at < words_.size(); ++at)
            if (looks_like_kfuncs(at, true))
                return true;
        return false;
    }

    /// Are all ids and counts 0 although the BTF has a type that a symbol asks for? Without
    /// symbols, looks_unfilled() decides for vmlinux, and the answer for a module is no.
    bool was_never_filled() const
    {
        if (binary_.id_symbols.empty())
            return of_vmlinux_ == &index_ && looks_unfilled();
        bool known = false;
        for (const SectionSymbol &symbol : binary_.id_symbols) {
            const IdSymbol parsed = parse_id_symbol(symbol.name);
            if (parsed.kind.empty())
                continue;
            if (symbol.offset / 4 >= words_.size() || words_[symbol.offset / 4])
                return false;
            known |= !parsed.is_set() && may_find(parsed.type_kind(), std::string(parsed.name));
        }
        return known;
    }

    /// Does the .BTF_ids of vmlinux look, without symbols, as if resolve_btfids has not run? Before
    /// resolve_btfids runs, all ids and counts are 0; only flags are already set. Afterwards, some
    /// ids are not 0, because vmlinux always has some of the types that .BTF_ids asks for.
    bool looks_unfilled() const
    {
        bool has_empty_set = false;
        for (size_t at = 0; at < words_.size(); ++at) {
            if (looks_like_kfuncs(at, sets_have_flag_))
                return false;
            has_empty_set |= sets_have_flag_ && at + 1 < words_.size() && words_[at] == 0 &&
                             words_[at + 1] == set_of_kfuncs;
        }
        return has_empty_set ||
               std::ranges::all_of(words_, [](uint32_t word) { return word == 0; });
    }

    /// Error: an id or set does not fit into the section or is not aligned, or sets overlap.
    Result<void> check_by_symbols()
    {
        const std::vector<SectionSymbol> &symbols = binary_.id_symbols;
        uint64_t end_of_last = 0; // of the last set
        for (size_t i = 0; i < symbols.size();) {
            const SectionSymbol &symbol = symbols[i++];
            const IdSymbol parsed = parse_id_symbol(symbol.name);
            if (parsed.kind.empty())
                continue;
            if (symbol.offset % 4 || symbol.offset / 4 >= words_.size())
                return bad(symbol, "is outside .BTF_ids or not aligned");
            if (!parsed.is_set()) {
                check_single(parsed, symbol.offset);
                continue;
            }
            if (symbol.offset < end_of_last)
                return bad(symbol, "begins inside the set before it");
            const size_t at = symbol.offset / 4, width = parsed.kind == "set8" ? 2 : 1;
            if (words_.size() - at < width || words_[at] > (words_.size() - at) / width - 1)
                return bad(symbol, strf("%u ids do not fit into the section", words_[at]));
            IdSet set = set_at(at, width);
            set.name = parsed.name;
            end_of_last = set.entry_offset(set.size());
            for (; i < symbols.size() && symbols[i].offset < end_of_last; ++i) {
                const IdSymbol of_entry = parse_id_symbol(symbols[i].name);
                if (of_entry.is_set())
                    break;
                if (of_entry.kind.empty())
                    continue;
                set.types.push_back({of_entry.type_kind(), std::string(of_entry.name)});
            }
            check_set(set);
        }
        return {};
    }

    /// Checks the sets of kfuncs, recognised by their form: a plausible count, the flags of a set
    /// of kfuncs, and entries with plausible flags and sorted ids, each 0 or that of a FUNC, but
    /// not all 0.
    void check_by_form()
    {
        for (size_t at = 0; at < words_.size();) {
            if (!looks_like_kfuncs(at, sets_have_flag_)) {
                ++at;
                continue;
            }
            check_set(set_at(at, 2));
            at += 2 + size_t{words_[at]} * 2;
        }
    }

    /// `has_flag`: sets of kfuncs have the flag set_of_kfuncs.
    bool looks_like_kfuncs(size_t at, bool has_flag) const
    {
        const size_t left = words_.size() - at;
        if (left < 4 || words_[at] == 0 || words_[at] > most_kfuncs ||
            words_[at] > (left - 2) / 2 || words_[at + 1] != (has_flag ? set_of_kfuncs : 0))
            return false;
        // A limit above all known flags of kfuncs, with room for new ones; older kernels have
        // fewer.
        const uint32_t flags_end = has_flag ? 1 << 20 : 1 << 12;
        const IdSet set = set_at(at, 2);
        uint32_t last = 0;
        for (size_t i = 0; i < set.size(); ++i) {
            const uint32_t id = set.id(i);
            const bool is_func = id && in_range(id) && btf_.kind(TypeId{id}) == btf::Kind::FUNC;
            if ((id && !is_func) || id < last || set.flags(i) >= flags_end)
                return false;
            last = id;
        }
        return last != 0;
    }

    IdSet set_at(size_t at, size_t width) const
    {
        return {.offset = at * 4,
                .of_kfuncs = width == 2 && (!sets_have_flag_ || words_[at + 1] & set_of_kfuncs),
                .width = width,
                .entries = std::span(words_).subspan(at + width, words_[at] * width)};
    }

    Failure bad(const SectionSymbol &symbol, const std::string &what) const
    {
        return fail(Where{binary_.path, ".BTF_ids"}.at(symbol.offset), symbol.name + ": " + what);
    }

    /// `offset`: in .BTF_ids. `subject`: the name of the function or type. Findings with the same
    /// `cause` are printed as one line, with their subjects.
    void report(Rule rule, uint64_t offset, const std::string &what,
                const std::string &subject = "", const std::string &cause = "",
                Degree degree = Degree::error)
    {
        out_.add(rule, binary_.name, {Where{binary_.path, ".BTF_ids"}.at(offset), what}, degree,
                 subject, cause);
    }

    bool in_range(uint32_t id) const { return id < raw(btf_.end_id()); }
    std::string name_of(uint32_t id) const { return std::string(btf_.name(TypeId{id})); }

    /// "12, which is FUNC 'f'".
    std::string shown(uint32_t id) const
    {
        if (!in_range(id))
            return strf("%u, which no type has", id);
        return strf("%u, which is %s '%s'", id, btf_.kind_name(TypeId{id}), name_of(id).c_str());
    }

    /// An id of 0 is correct if the kernel does not have the type. A function is reported
    /// nevertheless: it may exist without a FUNC.
    void check_single(const IdSymbol &symbol, uint64_t offset)
    {
        const uint32_t id = words_[offset / 4];
        const btf::Kind kind = symbol.type_kind();
        const std::string name(symbol.name), title = std::string(symbol.kind) + " " + name;
        if (kind == btf::Kind::VOID)
            return;
        if (id == 0) {
            if (may_find(kind, name))
                report(Rule::ids, offset, title + " has id 0, but the BTF has the type", name,
                       "ids are 0, but the BTF has the types");
            else if (kind == btf::Kind::FUNC && !has(kind, name))
                check_absent_function(name, offset);
            return;
        }
        if (kind != btf::Kind::FUNC)
            check_twice(kind, id, name, title, offset);
        if (!in_range(id) || btf_.kind(TypeId{id}) != kind || name_of(id) != name)
            report(Rule::ids, offset, title + " has id " + shown(id));
    }

    /// Reports several types of the same kind and name. The kernel uses one of them, and may check
    /// a program against another.
    void check_twice(btf::Kind kind, uint32_t used, const std::string &name,
                     const std::string &title, uint64_t offset)
    {
        auto [known, is_new] = twins_.try_emplace({kind, name});
        Twins &twins = known->second;
        if (is_new)
            twins = find_twins(kind, name);
        if (twins.count < 2)
            return;
        report(Rule::ids_twice, offset,
               title + strf(" has %zu definitions, and type %u is used: ", twins.count, used) +
                   twins.difference,
               name, "types that the kernel asks for by name have several definitions");
    }

    /// Types of one kind and name.
    struct Twins {
        size_t count = 0;
        std::string difference = {}; // between the first two
    };
    Twins find_twins(btf::Kind kind, const std::string &name)
    {
        std::vector<TypeId> same;
        for (TypeId id : index_.of(name))
            if (btf_.kind(id) == kind)
                same.push_back(id);
        return {same.size(), same.size() < 2 ? "" : why_two(btf_, same[0], same[1])};
    }

    void check_absent_function(const std::string &name, uint64_t offset)
    {
        report(Rule::ids_func, offset, "function " + name + " has no FUNC: " + why_absent(name),
               name, "functions that the kernel asks for by name have no FUNC", Degree::suspicious);
    }

    /// Why the function has no FUNC, according to the symbols of the file.
    std::string why_absent(const std::string &name) const
    {
        std::string clones;
        for (const std::string &symbol : binary_.id_functions) {
            if (symbol == name)
                return "it exists, but was left out of the BTF (optimized, or its prototypes "
                       "differ)";
            if (symbol.starts_with(name + "."))
                clones += (clones.empty() ? "" : ", ") + symbol;
        }
        return clones.empty() ? "no function has this name (inlined, or not compiled)"
                              : "the compiler left only " + clones;
    }

    void check_set(const IdSet &set)
    {
        std::set<std::pair<btf::Kind, std::string_view>> expected; // empty: unknown
        for (const auto &[kind, name] : set.types)
            expected.emplace(kind, name);
        size_t missing = 0;
        for (size_t i = 0; i < set.size(); ++i) {
            const uint32_t id = set.id(i);
            const uint64_t offset = set.entry_offset(i);
            if (id == 0)
                ++missing;
            else if (!in_range(id))
                report(Rule::ids, offset, set.title() + " has id " + shown(id));
            else if (!expected.empty() &&
                     !expected.contains({btf_.kind(TypeId{id}), btf_.name(TypeId{id})}))
                report(Rule::ids, offset,
                       set.title() + " has id " + shown(id) +
                           ", but no symbol of the set names it");
            else if (set.of_kfuncs)
                check_kfunc(TypeId{id}, set.flags(i), offset);
        }
        if (missing && set.of_kfuncs)
            check_missing(set, missing);
        else if (missing)
            check_absent_types(set, missing);
    }

    /// Checks the ids of 0 in a set that is not one of kfuncs. `missing`: how many there are.
    void check_absent_types(const IdSet &set, size_t missing)
    {
        // Entries without a symbol (BTF_ID_UNUSED) are always 0.
        size_t absent = set.size() - std::min(set.size(), set.types.size());
        for (const auto &[kind, name] : set.types) {
            absent += !may_find(kind, name);
            if (kind == btf::Kind::FUNC && !has(kind, name))
                check_absent_function(name, set.offset);
        }
        if (absent < missing)
            report(Rule::ids, set.offset,
                   strf("%zu of %zu ids of %s are 0, but the BTF has the types", missing - absent,
                        set.size(), set.title().c_str()));
    }

    static bool is_in(const NameIndex &index, btf::Kind kind, const std::string &name)
    {
        return std::ranges::any_of(index.of(name),
                                   [&](TypeId id) { return index.btf().kind(id) == kind; });
    }
    bool has(btf::Kind kind, const std::string &name) const
    {
        return is_in(index_, kind, name) || (of_vmlinux_ && is_in(*of_vmlinux_, kind, name));
    }
    /// Should resolve_btfids have found the type? If a module has a distilled base, resolve_btfids
    /// does not see the types of vmlinux, only the module's own.
    bool may_find(btf::Kind kind, const std::string &name) const
    {
        return binary_.base.empty() ? has(kind, name) : is_in(index_, kind, name);
    }

    void check_missing(const IdSet &set, size_t missing)
    {
        size_t named = 0;
        for (const auto &[kind, name] : set.types)
            if (!has(kind, name)) {
                ++named;
                report(Rule::kfunc_func, set.offset,
                       "kfunc " + name + " of " + set.title() +
                           " has no FUNC: no program can call it" +
                           (binary_.id_functions.empty() ? "" : "; " + why_absent(name)),
                       name, "kfuncs have no FUNC: no program can call them");
            }
        if (named < missing)
            report(Rule::kfunc_func, set.offset,
                   strf("%zu of %zu kfuncs of %s have no id: no program can call them",
                        missing - named, set.size(), set.title().c_str()) +
                       neighbours(set));
    }

    /// For a set without a name: a text with one of its kfuncs, by which users can recognise the
    /// set. Otherwise "".
    std::string neighbours(const IdSet &set) const
    {
        if (!set.name.empty())
            return "";
        for (size_t i = 0; i < set.size(); ++i)
            if (set.id(i) && in_range(set.id(i)))
                return " (it is the set of " + name_of(set.id(i)) + ")";
        return "";
    }

    void check_kfunc(TypeId id, uint32_t flags, uint64_t offset)
    {
        if (btf_.kind(id) != btf::Kind::FUNC)
            return report(Rule::ids, offset, "a kfunc has id " + shown(raw(id)));
        const std::string name(btf_.name(id));
        const bool tagged = tagged_.contains(raw(id));
        if (counted_.insert(raw(id)).second) {
            ++counts_.kfuncs;
            counts_.tagged += tagged;
        }
        if (!tagged && needs_tags_ && id >= btf_.first_id())
            report(Rule::kfunc_tag, offset,
                   "kfunc " + name + " has no tag bpf_kfunc: vmlinux.h does not declare it", name,
                   "kfuncs have no tag bpf_kfunc: vmlinux.h does not declare them");
        check_arguments(id, name, offset);
        if (flags & kf_implicit_args)
            check_implicit(id, name, offset);
    }

    std::span<const btf_param> parameters(TypeId func) const
    {
        const TypeId proto{btf_.type(func).type};
        if (btf_.kind(proto) != btf::Kind::FUNC_PROTO)
            return {};
        const btf_type &t = btf_.type(proto);
        return {reinterpret_cast<const btf_param *>(btf::tail_of(t)), btf::vlen_of(t)};
    }

    /// The type behind modifiers and at most one pointer. Chains are finite, because the BTF was
    /// verified.
    TypeId pointed_to(TypeId id) const
    {
        bool pointer = false;
        while (id != void_id) {
            const btf::Kind kind = btf_.kind(id);
            if (kind == btf::Kind::PTR && pointer)
                return id;
            if (kind != btf::Kind::PTR && !btf::is_modifier(kind))
                return id;
            pointer |= kind == btf::Kind::PTR;
            id = TypeId{btf_.type(id).type};
        }
        return id;
    }

    void check_arguments(TypeId func, const std::string &name, uint64_t offset)
    {
        uint32_t i = 0;
        for (const btf_param &p : parameters(func)) {
            counts_.passed_types.insert(raw(pointed_to(TypeId{p.type})));
            check_argument(TypeId{p.type}, "argument " + strf("%u", i++), name, offset);
        }
        const TypeId proto{btf_.type(func).type};
        if (btf_.kind(proto) == btf::Kind::FUNC_PROTO)
            check_argument(TypeId{btf_.type(proto).type}, "result", name, offset);
    }

    void check_argument(TypeId type, const std::string &which, const std::string &name,
                        uint64_t offset)
    {
        const TypeId own = pointed_to(type);
        const auto found = std::ranges::lower_bound(redefined_, own, {}, &Redefinition::own);
        if (found == redefined_.end() || found->own != own)
            return;
        const Redefinition &r = *found;
        const std::string why =
            r.root.empty() ? r.cause : "because of " + r.root + " (" + r.cause + ")";
        report(Rule::kfunc_type, offset,
               "kfunc " + name + ", " + which + ": " + std::string(btf_.name(r.own)) +
                   " is the module's own (type " + strf("%u", raw(r.own)) + "), not vmlinux's (" +
                   strf("%u", raw(r.base)) + ")" + (why.empty() ? "" : "; " + why),
               name, "kfuncs take or return a module's own types instead of vmlinux's");
    }

    bool is_implicit(const btf_param &p) const
    {
        const std::string_view name = btf_.name(pointed_to(TypeId{p.type}));
        return name == "bpf_prog_aux" || name == "btf_struct_meta";
    }

    void check_implicit(TypeId func, const std::string &name, uint64_t offset)
    {
        auto params = parameters(func);
        if (std::ranges::any_of(params, [&](auto &p) { return is_implicit(p); }))
            report(Rule::kfunc_impl, offset,
                   "kfunc " + name + " shows its implicit arguments: no program can call it", name,
                   "kfuncs show their implicit arguments: no program can call them");
        if (!has(btf::Kind::FUNC, name + "_impl"))
            report(Rule::kfunc_impl, offset,
                   "kfunc " + name + " has implicit arguments, and there is no FUNC " + name +
                       "_impl",
                   name, "kfuncs with implicit arguments have no FUNC NAME_impl");
    }

    const Binary &binary_;
    const Btf &btf_;
    const NameIndex &index_;
    const NameIndex *of_vmlinux_;
    const std::span<const Redefinition> redefined_;
    bool sets_have_flag_; // sets of kfuncs have the flag set_of_kfuncs
    const bool needs_tags_;
    Findings &out_;
    std::unordered_set<uint32_t> tagged_, counted_;            // ids; counted_: in counts_
    std::vector<uint32_t> words_;                              // of .BTF_ids
    std::map<std::pair<btf::Kind, std::string>, Twins> twins_; // see check_twice()
    KfuncCounts counts_;
};

} // namespace

KfuncCounts check_kfuncs(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
                         std::span<const Redefinition> redefined,
                         std::optional<KernelVersion> kernel, bool needs_tags, Findings &out)
{
    if (binary.btf_ids.empty()) {
        out.skip(Rule::ids, binary.name,
                 binary.form == Binary::Form::raw_btf
                     ? "raw BTF comes without .BTF_ids, the section with ids and kfuncs"
                     : "there is no .BTF_ids, the section with ids and kfuncs");
        return {};
    }
    if (binary.id_symbols.empty())
        out.skip(Rule::ids, binary.name,
                 "without symbols only sets of kfuncs are checked, recognised by their form");
    return IdsCheck(binary, index, of_vmlinux, redefined, kernel, needs_tags, out).run();
}

bool has_kfunc_tags(const NameIndex &index)
{
    return !tagged_functions(index).empty();
}

} // namespace btflink::kernel
