// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The frame of a program: the name in front of its messages, its exit status, its end.
#pragma once

#include "common/result.h"

namespace btflink
{

// Of all programs but btf-pahole, which has pahole's.
constexpr int exit_good = 0, exit_bad_input = 1, exit_usage = 2;

/// First of all in main(). `name` must outlive the process. If memory or threads run out, the
/// program ends with a message from now on.
void begin_program(const char *name);

/// "NAME: ERROR: ...", "NAME: WARNING: ...", "NAME: ..." to standard error.
void print_error(const Error &error);
void print_warning(const std::string &text);
void print_note(const std::string &text);

/// Print the error; exit_bad_input.
int failure(const Error &error);
/// Print the error and where help is; exit_usage. `command`: of a program that has such, "check".
int usage_error(const Error &error, const char *command = nullptr);

/// All that the program has printed went to standard output.
Result<void> flush_output();
/// The exit status `status`, or that of an error if not all of standard output was written.
int end_output(int status);
/// Answers to --help and --version: print, and return the exit status.
int answer(const std::string &text);
int answer_version(const std::string &version);

/// Give back make's tokens and end without destroying what is still in memory, which takes time.
[[noreturn]] void end_program(int status);

/// Behind the noun of what is counted.
constexpr const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

} // namespace btflink
