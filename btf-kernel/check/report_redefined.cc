// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reports the types of a module that vmlinux also has. A copy is the encoder's fault. It matters if
// kfuncs or helpers take the type: programs cannot pass values from the module's functions to
// these.
#include "btf-kernel/check/checks.h"
#include "common/cli/program.h"

#include <algorithm>
#include <map>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_listed_names = 5; // in one line
// Helpers take these types.
constexpr std::string_view well_known[] = {"task_struct", "sock",   "sk_buff",   "file",
                                           "inode",       "cgroup", "net_device"};

bool is_well_known(const std::string &name)
{
    return std::find(std::begin(well_known), std::end(well_known), name) != std::end(well_known);
}

/// Do kfuncs or helpers take the type?
bool is_passed(const CheckContext &context, const std::string &name, TypeId base)
{
    return context.taken.contains(raw(base)) || is_well_known(name);
}

/// Well-known types come first.
std::string list_of(std::vector<std::string> &names)
{
    std::stable_partition(names.begin(), names.end(), is_well_known);
    std::string list;
    for (size_t i = 0; i < names.size() && i < most_listed_names; ++i)
        list += (i ? ", " : "") + names[i];
    return list + (names.size() > most_listed_names ? ", ..." : "");
}

/// Types that differ because of a type to which they refer: a finding for each such cause. The
/// sources have two structs with the same name, which is not the encoder's fault.
void report_derived(const CheckContext &context, const Binary &module, const Btf &btf,
                    const std::vector<Redefinition> &redefined, Findings &out)
{
    struct Derived {
        std::vector<std::string> names;
        bool passed = false, declared = false;
    };
    std::map<std::pair<std::string, std::string>, Derived> groups; // by root and cause
    for (const Redefinition &r : redefined) {
        if (r.why != Redefinition::Why::derived)
            continue;
        Derived &group = groups[{r.root, r.cause}];
        group.names.emplace_back(btf.name(r.own));
        group.passed |= is_passed(context, group.names.back(), r.base);
        group.declared = r.declared;
    }
    for (auto &[root, group] : groups) {
        const std::string why = "because of " + root.first + " (" + root.second + ")";
        out.add({Rule::redefined,
                 module.name,
                 {module.btf_where, strf("has %zu type%s of its own that vmlinux has, ",
                                         group.names.size(), plural(group.names.size())) +
                                        why + ": " + list_of(group.names)},
                 group.declared ? "types are not vmlinux's because of one that only one of "
                                  "them defines"
                                : "types are not vmlinux's " + why,
                 root.first,
                 group.passed ? Degree::suspicious : Degree::harmless});
    }
}

} // namespace

void report_redefined(const CheckContext &context, const Binary &module, const Btf &btf,
                      const std::vector<Redefinition> &redefined, Findings &out)
{
    for (const Redefinition &r : redefined) {
        const std::string name(btf.name(r.own));
        if (r.why == Redefinition::Why::clash) {
            out.add({Rule::redefined,
                     module.name,
                     {module.btf_where, name + " is not vmlinux's of that name: " + r.cause},
                     "types are not vmlinux's of that name",
                     name,
                     Degree::harmless});
        } else if (r.why == Redefinition::Why::copy) {
            const bool passed = is_passed(context, name, r.base);
            out.add({Rule::redefined,
                     module.name,
                     {module.btf_where, "has a copy of vmlinux's " + name},
                     passed ? "copies of vmlinux's types that kfuncs and helpers take: "
                              "programs cannot pass them on"
                            : "copies of vmlinux's types",
                     name,
                     passed ? Degree::error : Degree::harmless});
        }
    }
    report_derived(context, module, btf, redefined, out);
}

} // namespace btflink::kernel
