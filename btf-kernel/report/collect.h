// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects the data of a report: from a kernel, from the objects of its build, from traces.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "btf-kernel/report/report_data.h"

namespace btflink::kernel::report
{

/// Sizes, modules, duplicates. Error: vmlinux has no BTF, or it is malformed. Errors of modules are
/// added to `errors`.
Result<void> collect_kernel(const Kernel &kernel, unsigned threads, Data &out,
                            std::vector<Error> &errors);

/// Which source brought which types, and which functions were left out. `objects`: files with
/// object BTF (vmlinux.o, or the objects that were linked); `image`: the file linked from them.
/// False: there is no object BTF.
Result<bool> collect_objects(const std::vector<std::string> &objects, const std::string &image,
                             unsigned threads, Data &out);

/// Add the steps in a file that --time-trace wrote.
Result<void> collect_trace(const std::string &path, Data &out);
/// Call this after the last trace.
void sort_steps(Data &out);

} // namespace btflink::kernel::report
