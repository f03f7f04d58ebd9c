// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Messages and exit status, the same in all programs.
#include "common/cli/program.h"

#include "common/io/exhaustion.h"
#include "common/io/job_tokens.h"

#include <cstdio>
#include <cstdlib>

namespace btflink
{

namespace
{

const char *program = "";

} // namespace

void begin_program(const char *name)
{
    program = name;
    report_exhaustion(name);
}

void print_error(const Error &error)
{
    std::fprintf(stderr, "%s: ERROR: %s\n", program, error.str().c_str());
}

void print_warning(const std::string &text)
{
    std::fprintf(stderr, "%s: WARNING: %s\n", program, text.c_str());
}

void print_note(const std::string &text)
{
    std::fprintf(stderr, "%s: %s\n", program, text.c_str());
}

int failure(const Error &error)
{
    print_error(error);
    return exit_bad_input;
}

int usage_error(const Error &error, const char *command)
{
    print_error(error);
    std::fprintf(stderr, "Try '%s%s%s --help'.\n", program, command ? " " : "",
                 command ? command : "");
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
    return written ? status : failure(written.error());
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
    give_back_job_tokens();
    std::_Exit(status);
}

} // namespace btflink
