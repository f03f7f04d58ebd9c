// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs btf-kernel report after a merge (--report).
//
// btf-kernel is a separate program because it needs libarchive, and because few merges need a page,
// while btf-merge runs in every build.
#include "merge/command_line.h"

#include "common/io/file_io.h"
#include "merge/input/inputs.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

namespace btflink::merge
{

namespace
{

namespace fs = std::filesystem;

/// The path of btf-kernel, in the folder of btf-merge or else in PATH; empty if not found.
std::string find_btf_kernel()
{
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    const char *path = std::getenv("PATH");
    const std::string folders = own.parent_path().string() + ":" + (path ? path : "");
    for (std::string_view left = folders; !left.empty();) {
        const std::string folder(take_part(left, ':'));
        std::string candidate = folder + "/btf-kernel";
        if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0 &&
            fs::is_regular_file(candidate, error))
            return candidate;
    }
    return "";
}

/// Error: the file is a pipe or another file that is not regular. `why`: why it must be regular.
Result<void> check_regular(const std::string &file, const std::string &why)
{
    std::error_code unknown;
    const fs::file_status status = fs::status(file, unknown);
    if (!fs::exists(status) || fs::is_regular_file(status))
        return {};
    return fail(Where{file}, "is not a regular file; " + why);
}

/// `list`: the file of an input "@list".
Result<void> check_list(const std::string &list)
{
    return check_regular(list, "--report reads a list of inputs several times");
}

} // namespace

Result<void> check_report_options(const Options &options)
{
    if (!options.output.empty() && options.output == standard_output && options.update.empty())
        return fail({}, "--report needs a result in a file");
    if (options.format == OutputFormat::object && options.update.empty())
        return fail({}, "--report does not go with --format=object");
    if (!options.base.empty() && options.update.empty())
        return fail({}, "--report with --base needs --update");
    if (options.output.empty() && options.update.empty())
        return fail({}, "--report needs -o or --update");
    return {};
}

/// Copies the file at `path`, or makes an empty file if `path` is "". Returns a path by which this
/// process and its children can open the new file.
Result<std::string> ReportPage::copy_in_memory(const std::string &path)
{
    auto file = std::make_unique<Fd>(::memfd_create("btf-merge", 0)); // btf-kernel inherits it
    if (file->get() < 0)
        return fail_errno({}, "cannot create a file in memory");
    std::string name = "/proc/self/fd/" + std::to_string(file->get());
    if (!path.empty()) {
        auto bytes = TRY(read_file(path));
        TRY(write_file(name, bytes));
    }
    files_.push_back(std::move(file));
    return name;
}

Result<void> ReportPage::prepare(const std::string &page, Options &options)
{
    TRY(check_page_writable(page)); // early: after --update, a second try may lack object BTF
    program_ = find_btf_kernel();
    if (program_.empty())
        return fail({}, "--report needs btf-kernel in the folder of btf-merge or in PATH");
    if (options.base.empty() && !options.update.empty()) {
        const Input updated = TRY(open_input(options.update));
        if (updated.elf && updated.elf->is_relocatable())
            return fail(updated.where, "is relocatable; --report needs its --base, too");
    }
    objects_ = options.inputs;
    for (const std::string &input : options.inputs)
        if (input.starts_with('@'))
            TRY(check_list(input.substr(1))); // before the list is read, which may take forever
    auto [files, lists] = TRY(unfold_response_files(options.inputs));
    for (const std::string &list : lists)
        TRY(check_list(list));
    auto is_updated = [&](const std::string &file) { return same_file(file, options.update); };
    if (std::ranges::any_of(files, is_updated))
        objects_ = std::move(files); // only if needed: the list may be too long for a command line
    image_ = options.image;
    // The update removes the object BTF that the report needs, so btf-kernel reads a copy.
    for (std::string &object : objects_)
        if (is_updated(object)) {
            object = TRY(copy_in_memory(object));
            if (is_updated(options.image))
                image_ = object;
        }
    // A module that is only the image loses its address pools. (Without a base it is a linked file,
    // which keeps them.)
    if (image_ == options.image && !options.base.empty() && is_updated(image_))
        image_ = TRY(copy_in_memory(image_));
    if (!options.time_trace.empty()) // btf-kernel would wait forever for the end of a pipe
        return check_regular(options.time_trace, "--report reads the trace after the merge");
    options.time_trace = TRY(copy_in_memory(""));
    return {};
}

Result<void> ReportPage::write(const std::string &page, const Options &options)
{
    std::vector<std::string> words{program_,
                                   "report",
                                   "--quiet",
                                   "--output=" + page,
                                   "--time-trace=" + options.time_trace,
                                   "--threads=" + std::to_string(options.threads)};
    for (const std::string &object : objects_)
        words.push_back("--objects=" + object);
    if (!image_.empty())
        words.push_back("--image=" + image_);
    if (options.features != FeatureSet()) // --features does not accept "none", the empty set's name
        words.push_back("--features=" + feature_names(options.features));
    words.emplace_back("--");
    if (!options.base.empty())
        words.push_back(options.base);
    words.push_back(options.update.empty() ? options.output : options.update);
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    errno = ::posix_spawn(&pid, program_.c_str(), nullptr, nullptr, arguments.data(), environ);
    if (errno)
        return fail_errno(Where{program_}, "cannot be run");
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return fail_errno(Where{program_}, "waitpid failed");
    if (WIFSIGNALED(status))
        return fail(Where{program_}, strf("was ended by signal %d", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return fail(Where{page}, "the report is not complete");
    return {};
}

} // namespace btflink::merge
