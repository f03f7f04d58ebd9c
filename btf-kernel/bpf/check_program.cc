// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Looks up in the BTF of the old and of the new kernel what a BPF program needs (bpf_program.h),
// and writes the result as text, Markdown or JSON. Attach points follow from section names, by
// libbpf's rules.
#include "btf-kernel/bpf/bpf_program.h"
#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/types.h"
#include "common/io/json_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace btflink::kernel::bpf
{

namespace
{

using namespace diff;
using Status = Verdict::Status;

// Values of Requirement::what.
constexpr const char *existence_test = "CO-RE exists", *match_test = "CO-RE matches";

// Prefixes of the names that attach points have in BTF: lsm/file_open attaches to
// bpf_lsm_file_open.
constexpr const char *no_prefix[] = {""}, *hook[] = {"bpf_lsm_"}, *iterator[] = {"bpf_iter_"},
                     *event[] = {"btf_trace_"},
                     *syscall[] = {"__x64_sys_",   "__ia32_sys_", "__arm64_sys_", "__s390x_sys_",
                                   "__riscv_sys_", "__se_sys_",   "sys_"};

/// What a program attaches to if its section is called "PREFIX/NAME".
struct Section {
    std::string_view prefix;
    Space space;
    std::span<const char *const> name_prefixes;
    Status missing; // the status if BTF lacks the name; unknown: programs can attach without BTF
    // Does the program get what the signature in BTF describes? Programs at tp get a struct, and
    // those at ksyscall the arguments of a system call.
    bool uses_signature = true;
};

constexpr Section sections[] = {
    {"fentry", Space::function, no_prefix, Status::broken},
    {"fexit", Space::function, no_prefix, Status::broken},
    {"fmod_ret", Space::function, no_prefix, Status::broken},
    {"fsession", Space::function, no_prefix, Status::broken},
    {"kprobe", Space::function, no_prefix, Status::unknown},
    {"kretprobe", Space::function, no_prefix, Status::unknown},
    {"lsm", Space::function, hook, Status::broken},
    {"lsm_cgroup", Space::function, hook, Status::broken},
    {"iter", Space::function, iterator, Status::broken},
    {"tp_btf", Space::alias, event, Status::broken},
    {"raw_tp", Space::alias, event, Status::unknown},
    {"raw_tracepoint", Space::alias, event, Status::unknown},
    {"tp", Space::alias, event, Status::unknown, false},
    {"tracepoint", Space::alias, event, Status::unknown, false},
    {"ksyscall", Space::function, syscall, Status::unknown, false},
    {"kretsyscall", Space::function, syscall, Status::unknown, false},
};

/// libbpf takes each function in .text for a subprogram, and any other function for a program.
bool is_subprogram(std::string_view program)
{
    return program == ".text" || program.starts_with(".text ");
}

std::string_view order_name(ByteOrder order)
{
    return order == ByteOrder::little ? "little-endian" : "big-endian";
}

/// Both kernels have the function, kfunc, tracepoint or variable `name`. Did its signature (of a
/// variable: its type or section) change in a way that breaks programs? Tags do not count.
bool breaks_between(Space space, const std::string &name, const DefinitionRef &before,
                    const DefinitionRef &after)
{
    if (before.side->btf->kind(TypeId{before.id}) != after.side->btf->kind(TypeId{after.id}))
        return true;
    Change change{space, ChangeKind::changed, name};
    change.details = compare_types({*before.side, before.id}, {*after.side, after.id});
    std::erase_if(change.details,
                  [](const Detail &d) { return d.kind == Detail::Kind::tag_removed; });
    if (change.details.empty())
        return false;
    if (space == Space::alias) // the typedef that has a tracepoint's prototype
        return !mean_the_same(*before.side->btf, before.id, *after.side->btf, after.id);
    change.effects = find_effects(change, false);
    return change.breaks();
}

/// Is this type a number for the verifier, in one register?
bool is_number(const Btf &btf, uint32_t id)
{
    const btf::Kind kind = btf.kind(TypeId{behind_modifiers(btf, id)});
    const bool number =
        kind == btf::Kind::INT || kind == btf::Kind::ENUM || kind == btf::Kind::ENUM64;
    return number && size_of(btf, id) <= 8;
}

/// Do the prototypes of two FUNCs differ only in the types of numbers? The verifier accepts a
/// number of any type for a number, and libbpf any integer for an integer.
bool only_numbers_differ(const DefinitionRef &a, const DefinitionRef &b)
{
    const Btf &a_btf = *a.side->btf, &b_btf = *b.side->btf;
    auto prototype = [](const Btf &btf, uint32_t id) -> const btf_type & {
        return btf.type(TypeId{behind_modifiers(btf, btf.type(TypeId{id}).type)});
    };
    const btf_type &a_type = prototype(a_btf, a.id), &b_type = prototype(b_btf, b.id);
    auto alike = [&](uint32_t x, uint32_t y) {
        return mean_the_same(a_btf, x, b_btf, y) || (is_number(a_btf, x) && is_number(b_btf, y));
    };
    if (btf::vlen_of(a_type) != btf::vlen_of(b_type) || !alike(a_type.type, b_type.type))
        return false;
    const uint32_t *p = btf::tail_of(a_type), *q = btf::tail_of(b_type); // name and type of each
    for (uint32_t i = 0; i < btf::vlen_of(a_type); ++i, p += 2, q += 2)
        if (name_for_verifier(a_btf.str(p[0])) != name_for_verifier(b_btf.str(q[0])) ||
            !alike(p[1], q[1]))
            return false;
    return true;
}

class ProgramChecker
{
public:
    ProgramChecker(const BpfObject &object, const ComparedKernels &kernels)
        : object_(object), btf_(*object.btf), kernels_(kernels)
    {
    }

    std::vector<Requirement> run()
    {
        if (check_byte_order()) // otherwise the new kernel cannot load the program at all
            check_all();
        for (auto &item : requirements_)
            for (auto kernel : {&Requirement::before, &Requirement::after})
                excuse(item.second, kernel);
        std::vector<Requirement> out;
        for (auto &item : requirements_)
            out.push_back(std::move(item.second));
        return out;
    }

private:
    void check_all()
    {
        for (std::string_view section : object_.programs)
            check_section(std::string(section));
        for (const Extern &item : object_.externs)
            check_extern(item);
        for (const StructOps &ops : object_.struct_ops)
            check_struct_ops(ops);
        for (const CoreRelocation &relocation : object_.relocations)
            check_relocation(relocation);
    }

    /// Adds a requirement if one of the kernels has another byte order than the program. Returns
    /// whether the new kernel has the program's byte order.
    bool check_byte_order()
    {
        auto verdict = [&](const Sides &kernel) {
            const ByteOrder order = kernel.vmlinux->btf->order();
            return order == btf_.order()
                       ? Verdict{}
                       : Verdict{Status::broken, "the kernel is " + std::string(order_name(order)) +
                                                     ": it cannot load the program"};
        };
        const Verdict before = verdict(kernels_.before), after = verdict(kernels_.after);
        if (before.status == Status::broken || after.status == Status::broken)
            add("byte order", std::string(order_name(btf_.order())), "", before, after);
        return after.status != Status::broken;
    }

    /// The programs that test whether `name` ("struct s.m"), or what contains it ("struct s"),
    /// exists or matches, and whose test fails on this kernel.
    std::set<std::string> failing_tests(const std::string &name, Verdict Requirement::*kernel) const
    {
        std::set<std::string> out;
        for (size_t end = 0; end != std::string::npos;) {
            end = name.find_first_of(".[", end + 1);
            for (const char *test : {existence_test, match_test}) {
                const auto found = requirements_.find({test, name.substr(0, end)});
                if (found != requirements_.end() &&
                    (found->second.*kernel).status == Status::absent) {
                    const auto &programs = (found->second.*kernel).programs;
                    out.insert(programs.begin(), programs.end());
                }
            }
        }
        return out;
    }

    /// Can tests in the programs `testing` guard everything that `program` does? A test in a caller
    /// may guard a subprogram, and a test in a subprogram may guard its callers.
    static bool may_be_guarded(const std::string &program, const std::set<std::string> &testing)
    {
        return testing.contains(program) || (!testing.empty() && is_subprogram(program)) ||
               std::ranges::any_of(testing, is_subprogram);
    }

    /// Softens the verdict `broken` on the item of a CO-RE relocation, if tests may keep programs
    /// from using the item. Verdicts on existence tests stay, and those with Verdict::refuses_all.
    ///  - If all programs of the verdict test for the item, and the tests fail, the verdict becomes
    ///    `absent`.
    ///  - If only some programs have such a test, they are removed from the verdict. It becomes
    ///    `unknown` if their tests may guard all remaining programs.
    ///  - If no program has such a test, and the item's type has a flavour ("s___v2"), the verdict
    ///    becomes `unknown` if other tests may guard all programs: such tests may be for another
    ///    flavour of the type.
    void excuse(Requirement &r, Verdict Requirement::*kernel) const
    {
        Verdict &verdict = r.*kernel;
        if (!r.what.starts_with("CO-RE ") || r.what == existence_test ||
            verdict.status != Status::broken || verdict.refuses_all)
            return;
        auto all_guarded = [&](const std::set<std::string> &testing) {
            return std::ranges::all_of(verdict.programs, [&](const std::string &program) {
                return may_be_guarded(program, testing);
            });
        };
        const std::set<std::string> tests = failing_tests(r.name, kernel);
        if (!tests.empty()) {
            auto is_tested = [&](const std::string &program) { return tests.contains(program); };
            if (std::ranges::all_of(verdict.programs, is_tested)) {
                verdict.status = Status::absent;
                return;
            }
            std::erase_if(verdict.programs, is_tested);
            verdict.text += "; only " + joined(tests, ", ") +
                            (tests.size() == 1 ? " tests for it" : " test for it");
            if (all_guarded(tests))
                verdict.status = Status::unknown;
        } else if (r.name.substr(0, r.name.find('.')).find("___") != std::string::npos &&
                   all_guarded(testing_)) {
            verdict.status = Status::unknown;
            verdict.text += ": works only if the program tests for it before it uses it";
        }
    }

    /// Of several verdicts on an item, the worst one counts, with its programs. `program`: the one
    /// that `verdict` is about, or "".
    static void join(Verdict &worst, const Verdict &verdict, std::string_view program)
    {
        if (worst.status < verdict.status)
            worst = verdict;
        if (worst.status != verdict.status)
            return;
        if (verdict.refuses_all)
            worst.refuses_all = true;
        auto &programs = worst.programs;
        if (!program.empty() && (programs.empty() || programs.back() != program))
            programs.emplace_back(program);
    }

    void add(const std::string &what, const std::string &name, std::string_view program,
             const Verdict &before, const Verdict &after)
    {
        auto [at, added] = requirements_.try_emplace({what, name});
        Requirement &r = at->second;
        if (added)
            r = {what, name, before, after};
        join(r.before, before, program);
        join(r.after, after, program);
    }

    void check_relocation(const CoreRelocation &relocation)
    {
        if (relocation.kind == Core::type_id_local)
            return;
        if (is_question(relocation.kind))
            testing_.insert(relocation.program);
        add("CO-RE " + std::string(core_name(relocation.kind)), describe(object_, relocation),
            relocation.program, resolve(object_, relocation, kernels_.before, before_),
            resolve(object_, relocation, kernels_.after, after_));
    }

    /// Checks the attach point that the section's name states, if it states a known one.
    void check_section(const std::string &section)
    {
        std::string text = section.starts_with('?') ? section.substr(1) : section;
        const size_t slash = text.find('/');
        if (slash == std::string::npos)
            return;
        std::string type = text.substr(0, slash), name = text.substr(slash + 1), module;
        if (name.find_first_of("*?") != std::string::npos)
            return; // a pattern, which does not need a particular function
        // Programs of a kind with .multi load without their function, and get no typed arguments.
        const bool multi = type.find(".multi") != std::string::npos;
        type = type.substr(0, type.find('.')); // ".s": sleepable, ".w": writable
        // Keeps FUNCTION or EVENT of "MODULE:FUNCTION", "CATEGORY/EVENT", "FUNCTION+OFFSET".
        if (const size_t colon = name.find(':'); colon != std::string::npos)
            module = name.substr(0, colon);
        name = name.substr(name.find_first_of(":/") + 1); // npos + 1 is 0
        name = name.substr(0, name.find('+'));
        for (Section known : sections)
            if (known.prefix == type) {
                known.missing = multi ? Status::unknown : known.missing;
                check_attach_point(known, section, module, name);
            }
    }

    /// `module`: where to look for the definition, a module's name or "vmlinux"; empty: everywhere.
    DefinitionRef find(const Sides &kernel, Space space, const std::string &module,
                       const std::string &name) const
    {
        if (module.empty())
            return kernel.find({space}, name);
        if (module == "vmlinux")
            return kernel.find_at(0, space, name);
        const auto &modules = kernels_.difference.modules;
        const auto at = std::ranges::find(modules, module);
        if (at == modules.end())
            return {};
        return kernel.find_at(static_cast<uint32_t>(at - modules.begin()) + 1, space, name);
    }

    void check_attach_point(const Section &known, const std::string &section,
                            const std::string &module, const std::string &name)
    {
        DefinitionRef before, after;
        for (const char *prefix : known.name_prefixes) {
            if (!before)
                before = find(kernels_.before, known.space, module, prefix + name);
            if (!after)
                after = find(kernels_.after, known.space, module, prefix + name);
        }
        const bool needed = known.missing == Status::broken;
        auto verdict = [&](const DefinitionRef &found) {
            return found ? Verdict{}
                         : Verdict{known.missing, needed ? "is not there" : "BTF does not have it"};
        };
        Verdict now = verdict(after);
        if (before && !after && kernels_.difference.has_lost_btf(before.place))
            now = {known.missing, "the new module has no readable BTF"};
        else if (before && !after)
            now = {known.missing,
                   needed ? "is not there any more" : "BTF does not have it any more"};
        else if (before && after && known.uses_signature &&
                 breaks_between(known.space, known.name_prefixes[0] + name, before, after))
            now = needed ? Verdict{Status::broken, "has another signature"}
                         : Verdict{Status::unknown, "has another signature: works only if the "
                                                    "program does not read what changed"};
        add("attach", section, "", verdict(before), now);
    }

    void check_extern(const Extern &item)
    {
        const bool function = btf_.kind(TypeId{item.id}) == btf::Kind::FUNC;
        const std::string_view own = btf_.name(TypeId{item.id});
        const std::string name(function ? essential_name(own) : own);
        const Space space = function ? Space::function : Space::variable;
        const DefinitionRef before = kernels_.before.find({space}, name),
                            after = kernels_.after.find({space}, name);
        const Verdict was = extern_verdict(item, before, kernels_.before);
        Verdict now = extern_verdict(item, after, kernels_.after);
        auto fits = [](const Verdict &verdict) {
            return verdict.status == Status::holds || verdict.status == Status::unknown;
        };
        // The verifier also compares the structs behind pointers, unlike types_are_compatible().
        if (function && before && after && fits(was) && fits(now) &&
            breaks_between(Space::kfunc, name, before, after)) {
            now = {Status::broken,
                   "has another signature: " + prototype_text(*after.side->btf, after.id)};
            if (only_numbers_differ(before, after))
                now = {Status::unknown, now.text + "; works if the numbers fit"};
        }
        // libbpf accepts any struct for a struct, and a variable that is no longer per-CPU.
        if (!function && was.status == Status::holds && now.status == Status::holds &&
            breaks_between(space, name, before, after)) {
            const Btf &btf = *after.side->btf;
            const uint32_t type = btf.type(TypeId{after.id}).type;
            now = {is_number(btf, type) ? Status::unknown : Status::broken,
                   "has another type or section: " + one_line(btf, type)};
        }
        add(function ? "kfunc" : "variable", name, "", was, now);
    }

    /// `found`: the definition that `kernel` has for the extern's name.
    Verdict extern_verdict(const Extern &item, const DefinitionRef &found,
                           const Sides &kernel) const
    {
        Verdict out = linking_verdict(item, found);
        if (btf_.kind(TypeId{item.id}) == btf::Kind::FUNC && out.status == Status::holds &&
            has_kfunc_tags(*kernel.vmlinux) && !found.side->is_kfunc(found.id))
            out = {Status::unknown, "has no tag bpf_kfunc: perhaps programs may not call it"};
        return out;
    }

    static bool has_kfunc_tags(const Side &side)
    {
        return std::ranges::any_of(side.tags,
                                   [&](const Tag &tag) { return side.is_kfunc(tag.target); });
    }

    /// Does libbpf accept `found` for the extern?
    Verdict linking_verdict(const Extern &item, const DefinitionRef &found) const
    {
        const btf_type &mine = btf_.type(TypeId{item.id});
        const bool function = btf::kind_of(mine) == btf::Kind::FUNC;
        const uint32_t type = behind_modifiers(btf_, mine.type);
        if (!function && type == 0)
            return {Status::unknown, "a symbol without type is not in BTF"};
        if (!found)
            return {item.weak ? Status::absent : Status::broken, "is not there"};
        const Btf &btf = *found.side->btf;
        const uint32_t target = behind_modifiers(btf, btf.type(TypeId{found.id}).type);
        // libbpf treats a weak kfunc with another prototype as missing, but refuses a weak variable
        // with another type.
        if (!types_are_compatible(btf_, type, btf, target))
            return {item.weak && function ? Status::absent : Status::broken,
                    function ? "has another prototype: " + prototype_text(btf, found.id)
                             : "has another type: " + one_line(btf, target)};
        return {};
    }

    void check_struct_ops(const StructOps &ops)
    {
        const uint32_t type = behind_modifiers(btf_, ops.type);
        const std::string name(essential_name(btf_.name(TypeId{type})));
        add("struct_ops", "struct " + name + " (" + std::string(ops.name) + ")", "",
            ops_verdict(type, name, kernels_.before), ops_verdict(type, name, kernels_.after));
    }

    Verdict ops_verdict(uint32_t type, const std::string &name, const Sides &kernel) const
    {
        const DefinitionRef wrapper = kernel.find({Space::type}, "bpf_struct_ops_" + name);
        if (!wrapper || !btf::is_composite(wrapper.side->btf->kind(TypeId{wrapper.id})))
            return {Status::broken, "programs cannot implement it"};
        const Btf &btf = *wrapper.side->btf;
        const std::vector<Member> wrapped = members_of(btf, wrapper.id);
        const auto found = std::ranges::find_if(wrapped, [&](const Member &m) {
            return btf.kind(TypeId{m.type}) == btf::Kind::STRUCT &&
                   btf.name(TypeId{m.type}) == name;
        });
        if (found == wrapped.end())
            return {Status::broken, "programs cannot implement it"};
        if (!btf::is_composite(btf_.kind(TypeId{type})))
            return {Status::broken, "is not a struct in the program"};
        const std::vector<Member> theirs = members_of(btf, found->type);
        std::vector<std::string> lacking, differing; // members that work only while they are zero
        for (const Member &m : members_of(btf_, type)) {
            const std::string member(m.name);
            auto same = std::ranges::find(theirs, m.name, &Member::name);
            if (same == theirs.end())
                lacking.push_back(member);
            else if (m.bits || same->bits)
                return {Status::broken, "'" + member + "' is a bitfield: libbpf refuses it"};
            else if (!may_be_copied(m, btf, *same))
                return {Status::broken, "'" + member + "' is " + one_line(btf, same->type) +
                                            " there, of another kind or size"};
            else if (!mean_the_same(btf_, m.type, btf, same->type))
                differing.push_back(member);
        }
        const std::string text =
            (lacking.empty() ? "" : "lacks " + joined(lacking, ", ")) +
            (lacking.empty() || differing.empty() ? "" : ", ") +
            (differing.empty() ? "" : "has another type of " + joined(differing, ", "));
        return text.empty() ? Verdict{}
                            : Verdict{Status::unknown,
                                      text + ": works if the program leaves these members zero"};
    }

    /// Can libbpf copy the value of a struct_ops' member to the kernel's member? Only kind and size
    /// count.
    bool may_be_copied(const Member &mine, const Btf &btf, const Member &theirs) const
    {
        const btf::Kind kind = btf_.kind(TypeId{behind_modifiers(btf_, mine.type)});
        return kind == btf.kind(TypeId{behind_modifiers(btf, theirs.type)}) &&
               size_of(btf_, mine.type) == size_of(btf, theirs.type);
    }

    const BpfObject &object_;
    const Btf &btf_;
    const ComparedKernels &kernels_;
    CandidateLists before_, after_; // narrowed by the relocations so far
    std::map<std::pair<std::string, std::string>, Requirement> requirements_; // by what and name
    std::set<std::string> testing_; // programs that test whether something exists or matches
};

constexpr Status by_weight[] = {Status::broken, Status::unknown, Status::absent, Status::holds};

std::string verdict_text(const Verdict &verdict)
{
    std::string text(status_name(verdict.status));
    return verdict.text.empty() ? text : text + " (" + verdict.text + ")";
}

std::string line(const Requirement &r)
{
    std::string text = r.what + " " + r.name + ": " + verdict_text(r.after);
    if (r.before.status != r.after.status || r.before.text != r.after.text)
        text += "; before: " + verdict_text(r.before);
    return text;
}

std::string summary(const ProgramResult &result)
{
    return strf("%zu hold, %zu absent (programs load nevertheless), %zu broken, %zu unknown",
                result.count(Status::holds), result.count(Status::absent),
                result.count(Status::broken), result.count(Status::unknown));
}

std::string json_verdict(const Verdict &verdict)
{
    return JsonObject()
        .text("status", status_name(verdict.status))
        .text("text", verdict.text)
        .result();
}

std::string json_requirement(const Requirement &r)
{
    return JsonObject()
        .text("what", r.what)
        .text("name", r.name)
        .field("programs", json_array(r.after.programs, json_string))
        .field("old", json_verdict(r.before))
        .field("new", json_verdict(r.after))
        .result();
}

} // namespace

size_t ProgramResult::count(Status status) const
{
    return static_cast<size_t>(std::ranges::count_if(
        requirements, [&](const Requirement &r) { return r.after.status == status; }));
}

ProgramResult check_program(const BpfObject &object, const ComparedKernels &kernels)
{
    return {object.input.where.file, ProgramChecker(object, kernels).run()};
}

std::string_view status_name(Status status)
{
    constexpr std::string_view names[] = {"holds", "absent", "unknown", "broken"};
    return names[static_cast<size_t>(status)];
}

std::string as_text(const ProgramResult &result)
{
    std::string out = result.path + ": " + summary(result) + "\n";
    for (Status status : by_weight)
        for (const Requirement &r : result.requirements)
            if (r.after.status == status) {
                out += "    " + plain_text(line(r)) + "\n";
                if (status == Status::broken)
                    for (const std::string &program : r.after.programs)
                        out += "        in " + plain_text(program) + "\n";
            }
    return out;
}

std::string as_markdown(const ProgramResult &result)
{
    std::string out = "### " + result.path + "\n\n" + summary(result) + "\n\n";
    for (Status status : {Status::broken, Status::unknown})
        for (const Requirement &r : result.requirements)
            if (r.after.status == status)
                out += "- " + r.what + " " + markdown_code(r.name) + ": **" +
                       markdown_text(verdict_text(r.after)) + "**\n";
    return out + "\n";
}

std::string as_json(const ProgramResult &result)
{
    std::string out = "{\"program\": " + json_string(result.path);
    for (Status status : by_weight)
        out +=
            ", " + json_string(status_name(status)) + ": " + std::to_string(result.count(status));
    return out + ", \"requirements\": " + json_lines(result.requirements, json_requirement) + "}";
}

} // namespace btflink::kernel::bpf
