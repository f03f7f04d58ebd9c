// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds can share a release: a rebuild, another flavour, a vendor's kernel.
#include "btf-kernel/check/checks.h"

#include <map>
#include <set>

namespace btflink::kernel
{

void check_other_builds(const Kernel &kernel, const std::vector<Finding> &found, Findings &out)
{
    for (const Error &other : kernel.other_builds)
        out.add(Rule::base, "vmlinux",
                {other.where, other.what + ", another build than \"" + kernel.banner + "\""});
    std::set<std::string_view> over_another;
    for (const Finding &finding : found)
        if (finding.rule == Rule::base)
            over_another.insert(finding.binary);
    std::map<std::string_view, size_t> releases; // number of these modules by release
    for (const Binary &module : kernel.modules)
        if (!module.release.empty() && over_another.contains(module.name))
            ++releases[module.release];
    for (const auto &[release, count] : releases) {
        const std::string states =
            strf("%zu of these modules state%s release ", count, count == 1 ? "s" : "") +
            std::string(release);
        out.add(Rule::base, "",
                {Where{kernel.package},
                 release == kernel.release
                     ? states +
                           ", as vmlinux does: one is of another build of it, or of another flavour"
                     : states + ", vmlinux " + kernel.release});
    }
}

} // namespace btflink::kernel
