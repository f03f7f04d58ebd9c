// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-pahole: replaces pahole in a kernel build. pahole reads the DWARF of a whole linked file;
// btf-pahole merges the BTF of the file's objects. It also prints help, versions and the list of
// features. For everything else it runs a real pahole.
#include "common/cli/program.h"
#include "common/io/file_io.h"
#include "kbuild-integration/btf-pahole/steps.h"
#include "kbuild-integration/environment.h"
#include "kbuild-integration/pahole_options.h"

#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace btflink;
using namespace btflink::kbuild;

namespace
{

constexpr int exit_pahole_usage = 64;

constexpr const char usage[] =
    "usage: btf-pahole -J [OPTION...] FILE\n"
    "Puts final BTF into a linked file: vmlinux, a module, a program. Object BTF is merged; units\n"
    "without it are encoded from DWARF. Options are pahole's:\n"
    "  -J, --btf_encode             put BTF into FILE\n"
    "  --btf_encode_detached=OUT    write BTF to OUT, not into FILE; if FILE is a module, its "
    "object\n"
    "                               BTF is still removed\n"
    "  --btf_base=BASE              the BTF that the result extends, for modules\n"
    "  --btf_features=LIST          what to encode: names, default, all, or +NAMES, which adds to\n"
    "                               the default\n"
    "  --btf_features_strict=LIST   the same; an unknown name is an error\n"
    "  --supported_btf_features     list the names\n"
    "  --lang=LIST, --lang_exclude=LIST, -X, --cu_exclude=PREFIX\n"
    "                               which units to encode from DWARF\n"
    "  -j[N], --jobs[=N]            threads (default: 1; without N: one per processor)\n"
    "  -V, --verbose                list the types, say which functions were left out and why\n"
    "  -q, --quiet                  no warnings\n"
    "  --version, --numeric_version, --devel_version\n"
    "                               print the version of pahole that this replaces;\n"
    "                               --devel_version (and --version on a terminal) also btflink's\n"
    "  -?, --help                   print this\n"
    "Most options that show types have no effect with -J. If FILE is not to be encoded, a real\n"
    "pahole is run: the next one in PATH, or the one that BTF_PAHOLE_REAL names.\n";

/// Lists the programs that have already run in place of pahole, each as " DEVICE:INODE". Prevents
/// an endless loop if a copy of btf-pahole is called pahole, or a script called pahole runs
/// btf-pahole.
constexpr const char *passed_variable = "BTF_PAHOLE_PASSED";

std::string file_id(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return "";
    return " " + std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

bool is_passed(const std::string &passed, const std::string &id)
{
    return (passed + " ").find(id + " ") != std::string::npos;
}

/// The first program with this name in $PATH that is not in the list `passed`, or empty.
std::string find_other(const std::string &name, const std::string &passed)
{
    for (const std::string &candidate : programs_named(name))
        if (!is_passed(passed, file_id(candidate.c_str())))
            return candidate;
    return "";
}

/// Replaces this process by a real pahole: $BTF_PAHOLE_REAL (a path, or a name to look up in
/// $PATH), or else the first pahole in $PATH that is neither this program nor listed in
/// passed_variable. Returns the exit status if this fails.
int run_real_pahole(char **argv)
{
    std::string passed = variable(passed_variable) + file_id("/proc/self/exe");
    std::string named = variable("BTF_PAHOLE_REAL");
    std::string pahole = named.find('/') != std::string::npos
                             ? named
                             : find_other(named.empty() ? "pahole" : named, passed);
    std::string id = file_id(pahole.c_str());
    const bool is_wrong =
        !named.empty() && (pahole.empty() || (!id.empty() && is_passed(passed, id)));
    if (is_wrong || pahole.empty())
        return input_error({{},
                            "pahole itself must run, but " +
                                (is_wrong ? "BTF_PAHOLE_REAL=" + named + " names no other pahole"
                                          : "PATH has none; install it, or set BTF_PAHOLE_REAL")});
    setenv(passed_variable, (passed + id).c_str(), 1);
    argv[0] = pahole.data();
    execv(pahole.c_str(), argv);
    return input_error(fail_errno(Where{pahole}, "").error);
}

/// Prints the variables whose names BTF does not allow, in pahole's words.
void report_names(const EncodeReport &report, bool fatal)
{
    bool any = false;
    for (const emit::RejectedVariable &v : report.rejected)
        if (v.bad_name) {
            print_line(
                strf("PAHOLE: %s: Found invalid variable name when encoding btf%s (sym: '%s').",
                     fatal ? "Error" : "Warning", fatal ? "" : ", ignored", v.name.c_str()));
            any = true;
        }
    if (any && fatal)
        print_line("PAHOLE: Error: Use '--btf_encode_force' to ignore such symbols and force emit "
                   "the btf.");
}

/// -V: prints the notes, then, in pahole's words, the functions that were left out and all types.
/// Returns `done`, or an error of reading or printing the types.
Result<void> report_all(const EncodeReport &report, const PaholeOptions &options, Result<void> done)
{
    for (const std::string &text : report.notes)
        print_note(text);
    for (const auto &[function, reason] : report.functions_left_out)
        std::printf("%s : skipping BTF encoding of function due to %s\n", function.c_str(),
                    pahole_reason(reason));
    const std::string &out = options.detached.empty() ? options.files[0] : options.detached;
    // file_id() is empty for what cannot be read back, such as /dev/null.
    if (report.written && !file_id(out.c_str()).empty())
        TRY(list_types(out, options.base));
    TRY(std::move(done));
    return flush_output();
}

} // namespace

int main(int argc, char **argv)
{
    begin_program("btf-pahole");
    report_lost_files("btf-pahole");
    auto options = read_pahole_options({argv + 1, argv + argc}, variable("PAHOLE_LANG_EXCLUDE"));
    if (!options) {
        print_error(options.error());
        return options.error().kind == ErrorKind::usage ? exit_pahole_usage : exit_bad_input;
    }
    switch (options->action) {
    case PaholeOptions::Action::help:
        return answer(usage);
    case PaholeOptions::Action::version:
    case PaholeOptions::Action::devel_version:
        // Kbuild, which reads from a pipe, expects one line.
        if (options->action == PaholeOptions::Action::devel_version || isatty(STDOUT_FILENO))
            return answer(std::string(pahole_version) + "\nbtflink " + version() + "\n");
        return answer(std::string(pahole_version) + "\n");
    case PaholeOptions::Action::numeric_version:
        return answer(std::string(pahole_numeric_version) + "\n");
    case PaholeOptions::Action::supported_features:
        return answer(feature_names(known_features()) + "\n");
    case PaholeOptions::Action::other:
        return run_real_pahole(argv);
    case PaholeOptions::Action::encode:
        break;
    }
    if (options->files.size() != 1) {
        print_error(
            {{}, strf("one file is encoded at a time, %zu were named", options->files.size())});
        return exit_pahole_usage;
    }
    if (options->verbose)
        for (const std::string &name : options->unknown_features)
            print_note("feature '" + name + "' is not known");

    report_file_size_limit();
    keep_freed_memory();
    EncodeReport report;
    Result<void> done = encode_linked(options->files[0], *options, report);
    if (!options->quiet)
        for (const std::string &text : report.warnings)
            print_warning(text);
    if (!done || options->verbose)
        report_names(report, !options->features.has(Feature::encode_force));
    if (options->verbose)
        done = report_all(report, *options, std::move(done));
    end_program(done ? exit_good : input_error(done.error())); // see merge::Options::last
}
