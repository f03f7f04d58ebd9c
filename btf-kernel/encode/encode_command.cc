// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel encode: options and output.
#include "btf-kernel/commands.h"

#include "btf-kernel/encode/encode_kernel.h"
#include "btf-kernel/progress.h"
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/io/json_text.h"

#include <algorithm>
#include <thread>

namespace btflink::kernel
{

namespace
{

// The features that a kernel's scripts/Makefile.btf asks for.
constexpr std::string_view kernel_features = "encode_force,var,float,enum64,decl_tag,type_tag,"
                                             "optimized_func,consistent_func,decl_tag_kfuncs";

struct Draft {
    bool help = false, quiet = false, json = false;
    unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    EncodeOptions encode;
};

Result<void> take_features(Draft &draft, std::string_view list)
{
    auto parsed = parse_features(list);
    if (!parsed)
        return fail({}, "--features: " + parsed.error().what);
    draft.encode.features.add(*parsed);
    return {};
}

constexpr Option<Draft> options[] = {
    {.words = {.letter = 'h', .name = "help", .help = "Print this help and exit"},
     .flag = [](Draft &d) -> bool & { return d.help; }},
    {.words = {.letter = 'o', .name = "output", .value = "FOLDER", .help = "Write files there"},
     .text = [](Draft &d) -> std::string & { return d.encode.output; }},
    {.words = {.name = "self-contained",
               .help =
                   "Give the BTF of modules all its types (default: it extends that of vmlinux)"},
     .flag = [](Draft &d) -> bool & { return d.encode.self_contained; }},
    {.words = {.name = "features",
               .value = "LIST",
               .help =
                   "Features to encode in addition to those of kernel builds, by pahole's names",
               .repeats = true},
     .take = take_features},
    {.words = {.name = "force", .help = "Do not keep files of an earlier run"},
     .flag = [](Draft &d) -> bool & { return d.encode.force; }},
    {.words = {.name = "anew", .help = ""},
     .flag = [](Draft &d) -> bool & { return d.encode.force; }},
    {.words = {.name = "release",
               .value = "NAME",
               .help = "Choose this kernel if there are several"},
     .text = [](Draft &d) -> std::string & { return d.encode.release; }},
    {.words = {.name = "json", .help = "Print the counts and what failed as JSON"},
     .flag = [](Draft &d) -> bool & { return d.json; }},
    {.words = {.letter = 'j',
               .name = "threads",
               .value = "N",
               .help = "Modules at a time, 1 to 1024 (default: processors)"},
     .take = take_threads<&Draft::threads>},
    {.words = {.letter = 'q', .name = "quiet", .help = "No counts, no progress bar"},
     .flag = [](Draft &d) -> bool & { return d.quiet; }},
};

void print_json(const EncodeReport &report)
{
    auto failure_json = [](const Error &error) {
        return JsonObject().text("module", error.where.file).text("what", error.what).result();
    };
    std::printf("{\n  \"modules\": %zu,\n  \"written\": %zu,\n  \"kept\": %zu,\n", report.modules,
                report.written, report.kept);
    std::printf("  \"without\": %s,\n  \"failed\": %s\n}\n",
                json_array(report.without, json_string).c_str(),
                json_lines(report.failed, failure_json, "    ").c_str());
}

Result<EncodeReport> encode(Draft &draft)
{
    ProgressBar bar("encoding modules", draft.quiet);
    draft.encode.progress = [&](size_t done, size_t all) { bar.set(done, all); };
    return encode_kernel(draft.encode);
}

} // namespace

int encode_command(int argc, char **argv)
{
    Draft draft;
    draft.encode.features = *parse_features(kernel_features);
    auto given = read_options(options, argc, argv, draft, [](const Draft &d) { return d.help; });
    if (!given)
        return usage_error(given.error(), "encode");
    if (draft.help)
        return answer(
            "Make BTF from the DWARF of a kernel and its modules.\n"
            "Usage: btf-kernel encode [OPTIONS] PACKAGE -o OUTPUT\n\n"
            "PACKAGE: a package of debug information (.deb, .rpm, tar), unpacked or not; a "
            "build\n\n" +
            options_text(options));
    if (given->operands.size() != 1)
        return usage_error({{}, "one PACKAGE is required"}, "encode");
    if (draft.encode.output.empty())
        return usage_error({{}, "--output is required"}, "encode");
    draft.encode.package = given->operands[0];
    draft.encode.jobs = draft.threads;
    auto report = encode(draft);
    if (!report)
        return failure(report.error());
    if (draft.json)
        print_json(*report);
    for (const Error &error : report->failed)
        print_error(error);
    if (!draft.quiet && !draft.json)
        std::printf("%zu of %zu modules encoded, %zu kept, %zu have nothing for BTF, %zu "
                    "failed\n",
                    report->written, report->modules, report->kept, report->without.size(),
                    report->failed.size());
    return end_output(report->failed.empty() ? exit_good : exit_bad_input);
}

} // namespace btflink::kernel
