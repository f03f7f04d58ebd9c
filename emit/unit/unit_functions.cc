// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Describes each function of a unit for the merge.
//
// Problem. A FUNC promises that arguments are where the prototype and the ABI say. A compiler that
// sees all callers may break this: it drops parameters, passes them in other registers, reorders
// them. The merge compares all instances of a name and decides which functions get a FUNC; this
// file describes each instance.
//
// Method. Three steps over all functions of the unit, by pahole's rules:
// 1. gather: read the parameters with their types, and their locations when the function is
//    entered. A concrete instance names its abstract instance as origin and has no names or types
//    of its own.
// 2. share: copy names and types from origin to instance, and locations from instance to origin.
//    Compilers write locations only at the instance, but both are the same function.
// 3. describe: compare the parameters with the ABI's registers (param_registers.cc).
// With the feature true_signature, an instance whose signature clang changed, or whose parameters
// gcc reordered, is described twice: with the parameters of the source, and with those that are
// really passed.
//
// Entries of the gcc plugin need no comparison: a function with displaced parameters has the flag
// Die::displaced. In a clone, parameters that are displaced or not passed have no location. With
// the feature true_signature, a clone that takes a displaced parameter has the flag, too, unless it
// is a part (".part.0").
//
// Invariant. Step 3 reads only what steps 1 and 2 finished for *all* functions, so the order of
// abstract and concrete instances does not matter.
//
// Cost. Linear in the number of parameters.
#include "emit/unit/unit_passes.h"

#include "common/object_btf/link_trailer.h"

#include <dwarf.h>

namespace btflink::emit
{

namespace
{

struct Function {
    DieIndex die = 0;
    uint32_t first_param = 0, param_count = 0; // in params_
    bool variadic = false;
    bool reordered = false;
};

class FunctionCollector
{
public:
    FunctionCollector(const UnitFile &file, const DieTree &tree, const UnitTypes &types,
                      FeatureSet features, Skips &skips)
        : file_(file), tree_(tree), layout_(tree), types_(types), features_(features),
          skips_(skips), linkage_names_(features.has(Feature::linkage_names) &&
                                        features.has(Feature::decl_tag) && !tree.c_names),
          registers_(file.arch, tree, layout_), param_of_die_(tree.dies.size())
    {
    }

    std::vector<FunctionCandidate> run()
    {
        for (DieIndex i : tree_.functions)
            gather(i);
        for (Function &f : functions_)
            share(f);
        std::vector<FunctionCandidate> out;
        for (Function &f : functions_)
            if (accepted(f))
                out.push_back(describe(f));
        return out;
    }

private:
    std::span<Param> params(const Function &f)
    {
        return {params_.data() + f.first_param, f.param_count};
    }

    void gather(DieIndex i)
    {
        const Arch &arch = file_.arch;
        Function f;
        f.die = i;
        f.first_param = static_cast<uint32_t>(params_.size());
        tree_.for_each_child(i, [&](const Die &d, DieIndex c) {
            f.variadic |= d.tag == DW_TAG_unspecified_parameters;
            if (d.tag != DW_TAG_formal_parameter)
                return;
            const DieIndex origin = tree_.find(d.origin);
            const uint64_t size = layout_.parameter_size(tree_.at(origin ? origin : c));
            const bool aggregate = size > arch.address_size && arch.aggregates_in_two_regs;
            // What does not fit into registers is passed in memory.
            const uint32_t most_registers = arch.aggregates_in_two_regs ? 2 : 1;
            Param p{
                .die = c, .name = d.name, .type_of = c, .position = f.param_count++, .size = size};
            p.in_memory = size > most_registers * arch.address_size;
            p.has_location = d.is(Die::location);
            p.is_constant = d.is(Die::is_constant);
            p.on_stack = d.is(Die::on_stack);
            p.reg = aggregate ? d.aggregate_register : d.scalar_register;
            p.pieces = aggregate ? d.pieces : 0;
            param_of_die_[c] = static_cast<uint32_t>(params_.size()) + 1;
            params_.push_back(p);
        });
        functions_.push_back(f);
    }

    /// Step 2: copies between the parameters of an instance and those of its origin.
    void share(Function &f)
    {
        for (Param &p : params(f)) {
            const Die &d = tree_.at(p.die);
            if (d.is(Die::typed))
                continue;
            DieIndex origin = tree_.find(d.origin);
            if (!origin || !param_of_die_[origin])
                continue;
            Param &o = params_[param_of_die_[origin] - 1];
            p.name = o.name;
            p.type_of = o.type_of;
            f.reordered |= p.position != o.position;
            o.has_location |= p.has_location;
            o.is_constant |= p.is_constant;
            o.on_stack |= p.on_stack;
            o.pieces |= p.pieces;
            if (p.reg >= 0)
                o.reg = p.reg;
            if (p.size)
                o.size = p.size;
            o.in_memory |= p.in_memory;
        }
    }

    /// The function at `offset`, or entry 0, a placeholder without any values.
    const Die &function_at(uint32_t offset) const
    {
        const Die &d = tree_.at(tree_.find(offset));
        return d.tag == DW_TAG_subprogram ? d : tree_.at(0);
    }

    /// The first of these entries for which has(entry) is true: `d`, its origin
    /// (DW_AT_abstract_origin), its declaration (DW_AT_specification) and, with linkage names, the
    /// declaration of its origin. Returns the placeholder if has() is false for all. An out-of-line
    /// copy of a method refers to its abstract instance, which refers to the declaration in the
    /// class.
    template <typename Has>
    const Die &first_with(Has has, const Die &d) const
    {
        const Die &origin = function_at(d.origin), &declared = function_at(d.specification);
        for (const Die *entry : {&d, &origin, &declared})
            if (has(*entry))
                return *entry;
        const Die &last = linkage_names_ ? function_at(origin.specification) : tree_.at(0);
        return has(last) ? last : tree_.at(0);
    }

    const char *name_of(const Die &d) const
    {
        return first_with([](const Die &entry) { return entry.name; }, d).name;
    }

    /// The linkage name of `d`. Empty if it is the same as `name`, not known, or not encoded.
    std::string_view symbol_of(const Die &d, std::string_view name) const
    {
        if (!linkage_names_)
            return {};
        const char *text = first_with([](const Die &entry) { return entry.text; }, d).text;
        return text && text != name ? text : std::string_view();
    }

    bool accepted(const Function &f)
    {
        const Die &d = tree_.at(f.die);
        if (d.is(Die::declaration) || !name_of(d))
            return false;
        // gcc does not mark all declarations (PR97060). But it writes no parameter names for
        // declarations.
        for (const Param &p : params(f))
            if (!p.name)
                return false;
        if (!tree_.c_names && is_incomplete(f)) {
            ++skips_[Skip::function_of_incomplete_type];
            return false;
        }
        return true;
    }

    /// Does the function return a struct or union that is only declared, or take a parameter of an
    /// incomplete type? A result of a kind that BTF does not have becomes void.
    bool is_incomplete(const Function &f)
    {
        if (layout_.is_declared_result(result_of(f)))
            return true;
        for (const Param &p : params(f))
            if (layout_.why_incomplete(layout_.target(tree_.at(p.type_of))))
                return true;
        return false;
    }

    /// The entry that states the type of the result: the instance, else its origin or, with linkage
    /// names, a declaration (see first_with()).
    const Die &result_of(const Function &f) const
    {
        const Die &d = tree_.at(f.die);
        if (linkage_names_)
            return first_with([](const Die &entry) { return entry.is(Die::typed); }, d);
        return !d.is(Die::typed) && d.origin ? tree_.at(tree_.find(d.origin)) : d;
    }

    /// For a concrete instance: does the compiler state that it changed the signature? Only clang
    /// does, by DW_CC_nocall.
    bool changed_signature(const Die &d) const
    {
        if (!tree_.clang || d.is(Die::inlined))
            return false;
        return (d.origin ? tree_.at(tree_.find(d.origin)) : d).is(Die::nocall);
    }

    bool is_struct_by_value(const Param &p) const
    {
        const DieIndex type =
            layout_.target_past(tree_.at(p.is_member ? p.member : p.type_of), [](const Die &d) {
                return d.tag == DW_TAG_typedef || d.tag == DW_TAG_const_type;
            });
        return tree_.at(type).tag == DW_TAG_structure_type;
    }

    /// Is `p` a packed struct, and are there at least as many parameters before it as registers?
    /// Then it is taken to be on the stack, where its location is uncertain. As in pahole, unnamed
    /// structs are not checked, nor are structs behind a typedef or qualifier.
    bool is_uncertain(const Param &p) const
    {
        if (p.position < file_.arch.param_reg_count)
            return false;
        DieIndex type = layout_.target(tree_.at(p.type_of));
        return tree_.at(type).name && layout_.is_packed_struct(type, file_.order);
    }

    uint32_t flags_of(std::span<const Param> params) const
    {
        uint32_t flags = 0;
        bool unexpected = false, by_value = false;
        for (const Param &p : params) {
            if (p.optimized || !p.has_location)
                flags |= fn_optimized_param;
            if (is_uncertain(p))
                flags |= fn_uncertain_loc;
            unexpected |= p.unexpected;
            by_value |= is_struct_by_value(p);
        }
        // A struct may take several registers, so parameters after it may only seem unexpected.
        if (unexpected && !by_value)
            flags |= fn_unexpected_reg;
        return flags;
    }

    /// Stores the results in the parameters of `f`.
    void check_registers(const Function &f, bool signature_changed)
    {
        if (tree_.signatures_known)
            return;
        if (tree_.clang && !signature_changed)
            registers_.check_kept_signature(params(f));
        else
            registers_.check(params(f));
    }

    FunctionCandidate describe(const Function &f)
    {
        const bool signature_changed = changed_signature(tree_.at(f.die));
        const bool describe_twice =
            features_.has(Feature::true_signature) && (signature_changed || f.reordered);
        std::vector<Param> passed;
        if (describe_twice && signature_changed) // a copy without the results of check_registers()
            passed.assign(params(f).begin(), params(f).end());
        check_registers(f, signature_changed);
        FunctionCandidate out = candidate(f, params(f), signature_changed);
        if (!describe_twice)
            return out;
        if (signature_changed)
            registers_.find_true_signature(passed);
        else
            passed.assign(params(f).begin(), params(f).end());
        // In a function that gcc reordered, a parameter without a location is not passed: gcc lists
        // such parameters last.
        for (Param &p : passed)
            p.dropped = p.optimized || (f.reordered && !p.has_location);
        out.true_signature =
            std::make_unique<FunctionCandidate>(candidate(f, passed, signature_changed));
        return out;
    }

    FunctionCandidate candidate(const Function &f, std::span<const Param> params,
                                bool signature_changed) const
    {
        const Die &d = tree_.at(f.die);
        FunctionCandidate out;
        out.name = name_of(d);
        out.flags = flags_of(params);
        auto set = [&](bool condition, uint32_t flag) { out.flags |= condition ? flag : 0; };
        set(f.reordered, fn_reordered);
        set(signature_changed, fn_signature_changed);
        set(d.is(Die::displaced), fn_unexpected_reg);
        set(d.is(Die::low_pc), fn_has_address);
        set(!d.is(Die::low_pc) && d.is(Die::ranges), fn_has_ranges);
        set(d.is(Die::inlined), fn_inline);
        set(d.is(Die::external), fn_external);
        set(tree_.clang, fn_clang);

        if (out.symbol = symbol_of(d, out.name); !out.symbol.empty())
            if (const UnitLanguage *language = tree_.language_of(d))
                out.language = language->name;
        if (out.language.empty()) // without it there is no tag for the symbol (linkage_tag())
            out.symbol = {};

        out.result = types_.of(layout_, result_of(f));
        auto add_tags = [&](DieIndex die, int32_t component) {
            if (features_.has(Feature::decl_tag))
                for_each_annotation(tree_, die, "btf_decl_tag", [&](std::string_view text) {
                    out.tags.push_back({text, component});
                });
        };
        for (const Param &p : params) {
            if (p.dropped)
                continue;
            add_tags(p.die, static_cast<int32_t>(out.params.size()));
            // The name of the only member in a register is added to the parameter's name. Only with
            // is_member does the parameter get the member's type, too.
            const Die &typed = tree_.at(p.is_member ? p.member : p.type_of);
            const char *member = p.member ? tree_.at(p.member).name : "";
            out.params.push_back({p.name, member, types_.of(layout_, typed)});
        }
        add_tags(f.die, -1);
        if (f.variadic)
            out.params.push_back({});
        if (d.address)
            out.address = tree_.addresses[d.address - 1];
        return out;
    }

    const UnitFile &file_;
    const DieTree &tree_;
    TypeLayout layout_;
    const UnitTypes &types_;
    FeatureSet features_;
    Skips &skips_;
    const bool linkage_names_;
    ParamRegisters registers_;
    std::vector<uint32_t> param_of_die_; // index into params_ + 1, by DIE
    std::vector<Function> functions_;
    std::vector<Param> params_;
};

} // namespace

std::vector<FunctionCandidate> collect_functions(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips)
{
    return FunctionCollector(file, tree, types, features, skips).run();
}

} // namespace btflink::emit
