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

/// The pages that `part` touches are not needed for a while: of a file that read_parts() mapped
/// they do not count as this process's until somebody looks there again. Of other memory: nothing
/// happens.
void release_pages(Bytes part);

/// Error: somebody wrote to a file that is mapped at this time, since read_parts() did so. To be
/// asked before something is made of a result, while all that it came from is still mapped.
Result<void> check_mapped_files();
/// The same as an answer, which needs no memory.
bool mapped_files_changed();

/// For programs: if a file that read_parts() mapped shrinks or cannot be read while it is used, the
/// program ends with exit status 1 and "PROGRAM: ERROR: FILE: ...". If it ends by another signal
/// after such a file has changed, "PROGRAM: ERROR: FILE: ..." says that, and the signal remains
/// what it is: the fault may be ours. `program` must stay.
void report_lost_files(const char *program);

} // namespace btflink
