// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel report: parses options, collects the data, and writes the page.
#include "btf-kernel/commands.h"

#include "btf-kernel/progress.h"
#include "btf-kernel/report/report.h"
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/io/file_io.h"
#include "common/io/parallel.h"
#include "kbuild-integration/btf-pahole/steps.h"

#include <filesystem>

namespace btflink::kernel
{

namespace
{

struct ReportCommandLine {
    bool help = false, quiet = false;
    unsigned threads = processors();
    std::string output, image, release;
    // Of the btf-merge that runs this command. Not set: see features_of() in collect_objects.cc.
    std::optional<FeatureSet> features;
    std::vector<std::string> objects, traces;
};

constexpr Option<ReportCommandLine> report_options[] = {
    {help_option, sets<&ReportCommandLine::help>},
    {{0, "image", "ELF",
      "The file linked from the objects (default without --objects: vmlinux of the build)"},
     sets<&ReportCommandLine::image>},
    {{0, "features", "LIST", "", repeats},
     sets<&ReportCommandLine::features>}, // from btf-merge only
    {{'j', "threads", "N", "Threads, 1 to 1024 (default: processors); does not change the result"},
     take_threads<&ReportCommandLine::threads>},
    {{0, "objects", "FILE",
      "A file with object BTF (default: vmlinux.o and others, if PACKAGE is a build folder)",
      repeats},
     sets<&ReportCommandLine::objects>},
    {{'o', "output", "FILE", "Write the page here"}, sets<&ReportCommandLine::output>},
    {{'q', "quiet", "", "No progress"}, sets<&ReportCommandLine::quiet>},
    {{0, "release", "NAME", "Choose this kernel if there are several"},
     sets<&ReportCommandLine::release>},
    {{0, "time-trace", "FILE", "A file that --time-trace of btf-merge or btf-emit wrote", repeats},
     sets<&ReportCommandLine::traces>},
};

/// Sets the default of --objects: the objects of the build in `folder`, if they have object BTF. If
/// there are objects, and --image is not given, sets its default: the vmlinux of the build.
Result<void> find_objects(const std::string &folder, ReportCommandLine &line)
{
    const std::string vmlinux = std::filesystem::path(folder) / "vmlinux";
    line.objects = TRY(kbuild::vmlinux_inputs(vmlinux));
    std::error_code ignored;
    if (!line.objects.empty() && line.image.empty() &&
        std::filesystem::is_regular_file(vmlinux, ignored))
        line.image = vmlinux;
    return {};
}

Result<report::Data> collect(const std::vector<std::string> &paths, ReportCommandLine &line,
                             size_t &errors)
{
    auto opened = [&] {
        Progress progress(line.quiet); // erased before errors are printed
        return open_kernel(paths, {line.release, line.threads, &progress});
    }();
    const Kernel kernel = TRY(std::move(opened));
    for (const Error &error : kernel.left_out)
        print_error(error);
    report::Data data;
    std::vector<Error> found;
    TRY(report::collect_kernel(kernel, data, found));
    const bool asked = !line.objects.empty();
    if (!asked) {
        auto looked = paths.size() == 1 ? find_objects(paths[0], line) : Result<void>();
        if (!looked)
            found.push_back(looked.error());
        else if (line.objects.empty() && !line.image.empty())
            return fail(Where{line.image}, "is not used without objects; name them with --objects");
    }
    if (!line.objects.empty()) {
        auto any =
            report::collect_objects(line.objects, line.image, line.features, line.threads, data);
        if (any && !*any)
            return fail(Where{line.objects.front()}, "has no object BTF");
        if (!any && asked)
            return fail(any.error());
        if (!any)
            found.push_back(any.error());
    }
    for (const std::string &trace : line.traces)
        TRY(report::collect_trace(trace, data));
    report::tidy_places(data.places);
    report::sort_steps(data);
    for (const Error &error : found)
        print_error(error);
    errors = kernel.left_out.size() + found.size();
    return data;
}

} // namespace

int report_command(int argc, char **argv)
{
    ReportCommandLine line;
    auto given = read_options(report_options, argc, argv, line);
    if (!given)
        return usage_error(given.error(), "report");
    if (line.help)
        return answer(
            "Write an HTML page: from which sources and types the bytes of a kernel's BTF come, "
            "and how long each step took.\nUsage: btf-kernel report [OPTIONS] -o FILE "
            "PACKAGE...\n\n" +
            options_text(report_options));
    if (given->operands.empty() || line.output.empty())
        return usage_error({{}, "PACKAGE and -o are required"}, "report");
    const std::string path = output_path(line.output);
    if (auto writable = check_page_writable(path); !writable)
        return input_error(writable.error());
    size_t errors = 0;
    auto data = collect(given->operands, line, errors);
    auto done = data ? write_file(path, as_bytes(report::page(*data))) : fail(data.error());
    if (!done)
        return input_error(done.error());
    return end_output(errors ? exit_bad_input : exit_good);
}

} // namespace btflink::kernel
