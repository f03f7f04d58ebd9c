// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compiles xxhash into our archive, because a plugin is linked with that archive alone.
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>
