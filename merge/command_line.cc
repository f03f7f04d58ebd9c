// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge's options, and which options exclude each other.
#include "merge/command_line.h"

#include "common/cli/option_table.h"
#include "common/io/file_io.h"

#include <algorithm>
#include <optional>
#include <thread>

namespace btflink::merge
{

namespace
{

/// The options that have been read so far.
struct PartialLine {
    CommandLine line;
    bool distilled_base = false;
    unsigned threads = 0; // not given
    std::optional<FeatureSet> features;
};

Result<void> take_features(PartialLine &partial, std::string_view list)
{
    auto parsed = parse_features(list);
    if (!parsed)
        return fail({}, "--features: " + parsed.error().what);
    partial.features.emplace(partial.features.value_or(FeatureSet())).add(*parsed);
    return {};
}

Result<void> take_format(PartialLine &partial, std::string_view format)
{
    if (format != "raw" && format != "object")
        return fail({}, "--format: '" + std::string(format) + "' is neither raw nor object");
    partial.line.options.format = format == "raw" ? OutputFormat::raw : OutputFormat::object;
    return {};
}

Result<void> take_engine(PartialLine &partial, std::string_view engine)
{
    if (engine != "hash" && engine != "libbpf")
        return fail({}, "--dedup: '" + std::string(engine) + "' is neither hash nor libbpf");
    partial.line.options.engine = engine == "hash" ? Engine::hash : Engine::libbpf;
    return {};
}

Result<void> take_kernel(PartialLine &partial, std::string_view text)
{
    auto version = TRY(read_kernel_option(text));
    partial.line.kernel = version;
    return {};
}

constexpr Option<PartialLine> merge_options[] = {
    {.words = {.letter = 'h', .name = "help", .help = "Print this help and exit"},
     .flag = [](PartialLine &p) -> bool & { return p.line.help; }},
    {.words = {.name = "version", .help = "Print the version and exit"},
     .flag = [](PartialLine &p) -> bool & { return p.line.version; }},
    {.words = {.name = "image",
               .value = "ELF",
               .help = "Linked file: final addresses, symbols, kfunc sets"},
     .text = [](PartialLine &p) -> std::string & { return p.line.options.image; }},
    {.words = {.name = "base", .value = "FILE", .help = "BTF that the result extends (raw or ELF)"},
     .text = [](PartialLine &p) -> std::string & { return p.line.options.base; }},
    {.words = {.name = "base-index",
               .value = "FILE",
               .help =
                   "With --base: keep an index of the base in FILE, which speeds up later runs"},
     .text = [](PartialLine &p) -> std::string & { return p.line.options.base_index; }},
    {.words = {.name = "distilled-base",
               .help = "Write split BTF over a small base of its own, for use with other kernels"},
     .flag = [](PartialLine &p) -> bool & { return p.distilled_base; }},
    {.words = {.letter = 'o', .name = "output", .value = "FILE", .help = "Write the result here"},
     .text = [](PartialLine &p) -> std::string & { return p.line.options.output; }},
    {.words = {.name = "format",
               .value = "FORMAT",
               .help = "Format of the result: raw (default), or object (ET_REL)"},
     .take = take_format},
    {.words = {.name = "update",
               .value = "FILE",
               .help = "Put the result into this ELF file as .BTF"},
     .text = [](PartialLine &p) -> std::string & { return p.line.options.update; }},
    {.words = {.name = "check",
               .value = "FILE",
               .help = "Report what a kernel would refuse in the final BTF of FILE; no INPUT"},
     .text = [](PartialLine &p) -> std::string & { return p.line.check; }},
    {.words = {.name = "kernel", .value = "VERSION", .help = "With --check: the kernel's version"},
     .take = take_kernel},
    {.words = {.name = "dedup",
               .value = "ENGINE",
               .help = "Engine that finds equal types: hash (default) or libbpf"},
     .take = take_engine},
    {.words = {.name = "threads",
               .value = "N",
               .help = "Threads, 1 to 1024 (default: processors); does not change the result"},
     .take = take_threads<&PartialLine::threads>},
    {.words = {.name = "verify",
               .help = "Recompute the hashes that objects state; a wrong one is an error"},
     .flag = [](PartialLine &p) -> bool & { return p.line.options.verify; }},
    {.words = {.name = "features",
               .value = "LIST",
               .help = "What to encode: pahole's --btf_features names (default: default)",
               .repeats = true},
     .take = take_features},
    {.words = {.name = "report",
               .value = "FILE",
               .help = "Write an HTML page about the result and its sources; needs btf-kernel"},
     .text = [](PartialLine &p) -> std::string & { return p.line.report; }},
    {.words = {.name = "stats", .help = "Print counts and times to stderr"},
     .flag = [](PartialLine &p) -> bool & { return p.line.stats; }},
    {.words = {.name = "time-trace",
               .value = "FILE",
               .help = "Write a trace of the passes, for chrome://tracing or ui.perfetto.dev"},
     .text = [](PartialLine &p) -> std::string & { return p.line.options.time_trace; }},
    {.words = {.name = "why-dup",
               .value = "[NAME]",
               .help = "Report where and why the definitions of each name, or of NAME, differ"},
     .take = [](PartialLine &p, std::string_view name) -> Result<void> {
         p.line.options.why_dup = name;
         return {};
     }},
    {.words = {.letter = 'q', .name = "quiet", .help = "No warnings"},
     .flag = [](PartialLine &p) -> bool & { return p.line.quiet; }},
    {.words = {.letter = 'v', .name = "verbose", .help = "Say what was left out and why"},
     .flag = [](PartialLine &p) -> bool & { return p.line.options.verbose; }},
};

/// --check takes only a file, a base and a kernel version.
Result<void> reject_merge_options(const CommandLine &line, const GivenWords &given)
{
    if (!given.operands.empty() || !line.options.output.empty() || !line.options.update.empty())
        return fail({}, "--check takes no INPUT and writes nothing");
    for (size_t index : given.options) {
        const std::string_view name = merge_options[index].words.name;
        constexpr std::string_view fine[] = {"base",    "check", "kernel",
                                             "threads", "quiet", "verbose"};
        if (std::ranges::find(fine, name) == std::end(fine))
            return fail({}, "--check cannot be combined with --" + std::string(name));
    }
    return {};
}

Result<void> finish(PartialLine &partial, GivenWords &&given)
{
    CommandLine &line = partial.line;
    Options &o = line.options;
    if (!line.check.empty())
        return reject_merge_options(line, given);
    if (line.kernel)
        return fail({}, "--kernel needs --check");
    if (given.operands.empty())
        return fail({}, "INPUT is required");
    o.inputs = std::move(given.operands);
    o.threads =
        partial.threads ? partial.threads : std::max(1u, std::thread::hardware_concurrency());
    if (!o.base_index.empty() && o.base.empty())
        return fail({}, "--base-index needs --base");
    std::vector<std::string> others = o.inputs;
    others.insert(others.end(), {o.base, o.image, o.output, o.update, o.time_trace, line.report});
    for (const std::string &other : others)
        if (!o.base_index.empty() && (o.base_index == other || same_file(o.base_index, other)))
            return fail({}, "--base-index: '" + other + "' is already used by this merge");
    if (o.update == "-")
        return fail({}, "--update needs a file, not standard output");
    for (std::string *path : {&o.output, &o.time_trace, &line.report})
        *path = output_path(*path);
    if (o.output.empty() && o.update.empty() && !o.why_dup)
        return fail({}, "nothing to write: give -o or --update");
    if (!line.report.empty())
        TRY(check_report_options(o));
    if (partial.features)
        o.features = *partial.features;
    if (partial.distilled_base)
        o.features.add(Feature::distilled_base);
    return check_options(o);
}

} // namespace

Result<CommandLine> parse_command_line(int argc, char **argv)
{
    PartialLine partial;
    auto given = TRY(read_options(merge_options, argc, argv, partial, [](const PartialLine &p) {
        return p.line.help || p.line.version;
    }));
    if (!partial.line.help && !partial.line.version)
        TRY(finish(partial, std::move(given)));
    return std::move(partial.line);
}

std::string help_text()
{
    return "Merge the BTF of object files into the BTF of their link.\n"
           "Usage: btf-merge [OPTIONS] INPUT...\n\n"
           "INPUT: objects, archives, `ld -r` results, linked files with object BTF, raw BTF, or\n"
           "@file with more names; in link order\n\n" +
           options_text(merge_options);
}

} // namespace btflink::merge
