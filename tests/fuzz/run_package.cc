// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "tests/fuzz/runs.h"

#ifdef HAVE_BTF_KERNEL
#include "kbuild-integration/btf-kernel/check/check_kernel.h"
#endif

namespace btflink::fuzz
{

#ifdef HAVE_BTF_KERNEL

Run run_package(const Bundle &bundle)
{
    std::vector<MemoryFile> files;
    Run run;
    for (const BundleFile &file : bundle.files)
        run.paths.push_back(files.emplace_back(file.bytes).path());
    kernel::OpenOptions options;
    options.threads = bundle.settings[0] & 1 ? 2 : 1;
    auto opened = kernel::open_kernel(run.paths, options);
    if (opened)
        kernel::check_kernel(*opened, {.version = {}, .threads = options.threads, .progress = {}});
    else
        run.error = opened.error();
    return run;
}

#else

Run run_package(const Bundle &)
{
    return {};
}

#endif

} // namespace btflink::fuzz
