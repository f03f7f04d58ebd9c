// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The code of xxhash, so that a plugin can be built where only gcc's headers and our archive are.
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>
