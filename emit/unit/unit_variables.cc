// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the variables of a unit that may become VARs.
//
// A variable is chosen if
// - the source defines it at file level or in a namespace,
// - it has a fixed address in a section that the features select (common symbols count as .bss),
// - BTF can express its type and its size (not 0), and
// - BTF allows its name, and is_filtered_name() does not leave it out.
// The merge finds out whether the linker kept the variable, and at which address.
#include "common/btf/btf_check.h"
#include "common/object_btf/link_trailer.h"
#include "emit/unit/unit_passes.h"

#include <elf.h>
#include <set>

namespace btflink::emit
{

namespace
{

// In objects, section names of per-CPU variables may have suffixes, which the kernel's linker
// script drops.
constexpr std::string_view percpu_section = ".data..percpu";

/// Is this the name of a variable that macros generate and users do not need? pahole leaves these
/// variables out, too.
bool is_filtered_name(std::string_view name)
{
    for (std::string_view prefix : {"__UNIQUE_ID", "__tpstrtab_", "__exitcall_",
                                    "__gendwarfksyms_ptr_", "__func_stack_frame_non_standard_"})
        if (name.starts_with(prefix))
            return true;
    return false;
}

/// The index of the section of a linked file that holds `address`, or 0. Considers only sections
/// with code or data.
uint32_t section_of(const UnitFile &file, uint64_t address)
{
    const auto &sections = file.sections;
    for (uint32_t i = 1; i < sections.size(); ++i) {
        const Elf64_Shdr &s = sections[i].head;
        // .tbss does not occupy memory: its range overlaps the next section.
        if ((s.sh_type == SHT_PROGBITS || s.sh_type == SHT_NOBITS) && !(s.sh_flags & SHF_TLS) &&
            (s.sh_flags & SHF_ALLOC) && address >= s.sh_addr && address - s.sh_addr < s.sh_size)
            return i;
    }
    return 0;
}

class VariableCollector
{
public:
    VariableCollector(const UnitFile &file, const DieTree &tree, const UnitTypes &types,
                      FeatureSet features, Skips &skips, std::vector<RejectedVariable> &rejected)
        : file_(file), tree_(tree), layout_(tree), types_(types), features_(features),
          skips_(skips), rejected_(rejected)
    {
    }

    std::vector<VariableCandidate> run()
    {
        std::vector<VariableCandidate> out;
        if (!features_.has(Feature::global_var) && !features_.has(Feature::var))
            return out;
        for (DieIndex i : tree_.variables) {
            if (!is_definition(tree_.at(i)))
                continue;
            VariableCandidate v;
            if (place(i, v) && describe(i, v)) {
                add_tags(i, v);
                out.push_back(std::move(v));
            }
        }
        return out;
    }

private:
    /// An entry that is marked as a declaration is a definition, too, if it has a specification and
    /// an address. pahole has the same rule.
    bool is_definition(const Die &d) const
    {
        return d.is(Die::file_level) && !d.is(Die::artificial) && d.is(Die::location) &&
               (!d.is(Die::declaration) || tree_.find(d.specification)) && d.address;
    }

    /// Sets address and section. Returns false if the variable is neither in a section with code or
    /// data nor common, or if the features do not select the section.
    bool place(DieIndex i, VariableCandidate &v)
    {
        v.address = tree_.addresses[tree_.at(i).address - 1];
        const AddressRef &address = v.address;
        const uint32_t section =
            address.is_final ? section_of(file_, address.offset) : address.section;
        if (section) {
            const ElfSection &s = file_.sections[section];
            if (s.head.sh_type != SHT_PROGBITS && s.head.sh_type != SHT_NOBITS)
                return false;
            v.section = s.name;
        } else if (!address.common) {
            ++skips_[Skip::variable_without_section];
            return false;
        }
        const bool is_percpu =
            address.is_final ? v.section == percpu_section : v.section.starts_with(percpu_section);
        return is_percpu || features_.has(Feature::global_var);
    }

    /// Sets name, type, size and flags. Returns false if BTF cannot express one of these, or if
    /// users do not need the variable.
    bool describe(DieIndex i, VariableCandidate &v)
    {
        const Die &d = tree_.at(i);
        const DieIndex declared = tree_.find(d.specification);
        // The declaration has name and type. A definition may add to the type: the size of an array
        // that was declared without a size.
        const Die &decl = declared ? tree_.at(declared) : d;
        const Die &typed = d.is(Die::typed) ? d : decl;
        v.name = decl.name ? decl.name : "";
        if (is_filtered_name(v.name))
            return false;
        v.type = types_.of(layout_, typed);
        if (v.name.empty()) { // such as a string literal (clang 19)
            ++skips_[Skip::variable_name];
            return false;
        }
        if (!is_legal_name(v.name, max_variable_name))
            return reject(d, v.name, true);
        if (v.type == void_id)
            return reject(d, v.name, false);
        const uint64_t size = layout_.size(layout_.target(typed));
        if (size == 0 || size > UINT32_MAX) {
            ++skips_[size ? Skip::variable_too_large : Skip::variable_of_size_zero];
            return false;
        }
        v.size = static_cast<uint32_t>(size);
        v.flags = (decl.is(Die::external) ? var_external : 0u) | (declared ? var_declared : 0u) |
                  (v.address.weak ? var_weak : 0u);
        return true;
    }

    bool reject(const Die &d, std::string_view name, bool bad_name)
    {
        ++skips_[bad_name ? Skip::variable_name : Skip::variable_of_type_void];
        const char *what =
            bad_name ? "has a name that BTF does not allow" : "has no type that BTF can express";
        if (tree_.c_names) {
            // The name is cut, because any number of variables may share a long one.
            const std::string text(name.substr(0, max_legal_name));
            rejected_.push_back(
                {text, bad_name,
                 Error{file_.where.at(d.offset), strf("variable '%s' %s", text.c_str(), what)}});
        }
        return false;
    }

    /// Adds the tags of the definition and of the declaration, each once. gcc's chain at the
    /// definition repeats those of the declaration if both have tags.
    void add_tags(DieIndex i, VariableCandidate &v) const
    {
        if (!features_.has(Feature::decl_tag))
            return;
        std::set<std::string_view> seen;
        auto add = [&](std::string_view text) {
            if (seen.insert(text).second)
                v.tags.push_back(text);
        };
        for_each_annotation(tree_, i, "btf_decl_tag", add);
        if (const DieIndex declared = tree_.find(tree_.at(i).specification))
            for_each_annotation(tree_, declared, "btf_decl_tag", add);
    }

    const UnitFile &file_;
    const DieTree &tree_;
    const TypeLayout layout_;
    const UnitTypes &types_;
    const FeatureSet features_;
    Skips &skips_;
    std::vector<RejectedVariable> &rejected_;
};

} // namespace

std::vector<VariableCandidate> collect_variables(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips,
                                                 std::vector<RejectedVariable> &rejected)
{
    return VariableCollector(file, tree, types, features, skips, rejected).run();
}

} // namespace btflink::emit
