// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-emit's table of options, and which options exclude each other.
#include "emit/command_line.h"
#include "common/cli/option_table.h"
#include "common/io/file_io.h"
#include "emit/dwarf/languages.h"

#include <elf.h>
#include <optional>

namespace btflink::emit
{

namespace
{

/// Collects the options until all have been read.
struct Draft {
    CommandLine line;
    bool no_exclude = false;
    std::optional<unsigned> threads;
    std::optional<FeatureSet> features;
};

Result<void> take_features(Draft &draft, std::string_view list)
{
    auto parsed = TRY(parse_features(list));
    draft.features.emplace(draft.features.value_or(FeatureSet())).add(parsed);
    return {};
}

Result<void> take_languages(Draft &draft, std::string_view list)
{
    auto parsed = TRY(parse_languages(list));
    std::vector<uint16_t> &all = draft.line.emit.filter.excluded_languages;
    all.insert(all.end(), parsed.begin(), parsed.end());
    return {};
}

Result<void> take_section_type(Draft &draft, std::string_view type)
{
    if (type != "btf" && type != "progbits")
        return fail({}, "--section-type: '" + std::string(type) + "' is neither btf nor progbits");
    if (type == "progbits")
        draft.line.emit.section_type = SHT_PROGBITS;
    return {};
}

Result<void> take_reader(Draft &draft, std::string_view name)
{
    ReaderChoice &choice = draft.line.emit.reader;
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

constexpr Option<Draft> options[] = {
    {.words = {.letter = 'h', .name = "help", .help = "Print this help and exit"},
     .flag = [](Draft &d) -> bool & { return d.line.help; }},
    {.words = {.name = "version", .help = "Print the version and exit"},
     .flag = [](Draft &d) -> bool & { return d.line.version; }},
    {.words = {.letter = 'o',
               .name = "output",
               .value = "OUT",
               .help = "Write the ELF file here, leave FILE alone"},
     .text = [](Draft &d) -> std::string & { return d.line.emit.output; }},
    {.words = {.name = "detached",
               .value = "OUT",
               .help = "Write plain BTF here, leave FILE alone"},
     .text = [](Draft &d) -> std::string & { return d.line.emit.detached; }},
    {.words = {.name = "features",
               .value = "LIST",
               .help = "What to encode: pahole's --btf_features names (default: as FILE has it, or "
                       "default)",
               .repeats = true},
     .take = take_features},
    {.words = {.name = "lang-exclude",
               .value = "LIST",
               .help = "Leave out units of these languages",
               .repeats = true},
     .take = take_languages},
    {.words = {.name = "address-pool",
               .help = "Add a pool of addresses for the link to fill (kernel builds)"},
     .flag = [](Draft &d) -> bool & { return d.line.emit.unit.address_pool; }},
    {.words = {.name = "strip-dwarf", .help = "Drop DWARF from the object"},
     .flag = [](Draft &d) -> bool & { return d.line.emit.strip_dwarf; }},
    {.words = {.name = "section-type",
               .value = "TYPE",
               .help = "Type of .BTF: btf (default) or progbits"},
     .take = take_section_type},
    {.words = {.name = "no-exclude", .help = "Let a final link keep .BTF"},
     .flag = [](Draft &d) -> bool & { return d.no_exclude; }},
    {.words = {.name = "image", .help = "FILE is linked, or an object of many units"},
     .flag = [](Draft &d) -> bool & { return d.line.emit.image; }},
    {.words = {.name = "threads",
               .value = "N",
               .help = "Threads for --image, 1 to 1024 (default: 1)"},
     .take = take_threads<&Draft::threads>},
    {.words = {.name = "reader",
               .value = "NAME",
               .help = "What reads DWARF: fast, libdw, or auto (default): whichever FILE needs"},
     .take = take_reader},
    {.words = {.name = "debug-dir",
               .value = "DIR",
               .help = "Directory of separate debug files (default: /usr/lib/debug)"},
     .text = [](Draft &d) -> std::string & { return d.line.emit.debug_dir; }},
    {.words = {.name = "stats", .help = "Print what was encoded and what was left out"},
     .flag = [](Draft &d) -> bool & { return d.line.stats; }},
    {.words = {.name = "time-trace",
               .value = "OUT",
               .help = "Write a trace of the steps here (JSON)"},
     .text = [](Draft &d) -> std::string & { return d.line.trace_path; }},
    {.words = {.name = "dry-run", .help = "Do everything except write"},
     .flag = [](Draft &d) -> bool & { return d.line.emit.dry_run; }},
    {.words = {.letter = 'q', .name = "quiet", .help = "No warnings"},
     .flag = [](Draft &d) -> bool & { return d.line.quiet; }},
    {.words = {.letter = 'v', .name = "verbose", .help = "One line per file"},
     .flag = [](Draft &d) -> bool & { return d.line.verbose; }},
};

/// Pairs of options that contradict each other, or of which one would have no effect.
Result<void> check_together(const Draft &draft)
{
    const CommandLine &line = draft.line;
    const EmitOptions &emit = line.emit;
    bool one_place = !emit.output.empty(), other_place = !emit.detached.empty();
    if (line.files.size() > 1 && (one_place || other_place))
        return fail({}, "--output and --detached take one input file");
    if (one_place && other_place)
        return fail({}, "--output and --detached exclude each other");
    if (emit.strip_dwarf && other_place)
        return fail({}, "--detached leaves FILE alone, and has no use for --strip-dwarf");
    if (draft.threads && !emit.image)
        return fail({}, "--threads needs --image");
    if (!line.trace_path.empty() &&
        (line.trace_path == emit.output || line.trace_path == emit.detached))
        return fail({}, "--time-trace and the result go to one place");
    for (const std::string &file : line.files) {
        if (other_place && same_file(emit.detached, file))
            return fail(Where{file}, "--detached leaves FILE alone, and cannot name it");
        if (!line.trace_path.empty() && same_file(line.trace_path, file))
            return fail(Where{file}, "--time-trace would overwrite FILE");
    }
    return {};
}

Result<CommandLine> finish(Draft &&draft)
{
    CommandLine &line = draft.line;
    if (line.files.empty())
        return fail({}, "FILE is required");
    for (std::string *path : {&line.emit.output, &line.emit.detached, &line.trace_path})
        *path = output_path(*path);
    TRY(check_together(draft));
    line.emit.exclude_flag = !draft.no_exclude;
    line.emit.threads = draft.threads.value_or(1);
    line.emit.keep_settings = !draft.features && !line.emit.unit.address_pool;
    line.emit.unit.features = draft.features ? *draft.features : default_features();
    return std::move(line);
}

} // namespace

Result<CommandLine> parse_command_line(int argc, char **argv)
{
    Draft draft;
    auto given = TRY(read_options(options, argc, argv, draft,
                                  [](const Draft &d) { return d.line.help || d.line.version; }));
    if (draft.line.help || draft.line.version)
        return std::move(draft.line);
    draft.line.files = std::move(given.operands);
    return finish(std::move(draft));
}

std::string help_text()
{
    return "Encode the DWARF of object files as BTF and put it into them.\n"
           "Usage: btf-emit [OPTIONS] FILE...\n\n" +
           options_text(options);
}

} // namespace btflink::emit
