// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge: the command line, and nothing else.
#include "common/exhaustion.h"
#include "common/file_parts.h"
#include "merge/check_file.h"
#include "merge/merge.h"
#include "merge/progress.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

namespace
{

constexpr const char *name = "btf-merge";
constexpr int exit_bad_input = 1, exit_usage = 2;

int usage_error(const std::string &what)
{
    std::fprintf(stderr, "%s: ERROR: %s (see %s --help)\n", name, what.c_str(), name);
    return exit_usage;
}

void print_error(const btflink::Error &error)
{
    std::fprintf(stderr, "%s: ERROR: %s\n", name, error.str().c_str());
}

int check(const std::string &file, const std::string &base, const std::string &kernel)
{
    std::optional<btflink::KernelVersion> version;
    if (!kernel.empty() && !(version = btflink::parse_kernel_version(kernel)))
        return usage_error("--kernel: '" + kernel + "' is no version of a kernel, such as 6.12");
    auto found = btflink::merge::check_file(file, base, version);
    if (!found)
        print_error(found.error());
    else
        for (const btflink::Error &error : *found)
            print_error(error);
    return found && found->empty() ? 0 : exit_bad_input;
}

} // namespace

int main(int argc, char **argv)
{
    using namespace btflink;
    merge::Options options;
    report_lost_files(name);
    report_exhaustion(name);
    options.threads = std::max(1u, std::thread::hardware_concurrency());
    std::string format = "raw", dedup = "hash", checked, kernel, why_dup_name;
    std::vector<std::string> features;
    bool quiet = false, distilled_base = false;

    CLI::App app("Merge the BTF of object files into the BTF of their link.", name);
    app.set_help_flag("--help", "Print this help and exit");
    app.set_version_flag("--version", std::string(name) + " " BTFLINK_VERSION);
    app.add_option("INPUT", options.inputs,
                   "Objects, archives, `ld -r` results, linked files with object BTF, raw BTF, "
                   "or @file with more names; in link order");
    app.add_option("--image", options.image, "Linked file: final addresses, symbols, kfunc sets");
    app.add_option("--base", options.base, "BTF that the result continues (raw or ELF)");
    app.add_flag("--distilled-base", distilled_base,
                 "Write split BTF over a small base of its own, for use with other kernels");
    app.add_option("-o,--output", options.output, "Write the result here");
    app.add_option("--format", format, "Format of the result: raw, or object (ET_REL)")
        ->check(CLI::IsMember({"raw", "object"}));
    app.add_option("--update", options.update, "Put the result into this ELF file as .BTF");
    app.add_option("--check", checked,
                   "Say what a kernel would refuse of the final BTF in this file; no INPUT");
    app.add_option("--kernel", kernel, "With --check: the version of that kernel");
    app.add_option("--dedup", dedup, "Engine: hash (default) or libbpf")
        ->check(CLI::IsMember({"hash", "libbpf"}));
    app.add_option("--threads", options.threads, "Threads; does not change the result")
        ->check(CLI::Range(1u, 1024u));
    app.add_option("--features", features,
                   "What to encode, as pahole's --btf_features; may be repeated")
        ->allow_extra_args(false);
    app.add_flag("--stats", options.stats, "Print counts and times to stderr");
    app.add_option("--time-trace", options.time_trace,
                   "Write where the time goes, for chrome://tracing or ui.perfetto.dev");
    CLI::Option *why_dup =
        app.add_flag("--why-dup{*}", why_dup_name,
                     "Say for each name with several definitions, or for =NAME, where and why they "
                     "differ");
    app.add_flag("-q,--quiet", quiet, "No warnings, no progress line");
    app.add_flag("-v,--verbose", options.verbose, "Say what was left out and why");
    app.positionals_at_end(false);

    // "--output= FILE" would take FILE for the value.
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
        if (std::string_view(argv[i]).starts_with("--") && std::string_view(argv[i]).ends_with('='))
            return usage_error(std::string(argv[i]) + " needs a value");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &e) {
        return app.exit(e); // --help, --version
    } catch (const CLI::ParseError &e) {
        return usage_error(e.what());
    }
    if (!checked.empty()) {
        if (!options.inputs.empty() || !options.output.empty() || !options.update.empty())
            return usage_error("--check takes no INPUT and writes nothing");
        for (const char *other : {"--image", "--distilled-base", "--format", "--dedup",
                                  "--features", "--stats", "--time-trace", "--why-dup"})
            if (app.count(other))
                return usage_error(std::string("--check merges nothing, and has no use for ") +
                                   other);
        return check(checked, options.base, kernel);
    }
    if (!kernel.empty())
        return usage_error("--kernel needs --check");
    if (options.inputs.empty())
        return usage_error("INPUT is required");
    options.engine = dedup == "hash" ? merge::Engine::hash : merge::Engine::libbpf;
    if (why_dup->count())
        options.why_dup = why_dup_name == "*" ? "" : why_dup_name;
    if (options.output.empty() && options.update.empty() && !options.why_dup)
        return usage_error("nothing to write: give -o or --update");
    if (format == "object")
        options.format = merge::OutputFormat::object;
    if (!features.empty()) {
        options.features = FeatureSet();
        for (const std::string &list : features) {
            auto parsed = parse_features(list);
            if (!parsed)
                return usage_error("--features: " + parsed.error().what);
            options.features.add(*parsed);
        }
    }
    if (distilled_base)
        options.features.add(Feature::distilled_base);
    if (auto fine = merge::check_options(options); !fine)
        return usage_error(fine.error().what);

    merge::Report report;
    std::optional<merge::Progress> progress;
    if (!quiet && merge::stderr_is_terminal())
        progress.emplace(name);
    Result<void> done = merge::merge(options, report);
    progress.reset();
    if (!quiet)
        for (const std::string &text : report.warnings)
            std::fprintf(stderr, "%s: WARNING: %s\n", name, text.c_str());
    if (options.verbose)
        for (const std::string &text : report.notes)
            std::fprintf(stderr, "%s: %s\n", name, text.c_str());
    if (options.stats)
        std::fputs(report.stats.c_str(), stderr);
    bool said = std::fputs(report.why_dup.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (done && !said)
        done = fail_errno(Where{"standard output"}, "cannot write");
    if (!done)
        print_error(done.error());
    std::fflush(nullptr);
    std::_Exit(done ? 0 : exit_bad_input); // see Report::read
}
