// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reading input files without reading what is never looked at: of a kernel's vmlinux.o,
// 1.5 GB, that is two thirds.
#pragma once

#include "common/bytes.h"
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

/// The file, mapped if that is worth it: it must not shrink while it is used.
Result<FileParts> read_parts(const std::string &path);

/// For programs: if a file that read_parts() mapped shrinks or cannot be read while it is used, end
/// with exit status 1 and "PROGRAM: ERROR: FILE: ...", not by SIGBUS. `program` must stay.
void report_lost_files(const char *program);

} // namespace btflink
