// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-emit: the command line. What it does is in emit.h.
#include "common/features.h"
#include "common/file_parts.h"
#include "emit/emit.h"
#include "emit/heap.h"
#include "emit/languages.h"

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>

using namespace btflink;
using namespace btflink::emit;

namespace
{

constexpr int exit_bad_input = 1;
constexpr int exit_usage = 2;

int usage_error(const std::string &what)
{
    std::fprintf(stderr, "btf-emit: ERROR: %s\nTry 'btf-emit --help'.\n", what.c_str());
    return exit_usage;
}

int failure(const Error &error)
{
    std::fprintf(stderr, "btf-emit: ERROR: %s\n", error.str().c_str());
    return exit_bad_input;
}

void print_stats(const std::string &path, const EmitReport &r)
{
    auto line = [&](const char *name, uint64_t value) {
        std::fprintf(stderr, "%s: %s: %" PRIu64 "\n", path.c_str(), name, value);
    };
    line("input bytes", r.input_bytes);
    line("units", r.units);
    line("DIEs kept", r.dies);
    line("types before deduplication", r.types_before);
    line("types", r.types);
    line("functions", r.functions);
    line("functions inline only", r.inline_only);
    line("variables", r.variables);
    line("BTF bytes", r.blob_bytes);
    line("BTF bytes with link trailer", r.btf_bytes);
    for (const auto &[reason, count] : r.skips)
        line(("skipped: " + reason).c_str(), count);
    for (size_t i = 0; i < step_count; ++i)
        line(("time_us." + std::string(step_names[i])).c_str(),
             static_cast<uint64_t>(r.times.ns[i] / 1000));
}

void print_outcome(const std::string &path, const EmitReport &r)
{
    const char *text = "";
    switch (r.outcome) {
    case EmitReport::Outcome::written:
        text = "object BTF written";
        break;
    case EmitReport::Outcome::unchanged:
        text = "object BTF is up to date";
        break;
    case EmitReport::Outcome::no_dwarf:
        text = "no DWARF, left alone";
        break;
    case EmitReport::Outcome::no_types:
        text = "DWARF without anything for BTF, left alone";
        break;
    }
    std::fprintf(stderr, "%s: %s", path.c_str(), text);
    if (r.btf_bytes)
        std::fprintf(stderr, ": %" PRIu64 " types, %" PRIu64 " functions, %" PRIu64 " variables",
                     r.types, r.functions, r.variables);
    for (const auto &[reason, count] : r.skips)
        std::fprintf(stderr, "; skipped %" PRIu64 " %s", count, reason.c_str());
    std::fputc('\n', stderr);
}

} // namespace

int main(int argc, char **argv)
{
    prepare_heap();
    if (argc == 2 && std::string_view(argv[1]) == "--version") {
        std::puts("btf-emit " BTFLINK_VERSION);
        return 0;
    }
    // "--output= FILE" would take FILE for the value.
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
        if (std::string_view(argv[i]).starts_with("--") && std::string_view(argv[i]).ends_with('='))
            return usage_error(std::string(argv[i]) + " needs a value");
    CLI::App app{"Encode the DWARF of object files as BTF and put it into them.", "btf-emit"};
    app.set_version_flag("--version", "btf-emit " BTFLINK_VERSION);
    std::vector<std::string> files, features, languages;
    EmitOptions options;
    std::string section_type = "btf", trace_path;
    bool no_exclude = false, stats = false, verbose = false;
    app.add_option("FILE", files, "Object files")->required();
    app.add_option("-o,--output", options.output, "Write the ELF file here, leave FILE alone");
    app.add_option("--detached", options.detached, "Write plain BTF here, leave FILE alone");
    app.add_option("--features", features,
                   "What to encode: pahole's --btf_features names (default: default)")
        ->allow_extra_args(false)
        ->delimiter('\n'); // lists stay whole
    app.add_option("--lang-exclude", languages, "Leave out units of these languages")
        ->allow_extra_args(false)
        ->delimiter('\n');
    app.add_flag("--address-pool", options.unit.address_pool,
                 "Add a pool of addresses for the link to fill (kernel builds)");
    app.add_flag("--strip-dwarf", options.strip_dwarf, "Drop DWARF from the object");
    app.add_option("--section-type", section_type, "Type of .BTF: btf (default) or progbits")
        ->check(CLI::IsMember({"btf", "progbits"}));
    app.add_flag("--no-exclude", no_exclude, "Let a final link keep .BTF");
    app.add_flag("--image", options.image, "FILE is linked, or an object of many units");
    app.add_option("--threads", options.threads, "Threads for --image (default: 1)")
        ->check(CLI::Range(1u, 1024u));
    app.add_flag("--stats", stats, "Print what was encoded, what was left out, and times");
    app.add_option("--time-trace", trace_path, "Write a trace of the steps here (JSON)");
    app.add_flag("-v,--verbose", verbose, "One line per file");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
            return app.exit(error); // --help, --version
        return usage_error(error.what());
    }
    if (files.size() > 1 && (!options.output.empty() || !options.detached.empty()))
        return usage_error("--output and --detached take one input file");
    if (!options.output.empty() && !options.detached.empty())
        return usage_error("--output and --detached exclude each other");
    options.section_type = section_type == "btf" ? 0x80425446 : 1 /* SHT_PROGBITS */;
    options.exclude_flag = !no_exclude;

    FeatureSet set;
    for (const std::string &list : features) {
        auto parsed = parse_features(list);
        if (!parsed)
            return usage_error(parsed.error().str());
        set.add(*parsed);
    }
    options.unit.features = features.empty() ? default_features() : set;
    for (const std::string &list : languages) {
        auto parsed = parse_languages(list);
        if (!parsed)
            return usage_error(parsed.error().str());
        options.excluded_languages.insert(options.excluded_languages.end(), parsed->begin(),
                                          parsed->end());
    }

    std::optional<trace::File> trace;
    if (!trace_path.empty()) {
        auto started = trace::File::start(trace_path, "btf-emit");
        if (!started)
            return failure(started.error());
        trace.emplace(std::move(*started));
    }
    if (options.image)
        report_lost_files("btf-emit");
    int status = 0;
    for (const std::string &path : files) {
        trace::Phase phase("file", path);
        auto report = emit_file(path, options);
        if (!report) {
            status = failure(report.error());
            continue;
        }
        if (verbose)
            print_outcome(path, *report);
        if (stats)
            print_stats(path, *report);
    }
    if (trace && status == 0)
        if (auto written = trace->write(); !written)
            return failure(written.error());
    return status;
}
