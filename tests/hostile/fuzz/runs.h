// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs the work of the tools on a bundle of files, inside this process, for the fuzz targets and
// the mutation sweep. Results are dropped. Errors are returned, so that the caller can check them.
#pragma once

#include "common/result.h"
#include "tests/hostile/fuzz/bundle.h"

#include <optional>

namespace btflink::fuzz
{

struct Run {
    std::optional<Error> error;     // the error that the tool would print
    std::vector<std::string> paths; // paths of the bundle's files; an error must name one of them
};

/// Runs btf-emit on the first file. The files with roles 'w' and 'p' are its part.dwo and its .dwp;
/// a further file is the one that .gnu_debugaltlink may name. Settings: byte 0: 1 --image, 2
/// --strip-dwarf, 4 --address-pool, 8 add units that existing object BTF lacks, 16 write another
/// file, 32 --detached, 64 two threads, 128 also merge the result; bytes 1 and 2: features; byte 3:
/// the reader, a ReaderChoice modulo 3.
Run run_emit(const Bundle &bundle);

/// Runs btf-merge on the files with role 'i', over the base 'b', with the image 'm'. Settings: byte
/// 0: 1 --dedup=libbpf, 2 --format=object, 4 --update of the image, 8 run again with more threads
/// (the result must be the same), 16 --verify, 32 the first input is the image, 64 as for a module
/// (--update of the only input); bytes 1 and 2: features.
Run run_merge(const Bundle &bundle);

/// Runs btf-merge --check on the first file with role 'i', with the base 'b'.
Run run_check(const Bundle &bundle);

/// Runs btf-kernel check on all files as one package. Settings: byte 0: 1 two threads, 2 also
/// report, 4 also diff and check --against. Only errors of opening are returned. Does nothing if
/// btf-kernel was not built.
Run run_package(const Bundle &bundle);

/// Parses response files, and lists in options and in the environment. The first file is the text.
/// Byte 0 of the settings chooses the parser.
Run run_words(const Bundle &bundle);

} // namespace btflink::fuzz
