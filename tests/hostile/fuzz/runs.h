// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs the work of the tools on a bundle of files, inside this process, for the fuzz targets and
// the mutation sweep. Results are dropped. Errors are returned, so that the caller can check them.
// A violated invariant, such as a result that depends on the number of threads, ends the process.
#pragma once

#include "common/result.h"
#include "tests/hostile/fuzz/bundle.h"

#include <optional>

namespace btflink::fuzz
{

struct Run {
    std::optional<Error> error; // the error that the tool would print
    // The bundle's files, and a folder that run_emit() may make. The file name in an error must
    // begin with one of these paths, or be "merged BTF" or "base BTF". Exception: run_words().
    std::vector<std::string> paths;
};

/// Runs btf-emit on the first file. Of the other files, 'w' is its part.dwo, 'p' its .dwp, and any
/// other role the file that .gnu_debugaltlink may name. Settings:
///     byte 0      1 --image, 2 --strip-dwarf, 4 --address-pool, 8 add units that existing object
///                 BTF lacks, 16 --output, 32 (without 16) --detached, 64 two threads,
///                 128 then merge the first file, ignoring errors
///     bytes 1, 2  features
///     byte 3      the number of a ReaderChoice, modulo 3
Run run_emit(const Bundle &bundle);

/// Runs btf-merge with the image 'm' and the base 'b'; all other files are inputs. Settings:
///     byte 0      1 --dedup=libbpf, 2 --format=object, 4 run again with --update of the image,
///                 8 run again with more threads (the result must be the same), 16 --verify,
///                 32 without an 'm', the first input is the image,
///                 64 (instead of 4) run again with --update of the first input, as for a module
///     bytes 1, 2  features; with a base and distilled_base, the only run is --update of the first
///                 input
Run run_merge(const Bundle &bundle);

/// Runs btf-merge --check on the last file whose role is not 'b', with the base 'b'. If there are
/// findings, the error is the first of them.
Run run_check(const Bundle &bundle);

/// Runs btf-kernel check on all files as one package. Byte 0 of the settings: 1 two threads, 2 also
/// report, 4 also diff and check --against. Only errors of opening are returned. Does nothing if
/// btf-kernel was not built.
Run run_package(const Bundle &bundle);

/// Parses the first file as words of a response file. Byte 0 of the settings, modulo 8, chooses a
/// second parser of this file: 0 features, 1 languages, 2 options of pahole, 3 a compile command,
/// 4 environment variables that btf-cc reads, 5 response files, of which the first may name itself
/// and others, 6 text of BTF, 7 none.
Run run_words(const Bundle &bundle);

} // namespace btflink::fuzz
