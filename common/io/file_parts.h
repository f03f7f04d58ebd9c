// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads input files without the parts that are never looked at. In a kernel's vmlinux.o of 1.5 GB
// these are two thirds.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <memory>
#include <string>

namespace btflink
{

/// Keeps the bytes alive.
struct FileParts {
    Bytes bytes;
    std::shared_ptr<const void> owner;
};

/// The file, mapped if that is worthwhile. It must neither shrink nor change while it is used.
Result<FileParts> read_parts(const std::string &path);

/// The pages that `part` touches are not needed for a while. If read_parts() mapped them, they do
/// not count as this process's until something looks at them again. Does nothing for other memory.
void release_pages(Bytes part);

/// Error: a file that is still mapped was written to since read_parts() mapped it. Call this
/// before a result is used, while all files that it came from are still mapped.
Result<void> check_mapped_files();
/// The same as yes or no; allocates no memory.
bool mapped_files_changed();

/// For programs: if a file that read_parts() mapped shrinks or cannot be read while it is
/// used, end the program with exit status 1 and "PROGRAM: ERROR: FILE: ...". If another signal ends
/// it after such a file has changed, "PROGRAM: ERROR: FILE: ..." says that, and the signal is kept,
/// as the fault may be ours. `program` must outlive the process.
void report_lost_files(const char *program);

} // namespace btflink
