// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-emit: parses the command line (command_line.h), runs the encoder (emit.h) and prints the
// outcome.
#include "common/cli/program.h"
#include "common/io/file_io.h"
#include "common/io/file_parts.h"
#include "common/io/job_tokens.h"
#include "common/io/trace.h"
#include "common/version.h"
#include "emit/command_line.h"

#include <cinttypes>
#include <cstdio>

using namespace btflink;
using namespace btflink::emit;

namespace
{

/// "fast", or for example "libdw (type-unit)" with the reason for libdw.
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
    line("types before deduplication", r.types_before);
    line("types", r.types);
    line("functions", r.functions);
    line("functions inline only", r.inline_only);
    line("variables", r.variables);
    line("BTF bytes", r.blob_bytes);
    line("BTF bytes with link trailer", r.btf_bytes);
    for (const auto &[reason, count] : r.skips)
        line(("skipped: " + skip_word(reason)).c_str(), count);
}

void print_warnings(const std::string &path, const EmitOptions &options, const EmitReport &r)
{
    std::vector<std::string> lines = warnings(path, r);
    if (r.has_lto_code)
        lines.push_back(path + ": no DWARF, as link-time optimisation makes the code at the link; "
                               "encode the linked file with --image");
    if (!options.detached.empty() && r.btf_bytes == 0)
        lines.push_back(path + ": has nothing for BTF, so " + options.detached + " is empty");
    for (const std::string &line : lines)
        print_warning(line);
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
        text = "DWARF without anything for BTF, left alone";
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
    auto command = parse_command_line(argc, argv);
    if (!command)
        return usage_error(command.error());
    if (command->help)
        return answer(help_text());
    if (command->version)
        return answer_version(version());

    keep_freed_memory();
    std::optional<trace::File> trace;
    if (!command->trace_path.empty()) {
        auto started = trace::File::start(command->trace_path, "btf-emit");
        if (!started)
            return failure(started.error());
        trace.emplace(std::move(*started));
    }
    if (command->emit.image)
        report_lost_files("btf-emit");
    command->emit.threads = take_job_tokens(command->emit.threads);
    int status = 0;
    for (const std::string &path : command->files) {
        trace::Phase phase("file", path);
        auto report = emit_file(path, command->emit);
        if (!report) {
            status = failure(report.error());
            continue;
        }
        if (!command->quiet)
            print_warnings(path, command->emit, *report);
        if (command->verbose)
            print_outcome(path, command->emit, *report);
        if (command->stats)
            print_stats(path, *report);
    }
    give_back_job_tokens();
    if (trace && status == 0) {
        // The file of the result exists only now.
        for (const std::string &result : {command->emit.output, command->emit.detached})
            if (same_file(command->trace_path, result))
                return failure(Error{Where{command->trace_path},
                                     "is named for both the result and the trace"});
        if (auto written = trace->write(); !written)
            return failure(written.error());
    }
    return status;
}
