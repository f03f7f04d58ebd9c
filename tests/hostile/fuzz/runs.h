// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What is done with a bundle of files, by the fuzz targets and by the mutation sweep: the tools'
// work on them, in this process. Results go to nowhere; errors come back, to be looked at.
#pragma once

#include "common/result.h"
#include "tests/hostile/fuzz/bundle.h"

#include <optional>

namespace btflink::fuzz
{

struct Run {
    std::optional<Error> error;     // that the tool would print
    std::vector<std::string> paths; // of the bundle's files: what an error may be about
};

/// btf-emit on the first file; those with roles 'w' and 'p' are its part.dwo and its .dwp, another
/// one is what .gnu_debugaltlink may name. Settings: byte 0: 1 --image, 2 --strip-dwarf, 4
/// --address-pool, 8 complete what is there, 16 into another file, 32 detached, 64 two threads, 128
/// merge what comes out; bytes 1 and 2: features; byte 3: the reader, as in ReaderChoice, modulo 3.
Run run_emit(const Bundle &bundle);

/// btf-merge on the files with role 'i', over the base 'b', with the image 'm'. Settings: byte 0: 1
/// --dedup=libbpf, 2 --format=object, 4 --update of the image, 8 again with more threads: the
/// result must be the same, 16 --verify, 32 the first input is the image, 64 modules' way (--update
/// of the only input); bytes 1 and 2: features.
Run run_merge(const Bundle &bundle);

/// btf-merge --check of the first file with role 'i', with the base 'b'.
Run run_check(const Bundle &bundle);

/// btf-kernel check of all files as one package. Byte 0 of the settings: 1 two threads, 2 also
/// report, 4 also diff and check --against. Errors are those of opening. Does nothing where there
/// is no btf-kernel.
Run run_package(const Bundle &bundle);

/// Response files, and lists in options and in the environment: the first file is the text. Byte 0
/// of the settings chooses who reads it.
Run run_words(const Bundle &bundle);

} // namespace btflink::fuzz
