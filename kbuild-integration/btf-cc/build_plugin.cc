// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds the gcc plugin. Any C++ compiler works: gcc's headers compile with all of them, and the
// plugin has its own C++ library. Code that does not use gcc's headers is in an archive, so only
// the plugin's own sources are compiled here.

#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "kbuild-integration/btf-cc/steps.h"
#include "kbuild-integration/environment.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace btflink::kbuild
{

namespace
{

constexpr std::string_view trial_source =
    "struct btflink_trial { int member; };\n"
    "int btflink_trial(struct btflink_trial *t) { return t->member; }\n";

/// Runs a command and returns its standard output. Standard error is passed through. Error: the
/// command failed.
Result<std::string> output_of(const std::vector<std::string> &command)
{
    const Fd output(::memfd_create("btf-cc", MFD_CLOEXEC));
    if (output.get() < 0)
        return fail_errno({}, "cannot create a file in memory");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
    std::vector<char *> words;
    for (const std::string &word : command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail({}, command[0] + ": " + std::strerror(error));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail({}, command[0] + " failed");
    const auto bytes = TRY(read_file("/proc/self/fd/" + std::to_string(output.get())));
    return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

/// The first line that the compiler prints for an option such as -dumpversion.
Result<std::string> ask(const std::string &program, const char *question)
{
    std::string text = TRY(output_of({program, question}));
    return text.substr(0, text.find('\n'));
}

/// The folder of gcc's plugin headers. Error: they are not installed; the message names the
/// package.
Result<std::string> header_folder(const std::string &program, const std::string &target)
{
    const std::string folder = TRY(ask(program, "-print-file-name=plugin")) + "/include";
    if (::access((folder + "/gcc-plugin.h").c_str(), R_OK) == 0)
        return folder;
    const std::string version = TRY(ask(program, "-dumpversion"));
    const std::string package = "gcc-" + version.substr(0, version.find('.')) + "-plugin-dev";
    return fail(Where{folder + "/gcc-plugin.h"},
                "the headers of " + program + " for plugins are missing (Debian: " + package +
                    ", of a cross compiler " + package + "-" + target +
                    "; Fedora: gcc-plugin-devel)");
}

/// A folder that is removed with its contents.
struct Scratch {
    std::string path;
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    explicit Scratch(std::string name) : path(std::move(name)) {}
    ~Scratch()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

Result<void> compile(const std::string &program, const PluginSources &sources,
                     const std::string &output)
{
    const std::string target = TRY(ask(program, "-dumpmachine"));
    const std::string headers = TRY(header_folder(program, target));
    const std::string chosen = variable("CXX");
    std::vector<std::string> command =
        TRY(split_words(chosen.empty() ? "g++" : chosen, Where{"CXX"}));
    const std::string ours = sources.folder + "/emit/gcc/";
    for (const std::string &word : {std::string("-std=c++20"),
                                    std::string("-O2"),
                                    std::string("-fPIC"),
                                    std::string("-shared"),
                                    std::string("-fno-rtti"),
                                    std::string("-fvisibility=hidden"),
                                    "-I" + sources.folder,
                                    std::string("-isystem"),
                                    headers,
                                    "-DBTFLINK_GCC_TARGET=\"" + target + "\"",
                                    ours + "plugin.cc",
                                    ours + "roots.cc",
                                    ours + "trees.cc",
                                    sources.archive,
                                    std::string("-static-libstdc++"),
                                    std::string("-static-libgcc"),
                                    "-Wl,--version-script=" + ours + "plugin.map",
                                    std::string("-Wl,--gc-sections,-s"),
                                    std::string("-o"),
                                    output})
        command.push_back(word);
    TRY(output_of(command));
    return {};
}

/// Compile a small file with the plugin. Error: the object has no BTF.
Result<void> try_plugin(const std::string &program, const std::string &plugin,
                        const std::string &folder)
{
    const std::string source = folder + "/trial.c", object = folder + "/trial.o";
    TRY(write_file(source, std::as_bytes(std::span(trial_source))));
    TRY(output_of({program, "-O2", "-c", source, "-o", object, "-g0", "-fplugin=" + plugin}));
    auto elf = TRY(open_elf(object));
    for (const ElfSection &section : elf.image.sections)
        if (section.name == ".BTF" && !section.data.empty())
            return {};
    return fail({}, "the plugin was built, but makes no object BTF when " + program + " loads it");
}

} // namespace

Result<std::string> build_plugin(const std::string &program)
{
    const std::string driver = find_driver(program);
    if (driver.empty())
        return fail({}, program + ": no such compiler");
    if (compiler_kind(driver) == CompilerKind::clang)
        return fail({}, program + " is clang; the plugin is for gcc");
    const std::string key = TRY(compiler_key(driver));
    const PluginSources sources = TRY(plugin_sources());
    const std::string folder = TRY(folder_for_new_plugins(sources));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return fail(Where{folder}, error.message());
    std::string name = folder + "/.new-XXXXXX";
    if (!::mkdtemp(name.data()))
        return fail_errno(Where{folder}, "cannot make a folder there");
    const Scratch scratch(name);
    const std::string built = name + "/btflink.so", place = folder + "/" + key,
                      path = place + "/btflink.so";
    TRY(compile(driver, sources, built));
    TRY(try_plugin(driver, built, name));
    if ((::mkdir(place.c_str(), 0777) != 0 && errno != EEXIST) ||
        ::rename(built.c_str(), path.c_str()) != 0)
        return fail_errno(Where{path}, "cannot put the plugin there");
    return path;
}

} // namespace btflink::kbuild
