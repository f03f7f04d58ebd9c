// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge's options, and which options exclude each other.
#include "merge/command_line.h"

#include "common/cli/option_table.h"
#include "common/io/file_io.h"
#include "common/io/parallel.h"

#include <algorithm>
#include <filesystem>

namespace btflink::merge
{

namespace fs = std::filesystem;

namespace
{

Result<void> take_format(CommandLine &line, std::string_view format)
{
    if (format != "raw" && format != "object")
        return fail({}, "--format: '" + std::string(format) + "' is neither raw nor object");
    line.options.format = format == "raw" ? OutputFormat::raw : OutputFormat::object;
    return {};
}

Result<void> take_engine(CommandLine &line, std::string_view engine)
{
    if (engine != "hash" && engine != "libbpf")
        return fail({}, "--dedup: '" + std::string(engine) + "' is neither hash nor libbpf");
    line.options.engine = engine == "hash" ? Engine::hash : Engine::libbpf;
    return {};
}

constexpr Option<CommandLine> merge_options[] = {
    {help_option, sets<&CommandLine::help>},
    {version_option, sets<&CommandLine::version>},
    {{0, "image", "ELF", "Linked file: final addresses, symbols, kfunc sets"},
     sets<&CommandLine::options, &Options::image>},
    {{0, "base", "FILE", "BTF that the result extends (raw or ELF)"},
     sets<&CommandLine::options, &Options::base>},
    {{0, "base-index", "FILE",
      "With --base: keep an index of the base in FILE, which speeds up later runs"},
     sets<&CommandLine::options, &Options::base_index>},
    {{0, "distilled-base", "",
      "Write split BTF over a small base of its own, for use with other kernels"},
     sets<&CommandLine::distilled_base>},
    {{'o', "output", "FILE", "Write the result here"},
     sets<&CommandLine::options, &Options::output>},
    {{0, "format", "FORMAT", "Format of the result: raw (default), or object (ET_REL)"},
     take_format},
    {{0, "update", "FILE", "Put the result into this ELF file as .BTF"},
     sets<&CommandLine::options, &Options::update>},
    {{0, "check", "FILE", "Report what a kernel would refuse in the final BTF of FILE; no INPUT"},
     sets<&CommandLine::check>},
    {{0, "kernel", "VERSION", "With --check: the kernel's version"}, sets<&CommandLine::kernel>},
    {{0, "dedup", "ENGINE", "Engine that finds equal types: hash (default) or libbpf"},
     take_engine},
    {{0, "threads", "N", "Threads, 1 to 1024 (default: processors); does not change the result"},
     take_threads<&CommandLine::options, &Options::threads>},
    {{0, "verify", "", "Recompute the hashes that objects state; a wrong one is an error"},
     sets<&CommandLine::options, &Options::verify>},
    {{0, "features", "LIST",
      "What to encode: pahole's --btf_features names (if not given: default)", repeats},
     sets<&CommandLine::features>},
    {{0, "report", "FILE", "Write an HTML page about the result and its sources; needs btf-kernel"},
     sets<&CommandLine::report>},
    {{0, "stats", "", "Print counts and times to stderr"}, sets<&CommandLine::stats>},
    {{0, "time-trace", "FILE",
      "Write a trace of the passes, for chrome://tracing or ui.perfetto.dev"},
     sets<&CommandLine::options, &Options::time_trace>},
    {{0, "why-dup", "[NAME]",
      "Report where and why the definitions of each name, or of NAME, differ"},
     sets<&CommandLine::options, &Options::why_dup>},
    {{'q', "quiet", "", "No warnings"}, sets<&CommandLine::quiet>},
    {{'v', "verbose", "", "Say what was left out and why"},
     sets<&CommandLine::options, &Options::verbose>},
};

/// --check takes a file and a few other options, such as --base and --kernel, but no INPUT.
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

/// The place to which a path leads, also through links. The file need not exist. Empty: unknown.
fs::path place_of(const std::string &path)
{
    std::error_code unknown; // errors make the result empty
    fs::path place = fs::absolute(path, unknown);
    // weakly_canonical() would not follow a link to a file that does not exist.
    constexpr int most_links = 40; // as in Linux
    for (int i = 0; i < most_links && fs::is_symlink(place, unknown); ++i)
        place = place.parent_path() / fs::read_symlink(place, unknown);
    return fs::weakly_canonical(place, unknown);
}

bool same_place(const std::string &a, const std::string &b)
{
    if (a.empty() || b.empty() || same_file(a, b))
        return same_file(a, b);
    const fs::path place = place_of(a);
    return !place.empty() && place == place_of(b);
}

Result<void> check_index_apart(const CommandLine &line)
{
    const Options &o = line.options;
    if (o.base_index.empty())
        return {};
    std::vector<std::string> others = o.inputs;
    others.insert(others.end(), {o.base, o.image, o.update, o.time_trace, line.report});
    std::ranges::copy(result_files(o), std::back_inserter(others));
    for (const std::string &other : others)
        if (same_place(o.base_index, other))
            return fail({}, "--base-index: '" + o.base_index + "' is already used by this merge");
    return {};
}

Result<void> finish(CommandLine &line, GivenWords &&given)
{
    Options &o = line.options;
    if (!line.check.empty())
        return reject_merge_options(line, given);
    if (line.kernel)
        return fail({}, "--kernel needs --check");
    if (given.operands.empty())
        return fail({}, "INPUT is required");
    o.inputs = std::move(given.operands);
    if (!o.base_index.empty() && o.base.empty())
        return fail({}, "--base-index needs --base");
    if (o.update == "-")
        return fail({}, "--update needs a file, not standard output");
    for (std::string *path : {&o.output, &o.time_trace, &line.report})
        *path = output_path(*path);
    if (o.output.empty() && o.update.empty() && !o.why_dup)
        return fail({}, "nothing to write: give -o or --update");
    if (!line.report.empty())
        TRY(check_report_options(o));
    if (line.report == standard_output &&
        (o.why_dup || o.output == standard_output || o.time_trace == standard_output))
        return fail({}, "--report=-: another option writes to standard output, too");
    if (line.features)
        o.features = *line.features;
    if (line.distilled_base)
        o.features.add(Feature::distilled_base);
    TRY(check_index_apart(line));
    return check_options(o);
}

} // namespace

Result<CommandLine> parse_command_line(int argc, char **argv)
{
    CommandLine line;
    line.options.threads = processors();
    auto given = TRY(read_options(merge_options, argc, argv, line));
    if (!line.help && !line.version)
        TRY(finish(line, std::move(given)));
    return line;
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
