// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects what a report tells: from a kernel, from the objects of its build, from traces.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "btf-kernel/report/report_data.h"

namespace btflink::kernel::report
{

/// Sizes, modules, duplicates. Errors: vmlinux has no BTF in order; a module that is not in order
/// is left out, and what is wrong with it is added to `errors`.
Result<void> collect_kernel(const Kernel &kernel, unsigned threads, Data &out,
                            std::vector<Error> &errors);

/// Which source brought which types, and which functions were left out: `objects` are files with
/// object BTF (vmlinux.o, or those that were linked); `image`: what was linked of them. False: none
/// has object BTF.
Result<bool> collect_objects(const std::vector<std::string> &objects, const std::string &image,
                             unsigned threads, Data &out);

/// A file that --time-trace wrote.
Result<void> collect_trace(const std::string &path, Data &out);
/// After the last trace.
void sort_steps(Data &out);

} // namespace btflink::kernel::report
