// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The frame of a program: messages, exit status, end.
#pragma once

#include "common/result.h"

#include <string>

namespace btflink
{

// Exit status. btf-pahole has pahole's instead.
constexpr int exit_good = 0, exit_bad_input = 1, exit_usage = 2;

/// Call this first in main(). `name` must outlive the process. From now on, running out of memory
/// or threads ends the program with a message.
void begin_program(const char *name);

/// For programs that use one large table after another: malloc() reuses freed memory instead of
/// returning it to the kernel, which would clear its pages. Works with glibc only; other C
/// libraries have no such settings.
void keep_freed_memory();

/// Writes the line to standard error by one write(), so that lines of parallel processes do not
/// mix. fprintf() of glibc 2.37 and later writes 128 bytes at a time.
void print_line(std::string text);
/// "NAME: ERROR: ...", "NAME: WARNING: ...", "NAME: ..." to standard error.
void print_error(const Error &error);
void print_warning(const std::string &text);
void print_note(const std::string &text);

/// Prints the error and returns exit_bad_input.
int input_error(const Error &error);
/// Prints the error and where to find help; returns exit_usage. `command`: for programs that have
/// commands, such as "check".
int usage_error(const Error &error, const char *command = nullptr);

/// Was everything that the program printed written to standard output?
Result<void> flush_output();
/// `status`, or the exit status of an error if standard output could not be written.
int end_output(int status);
/// For --help and --version: print, and return the exit status.
int answer(const std::string &text);
int answer_version(const std::string &version);

/// Flushes output and exits without freeing memory, which would take time.
[[noreturn]] void end_program(int status);

/// The plural suffix of a noun: "" or "s".
constexpr const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/// "0.2.0 (3f2a1b9)", with "-dirty" after the commit if files were changed. In a source that is not
/// a git checkout there is no commit.
std::string version();

} // namespace btflink
