// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A BPF program names a field by the struct of its own BTF and the indexes of members on
// the way ("0:1:2"). Which field of a kernel is that, and is it the same in all structs of that
// name?
//
// Method. The indexes become names (members) and numbers (array elements); the names are looked up
// in each candidate, through members without names. The rules of what fits are those of libbpf's
// bpf_core_calc_relo_insn(), which the kernel uses, too: candidates are the types of that name and
// kind in vmlinux, or, if there is none, in modules; where several fit, all must give one result.
//
// Invariant. A program's type has one list of candidates, from which each relocation strikes those
// that do not fit it, unless none does. So two fields of one type of the program come from one type
// of the kernel, and the order of the relocations counts.
#include "btf-kernel/bpf/core_match.h"

#include "btf-kernel/bpf/types_match.h"
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

constexpr size_t max_spec = 64; // BPF_CORE_SPEC_MAX_LEN

bool is_about_type(Core kind)
{
    return kind == Core::type_id_local || kind == Core::type_id_target ||
           kind == Core::type_exists || kind == Core::type_size || kind == Core::type_matches;
}
bool is_about_enumerator(Core kind)
{
    return kind == Core::enum_value_exists || kind == Core::enum_value;
}

/// One step: a member by name, or an element of an array.
struct Step {
    std::string_view name; // "": an element
    uint32_t index;        // of the element
    uint32_t type;         // of the program: what the step leads to
    uint32_t bits = 0;     // of a bitfield
};

/// Indexes of an access string; nothing if it is none.
std::optional<std::vector<uint32_t>> parse_access(std::string_view text)
{
    std::vector<uint32_t> out;
    while (!text.empty()) {
        uint32_t value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || out.size() == max_spec)
            return std::nullopt;
        out.push_back(value);
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        if (text.starts_with(':'))
            text.remove_prefix(1);
        else if (!text.empty())
            return std::nullopt;
    }
    if (out.empty())
        return std::nullopt;
    return out;
}

struct RawMember {
    std::string_view name;
    uint32_t type, offset, bits;
};
RawMember raw_member(const Btf &btf, const btf_type &t, uint32_t i)
{
    const uint32_t *m = btf::tail_of(t) + i * 3;
    const bool kflag = btf::kflag_of(t);
    return {btf.str(m[0]), m[1], kflag ? m[2] & 0xffffff : m[2], kflag ? m[2] >> 24 : 0};
}

/// Steps of a program's field, and its offset there in bits.
struct Local {
    std::vector<Step> steps;
    uint64_t offset = 0;
};

std::optional<Local> parse_field(const Btf &btf, uint32_t type, const std::vector<uint32_t> &access)
{
    Local out;
    uint32_t id = behind_modifiers(btf, type);
    out.offset = access[0] * size_of(btf, id).value_or(0) * 8;
    out.steps.push_back({"", access[0], id});
    bool last_is_end = false; // of its struct: an array there may have any length
    for (size_t i = 1; i < access.size(); ++i) {
        id = behind_modifiers(btf, id);
        const btf_type *t = id ? &btf.type(TypeId{id}) : nullptr;
        if (t && btf::is_composite(btf::kind_of(*t))) {
            if (access[i] >= btf::vlen_of(*t))
                return std::nullopt;
            RawMember m = raw_member(btf, *t, access[i]);
            out.offset += m.offset;
            if (!m.name.empty())
                out.steps.push_back({m.name, 0, m.type, m.bits});
            last_is_end = !m.name.empty() && access[i] + 1 == btf::vlen_of(*t);
            id = m.type;
        } else if (t && btf::kind_of(*t) == btf::Kind::ARRAY) {
            const uint32_t *array = btf::tail_of(*t);
            if (access[i] >= array[2] && !(array[2] == 0 && last_is_end))
                return std::nullopt;
            id = behind_modifiers(btf, array[0]);
            out.steps.push_back({"", access[i], id});
            out.offset += access[i] * size_of(btf, id).value_or(0) * 8;
            last_is_end = false;
        } else {
            return std::nullopt;
        }
    }
    return out;
}

/// A field of a kernel.
struct KernelField {
    uint64_t offset = 0; // bits
    uint32_t type = 0, bits = 0;
    bool is_end = false; // the last member of its struct

    auto operator<=>(const KernelField &) const = default;
};

class FieldFinder
{
public:
    FieldFinder(const Btf &local, const Btf &target) : local_(local), target_(target) {}

    /// What does not fit, if anything.
    std::optional<std::string> find(const Local &local, uint32_t root, KernelField &out)
    {
        out = {};
        out.type = root;
        for (size_t i = 0; i < local.steps.size(); ++i) {
            const Step &step = local.steps[i];
            if (!step.name.empty()) {
                KernelField found;
                const uint32_t in = behind_modifiers(target_, out.type);
                left_ = 1 << 20;
                if (!find_member(step.name, in, out.offset, 0, found))
                    return "has no member '" + std::string(step.name) + "'";
                if (!fields_are_compatible(local_, step.type, target_, found.type))
                    return "'" + std::string(step.name) + "' is " + one_line(target_, found.type) +
                           " there, of another kind";
                out = found;
            } else if (auto error = element(step, i == 0, out)) {
                return error;
            }
        }
        return std::nullopt;
    }

private:
    bool find_member(std::string_view name, uint32_t id, uint64_t offset, unsigned depth,
                     KernelField &out)
    {
        if (!id || !btf::is_composite(target_.kind(TypeId{id})) || depth > max_spec)
            return false;
        const btf_type &t = target_.type(TypeId{id});
        for (uint32_t i = 0; i < btf::vlen_of(t) && left_; ++i, --left_) {
            RawMember m = raw_member(target_, t, i);
            if (m.name == name) {
                out = {offset + m.offset, m.type, m.bits, i + 1 == btf::vlen_of(t)};
                return true;
            }
            if (m.name.empty() && find_member(name, behind_modifiers(target_, m.type),
                                              offset + m.offset, depth + 1, out))
                return true;
            if (!left_)
                return false;
        }
        return false;
    }

    std::optional<std::string> element(const Step &step, bool first, KernelField &out)
    {
        uint32_t id = behind_modifiers(target_, out.type);
        if (!first) {
            if (target_.kind(TypeId{id}) != btf::Kind::ARRAY)
                return "is no array there";
            const uint32_t *array = btf::tail_of(target_.type(TypeId{id}));
            if (step.index >= array[2] && !(array[2] == 0 && out.is_end))
                return strf("has %u elements there", array[2]);
            id = behind_modifiers(target_, array[0]);
        }
        out.offset += step.index * size_of(target_, id).value_or(0) * 8;
        out.type = id;
        out.bits = 0;
        out.is_end = false;
        return std::nullopt;
    }

    const Btf &local_, &target_;
    size_t left_ = 0;
};

/// Bytes that a load of such a field takes: of an array, those of one element.
uint64_t load_size(const Btf &btf, uint32_t id)
{
    for (size_t i = 0; i < max_spec; ++i) {
        id = behind_modifiers(btf, id);
        if (btf.kind(TypeId{id}) != btf::Kind::ARRAY)
            break;
        id = btf::tail_of(btf.type(TypeId{id}))[0];
    }
    return size_of(btf, id).value_or(0);
}

bool is_unsigned_or_pointer(const Btf &btf, uint32_t id)
{
    id = behind_modifiers(btf, id);
    const btf::Kind kind = btf.kind(TypeId{id});
    return kind == btf::Kind::PTR ||
           (kind == btf::Kind::INT &&
            BTF_INT_ENCODING(btf::tail_of(btf.type(TypeId{id}))[0]) != BTF_INT_SIGNED);
}

bool is_question(Core kind)
{
    return kind == Core::field_exists || kind == Core::type_exists ||
           kind == Core::enum_value_exists || kind == Core::type_matches;
}

std::vector<Candidate> find_candidates(const Btf &local, uint32_t type, const Sides &kernel)
{
    const btf::Kind kind = local.kind(TypeId{type});
    const uint64_t key = key_of(kind == btf::Kind::TYPEDEF ? Space::alias : Space::type,
                                plain_int_name(essential_name(local.name(TypeId{type}))));
    std::vector<Candidate> out;
    auto add = [&](const Side &side) {
        for (const Named &named : side.find(key)) {
            const btf::Kind other = side.btf->kind(TypeId{named.id});
            if (other == kind || (btf::is_enum(other) && btf::is_enum(kind)))
                out.push_back({&side, named.id});
        }
    };
    add(*kernel.vmlinux);
    if (!out.empty())
        return out;
    for (const auto &module : kernel.modules)
        if (module)
            add(*module);
    return out;
}

/// What a relocation asks for, read once for all candidates.
struct Wanted {
    std::optional<Local> field;
    std::string_view enumerator;
};

/// What it becomes with one candidate.
struct Match {
    Candidate candidate;
    KernelField field;
    int64_t number = 0; // of a size, an enumerator, a type
    bool is_unsigned = true;
};

class Resolver
{
public:
    Resolver(const BpfObject &object, const CoreRelocation &relocation)
        : object_(object), btf_(*object.btf), relocation_(relocation)
    {
    }

    Verdict run(const Sides &kernel, CandidateLists &lists)
    {
        if (relocation_.kind == Core::type_id_local)
            return {};
        if (static_cast<uint32_t>(relocation_.kind) > static_cast<uint32_t>(Core::type_matches))
            return {Status::unknown, "a kind of relocation that is not known"};
        if (essential_name(btf_.name(TypeId{relocation_.type})).empty())
            return {Status::broken, "is about a type without a name"};
        if (auto misfit = read_wanted())
            return {Status::broken, *misfit};
        auto [at, added] = lists.try_emplace(relocation_.type);
        if (added)
            at->second.left = find_candidates(btf_, relocation_.type, kernel);
        return choose(at->second);
    }

private:
    /// What is wrong with the relocation itself, if anything.
    std::optional<std::string> read_wanted()
    {
        const auto access = parse_access(relocation_.access);
        if (!access)
            return "has an access string that is none";
        if (is_about_type(relocation_.kind))
            return std::nullopt;
        if (!is_about_enumerator(relocation_.kind)) {
            wanted_.field = parse_field(btf_, relocation_.type, *access);
            if (!wanted_.field)
                return "has an access string that does not fit its type";
            return std::nullopt;
        }
        const uint32_t id = behind_modifiers(btf_, relocation_.type);
        if (!btf::is_enum(btf_.kind(TypeId{id})) ||
            (*access)[0] >= btf::vlen_of(btf_.type(TypeId{id})))
            return "is about no enumerator";
        wanted_.enumerator = essential_name(enum_value(btf_, id, (*access)[0]).name);
        return std::nullopt;
    }

    Verdict choose(CandidateList &list) const
    {
        std::string why =
            list.left.empty() ? "there is no " + type_name(btf_, relocation_.type) : missing_text();
        std::vector<Match> matches;
        std::vector<Candidate> misfits;
        for (const Candidate &c : list.left)
            if (auto match = match_with(c, why))
                matches.push_back(*match);
            else
                misfits.push_back(c);
        if (matches.empty())
            return nothing_fits(list, std::move(why));
        for (const Match &match : matches)
            if (auto conflict = conflict_of(matches[0], match))
                return {Status::broken, *conflict};
        if (!misfits.empty()) {
            list.left.clear();
            for (const Match &match : matches)
                list.left.push_back(match.candidate);
            list.struck.insert(list.struck.end(), misfits.begin(), misfits.end());
            list.decided_by = describe(object_, relocation_);
        }
        return verdict_of(matches[0]);
    }

    Verdict nothing_fits(const CandidateList &list, std::string why) const
    {
        // Of types libbpf writes 0 instead of a size or id.
        const bool breaks = !is_question(relocation_.kind) && !is_about_type(relocation_.kind);
        std::string of_struck;
        for (const Candidate &c : list.struck)
            if (match_with(c, of_struck))
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

    /// Nothing: it does not fit; then `why` may say why.
    std::optional<Match> match_with(const Candidate &c, std::string &why) const
    {
        if (is_about_type(relocation_.kind))
            return match_type(c);
        if (is_about_enumerator(relocation_.kind))
            return match_enumerator(c);
        Match match{c, {}, 0};
        if (auto misfit = FieldFinder(btf_, *c.side->btf).find(*wanted_.field, c.id, match.field)) {
            why = *misfit;
            return std::nullopt;
        }
        return match;
    }

    std::optional<Match> match_type(const Candidate &c) const
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

    std::optional<Match> match_enumerator(const Candidate &c) const
    {
        const Btf &btf = *c.side->btf;
        const uint32_t target = behind_modifiers(btf, c.id);
        if (!btf::is_enum(btf.kind(TypeId{target})))
            return std::nullopt;
        for (uint32_t i = 0; i < btf::vlen_of(btf.type(TypeId{target})); ++i) {
            const EnumValue value = enum_value(btf, target, i);
            if (essential_name(value.name) == wanted_.enumerator)
                return Match{c, {}, value.value, value.is_unsigned};
        }
        return std::nullopt;
    }

    /// All candidates that fit must lead to one result.
    std::optional<std::string> conflict_of(const Match &first, const Match &other) const
    {
        if (wanted_.field && first.field.offset != other.field.offset)
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
            return std::nullopt;
        }
    }

    Verdict verdict_of(const Match &match) const
    {
        if (relocation_.kind == Core::type_size)
            return {Status::holds, strf("%zu bytes", static_cast<size_t>(match.number))};
        if (is_about_enumerator(relocation_.kind))
            return {Status::holds, number_text(match.number, match.is_unsigned)};
        if (!wanted_.field || is_question(relocation_.kind))
            return {};
        return size_verdict(*wanted_.field, match.field, *match.candidate.side->btf);
    }

    Verdict size_verdict(const Local &local, const KernelField &target, const Btf &btf) const
    {
        const Step &last = local.steps.back();
        Verdict at{Status::holds, strf("at %zu", size_t(target.offset / 8))};
        if (relocation_.kind != Core::field_byte_offset || last.bits || target.bits)
            return at;
        const uint64_t mine = load_size(btf_, last.type), theirs = load_size(btf, target.type);
        if (mine == theirs ||
            (is_unsigned_or_pointer(btf_, last.type) && is_unsigned_or_pointer(btf, target.type)))
            return at;
        std::string text =
            strf("has %zu bytes there, %zu in the program", size_t(theirs), size_t(mine));
        // Without a load in the instruction, what is copied has the program's size.
        return {relocation_.loads ? Status::broken : Status::holds, std::move(text)};
    }

    const BpfObject &object_;
    const Btf &btf_;
    const CoreRelocation &relocation_;
    Wanted wanted_;
};

} // namespace

std::string describe(const BpfObject &object, const CoreRelocation &relocation)
{
    const Btf &btf = *object.btf;
    std::string text = type_name(btf, relocation.type);
    const auto access = parse_access(relocation.access);
    if (!access || is_about_type(relocation.kind))
        return text;
    if (is_about_enumerator(relocation.kind)) {
        const uint32_t id = behind_modifiers(btf, relocation.type);
        if (btf::is_enum(btf.kind(TypeId{id})) && (*access)[0] < btf::vlen_of(btf.type(TypeId{id})))
            text += "." + std::string(enum_value(btf, id, (*access)[0]).name);
        return text;
    }
    if (const auto local = parse_field(btf, relocation.type, *access))
        for (size_t i = 1; i < local->steps.size(); ++i)
            text += local->steps[i].name.empty() ? strf("[%u]", local->steps[i].index)
                                                 : "." + std::string(local->steps[i].name);
    return text;
}

Verdict resolve(const BpfObject &object, const CoreRelocation &relocation, const Sides &kernel,
                CandidateLists &lists)
{
    return Resolver(object, relocation).run(kernel, lists);
}

} // namespace btflink::kernel::bpf
