// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Resolves the CO-RE relocations of a BPF program on a kernel.
//
// Problem. A BPF program identifies a field by a struct of its own BTF and the indexes of members
// and array elements on the way ("0:1:2"). Which field of a kernel is this, and do all structs of
// the kernel with that name agree? Other relocations identify a type or an enumerator.
//
// Method. Candidates are the kernel's types that have the kind and the name (without flavour) of
// the program's type: those in vmlinux or, if there are none, those in modules. Indexes become
// names of members and numbers of array elements, which are looked up in each candidate. All
// candidates that fit must give the same result. The rules are those of libbpf's
// bpf_core_calc_relo_insn(), which the kernel uses, too.
//
// Invariant. Each type of the program has one list of candidates. If some candidates fit a
// relocation and all of these give the same result, the others are removed from the list. So each
// remaining candidate has all fields of the struct that were found so far, and the order of
// relocations matters.
//
// Cost. One pass over the names of the kernel's types; then, per relocation, a search for each name
// in each candidate.
#include "btf-kernel/bpf/core_field.h"

#include "btf-kernel/diff/types.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace btflink::kernel::bpf
{

namespace
{

using namespace diff;
using Status = Verdict::Status;

/// A member by name, or an element of an array.
struct Step {
    std::string_view name; // "": an element, or the leading index (see find_element())
    uint32_t index;        // if there is no name
    uint32_t type;         // id in the program's BTF of the type that the step leads to
    uint32_t bits = 0;     // width of a bitfield, or 0
};

/// A field of a program's struct: the steps to it, and its offset in bits.
struct LocalField {
    std::vector<Step> steps;
    uint64_t offset = 0;
};

constexpr size_t max_indexes = 64; // BPF_CORE_SPEC_MAX_LEN

/// Of structs and unions, a distilled base has only names and sizes. When the kernel loads the
/// module, it replaces these types by vmlinux's definitions. If the struct or union `id` is in a
/// distilled base, and vmlinux has a definition that fits, returns this definition; otherwise the
/// type itself. `vmlinux`: the types of vmlinux.
std::pair<const Btf *, uint32_t> definition_of(const Btf &btf, uint32_t id,
                                               const TypesByName &vmlinux)
{
    const std::string_view name = btf.name(TypeId{id});
    const auto found = vmlinux.find(essential_name(name));
    if (btf.base() && id < raw(btf.first_id()) && found != vmlinux.end())
        for (const DefinitionRef &d : found->second) {
            const Btf &other = *d.side->btf;
            if (&other != btf.base().get() && other.kind(TypeId{d.id}) == btf.kind(TypeId{id}) &&
                other.name(TypeId{d.id}) == name &&
                other.type(TypeId{d.id}).size == btf.type(TypeId{id}).size)
                return {&other, d.id};
        }
    return {&btf, id};
}

/// Moves from the struct or union at `out` to its member `name`. Returns false if there is none.
/// `vmlinux`: the types of vmlinux.
bool find_member(std::string_view name, const TypesByName &vmlinux, CoreField &out)
{
    const uint32_t type = behind_modifiers(*out.btf, out.type);
    if (!btf::is_composite(out.btf->kind(TypeId{type})))
        return false;
    const auto [btf, id] = definition_of(*out.btf, type, vmlinux);
    for (const Member &m : members_of(*btf, id))
        if (m.name == name) {
            out = {btf, out.offset + m.offset, m.type, m.bits, m.is_last};
            return true;
        }
    return false;
}

/// Moves from the array at `out` to the element step.index. Returns an explanation if `out` is not
/// an array, or has too few elements; if an array [0] is a last member, any index fits. `first`:
/// the step is the leading index of the access string. This index counts whole structs from the
/// pointer, like i in p[i], so `out` need not be an array.
std::optional<std::string> find_element(const Step &step, bool first, CoreField &out)
{
    const Btf &btf = *out.btf;
    uint32_t id = behind_modifiers(btf, out.type);
    if (!first) {
        if (btf.kind(TypeId{id}) != btf::Kind::ARRAY)
            return "is not an array there";
        const uint32_t *array = btf::tail_of(btf.type(TypeId{id}));
        if (step.index >= array[2] && !(array[2] == 0 && out.is_last_member))
            return strf("has %u elements there", array[2]);
        id = behind_modifiers(btf, array[0]);
    }
    out.offset += step.index * size_of(btf, id).value_or(0) * 8;
    out.type = id;
    out.bits = 0;
    out.is_last_member = false;
    return std::nullopt;
}

/// The indexes of an access string such as "0:1:2"; std::nullopt if the string is malformed or has
/// more than max_indexes indexes.
std::optional<std::vector<uint32_t>> parse_access(std::string_view text)
{
    std::vector<uint32_t> out;
    while (!text.empty()) {
        if (!out.empty() && text.starts_with(':'))
            text.remove_prefix(1);
        uint32_t value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || out.size() == max_indexes)
            return std::nullopt;
        out.push_back(value);
        text.remove_prefix(static_cast<size_t>(end - text.data()));
    }
    if (out.empty())
        return std::nullopt;
    return out;
}

/// The field to which the indexes `access` lead; std::nullopt if the indexes do not fit the type.
std::optional<LocalField> parse_field(const Btf &btf, uint32_t type,
                                      const std::vector<uint32_t> &access)
{
    LocalField out;
    uint32_t id = behind_modifiers(btf, type);
    out.offset = access[0] * size_of(btf, id).value_or(0) * 8;
    out.steps.push_back({"", access[0], id});
    // Did the previous step lead to the last member of a struct or union? If that is an array [0],
    // any index fits.
    bool may_be_flexible = false;
    for (size_t i = 1; i < access.size(); ++i) {
        id = behind_modifiers(btf, id);
        const btf_type *t = id ? &btf.type(TypeId{id}) : nullptr;
        if (t && btf::is_composite(btf::kind_of(*t))) {
            if (access[i] >= btf::vlen_of(*t))
                return std::nullopt;
            const Member m = member_at(btf, *t, access[i]);
            out.offset += m.offset;
            if (!m.name.empty())
                out.steps.push_back({m.name, 0, m.type, m.bits});
            may_be_flexible = !m.name.empty() && m.is_last;
            id = m.type;
        } else if (t && btf::kind_of(*t) == btf::Kind::ARRAY) {
            const uint32_t *array = btf::tail_of(*t);
            if (access[i] >= array[2] && !(array[2] == 0 && may_be_flexible))
                return std::nullopt;
            id = behind_modifiers(btf, array[0]);
            out.steps.push_back({"", access[i], id});
            out.offset += access[i] * size_of(btf, id).value_or(0) * 8;
            may_be_flexible = false;
        } else {
            return std::nullopt;
        }
    }
    return out;
}

/// Looks up a program's field in the type `root` of a kernel, and sets `out` to the kernel's field.
/// Returns an explanation if the kernel has no such field, or only one of another kind. `vmlinux`:
/// the types of vmlinux.
std::optional<std::string> find_field(const Btf &local_btf, const LocalField &local,
                                      const DefinitionRef &root, const TypesByName &vmlinux,
                                      CoreField &out)
{
    out = {root.side->btf.get(), 0, root.id};
    for (size_t i = 0; i < local.steps.size(); ++i) {
        const Step &step = local.steps[i];
        if (!step.name.empty()) {
            if (!find_member(step.name, vmlinux, out))
                return "has no member '" + std::string(step.name) + "'";
            if (!fields_are_compatible(local_btf, step.type, *out.btf, out.type))
                return "'" + std::string(step.name) + "' is " + one_line(*out.btf, out.type) +
                       " there, of another kind";
        } else if (auto error = find_element(step, i == 0, out)) {
            return error;
        }
    }
    return std::nullopt;
}

bool is_about_type(Core kind)
{
    return kind == Core::type_id_local || kind == Core::type_id_target ||
           kind == Core::type_exists || kind == Core::type_size || kind == Core::type_matches;
}
bool is_about_enumerator(Core kind)
{
    return kind == Core::enum_value_exists || kind == Core::enum_value;
}

// Side::names does not suffice: it has full names, with flavours, and only one of several types of
// the same shape. But types of the same shape may refer to different definitions of one name.
void add_types(const Side &side, TypesByName &types)
{
    for (TypeId id : side.btf->ids())
        types[essential_name(side.btf->name(id))].push_back({&side, raw(id)});
}

std::vector<DefinitionRef> find_candidates(const Btf &local, uint32_t type, const Sides &kernel,
                                           CandidateLists &known)
{
    const btf::Kind kind = local.kind(TypeId{type});
    auto of_this_kind = [&](TypesByName &types) {
        std::vector<DefinitionRef> out = types[essential_name(local.name(TypeId{type}))];
        std::erase_if(out, [&](const DefinitionRef &found) {
            const btf::Kind other = found.side->btf->kind(TypeId{found.id});
            return other != kind && !(btf::is_enum(other) && btf::is_enum(kind));
        });
        return out;
    };
    if (known.vmlinux.empty())
        add_types(*kernel.vmlinux, known.vmlinux);
    if (auto out = of_this_kind(known.vmlinux); !out.empty())
        return out;
    if (known.modules.empty())
        for (const auto &module : kernel.modules)
            if (module)
                add_types(*module, known.modules);
    return of_this_kind(known.modules);
}

bool needs_a_member(Core kind)
{
    return kind == Core::field_signed || kind == Core::field_lshift || kind == Core::field_rshift;
}

/// What a relocation is about: a field, an enumerator or, if neither is set, a type. With a flaw,
/// neither is set.
struct Target {
    const char *flaw = nullptr; // what is wrong with the relocation itself, if anything
    std::optional<LocalField> field = {};
    std::optional<std::string_view> enumerator = {};
};

Target read_target(const Btf &btf, const CoreRelocation &relocation)
{
    const auto access = parse_access(relocation.access);
    // For types, libbpf accepts only "0".
    if (!access || (is_about_type(relocation.kind) && relocation.access != "0"))
        return {.flaw = "has a malformed access string"};
    if (is_about_type(relocation.kind))
        return {};
    if (!is_about_enumerator(relocation.kind)) {
        auto field = parse_field(btf, relocation.type, *access);
        if (!field)
            return {.flaw = "has an access string that does not fit its type"};
        if (needs_a_member(relocation.kind) && field->steps.back().name.empty())
            return {.flaw =
                        "asks for the sign or the bits of something that is not a named member"};
        return {.field = std::move(field)};
    }
    const uint32_t id = behind_modifiers(btf, relocation.type);
    if (access->size() != 1 || !btf::is_enum(btf.kind(TypeId{id})) ||
        (*access)[0] >= btf::vlen_of(btf.type(TypeId{id})))
        return {.flaw = "does not refer to an enumerator"};
    return {.enumerator = enum_value(btf, id, (*access)[0]).name};
}

/// The result for one candidate.
struct Match {
    DefinitionRef candidate;
    CoreField field;
    // What CO-RE writes into the program: an offset, size, sign, shift, enumerator's value or type
    // id. For relocations for which is_question() holds, CO-RE writes 0 or 1 instead.
    int64_t number = 0;
    bool is_unsigned = true; // of an enumerator's value
    bool too_wide = false;   // a bitfield that cannot be loaded
};

class Resolver
{
public:
    Resolver(const BpfObject &object, const CoreRelocation &relocation, CandidateLists &lists)
        : object_(object), btf_(*object.btf), relocation_(relocation), lists_(lists),
          target_(read_target(btf_, relocation))
    {
    }

    Verdict run(const Sides &kernel)
    {
        if (relocation_.kind == Core::type_id_local)
            return {};
        if (static_cast<uint32_t>(relocation_.kind) > static_cast<uint32_t>(Core::type_matches))
            return {Status::unknown, "an unknown kind of relocation"};
        if (essential_name(btf_.name(TypeId{relocation_.type})).empty())
            return {Status::broken, "refers to a type without a name", {}, true};
        if (target_.flaw)
            return {Status::broken, target_.flaw, {}, true};
        auto [at, added] = lists_.lists.try_emplace(relocation_.type);
        if (added)
            at->second.remaining = find_candidates(btf_, relocation_.type, kernel, lists_);
        return choose(at->second);
    }

private:
    Verdict choose(CandidateList &list) const
    {
        std::string why = list.remaining.empty()
                              ? "there is no " + type_name(btf_, relocation_.type)
                              : missing_text();
        std::vector<Match> matches;
        std::vector<DefinitionRef> misfits;
        for (const DefinitionRef &c : list.remaining)
            if (auto match = match_with(c, why))
                matches.push_back(*match);
            else
                misfits.push_back(c);
        if (matches.empty())
            return nothing_fits(list, std::move(why));
        for (const Match &match : matches)
            if (auto conflict = conflict_of(matches[0], match)) {
                // Only types of loaded modules count, and perhaps not both modules are loaded.
                if (match.candidate.side != matches[0].candidate.side)
                    return {Status::unknown, *conflict + ", in different modules"};
                return {Status::broken, *conflict, {}, true};
            }
        if (!misfits.empty()) {
            list.remaining.clear();
            for (const Match &match : matches)
                list.remaining.push_back(match.candidate);
            list.removed.insert(list.removed.end(), misfits.begin(), misfits.end());
            list.decided_by = describe(object_, relocation_);
        }
        return verdict_of(matches[0]);
    }

    Verdict nothing_fits(const CandidateList &list, std::string why) const
    {
        // For a missing type libbpf writes 0 as its size or id.
        const bool breaks = !is_question(relocation_.kind) && !is_about_type(relocation_.kind);
        std::string of_removed;
        for (const DefinitionRef &c : list.removed)
            if (match_with(c, of_removed))
                why = "no single " + type_name(btf_, relocation_.type) + " has both this and " +
                      list.decided_by;
        return {breaks ? Status::broken : Status::absent, std::move(why)};
    }

    std::string missing_text() const
    {
        return is_about_enumerator(relocation_.kind)
                   ? "there is no such enumerator"
                   : "no " + type_name(btf_, relocation_.type) + " fits";
    }

    /// std::nullopt: the candidate does not fit, and `why` is the reason if the relocation is about
    /// a field.
    std::optional<Match> match_with(const DefinitionRef &c, std::string &why) const
    {
        if (is_about_type(relocation_.kind))
            return match_type(c);
        if (is_about_enumerator(relocation_.kind))
            return match_enumerator(c);
        Match match{c, {}, 0};
        if (auto misfit = find_field(btf_, *target_.field, c, lists_.vmlinux, match.field)) {
            why = *misfit;
            return std::nullopt;
        }
        if (is_question(relocation_.kind))
            return match;
        const auto number = field_number(relocation_.kind, match.field);
        match.number = static_cast<int64_t>(number.value_or(0));
        match.too_wide = !number;
        return match;
    }

    std::optional<Match> match_type(const DefinitionRef &c) const
    {
        const Btf &btf = *c.side->btf;
        const bool fits = relocation_.kind == Core::type_matches
                              ? types_match(btf_, relocation_.type, btf, c.id)
                              : types_are_compatible(btf_, relocation_.type, btf, c.id);
        if (!fits)
            return std::nullopt;
        if (relocation_.kind == Core::type_id_target)
            return Match{c, {}, c.id};
        return Match{c, {}, static_cast<int64_t>(size_of(btf, c.id).value_or(0))};
    }

    std::optional<Match> match_enumerator(const DefinitionRef &c) const
    {
        const Btf &btf = *c.side->btf;
        const uint32_t target = behind_modifiers(btf, c.id);
        if (!btf::is_enum(btf.kind(TypeId{target})))
            return std::nullopt;
        for (uint32_t i = 0; i < btf::vlen_of(btf.type(TypeId{target})); ++i) {
            const EnumValue value = enum_value(btf, target, i);
            if (essential_name(value.name) == essential_name(*target_.enumerator))
                return Match{c, {}, value.value, value.is_unsigned};
        }
        return std::nullopt;
    }

    /// All candidates that fit must give the same result. Returns the difference, if any.
    std::optional<std::string> conflict_of(const Match &first, const Match &other) const
    {
        if (target_.field && first.field.offset != other.field.offset)
            return "several types of that name have it at different places";
        if (first.number == other.number)
            return std::nullopt;
        switch (relocation_.kind) {
        case Core::type_size:
            return "several types of that name have different sizes";
        case Core::type_id_target:
            return "several types have that name";
        case Core::enum_value:
            return "has several values";
        default:
            if (target_.field)
                return "several types of that name have it with different sizes or signs";
            return std::nullopt;
        }
    }

    Verdict verdict_of(const Match &match) const
    {
        if (relocation_.kind == Core::type_size)
            return {Status::holds, strf("%zu bytes", static_cast<size_t>(match.number))};
        if (is_about_enumerator(relocation_.kind))
            return {Status::holds, number_text(match.number, match.is_unsigned)};
        if (!target_.field || is_question(relocation_.kind))
            return {};
        if (match.too_wide)
            return {Status::broken, "is a bitfield there that no load of 8 bytes covers", {}, true};
        Verdict at{Status::holds, strf("at %zu", size_t(match.field.offset / 8))};
        if (relocation_.kind != Core::field_byte_offset)
            return at;
        if (relocation_.width && match.number > INT16_MAX)
            return {Status::broken, at.text + ", beyond the reach of a load or store", {}, true};
        const Step &last = target_.field->steps.back();
        return size_verdict(std::move(at), {&btf_, target_.field->offset, last.type, last.bits},
                            match.field, relocation_.width);
    }

    const BpfObject &object_;
    const Btf &btf_;
    const CoreRelocation &relocation_;
    CandidateLists &lists_;
    const Target target_;
};

} // namespace

bool is_question(Core kind)
{
    return kind == Core::field_exists || kind == Core::type_exists ||
           kind == Core::enum_value_exists || kind == Core::type_matches;
}

std::string describe(const BpfObject &object, const CoreRelocation &relocation)
{
    const Target target = read_target(*object.btf, relocation);
    std::string text = type_name(*object.btf, relocation.type);
    if (target.enumerator)
        text += "." + std::string(*target.enumerator);
    for (size_t i = 1; target.field && i < target.field->steps.size(); ++i) {
        const Step &step = target.field->steps[i];
        text += step.name.empty() ? strf("[%u]", step.index) : "." + std::string(step.name);
    }
    return text;
}

Verdict resolve(const BpfObject &object, const CoreRelocation &relocation, const Sides &kernel,
                CandidateLists &lists)
{
    return Resolver(object, relocation, lists).run(kernel);
}

} // namespace btflink::kernel::bpf
