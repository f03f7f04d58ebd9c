// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-cc [OPTIONS] COMPILER ARGS...: runs the compiler, then puts object BTF into the object that
// the compiler made. With --plugin, a plugin of the compiler makes the object BTF.
//
// Apart from btf-cc's own messages and errors, make sees what it would see from the compiler: the
// same exit status, the same output, death by the same signal. btf-cc replaces itself by the
// compiler, or by ccache, in three cases: no object may get BTF; the plugin makes the BTF; ccache
// will run btf-cc again.
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "emit/emit.h"
#include "kbuild-integration/btf-cc/steps.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace btflink;
using namespace btflink::kbuild;

namespace
{

constexpr int exit_cannot_run = 126, exit_not_found = 127;
constexpr int passed_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

constexpr OptionWords own_options[] = {
    help_option,
    version_option,
    {0, "plugin", "",
     "Let a gcc plugin write BTF while gcc compiles C, without DWARF (or BTF_CC_PLUGIN=1)"},
    {0, "strip-dwarf", "", "Drop DWARF once there is BTF (or BTF_CC_STRIP_DWARF=1)"},
    {0, "strict", "", "Fail if BTF cannot be made (or BTF_CC_STRICT=1)"},
    {'q', "quiet", "", "Print no warnings (or BTF_CC_QUIET=1)"},
    {'v', "verbose", "", "Say what is done (or BTF_CC_VERBOSE=1)"},
    {0, "features", "LIST",
     "What to encode, as for btf-emit (or BTF_CC_FEATURES=LIST); default: what PAHOLE_FLAGS asks "
     "for, to which +NAME adds"},
    {0, "build-plugin", "",
     "Compile nothing; build the plugin for each COMPILER, which must be a gcc"},
    {0, "settings", "",
     "Run nothing; print a line with all settings that affect objects, for compiler caches"},
};

std::string help_text()
{
    return "Run a compiler and, if it makes an object with DWARF, put object BTF into the object.\n"
           "Usage: btf-cc [OPTIONS] COMPILER ARGS...\n"
           "       btf-cc [OPTIONS] --settings [COMPILER]\n"
           "       btf-cc --build-plugin COMPILER...\n\n"
           "COMPILER may be ccache followed by a compiler: objects are then cached with their "
           "BTF.\n\n" +
           options_text(own_options);
}

volatile sig_atomic_t child = 0;
volatile sig_atomic_t passed_signal = 0; // the last one that arrived during run(), or 0

void pass_on(int signal)
{
    passed_signal = signal;
    if (child > 0)
        kill(static_cast<pid_t>(child), signal);
}

/// Pointers to `words`, then a null pointer, as exec() takes them. `words` must outlive the result.
std::vector<char *> pointers_to(std::vector<std::string> &words)
{
    std::vector<char *> pointers;
    for (std::string &word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Replaces this process by the program argv[0]. If this fails, prints why and exits.
[[noreturn]] void become(char **argv)
{
    execvp(argv[0], argv);
    const int error = errno;
    print_error(fail_errno(Where{argv[0]}, "").error);
    _exit(error == ENOENT ? exit_not_found : exit_cannot_run);
}

/// Reports that the system call `call` failed, with the reason in errno, and exits.
[[noreturn]] void cannot(const char *call)
{
    print_error(fail_errno({}, call).error);
    std::exit(exit_cannot_run);
}

/// Runs the compiler, or the builder of a plugin, and returns the waitpid() status of this child.
/// Passes on to the child those passed_signals that arrive meanwhile.
int run(char **argv)
{
    sigset_t all, before;
    struct sigaction action = {}, old[std::size(passed_signals)];
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); // until there is a child to receive signals
    for (size_t i = 0; i < std::size(passed_signals); ++i) {
        sigaction(passed_signals[i], nullptr, &old[i]);
        if (old[i].sa_handler != SIG_IGN) // under nohup, SIGHUP stays ignored
            sigaction(passed_signals[i], &action, nullptr);
    }
    // If SIGCHLD is ignored, the kernel does not keep the status of children.
    auto children = std::signal(SIGCHLD, SIG_DFL);
    // vfork() instead of fork(): no memory is copied. This process waits until the child's exec.
    pid_t pid = vfork();
    if (pid == 0) {
        std::signal(SIGCHLD, children);
        for (size_t i = 0; i < std::size(passed_signals); ++i)
            sigaction(passed_signals[i], &old[i], nullptr);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        become(argv);
    }
    child = pid;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0)
        cannot("fork");
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            cannot("waitpid");
    child = 0;
    for (size_t i = 0; i < std::size(passed_signals); ++i)
        sigaction(passed_signals[i], &old[i], nullptr);
    return status;
}

[[noreturn]] void die_of(int signal)
{
    std::signal(signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    raise(signal);
    _exit(128 + signal); // if the signal does not kill
}

/// False for bitcode, /dev/null and programs.
bool is_elf_object(const std::string &path)
{
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown))
        return false;
    const auto file = read_parts(path);
    return !file || is_relocatable(file->bytes); // emit_file() says why it cannot be read
}

void say_outcome(const std::string &object, emit::EmitReport::Outcome outcome)
{
    using Outcome = emit::EmitReport::Outcome;
    const char *text = outcome == Outcome::no_dwarf   ? "no DWARF, left alone"
                       : outcome == Outcome::no_types ? "nothing in it for BTF"
                                                      : "object BTF written";
    print_note(object + ": " + text);
}

/// Warnings about an object. `report`: from emit_file().
std::vector<std::string> object_warnings(const std::string &object, bool dwarf_asked,
                                         const emit::EmitReport &report)
{
    std::vector<std::string> lines = emit::warnings(object, report);
    // An object with LTO code but without DWARF is not a mistake: the link makes its DWARF.
    if (dwarf_asked && report.has_code && !report.has_lto_code)
        lines.push_back(object + ": no DWARF although -g was given, so no object BTF");
    return lines;
}

/// Reports a problem: an error if it is `fatal`, otherwise a warning, which settings.quiet
/// suppresses.
void complain(const Settings &settings, bool fatal, const std::string &text)
{
    if (fatal)
        print_error({{}, text});
    else if (!settings.quiet)
        print_warning(text);
}

/// Puts object BTF into an object. Returns false if the compile must fail.
bool emit_into(const std::string &object, bool dwarf_asked, const Settings &settings)
{
    report_lost_files("btf-cc");
    auto report = emit::emit_file(object, settings.emit);
    if (!report) {
        complain(settings, settings.strict, "no object BTF: " + report.error().str());
        return !settings.strict;
    }
    if (settings.verbose)
        say_outcome(object, report->outcome);
    const std::vector<std::string> lines = object_warnings(object, dwarf_asked, *report);
    const bool bad = settings.strict && !lines.empty() && report->btf_bytes == 0;
    for (const std::string &line : lines)
        complain(settings, bad, line);
    return !bad;
}

/// Identifies a version of a file: a change of the contents changes at least one of the numbers.
using FileVersion = std::array<int64_t, 5>;
constexpr FileVersion no_file = {};

FileVersion version_of(const std::string &path)
{
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        return no_file;
    // Unlike st_mtim, st_ctim cannot be set by programs.
    return {static_cast<int64_t>(info.st_dev), static_cast<int64_t>(info.st_ino), info.st_size,
            info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
}

/// Removes an object, as a compiler does when its last step fails. A link stays, because it may be
/// /dev/stdout.
void remove_object(const std::string &object)
{
    struct stat info = {};
    if (::lstat(object.c_str(), &info) == 0 && S_ISREG(info.st_mode))
        ::unlink(object.c_str());
}

/// If the compiler has written the object, puts object BTF into it. `before`: the object's version
/// before the compile. Returns false if the compile must fail.
bool finish_object(const std::string &object, const FileVersion &before,
                   const CompileCommand &command, const Settings &settings)
{
    const FileVersion now = version_of(object);
    if (now == no_file) {
        if (!command.asks_for_dwarf || command.depends_on_version)
            return true;
        complain(settings, settings.strict,
                 object + ": does not exist after the compile, so it has no object BTF");
        return !settings.strict;
    }
    if (now == before) {
        if (settings.verbose)
            print_note(object + ": not written by the compiler, left alone");
        return true;
    }
    if (!is_elf_object(object) || emit_into(object, command.asks_for_dwarf, settings))
        return true;
    remove_object(object);
    return false;
}

int refuse(const Error &why)
{
    print_error(why);
    return exit_usage;
}

/// The command line of btf-cc itself, up to the compiler.
struct OwnArguments {
    std::string question; // "help", "version", "settings", "build-plugin"; or empty
    OptionValues options; // all other options
    char **compiler;      // the compiler's words, up to a null pointer
};

Result<OwnArguments> read_own_arguments(int argc, char **argv)
{
    OwnArguments own;
    auto take = [&](size_t index, const char *value) -> Result<void> {
        const std::string name = own_options[index].name;
        if (name == "help" || name == "version" || name == "settings" || name == "build-plugin")
            own.question = name;
        else
            own.options[name] = *own_options[index].value ? value : "1";
        return {};
    };
    const GivenWords given = TRY(read_words(own_options, argc, argv, Operands::end_options, take));
    own.compiler = argv + argc - given.operands.size();
    return own;
}

/// Answers --version, --help or --settings.
int answer_question(const OwnArguments &own)
{
    if (own.question == "version")
        return answer_version(version());
    if (own.question == "help")
        return answer(help_text());
    auto settings = read_settings(own.options);
    if (!settings)
        return refuse(settings.error());
    auto key = cache_key(*settings, *own.compiler ? *own.compiler : "");
    if (!key)
        return refuse(key.error());
    return answer(*key + "\n");
}

/// With --plugin: if the plugin can make the objects' BTF, replaces this process by the compiler
/// with the plugin; otherwise returns. Errors: those of with_plugin().
Result<void> try_plugin(char **compiler, const CompileCommand &command, const Settings &settings)
{
    std::vector<std::string> words;
    for (char **word = compiler; *word; ++word)
        words.emplace_back(*word);
    const std::string why = why_not_by_plugin(words, command, settings);
    if (settings.verbose)
        for (const std::string &object : command.objects)
            print_note(object + (why.empty() ? ": object BTF by the plugin"
                                             : ": not by the plugin: " + why));
    if (!why.empty())
        return {};
    words = TRY(with_plugin(std::move(words), settings));
    become(pointers_to(words).data());
}

int build_plugins(char **compilers)
{
    if (!*compilers)
        return usage_error({{}, "--build-plugin: COMPILER is required"});
    int status = 0;
    for (; *compilers; ++compilers) {
        auto builder = plugin_builder(*compilers);
        if (!builder)
            status = input_error(builder.error());
        else if (run(pointers_to(*builder).data()) != 0)
            status = exit_bad_input;
        if (passed_signal) // the builder turns a signal into an ordinary error
            die_of(passed_signal);
    }
    return status;
}

/// Runs the compiler, and puts object BTF into the objects of `command`. Returns the exit status.
int compile(char **compiler, const CompileCommand &command, const Settings &settings)
{
    std::vector<FileVersion> before;
    for (const std::string &object : command.objects)
        before.push_back(version_of(object));
    const int status = run(compiler);
    if (WIFSIGNALED(status))
        die_of(WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return WEXITSTATUS(status);
    report_file_size_limit();
    keep_freed_memory();
    for (size_t i = 0; i < before.size(); ++i)
        if (!finish_object(command.objects[i], before[i], command, settings))
            return exit_bad_input;
    return 0;
}

/// Reads the compiler's command line. The result has no objects if Kbuild would not merge their
/// BTF.
CompileCommand read_command(char **compiler, char **end)
{
    CompileCommand command = read_compile_command({compiler + 1, end});
    if (command.objects.empty())
        return command;
    if (std::string why = why_no_btf(command.is_module); !why.empty()) {
        command.warning = why_no_btf_at_all(command.objects.front());
        command.left_alone = command.objects.front() + ": " + why;
        command.objects.clear();
    }
    return command;
}

} // namespace

int main(int argc, char **argv)
{
    begin_program("btf-cc");
    auto own = read_own_arguments(argc, argv);
    if (!own)
        return usage_error(own.error());
    char **compiler = own->compiler;
    if (own->question == "build-plugin")
        return build_plugins(compiler);
    if (!own->question.empty())
        return answer_question(*own);
    if (!*compiler)
        return usage_error({{}, "COMPILER is required"});
    const CompileCommand command = read_command(compiler, argv + argc);
    const Result<Settings> settings = read_settings(own->options);
    // A command without objects for BTF, such as a probe of Kbuild, must not fail because of a
    // wrong variable (BTF_CC_*, PAHOLE_*). If options are given, the wrong value may be an
    // option's, and so it is an error even for such a command.
    const bool no_object = command.objects.empty();
    if (!settings && (!no_object || !own->options.empty()))
        return refuse(settings.error());
    if (no_object) {
        if (settings && settings->verbose && !command.left_alone.empty())
            print_note(command.left_alone + ", left alone");
        if (settings && !command.warning.empty())
            complain(*settings, false, command.warning);
        become(compiler);
    }
    // A warning about the build, not about the object: a cache must not repeat it in other builds.
    if (std::string why = is_run_by_cache() ? "" : why_not_merged(); !why.empty())
        complain(*settings, false, why);
    if (settings->plugin)
        if (auto tried = try_plugin(compiler, command, *settings); !tried)
            return refuse(tried.error());
    if (put_cache_in_front(*compiler, own->options))
        become(compiler);
    return compile(compiler, command, *settings);
}
