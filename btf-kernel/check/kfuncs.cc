// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares each id in .BTF_ids with the name of its symbol.
//
// The kernel finds a kfunc by the id in its set; programs find it by the name of its FUNC.
// vmlinux.h declares functions with the tag bpf_kfunc. A kfunc with the flag KF_IMPLICIT_ARGS has
// two FUNCs: NAME without the implicit arguments, for programs, and NAME_impl with them.
//
// .BTF_ids has ids of types and functions that the kernel's C code asks for by name
// (include/linux/btf_ids.h); resolve_btfids fills them in after the link. We find its
// entries by symbol (common/btf/id_symbols.h). resolve_btfids sorts each set by id, so the symbols
// in a set give its names, but not which entry has which name.
#include "btf-kernel/check/check_kernel.h"

#include "common/btf/id_symbols.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace btflink::kernel
{

namespace
{

struct IdEntry {
    uint32_t id = 0; // 0: the BTF lacks the type
    uint32_t flags = 0;
};

/// One id, or a sorted set of them.
struct IdSet {
    std::string name; // a set's; empty if there is no symbol for it
    std::string kind; // of a single id: "struct", "union", "typedef", "func"; empty for a set
    btf::Kind type_kind = btf::Kind::VOID; // of a single id
    uint64_t offset = 0;
    bool with_flags = false; // a SET8
    bool of_kfuncs = false;  // before 6.9 every SET8; later marked by a flag of the set
    std::vector<IdEntry> entries;
    std::vector<std::string> names; // of the entries, in another order; may be empty

    /// Of a set: where entry `i` is. The count, with the set's flags, takes the place of one entry.
    uint64_t entry_offset(size_t i) const { return offset + (i + 1) * (with_flags ? 8 : 4); }
};

constexpr KernelVersion first_with_mark{6, 9};
// The largest set that guess() accepts, so that its search takes linear time. Kernels allow 256
// kfuncs for each kind of program (BTF_KFUNC_SET_MAX_CNT).
constexpr uint32_t most_kfuncs = 1024;

class IdReader
{
public:
    IdReader(const Binary &binary, const Btf &btf, std::optional<KernelVersion> kernel)
        : binary_(binary), btf_(btf), marked_(!kernel || *kernel >= first_with_mark)
    {
        words_.resize(binary.btf_ids.size() / 4);
        for (size_t i = 0; i < words_.size(); ++i)
            words_[i] = load<uint32_t>(binary.btf_ids.data() + i * 4, binary.order);
    }

    Result<std::vector<IdSet>> run()
    {
        if (binary_.id_symbols.empty())
            return guess();
        std::vector<IdSet> out;
        uint64_t end = 0; // the end of the last set
        for (const PlacedSymbol &symbol : binary_.id_symbols) {
            const IdSymbol parsed = parse_id_symbol(symbol.name);
            const auto [kind, name] = parsed;
            if (kind.empty())
                continue;
            if (symbol.offset % 4 || symbol.offset / 4 >= words_.size())
                return bad(symbol, "is outside .BTF_ids");
            if (parsed.is_set()) {
                auto set = TRY(read_set(symbol, kind == "set8", std::string(name)));
                end = set.entry_offset(set.entries.size());
                out.push_back(std::move(set));
            } else if (symbol.offset < end) {
                out.back().names.emplace_back(name);
            } else {
                IdSet one;
                one.kind = kind;
                one.type_kind = parsed.type_kind();
                one.offset = symbol.offset;
                one.entries = {{words_[symbol.offset / 4], 0}};
                one.names = {std::string(name)};
                out.push_back(std::move(one));
            }
        }
        return out;
    }

private:
    Failure bad(const PlacedSymbol &symbol, const std::string &what) const
    {
        return fail(Where{binary_.path, ".BTF_ids"}.at(symbol.offset), symbol.name + ": " + what);
    }

    Result<IdSet> read_set(const PlacedSymbol &symbol, bool with_flags, std::string name) const
    {
        const size_t at = symbol.offset / 4, entry_words = with_flags ? 2 : 1;
        const size_t left = words_.size() - at;
        const uint64_t count = words_[at];
        if (left < entry_words || count > (left - entry_words) / entry_words)
            return bad(symbol, std::to_string(count) + " ids do not fit into the section");
        return make_set(at, count, with_flags, std::move(name));
    }

    IdSet make_set(size_t at, uint64_t count, bool with_flags, std::string name) const
    {
        IdSet set;
        set.name = std::move(name);
        set.offset = at * 4;
        set.with_flags = with_flags;
        set.of_kfuncs = with_flags && (!marked_ || words_[at + 1] & set_of_kfuncs);
        const size_t entry_words = with_flags ? 2 : 1;
        for (size_t i = 0; i < count; ++i) {
            const uint32_t *pair = words_.data() + at + (i + 1) * entry_words;
            set.entries.push_back({pair[0], with_flags ? pair[1] : 0});
        }
        return set;
    }

    bool is_func(uint32_t id) const
    {
        return id < raw(btf_.end_id()) && btf_.kind(TypeId{id}) == btf::Kind::FUNC;
    }

    /// Does a set of kfuncs begin at this word?
    bool looks_like_kfuncs(size_t at) const
    {
        const size_t left = words_.size() - at;
        if (left < 4 || words_[at] == 0 || words_[at] > most_kfuncs ||
            words_[at] > (left - 2) / 2 || words_[at + 1] != (marked_ ? set_of_kfuncs : 0))
            return false;
        // Above all flags of kfuncs in kernels of that age, with room for new ones.
        const uint32_t flags_end = marked_ ? 1 << 20 : 1 << 12;
        uint32_t last = 0;
        for (size_t i = 0; i < words_[at]; ++i) {
            const uint32_t id = words_[at + 2 + i * 2];
            if ((id && !is_func(id)) || id < last || words_[at + 3 + i * 2] >= flags_end)
                return false;
            last = id;
        }
        return last != 0;
    }

    std::vector<IdSet> guess() const
    {
        std::vector<IdSet> out;
        for (size_t at = 0; at < words_.size();) {
            if (!looks_like_kfuncs(at)) {
                ++at;
                continue;
            }
            out.push_back(make_set(at, words_[at], true, ""));
            at += 2 + size_t{words_[at]} * 2;
        }
        return out;
    }

    const Binary &binary_;
    const Btf &btf_;
    const bool marked_;
    std::vector<uint32_t> words_;
};

/// All ids and sets, by offset. Without symbols only sets of kfuncs are found, by their form: their
/// ids are functions of `btf`. Error: a set does not fit into the section.
Result<std::vector<IdSet>> read_btf_ids(const Binary &binary, const Btf &btf,
                                        std::optional<KernelVersion> kernel)
{
    return IdReader(binary, btf, kernel).run();
}

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

class KfuncCheck
{
public:
    KfuncCheck(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
               std::span<const Redefinition> redefined, bool needs_tags, Findings &out)
        : binary_(binary), btf_(index.btf()), index_(index), of_vmlinux_(of_vmlinux),
          needs_tags_(needs_tags), out_(out), tagged_(tagged_functions(index))
    {
        for (const Redefinition &r : redefined)
            redefined_.emplace(raw(r.own), &r);
    }

    KfuncCounts run(const std::vector<IdSet> &sets)
    {
        if (was_never_filled(sets)) {
            report(Rule::ids, 0, "was never filled in: all ids are 0, resolve_btfids has not run");
            return counts_;
        }
        for (const IdSet &set : sets)
            if (!set.kind.empty())
                check_single(set);
            else
                check_set(set);
        return counts_;
    }

private:
    /// `cause`, `subject`: set if many kfuncs or ids may have the finding, which is then printed as
    /// one line.
    void report(Rule rule, uint64_t offset, const std::string &what,
                const std::string &subject = "", const std::string &cause = "",
                Degree degree = Degree::error)
    {
        out_.add({rule,
                  binary_.name,
                  {Where{binary_.path, ".BTF_ids"}.at(offset), what},
                  cause,
                  subject,
                  degree});
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

    /// Are all ids 0 although the BTF has one of the types? Without symbols this is known only of
    /// vmlinux, which, unlike a module, always has ids.
    bool was_never_filled(const std::vector<IdSet> &sets) const
    {
        if (binary_.id_symbols.empty())
            return !of_vmlinux_ && std::all_of(binary_.btf_ids.begin(), binary_.btf_ids.end(),
                                               [](std::byte b) { return b == std::byte{0}; });
        bool known = false;
        for (const IdSet &set : sets) {
            for (const IdEntry &entry : set.entries)
                if (entry.id)
                    return false;
            // Before they are filled in, sets have no counts, and their entries look like single
            // ids.
            known |= !set.kind.empty() && has(set.type_kind, set.names[0]);
        }
        return known;
    }

    /// An id of 0 is correct for a type that this kernel does not have.
    void check_single(const IdSet &one)
    {
        const uint32_t id = one.entries[0].id;
        const btf::Kind kind = one.type_kind;
        if (kind == btf::Kind::VOID)
            return;
        const std::string &name = one.names[0];
        if (id == 0) {
            if (has(kind, name))
                report(Rule::ids, one.offset,
                       one.kind + " " + name + " has id 0, and the BTF has it", name,
                       "ids of types that the BTF has are 0");
            else if (kind == btf::Kind::FUNC)
                check_absent_function(name, one.offset);
            return;
        }
        check_twice(kind, one);
        if (!in_range(id) || btf_.kind(TypeId{id}) != kind || name_of(id) != one.names[0])
            report(Rule::ids, one.offset, one.kind + " " + one.names[0] + " has id " + shown(id));
    }

    /// If there are two types, the kernel uses one of them, and a program may be checked against
    /// the other.
    void check_twice(btf::Kind kind, const IdSet &one)
    {
        std::vector<TypeId> same;
        for (TypeId id : index_.of(one.names[0]))
            if (btf_.kind(id) == kind)
                same.push_back(id);
        if (same.size() < 2 || kind == btf::Kind::FUNC)
            return;
        report(Rule::ids_twice, one.offset,
               strf("%s %s has %zu definitions, and type %u is used: ", one.kind.c_str(),
                    one.names[0].c_str(), same.size(), one.entries[0].id) +
                   why_two(btf_, same[0], same[1]),
               one.names[0], "types that the kernel asks for by name have several definitions");
    }

    void check_absent_function(const std::string &name, uint64_t offset)
    {
        report(Rule::ids_func, offset, "function " + name + " has no FUNC: " + why_absent(name),
               name, "functions that the kernel asks for by name have no FUNC", Degree::suspicious);
    }

    /// The reason, according to the symbols of the file.
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
        const std::string title = set.name.empty() ? "a set" : set.name;
        size_t missing = 0;
        for (size_t i = 0; i < set.entries.size(); ++i) {
            const IdEntry &entry = set.entries[i];
            const uint64_t offset = set.entry_offset(i);
            if (entry.id == 0)
                ++missing;
            else if (!in_range(entry.id))
                report(Rule::ids, offset, title + " has id " + shown(entry.id));
            else if (!set.names.empty() && std::find(set.names.begin(), set.names.end(),
                                                     name_of(entry.id)) == set.names.end())
                report(Rule::ids, offset,
                       title + " has id " + shown(entry.id) +
                           ", but no symbol of the set names it");
            else if (set.of_kfuncs)
                check_kfunc(entry, offset);
        }
        if (missing && set.of_kfuncs)
            check_missing(set, title, missing);
        else if (missing)
            for (const std::string &name : set.names)
                if (!has_anything(name))
                    check_absent_function(name, set.offset);
    }

    /// The symbols of a set's entries name a type, but not its kind.
    bool has_anything(const std::string &name) const
    {
        return !index_.of(name).empty() || (of_vmlinux_ && !of_vmlinux_->of(name).empty());
    }

    bool has(btf::Kind kind, const std::string &name) const
    {
        auto is_in = [&](const NameIndex &index) {
            const auto &ids = index.of(name);
            return std::any_of(ids.begin(), ids.end(),
                               [&](TypeId id) { return index.btf().kind(id) == kind; });
        };
        return is_in(index_) || (of_vmlinux_ && is_in(*of_vmlinux_));
    }
    bool has_func(const std::string &name) const { return has(btf::Kind::FUNC, name); }

    void check_missing(const IdSet &set, const std::string &title, size_t missing)
    {
        size_t named = 0;
        for (const std::string &name : set.names)
            if (!has_func(name)) {
                ++named;
                report(Rule::kfunc_func, set.offset,
                       "kfunc " + name + " of " + title + " has no FUNC: no program can call it" +
                           (binary_.id_functions.empty() ? "" : "; " + why_absent(name)),
                       name, "kfuncs have no FUNC: no program can call them");
            }
        if (named < missing)
            report(Rule::kfunc_func, set.offset,
                   strf("%zu of %zu kfuncs of %s have no id: no program can call them",
                        missing - named, set.entries.size(), title.c_str()) +
                       neighbours(set));
    }

    /// For a set without a name: one of its kfuncs.
    std::string neighbours(const IdSet &set) const
    {
        if (!set.name.empty())
            return "";
        for (const IdEntry &entry : set.entries)
            if (entry.id)
                return " (it is the set of " + name_of(entry.id) + ")";
        return "";
    }

    void check_kfunc(const IdEntry &entry, uint64_t offset)
    {
        const TypeId id{entry.id};
        if (btf_.kind(id) != btf::Kind::FUNC)
            return report(Rule::ids, offset, "a kfunc has id " + shown(entry.id));
        ++counts_.kfuncs;
        const std::string name = name_of(entry.id);
        const bool tagged = tagged_.contains(entry.id);
        counts_.tagged += tagged;
        if (!tagged && needs_tags_ && id >= btf_.first_id())
            report(Rule::kfunc_tag, offset,
                   "kfunc " + name + " has no tag bpf_kfunc: loaders do not declare it", name,
                   "kfuncs have no tag bpf_kfunc: loaders do not declare them");
        check_arguments(id, name, offset);
        if (entry.flags & implicit_args)
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
            counts_.taken.insert(raw(pointed_to(TypeId{p.type})));
            check_argument(TypeId{p.type}, "argument " + strf("%u", i++), name, offset);
        }
        const TypeId proto{btf_.type(func).type};
        if (btf_.kind(proto) == btf::Kind::FUNC_PROTO)
            check_argument(TypeId{btf_.type(proto).type}, "result", name, offset);
    }

    void check_argument(TypeId type, const std::string &which, const std::string &name,
                        uint64_t offset)
    {
        auto it = redefined_.find(raw(pointed_to(type)));
        if (it == redefined_.end())
            return;
        const Redefinition &r = *it->second;
        report(Rule::kfunc_type, offset,
               "kfunc " + name + ", " + which + ": " + std::string(btf_.name(r.own)) +
                   " is the module's own (type " + strf("%u", raw(r.own)) + "), not vmlinux's (" +
                   strf("%u", raw(r.base)) + ")" + (r.cause.empty() ? "" : "; " + r.cause),
               name, "kfuncs take a module's own copies of vmlinux's types");
    }

    bool is_implicit(const btf_param &p) const
    {
        const std::string_view name = btf_.name(pointed_to(TypeId{p.type}));
        return name == "bpf_prog_aux" || name == "btf_struct_meta";
    }

    void check_implicit(TypeId func, const std::string &name, uint64_t offset)
    {
        auto params = parameters(func);
        if (std::any_of(params.begin(), params.end(), [&](auto &p) { return is_implicit(p); }))
            report(Rule::kfunc_impl, offset,
                   "kfunc " + name + " shows its implicit arguments: no program can call it", name,
                   "kfuncs show their implicit arguments: no program can call them");
        if (!has_func(name + "_impl"))
            report(Rule::kfunc_impl, offset,
                   "kfunc " + name + " has implicit arguments, and there is no FUNC " + name +
                       "_impl",
                   name, "kfuncs with implicit arguments have no FUNC of the name with _impl");
    }

    const Binary &binary_;
    const Btf &btf_;
    const NameIndex &index_;
    const NameIndex *of_vmlinux_;
    const bool needs_tags_;
    Findings &out_;
    std::unordered_set<uint32_t> tagged_;
    std::unordered_map<uint32_t, const Redefinition *> redefined_;
    KfuncCounts counts_;
};

} // namespace

KfuncCounts check_kfuncs(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
                         std::span<const Redefinition> redefined,
                         std::optional<KernelVersion> kernel, bool needs_tags, Findings &out)
{
    if (binary.btf_ids.empty()) {
        out.skip(Rule::ids, binary,
                 binary.form == Binary::Form::raw_btf
                     ? "raw BTF comes without .BTF_ids, the section with ids and kfuncs"
                     : "there is no .BTF_ids, the section with ids and kfuncs");
        return {};
    }
    if (binary.id_symbols.empty())
        out.skip(Rule::ids, binary,
                 "without symbols only sets of kfuncs are checked, recognised by their form");
    auto sets = read_btf_ids(binary, index.btf(), kernel);
    if (!sets) {
        out.add(Rule::ids, binary.name, sets.error());
        return {};
    }
    return KfuncCheck(binary, index, of_vmlinux, redefined, needs_tags, out).run(*sets);
}

bool has_kfunc_tags(const NameIndex &index)
{
    return !tagged_functions(index).empty();
}

} // namespace btflink::kernel
