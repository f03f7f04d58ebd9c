// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-emit: parses the command line, runs the encoder (emit.h) and prints the outcome.
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/io/file_io.h"
#include "common/io/trace.h"
#include "emit/emit.h"

#include <cinttypes>
#include <cstdio>
#include <elf.h>
#include <optional>

using namespace btflink;
using namespace btflink::emit;

namespace
{

struct CommandLine {
    std::vector<std::string> files;
    EmitOptions emit;
    std::optional<unsigned> threads;
    std::optional<FeatureSet> features;
    std::string trace_path; // "": no trace
    bool stats = false, verbose = false;
    bool no_exclude = false;
    bool quiet = false;                 // no warnings
    bool help = false, version = false; // if set, the rest is ignored
};

Result<void> take_languages(CommandLine &line, std::string_view list)
{
    auto parsed = TRY(parse_languages(list));
    std::vector<uint16_t> &all = line.emit.filter.excluded_languages;
    all.insert(all.end(), parsed.begin(), parsed.end());
    return {};
}

Result<void> take_section_type(CommandLine &line, std::string_view type)
{
    if (type != "btf" && type != "progbits")
        return fail({}, "--section-type: '" + std::string(type) + "' is neither btf nor progbits");
    if (type == "progbits")
        line.emit.section_type = SHT_PROGBITS;
    return {};
}

Result<void> take_reader(CommandLine &line, std::string_view name)
{
    ReaderChoice &choice = line.emit.reader;
    if (name == "auto")
        choice = ReaderChoice::automatic;
    else if (name == "fast")
        choice = ReaderChoice::fast;
    else if (name == "libdw")
        choice = ReaderChoice::libdw;
    else
        return fail({}, "--reader: '" + std::string(name) + "' is not auto, fast or libdw");
    return {};
}

constexpr Option<CommandLine> own_options[] = {
    {help_option, sets<&CommandLine::help>},
    {version_option, sets<&CommandLine::version>},
    {{'o', "output", "OUT", "Write the ELF file here, leave FILE alone"},
     sets<&CommandLine::emit, &EmitOptions::output>},
    {{0, "detached", "OUT", "Write only BTF, to OUT, and leave FILE alone"},
     sets<&CommandLine::emit, &EmitOptions::detached>},
    {{0, "features", "LIST",
      "What to encode: pahole's --btf_features names (if not given: default or, without "
      "--address-pool, as in FILE's old BTF)",
      repeats},
     sets<&CommandLine::features>},
    {{0, "lang-exclude", "LIST", "Leave out units of these languages", repeats}, take_languages},
    {{0, "address-pool", "", "Add a pool of addresses for the link to fill (kernel builds)"},
     sets<&CommandLine::emit, &EmitOptions::unit, &UnitOptions::address_pool>},
    {{0, "strip-dwarf", "", "Drop DWARF from the object"},
     sets<&CommandLine::emit, &EmitOptions::strip_dwarf>},
    {{0, "section-type", "TYPE", "Type of .BTF: btf (default) or progbits"}, take_section_type},
    {{0, "no-exclude", "", "Let a final link keep .BTF"}, sets<&CommandLine::no_exclude>},
    {{0, "image", "", "FILE is linked, or an object of many units"},
     sets<&CommandLine::emit, &EmitOptions::image>},
    {{0, "threads", "N", "Threads for --image, 1 to 1024 (default: 1)"},
     take_threads<&CommandLine::threads>},
    {{0, "reader", "NAME",
      "Reader of the DWARF: fast, libdw, or auto (default): the one FILE needs"},
     take_reader},
    {{0, "debug-dir", "DIR", "Folder of separate debug files (default: /usr/lib/debug)"},
     sets<&CommandLine::emit, &EmitOptions::debug_dir>},
    {{0, "stats", "", "Print what was encoded and what was left out"}, sets<&CommandLine::stats>},
    {{0, "time-trace", "OUT", "Write a trace of the steps here (JSON)"},
     sets<&CommandLine::trace_path>},
    {{0, "dry-run", "", "Do everything except write BTF"},
     sets<&CommandLine::emit, &EmitOptions::dry_run>},
    {{'q', "quiet", "", "No warnings"}, sets<&CommandLine::quiet>},
    {{'v', "verbose", "", "One line per file; all warnings, not only the first"},
     sets<&CommandLine::verbose>},
};

/// Refuses options that contradict each other, that would have no effect, or that would overwrite
/// an input.
Result<void> check_together(const CommandLine &line)
{
    const EmitOptions &emit = line.emit;
    bool to_output = !emit.output.empty(), to_detached = !emit.detached.empty();
    if (line.files.size() > 1 && (to_output || to_detached))
        return fail({}, "--output and --detached take one input file");
    if (to_output && to_detached)
        return fail({}, "--output and --detached exclude each other");
    if (emit.strip_dwarf && to_detached)
        return fail({}, "--detached cannot be combined with --strip-dwarf");
    if (line.threads && !emit.image)
        return fail({}, "--threads needs --image");
    if (!line.trace_path.empty() &&
        (line.trace_path == emit.output || line.trace_path == emit.detached))
        return fail({}, "--time-trace and the result name the same file");
    for (const std::string &file : line.files) {
        if (to_detached && same_file(emit.detached, file))
            return fail(Where{file}, "--detached cannot name FILE itself");
        if (!line.trace_path.empty() && same_file(line.trace_path, file))
            return fail(Where{file}, "--time-trace would overwrite FILE");
    }
    return {};
}

/// Errors are usage errors.
Result<CommandLine> parse_command_line(int argc, char **argv)
{
    CommandLine line;
    auto given = TRY(read_options(own_options, argc, argv, line));
    if (line.help || line.version)
        return line;
    line.files = std::move(given.operands);
    if (line.files.empty())
        return fail({}, "FILE is required");
    for (std::string *path : {&line.emit.output, &line.emit.detached, &line.trace_path})
        *path = output_path(*path);
    TRY(check_together(line));
    line.emit.exclude_flag = !line.no_exclude;
    line.emit.threads = line.threads.value_or(1);
    line.emit.keep_settings = !line.features && !line.emit.unit.address_pool;
    line.emit.unit.features = line.features.value_or(default_features());
    return line;
}

std::string help_text()
{
    return "Encode the DWARF of object files as BTF and put it into them.\n"
           "Usage: btf-emit [OPTIONS] FILE...\n\n" +
           options_text(own_options);
}

/// "fast"; "libdw" if it was requested; otherwise libdw with the reason, for example "libdw
/// (type-unit)".
std::string reader_text(const EmitReport &r)
{
    return r.reader_why.empty() ? r.reader : strf("%s (%s)", r.reader, r.reader_why.c_str());
}

void print_stats(const std::string &path, const EmitReport &r)
{
    auto line = [&](const char *name, uint64_t value) {
        print_line(strf("%s: %s: %" PRIu64, path.c_str(), name, value));
    };
    if (r.reader)
        print_line(path + ": reader: " + reader_text(r));
    if (!r.debug_file.empty())
        print_line(path + ": debug file: " + r.debug_file);
    line("input bytes", r.input_bytes);
    line("units", r.units);
    line("DIEs kept", r.dies);
    line("types before deduplication, without functions and variables", r.types_before);
    line("types", r.types);
    line("functions", r.functions);
    line("functions inline only", r.inline_only);
    line("variables", r.variables);
    line("BTF bytes", r.blob_bytes);
    line("BTF bytes with link trailer", r.btf_bytes);
    for (const auto &[reason, count] : r.skips)
        line(("skipped: " + skip_word(reason)).c_str(), count);
}

void print_warnings(const std::string &path, const CommandLine &line, const EmitReport &r)
{
    const EmitOptions &options = line.emit;
    std::vector<std::string> lines = warnings(path, r, line.verbose);
    if (r.has_lto_dwarf)
        lines.push_back(path + ": no DWARF, as link-time optimisation makes the code at the link; "
                               "encode the linked file with --image");
    if (!options.detached.empty() && r.btf_bytes == 0 && !options.dry_run)
        lines.push_back(path + ": has nothing for BTF, so " + options.detached + " is empty");
    for (const std::string &text : lines)
        print_warning(text);
}

void print_outcome(const std::string &path, const EmitOptions &options, const EmitReport &r)
{
    const char *text = "";
    switch (r.outcome) {
    case EmitReport::Outcome::written:
        text = options.dry_run ? "object BTF would be written" : "object BTF written";
        break;
    case EmitReport::Outcome::unchanged:
        text = "object BTF is up to date";
        break;
    case EmitReport::Outcome::no_dwarf:
        text = "no DWARF, left alone";
        break;
    case EmitReport::Outcome::no_types:
        text = "DWARF has nothing for BTF";
        break;
    }
    std::string line = path + ": " + text;
    if (r.btf_bytes)
        line += strf(": %" PRIu64 " type%s, %" PRIu64 " function%s, %" PRIu64 " variable%s",
                     r.types, plural(r.types), r.functions, plural(r.functions), r.variables,
                     plural(r.variables));
    if (!r.reader_why.empty())
        line += "; read by " + reader_text(r);
    if (!r.debug_file.empty())
        line += "; DWARF of " + r.debug_file;
    for (const auto &[reason, count] : r.skips)
        line += strf("; skipped %" PRIu64 " ", count) + skip_word(reason);
    print_line(std::move(line));
}

} // namespace

int main(int argc, char **argv)
{
    begin_program("btf-emit");
    report_file_size_limit();
    auto command = parse_command_line(argc, argv);
    if (!command)
        return usage_error(command.error());
    if (command->help)
        return answer(help_text());
    if (command->version)
        return answer_version(version());

    keep_freed_memory();
    const bool traced = !command->trace_path.empty();
    if (traced)
        if (auto started = trace::start(command->trace_path, "btf-emit"); !started)
            return input_error(started.error());
    report_lost_files("btf-emit");
    int status = 0;
    for (const std::string &path : command->files) {
        trace::Phase phase("file", path);
        auto report = emit_file(path, command->emit);
        if (!report) {
            status = input_error(report.error());
            continue;
        }
        if (!command->quiet)
            print_warnings(path, *command, *report);
        if (command->verbose)
            print_outcome(path, command->emit, *report);
        if (command->stats)
            print_stats(path, *report);
    }
    if (traced && status == 0) {
        // check_together() compared only the names. Now that the result exists, same_file() shows
        // whether two names lead to it.
        for (const std::string &result : {command->emit.output, command->emit.detached})
            if (same_file(command->trace_path, result))
                return input_error(Error{Where{command->trace_path},
                                         "is named for both the result and the trace"});
        if (auto written = trace::write(); !written)
            return input_error(written.error());
    }
    return status;
}
