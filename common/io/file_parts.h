// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Maps input files, so that unused parts are never read: two thirds of a vmlinux.o of 1.5 GB.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <memory>
#include <string>

namespace btflink
{

/// `owner` keeps `bytes` valid.
struct FileParts {
    Bytes bytes;
    std::shared_ptr<const void> owner;
};

/// Reads a file, or maps it if it is large. A mapped file must neither shrink nor change during
/// use.
Result<FileParts> read_parts(const std::string &path);

/// If read_parts() mapped `part`, releases its pages until they are read again. Does nothing for
/// other memory.
void release_pages(Bytes part);

/// Reads a byte of each piece of `part` that the system maps at once, so that later reads need not
/// wait for it. Returns a number that depends on all of them.
unsigned touch_pages(Bytes part);

/// Error: a mapped file has changed since read_parts() mapped it. Call this before the result is
/// used, while all inputs are still mapped.
Result<void> check_mapped_files();
/// The same as a bool. Does not allocate.
bool mapped_files_changed();

/// For programs: if a mapped file shrinks or cannot be read, exit with status 1 and "PROGRAM:
/// ERROR: FILE: ...". If another signal ends the program after a mapped file has changed, print the
/// same message, but keep the signal, because the cause may be a bug of ours. `program` must
/// outlive the process.
void report_lost_files(const char *program);

} // namespace btflink
