// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compiles xxhash into the archive that build-plugin links into plugins, so that they do not need
// libxxhash.
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>
