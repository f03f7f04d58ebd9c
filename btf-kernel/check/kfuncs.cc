// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares each id in .BTF_ids with the name of its symbol.
//
// The kernel finds a kfunc by the id in its set; programs find it by the name of its FUNC.
// vmlinux.h declares functions with the tag bpf_kfunc. A kfunc with the flag KF_IMPLICIT_ARGS has
// two FUNCs: NAME without the implicit arguments, for programs, and NAME_impl with them.
#include "btf-kernel/check/kfuncs.h"

#include "common/btf/id_symbols.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace btflink::kernel
{

namespace
{

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
               std::span<const Redefinition> redefined, Tags tags, Findings &out)
        : binary_(binary), btf_(index.btf()), index_(index), of_vmlinux_(of_vmlinux), tags_(tags),
          out_(out), tagged_(tagged_functions(index))
    {
        for (const Redefinition &r : redefined)
            redefined_.emplace(raw(r.own), &r);
    }

    KfuncCounts run(const std::vector<IdSet> &sets)
    {
        if (was_never_filled(sets)) {
            find(Rule::ids, 0, "was never filled in: all ids are 0, resolve_btfids has not run");
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
    void find(Rule rule, uint64_t offset, const std::string &what)
    {
        out_.add(rule, binary_.name, {place(offset), what});
    }
    /// Adds a finding that may be common to many kfuncs or ids.
    void find(Rule rule, uint64_t offset, const std::string &what, const std::string &subject,
              const std::string &cause, Degree degree = Degree::error)
    {
        out_.add({rule, binary_.name, {place(offset), what}, cause, subject, degree});
    }
    Where place(uint64_t offset) const { return Where{binary_.path, ".BTF_ids"}.at(offset); }

    bool in_range(uint32_t id) const { return id < raw(btf_.end_id()); }
    std::string name_of(uint32_t id) const { return std::string(btf_.name(TypeId{id})); }

    /// "12, which is FUNC 'f'".
    std::string shown(uint32_t id) const
    {
        if (!in_range(id))
            return strf("%u, which no type has", id);
        return strf("%u, which is %s '%s'", id, btf_.kind_name(TypeId{id}), name_of(id).c_str());
    }

    /// All ids are 0 although the BTF has one of the types. Without symbols only vmlinux is judged,
    /// which always has ids.
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
                find(Rule::ids, one.offset, one.kind + " " + name + " has id 0, and the BTF has it",
                     name, "ids of types that the BTF has are 0");
            else if (kind == btf::Kind::FUNC)
                check_absent_function(name, one.offset);
            return;
        }
        check_twice(kind, one);
        if (!in_range(id) || btf_.kind(TypeId{id}) != kind || name_of(id) != one.names[0])
            find(Rule::ids, one.offset, one.kind + " " + one.names[0] + " has id " + shown(id));
    }

    /// If there are two types, the kernel uses one of them, and a program may use the other.
    void check_twice(btf::Kind kind, const IdSet &one)
    {
        std::vector<TypeId> same;
        for (TypeId id : index_.of(one.names[0]))
            if (btf_.kind(id) == kind)
                same.push_back(id);
        if (same.size() < 2 || kind == btf::Kind::FUNC)
            return;
        find(Rule::ids_twice, one.offset,
             strf("%s %s has %zu definitions, and type %u is used: ", one.kind.c_str(),
                  one.names[0].c_str(), same.size(), one.entries[0].id) +
                 why_two(btf_, same[0], same[1]),
             one.names[0], "types that the kernel asks for by name have several definitions");
    }

    void check_absent_function(const std::string &name, uint64_t offset)
    {
        find(Rule::ids_func, offset, "function " + name + " has no FUNC: " + why_absent(name), name,
             "functions that the kernel asks for by name have no FUNC", Degree::suspicious);
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
            const uint64_t offset = set.offset + (set.with_flags ? 8 + i * 8 : 4 + i * 4);
            if (entry.id == 0)
                ++missing;
            else if (!in_range(entry.id))
                find(Rule::ids, offset, title + " has id " + shown(entry.id));
            else if (!set.names.empty() && std::find(set.names.begin(), set.names.end(),
                                                     name_of(entry.id)) == set.names.end())
                find(Rule::ids, offset,
                     title + " has id " + shown(entry.id) + ", which it does not name");
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

    /// The symbols of a set's entries do not state kinds.
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
                find(Rule::kfunc_func, set.offset,
                     "kfunc " + name + " of " + title + " has no FUNC: no program can call it" +
                         (binary_.id_functions.empty() ? "" : "; " + why_absent(name)),
                     name, "kfuncs have no FUNC: no program can call them");
            }
        if (named < missing)
            find(Rule::kfunc_func, set.offset,
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
            return find(Rule::ids, offset, "a kfunc has id " + shown(entry.id));
        ++counts_.kfuncs;
        const std::string name = name_of(entry.id);
        const bool tagged = tagged_.contains(entry.id);
        counts_.tagged += tagged;
        if (!tagged && tags_ == Tags::yes && id >= btf_.first_id())
            find(Rule::kfunc_tag, offset,
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
        find(Rule::kfunc_type, offset,
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
            find(Rule::kfunc_impl, offset,
                 "kfunc " + name + " shows its implicit arguments: no program can call it", name,
                 "kfuncs show their implicit arguments: no program can call them");
        if (!has_func(name + "_impl"))
            find(Rule::kfunc_impl, offset,
                 "kfunc " + name + " has implicit arguments, and there is no FUNC " + name +
                     "_impl",
                 name, "kfuncs with implicit arguments have no FUNC of the name with _impl");
    }

    const Binary &binary_;
    const Btf &btf_;
    const NameIndex &index_;
    const NameIndex *of_vmlinux_;
    const Tags tags_;
    Findings &out_;
    std::unordered_set<uint32_t> tagged_;
    std::unordered_map<uint32_t, const Redefinition *> redefined_;
    KfuncCounts counts_;
};

} // namespace

KfuncCounts check_kfuncs(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
                         std::span<const Redefinition> redefined,
                         std::optional<KernelVersion> kernel, Tags tags, Findings &out)
{
    if (binary.btf_ids.empty()) {
        out.skip(Rule::ids, binary,
                 binary.form == Binary::Form::raw_btf
                     ? "raw BTF comes without .BTF_ids, which has ids and kfuncs"
                     : "there is no .BTF_ids, which has ids and kfuncs");
        return {};
    }
    if (binary.id_symbols.empty())
        out.skip(Rule::ids, binary,
                 "without symbols only sets of kfuncs are checked, which have a typical form");
    auto sets = read_btf_ids(binary, index.btf(), kernel);
    if (!sets) {
        out.add(Rule::ids, binary.name, sets.error());
        return {};
    }
    return KfuncCheck(binary, index, of_vmlinux, redefined, tags, out).run(*sets);
}

bool has_kfunc_tags(const NameIndex &index)
{
    return !tagged_functions(index).empty();
}

} // namespace btflink::kernel
