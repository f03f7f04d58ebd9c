// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A fuzz target. The build defines FUZZ_RUN, the function of runs.h that the target calls.
#include "tests/hostile/fuzz/runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    btflink::fuzz::FUZZ_RUN(btflink::fuzz::read_bundle(data, size));
    return 0;
}
