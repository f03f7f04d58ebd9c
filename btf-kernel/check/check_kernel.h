// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The driver of btf-kernel check: all checks of a kernel and its modules.
#pragma once

#include "btf-kernel/check/checks.h"

namespace btflink::kernel
{

struct CheckOptions {
    std::optional<KernelVersion> version; // whose rules apply; empty: its own version
    unsigned threads = 1;
    Progress *progress = nullptr;
};

/// A check that could not be made.
struct Unchecked {
    Rule rule;
    std::string why;
    bool vmlinux = false;
    std::vector<std::string> modules;
};

struct CheckReport {
    std::vector<Finding> findings, notes; // vmlinux first, then modules by path
    std::vector<Unchecked> unchecked;     // by rule; one for each reason
    std::optional<KernelVersion> version; // whose rules were applied
    size_t modules = 0, with_btf = 0;
    size_t kfuncs = 0, tagged = 0; // kfuncs that have a FUNC; kfuncs that also have the tag
};

/// The result does not depend on the number of threads.
CheckReport check_kernel(const Kernel &kernel, const CheckOptions &options);

/// Adds findings of rule `against`: of vmlinux, then of modules by path. Modules that differ only
/// because vmlinux differs are counted in a note. The number of threads does not change the result.
void compare_builds(const Kernel &here, const Kernel &there, unsigned threads, Findings &out);

struct PrintOptions {
    bool quiet = false, verbose = false;
    Degree fail_on = Degree::error;
    size_t known = 0;         // number of findings that --known dropped
    std::vector<Error> unmet; // lines of --known that match no finding
};

void print_text(const Kernel &kernel, const CheckReport &report, const PrintOptions &options);
void print_json(const Kernel &kernel, const CheckReport &report, const PrintOptions &options);

} // namespace btflink::kernel
