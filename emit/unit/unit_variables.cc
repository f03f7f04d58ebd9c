// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Which variables: defined at file level or in a namespace, in memory at a fixed address, in a
// section that the features ask for, with a name and a sized type. Whether the linker keeps a
// variable, and where, is decided by the merge.
#include "emit/unit/unit_variables.h"
#include "common/object_btf/link_trailer.h"

#include <algorithm>
#include <elf.h>

namespace btflink::emit
{

namespace
{

// Objects have their per-CPU variables in sections of several suffixes; the kernel's linker script
// makes them one.
constexpr std::string_view percpu_section = ".data..percpu";

/// Names made up by macros, of no use to anybody (pahole leaves them out as well).
bool is_filtered_name(std::string_view name)
{
    for (std::string_view prefix : {"__UNIQUE_ID", "__tpstrtab_", "__exitcall_",
                                    "__gendwarfksyms_ptr_", "__func_stack_frame_non_standard_"})
        if (name.starts_with(prefix))
            return true;
    return false;
}

bool is_valid_name(std::string_view name)
{
    if (name.empty() || name.size() > max_variable_name)
        return false;
    for (size_t i = 0; i < name.size(); ++i) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
        if (!letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return true;
}

/// Linked file: the section that holds the address.
uint32_t section_of(const UnitFile &file, uint64_t address)
{
    const auto &sections = file.sections;
    for (uint32_t i = 1; i < sections.size(); ++i) {
        const Elf64_Shdr &s = sections[i].head;
        // .tbss takes no room in memory: its range lies over that of the next section.
        if ((s.sh_type == SHT_PROGBITS || s.sh_type == SHT_NOBITS) && !(s.sh_flags & SHF_TLS) &&
            (s.sh_flags & SHF_ALLOC) && address >= s.sh_addr && address - s.sh_addr < s.sh_size)
            return i;
    }
    return 0;
}

} // namespace

std::vector<VariableCandidate> collect_variables(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips,
                                                 std::vector<RejectedVariable> &rejected)
{
    std::vector<VariableCandidate> out;
    bool all = features.has(Feature::global_var), percpu = features.has(Feature::var);
    if (!all && !percpu)
        return out;
    TypeLayout layout(tree);
    for (DieIndex i : tree.variables) {
        const Die &d = tree.at(i);
        if (!d.is(Die::file_level) || d.is(Die::artificial) || !d.is(Die::location))
            continue;
        DieIndex declared = tree.find(d.specification);
        if (d.is(Die::declaration) && !declared)
            continue;
        if (!d.address)
            continue;

        VariableCandidate v;
        v.address = tree.addresses[d.address - 1];
        const AddressRef &address = v.address;
        uint32_t section = address.is_final ? section_of(file, address.offset) : address.section;
        if (section) {
            const ElfSection &s = file.sections[section];
            if (s.head.sh_type != SHT_PROGBITS && s.head.sh_type != SHT_NOBITS)
                continue;
            v.section = s.name;
        } else if (!address.common) {
            ++skips[Skip::variable_without_section];
            continue;
        }
        bool in_percpu =
            address.is_final ? v.section == percpu_section : v.section.starts_with(percpu_section);
        if (!all && !in_percpu)
            continue;

        // The declaration has name and type. A definition may know more of the type: the size of
        // an array that was declared without one.
        const Die &decl = declared ? tree.at(declared) : d;
        const Die &typed = d.is(Die::typed) ? d : decl;
        v.name = decl.name ? decl.name : "";
        if (is_filtered_name(v.name))
            continue;
        const bool bad_name = !is_valid_name(v.name);
        v.type = types.of(layout, typed);
        if (bad_name || v.type == void_id) {
            const char *what = bad_name ? "has a name that BTF does not allow"
                                        : "has no type that BTF can express";
            std::string name(v.name);
            Error why{file.where.at(d.offset), strf("variable '%s' %s", name.c_str(), what)};
            if (tree.c_names)
                rejected.push_back({std::move(name), bad_name, std::move(why)});
            ++skips[bad_name ? Skip::variable_name : Skip::variable_of_type_void];
            continue;
        }
        uint64_t size = layout.size(layout.target(typed));
        if (size == 0 || size > UINT32_MAX) {
            ++skips[size ? Skip::variable_too_large : Skip::variable_of_size_zero];
            continue;
        }
        v.size = static_cast<uint32_t>(size);
        if (decl.is(Die::external))
            v.flags |= var_external;
        if (declared)
            v.flags |= var_declared;
        if (address.weak)
            v.flags |= var_weak;
        if (features.has(Feature::decl_tag)) {
            // gcc's chain at the definition has the declaration's as well, if both have tags.
            auto add = [&](std::string_view text) {
                if (std::ranges::find(v.tags, text) == v.tags.end())
                    v.tags.push_back(text);
            };
            for_each_annotation(tree, i, "btf_decl_tag", add);
            if (declared)
                for_each_annotation(tree, declared, "btf_decl_tag", add);
        }
        out.push_back(std::move(v));
    }
    return out;
}

} // namespace btflink::emit
