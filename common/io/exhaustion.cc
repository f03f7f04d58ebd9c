// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Ends the program with a message when memory or threads run out.
#include "common/io/exhaustion.h"

#include "common/io/file_parts.h"
#include "common/io/job_tokens.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <unistd.h>

namespace btflink
{

namespace
{

const char *program_name = "";

/// Does not allocate memory. Unfinished output is not in place yet.
[[noreturn]] void end(const char *what)
{
    for (const char *text : {program_name, ": ERROR: ", what, "\n"})
        (void)!::write(STDERR_FILENO, text, std::strlen(text));
    give_back_job_tokens();
    std::_Exit(1);
}

/// For exceptions; only the standard library throws them.
[[noreturn]] void on_terminate()
{
    // A mapped file may have changed between two reads of a size. The handler of SIGABRT reports
    // this.
    if (mapped_files_changed())
        std::abort();
    try {
        if (std::exception_ptr thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::bad_alloc &) {
        end("out of memory");
    } catch (const std::system_error &) {
        end("cannot start a thread");
    } catch (...) {
    }
    std::abort();
}

} // namespace

void report_exhaustion(const char *program)
{
    program_name = program;
    std::set_terminate(on_terminate);
}

} // namespace btflink
