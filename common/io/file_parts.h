// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reading input files without reading what is never looked at: of a kernel's vmlinux.o,
// 1.5 GB, that is two thirds.
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

/// The file, mapped if that is worth it: it must neither shrink nor change while it is used.
Result<FileParts> read_parts(const std::string &path);

/// Error: somebody wrote to a file that is mapped at this time, since read_parts() did so. To be
/// asked before something is made of a result, while all that it came from is still mapped.
Result<void> check_mapped_files();

/// For programs: if a file that read_parts() mapped shrinks, cannot be read or changes while it is
/// used, and that is the program's end, then with exit status 1 and "PROGRAM: ERROR: FILE: ...",
/// not by a signal. `program` must stay.
void report_lost_files(const char *program);

} // namespace btflink
