// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What all programs share: messages, exit status, and how a program begins and ends.
#pragma once

#include "common/result.h"

#include <string>

namespace btflink
{

// Exit status. exit_bad_input: an error in a file or of the system, or a check or comparison that
// found something; exit_usage: an error in the command line, the environment, or the list of
// `btf-kernel check --known`. btf-pahole returns 64 for an unknown option, a missing or unexpected
// value or a wrong number of files, as pahole does, and 1 for any other error. btf-cc returns
// exit_usage also if it does not find a plugin for the compiler (--plugin). It also returns the
// status of a compiler that fails, ends by the signal that ended the compiler, and returns 126 or
// 127 if the compiler cannot be run, as shells do.
constexpr int exit_good = 0, exit_bad_input = 1, exit_usage = 2;

/// Call this first in main(). `name` must stay valid until the process ends. After the call,
/// running out of memory or threads ends the program with a message.
void begin_program(const char *name);

/// Makes write() fail at the limit of `ulimit -f`. Otherwise SIGXFSZ ends the program, without a
/// message. Programs that this process executes inherit this.
void report_file_size_limit();

/// For programs that use one large table after another: malloc() reuses freed memory instead of
/// returning it to the kernel, which would clear the pages before they are used again. Applies to
/// blocks of up to 32 MB (on 32-bit hosts 512 KB). Does nothing unless the C library is glibc.
void keep_freed_memory();

/// Writes `text` and a newline to standard error by one write(), so that lines of parallel
/// processes do not mix. (fprintf() of glibc 2.37 and later writes 128 bytes at a time.)
void print_line(std::string text);
// These three print "NAME: ERROR: ...", "NAME: WARNING: ..." and "NAME: ..." to standard error.
void print_error(const Error &error);
void print_warning(const std::string &text);
void print_note(const std::string &text);

/// Prints the error and returns exit_bad_input.
int input_error(const Error &error);
/// Prints the error and where to find help; returns exit_usage. `command`: for programs that have
/// commands, such as "check".
int usage_error(const Error &error, const char *command = nullptr);

/// Flushes standard output. Error: something that the program printed could not be written.
Result<void> flush_output();
/// Flushes standard output and returns `status`. If this fails, prints the error and returns
/// exit_bad_input.
int end_output(int status);
// For --help and --version: these print `text`, or "NAME VERSION", and return the exit status.
int answer(const std::string &text);
int answer_version(const std::string &version);

/// Flushes output and exits without freeing memory, which would take time.
[[noreturn]] void end_program(int status);

/// The ending of a noun after `count`: "" or "s".
constexpr const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/// The version, and in a git checkout what git describe prints: "0.2.0 (3f2a1b9)", with "-dirty"
/// after the commit if files were changed.
std::string version();

} // namespace btflink
