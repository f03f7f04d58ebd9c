// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs btf-kernel's code on the files of a bundle (bundle.h), which form one package.
#include "tests/hostile/fuzz/runs.h"

#ifdef HAVE_BTF_KERNEL
#include "btf-kernel/check/check_kernel.h"
#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/difference.h"
#include "btf-kernel/report/report.h"
#endif

namespace btflink::fuzz
{

#ifdef HAVE_BTF_KERNEL

namespace
{

void write_report(const kernel::Kernel &kernel)
{
    kernel::report::Data data;
    std::vector<Error> errors;
    if (!kernel::report::collect_kernel(kernel, data, errors))
        return;
    kernel::report::tidy_places(data.places);
    CHECK(!kernel::report::page(data).empty());
}

/// Compares the package with itself, and with its vmlinux alone.
void compare(const kernel::Kernel &kernel)
{
    kernel::Findings same;
    kernel::compare_builds(kernel, kernel, same);
    kernel::diff::KernelTypes types;
    auto vmlinux = kernel::parse_vmlinux(kernel);
    if (!vmlinux)
        return;
    types.vmlinux = *vmlinux;
    const kernel::diff::KernelTypes alone = types;
    for (const kernel::Binary &module : kernel.modules)
        if (auto parsed = kernel::parse_module(module, types.vmlinux))
            types.modules.push_back(
                {module.name + std::to_string(types.modules.size()), parsed->btf});
    CHECK(kernel::diff::compare(types, types).difference.changes.empty());
    const auto compared = kernel::diff::compare(alone, types);
    CHECK(!kernel::diff::as_text(compared.difference, {}).empty());
    CHECK(!kernel::diff::as_json(compared.difference, {}).empty());
}

} // namespace

Run run_package(const Bundle &bundle)
{
    std::vector<MemoryFile> files;
    Run run;
    for (const BundleFile &file : bundle.files)
        run.paths.push_back(files.emplace_back(file.bytes).path());
    kernel::OpenOptions options;
    options.threads = bundle.settings[0] & 1 ? 2 : 1;
    auto opened = kernel::open_kernel(run.paths, options);
    if (!opened) {
        run.error = opened.error();
        return run;
    }
    kernel::check_kernel(*opened);
    if (bundle.settings[0] & 2)
        write_report(*opened);
    if (bundle.settings[0] & 4)
        compare(*opened);
    return run;
}

#else

Run run_package(const Bundle &)
{
    return {};
}

#endif

} // namespace btflink::fuzz
