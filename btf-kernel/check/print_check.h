// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The output of btf-kernel check.
#pragma once

#include "btf-kernel/check/check_kernel.h"

namespace btflink::kernel
{

struct PrintOptions {
    bool quiet = false, verbose = false;
    Degree fail_on = Degree::error;
    size_t known = 0;         // number of findings that --known dropped
    std::vector<Error> unmet; // lines of --known that match no finding
};

void print_text(const Kernel &kernel, const CheckReport &report, const PrintOptions &options);
void print_json(const Kernel &kernel, const CheckReport &report, const PrintOptions &options);

} // namespace btflink::kernel
