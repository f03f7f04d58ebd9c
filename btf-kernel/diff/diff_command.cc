// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel diff: parses options, opens both kernels, and prints the differences, or the answers
// to --bpf and --symbols.
#include "btf-kernel/commands.h"

#include "btf-kernel/bpf/bpf_program.h"
#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/difference.h"
#include "btf-kernel/kabi/symbols.h"
#include "btf-kernel/package/kernel.h"
#include "btf-kernel/progress.h"
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/io/file_io.h"
#include "common/io/json_text.h"
#include "common/io/parallel.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

struct DiffCommandLine {
    bool help = false, quiet = false, json = false, markdown = false;
    unsigned threads = processors();
    diff::PrintOptions print;
    std::vector<std::string> programs;
    std::string symbols;
};

constexpr Option<DiffCommandLine> diff_options[] = {
    {{0, "bpf", "PROG.o",
      "Report which relocations, kfuncs and attach points of this BPF program work", repeats},
     sets<&DiffCommandLine::programs>},
    {{0, "breaking", "",
      "Print only changes that break BPF programs, and modules with BTF in only one kernel; only "
      "breaking changes and lost modules count for the exit status"},
     sets<&DiffCommandLine::print, &diff::PrintOptions::only_breaking>},
    {help_option, sets<&DiffCommandLine::help>},
    {{'j', "threads", "N", "Threads, 1 to 1024 (default: processors); does not change the result"},
     take_threads<&DiffCommandLine::threads>},
    {{0, "json", "", "Print JSON"}, sets<&DiffCommandLine::json>},
    {{0, "markdown", "", "Print Markdown for a comment on a pull request"},
     sets<&DiffCommandLine::markdown>},
    {{'q', "quiet", "", "No progress"}, sets<&DiffCommandLine::quiet>},
    {{0, "summary", "", "Print only the numbers of changes"},
     sets<&DiffCommandLine::print, &diff::PrintOptions::only_summary>},
    {{0, "symbols", "LIST",
      "Report which of the exported symbols in this list changed, or reach types that did"},
     sets<&DiffCommandLine::symbols>},
};

/// An open kernel and its types. `errors`: the number of files that were refused or cannot be read;
/// a message was printed for each.
struct OpenKernel {
    Kernel kernel;
    diff::KernelTypes types;
    size_t errors = 0;
};

void parse_modules(OpenKernel &opened)
{
    auto &modules = opened.types.modules;
    for (const Binary &module : opened.kernel.modules) {
        if (module.btf.empty() && !module.unreadable) {
            opened.types.without_btf.insert(plain_text(module.name));
            continue;
        }
        if (auto parsed = parse_module(module, opened.types.vmlinux); parsed) {
            modules.push_back({plain_text(module.name), parsed->btf});
        } else {
            print_error(parsed.error());
            ++opened.errors;
            opened.types.without_btf.insert(plain_text(module.name));
        }
    }
    // If several files have the same name, the first readable one by path counts.
    std::ranges::stable_sort(modules, [](const auto &a, const auto &b) { return a.name < b.name; });
    modules.erase(std::unique(modules.begin(), modules.end(),
                              [](const auto &a, const auto &b) { return a.name == b.name; }),
                  modules.end());
}

/// `opened.types` points to bytes of `opened.kernel`.
Result<void> open(const std::string &path, const DiffCommandLine &line, OpenKernel &opened)
{
    auto kernel = [&] {
        Progress progress(line.quiet); // erased before errors are printed
        return open_kernel({path},
                           {{}, line.threads, &progress, "name a file or folder of only one"});
    }();
    opened.kernel = TRY(std::move(kernel));
    for (const Error &error : opened.kernel.left_out)
        print_error(error);
    opened.errors += opened.kernel.left_out.size();
    auto vmlinux = TRY(parse_vmlinux(opened.kernel));
    opened.types.name = plain_text(opened.kernel.release.empty() ? path : opened.kernel.release);
    opened.types.vmlinux = vmlinux;
    parse_modules(opened);
    return {};
}

/// What --bpf and --symbols ask.
struct Questions {
    std::vector<bpf::BpfObject> programs;
    std::vector<std::string> symbols;
    bool none() const { return programs.empty() && symbols.empty(); }
};

/// Call this before the kernels are read, which takes seconds, so that an unreadable file of --bpf
/// or --symbols is an error at once.
Result<Questions> read_questions(const DiffCommandLine &line)
{
    Questions out;
    for (const std::string &path : line.programs)
        out.programs.push_back(TRY(bpf::open_bpf_object(path)));
    if (line.symbols.empty())
        return out;
    auto bytes = TRY(read_file(line.symbols));
    out.symbols = kabi::parse_symbols(as_text(bytes));
    if (out.symbols.empty())
        return fail(Where{line.symbols}, "has no names of symbols");
    return out;
}

struct Answers {
    std::vector<bpf::ProgramResult> programs;
    std::vector<kabi::Symbol> symbols;
    bool all_hold() const
    {
        using Status = kabi::Symbol::Status;
        return std::ranges::all_of(symbols,
                                   [](const auto &s) {
                                       return s.status == Status::same ||
                                              s.status == Status::unknown;
                                   }) &&
               std::ranges::all_of(
                   programs, [](const auto &p) { return !p.count(bpf::Verdict::Status::broken); });
    }
};

Answers answer_questions(const Questions &questions, const diff::ComparedKernels &compared)
{
    Answers out;
    for (const bpf::BpfObject &program : questions.programs)
        out.programs.push_back(bpf::check_program(program, compared));
    if (!questions.symbols.empty())
        out.symbols = kabi::check_symbols(questions.symbols, compared);
    return out;
}

/// Printed instead of the difference.
std::string answers_text(const Answers &answers, const diff::Difference &d,
                         const DiffCommandLine &line)
{
    if (line.json)
        return "{\"format\": 1, \"programs\": " +
               json_array(answers.programs, bpf::as_json, ",\n") +
               ",\n\"symbols\": " + kabi::as_json(answers.symbols, d) + "}\n";
    std::string text;
    for (const bpf::ProgramResult &program : answers.programs)
        text += line.markdown ? bpf::as_markdown(program) : bpf::as_text(program);
    if (!line.symbols.empty())
        text += line.markdown ? kabi::as_markdown(answers.symbols, d)
                              : kabi::as_text(answers.symbols, d);
    return text;
}

/// Does the exit status say that there are changes? With --breaking, these count: changes that
/// break programs, modules that lost their BTF, and modules that are gone, except those that are
/// now in vmlinux. Without it, all changes count.
bool has_changes(const diff::Difference &d, const diff::PrintOptions &options)
{
    if (!options.only_breaking)
        return !d.changes.empty() || !d.module_changes.empty();
    return std::ranges::any_of(d.changes, &diff::Change::breaks) ||
           std::ranges::any_of(d.module_changes, [](const diff::ModuleChange &module) {
               return module.lost_btf && !module.is_built_in;
           });
}

std::string difference_text(const diff::Difference &d, const DiffCommandLine &line)
{
    return line.json       ? diff::as_json(d, line.print)
           : line.markdown ? diff::as_markdown(d, line.print)
                           : diff::as_text(d, line.print);
}

} // namespace

int diff_command(int argc, char **argv)
{
    DiffCommandLine line;
    auto given = read_options(diff_options, argc, argv, line);
    if (!given)
        return usage_error(given.error(), "diff");
    if (line.help)
        return answer("Report what changed between the BTF of two kernels, and what that breaks.\n"
                      "Usage: btf-kernel diff [OPTIONS] OLD NEW\n\n" +
                      options_text(diff_options));
    if (given->operands.size() != 2)
        return usage_error({{}, "exactly two kernels are required, OLD and NEW"}, "diff");
    if (line.json && line.markdown)
        return usage_error({{}, "--json and --markdown exclude each other"}, "diff");
    auto questions = read_questions(line);
    if (!questions)
        return input_error(questions.error());
    OpenKernel before, after;
    auto opened = open(given->operands[0], line, before);
    if (opened)
        opened = open(given->operands[1], line, after);
    if (!opened)
        return input_error(opened.error());
    const diff::ComparedKernels compared = diff::compare(before.types, after.types);
    bool good = !has_changes(compared.difference, line.print);
    std::string text;
    if (questions->none()) {
        text = difference_text(compared.difference, line);
    } else {
        const Answers answers = answer_questions(*questions, compared);
        text = answers_text(answers, compared.difference, line);
        good = answers.all_hold();
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    return end_output(good && !before.errors && !after.errors ? exit_good : exit_bad_input);
}

} // namespace btflink::kernel
