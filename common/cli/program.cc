// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Messages and exit status of all programs, even when memory or threads run out.
#include "common/cli/program.h"

#include "common/io/file_io.h"

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace btflink
{

namespace
{

const char *program = "";

/// Ends the program without allocating memory. An unfinished output file does no harm: the
/// functions of file_io.h write its header last, or write a temporary file and rename it last.
[[noreturn]] void exit_at_once(const char *what)
{
    auto part = [](const char *text) { return iovec{const_cast<char *>(text), std::strlen(text)}; };
    const iovec line[] = {part(program), part(": ERROR: "), part(what), part("\n")};
    (void)!::writev(STDERR_FILENO, line, std::size(line));
    std::_Exit(1);
}

/// Called for an exception that nothing catches. Only the standard library throws exceptions.
[[noreturn]] void on_terminate()
{
    // The cause may be a mapped file that has changed since a size in it was checked. The handler
    // of SIGABRT reports this, if report_lost_files() has set it.
    if (mapped_files_changed())
        std::abort();
    try {
        if (std::exception_ptr thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::bad_alloc &) {
        exit_at_once("out of memory");
    } catch (const std::system_error &) {
        exit_at_once("cannot start a thread");
    } catch (...) {
        std::abort();
    }
    std::abort();
}

} // namespace

void begin_program(const char *name)
{
    program = name;
    std::set_terminate(on_terminate);
}

void report_file_size_limit()
{
    std::signal(SIGXFSZ, SIG_IGN);
}

void keep_freed_memory()
{
#ifdef __GLIBC__
    // The most bytes that every glibc accepts. Older ones ignore a larger value and stay at 128 KB.
    constexpr int most = sizeof(long) == 8 ? 32 << 20 : 512 << 10;
    mallopt(M_MMAP_THRESHOLD, most);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

void print_line(std::string text)
{
    text += '\n';
    std::fputs(text.c_str(), stderr);
}

void print_error(const Error &error)
{
    print_line(strf("%s: ERROR: %s", program, error.str().c_str()));
}

void print_warning(const std::string &text)
{
    print_line(strf("%s: WARNING: %s", program, plain_text(text).c_str()));
}

void print_note(const std::string &text)
{
    print_line(strf("%s: %s", program, plain_text(text).c_str()));
}

int input_error(const Error &error)
{
    print_error(error);
    return exit_bad_input;
}

int usage_error(const Error &error, const char *command)
{
    print_error(error);
    print_line(strf("Try '%s%s%s --help'.", program, command ? " " : "", command ? command : ""));
    return exit_usage;
}

Result<void> flush_output()
{
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        return fail_errno(Where{"standard output"}, "cannot write");
    return {};
}

int end_output(int status)
{
    auto written = flush_output();
    return written ? status : input_error(written.error());
}

int answer(const std::string &text)
{
    std::fputs(text.c_str(), stdout);
    return end_output(exit_good);
}

int answer_version(const std::string &version)
{
    return answer(std::string(program) + " " + version + "\n");
}

void end_program(int status)
{
    std::fflush(nullptr);
    std::_Exit(status);
}

} // namespace btflink
