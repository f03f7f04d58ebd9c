// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// gcc's headers in the order that they need. The standard library's come first: gcc's poison some
// of their names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

// clang-format off: each needs some that stand before it
#include <attribs.h>
#include <basic-block.h>
#include <calls.h>
#include <cgraph.h>
#include <debug.h>
#include <diagnostic-core.h>
#include <emit-rtl.h>
#include <function.h>
#include <gcc-plugin.h>
#include <langhooks.h>
#include <memmodel.h>
#include <output.h>
#include <plugin-version.h>
#include <rtl.h>
#include <stringpool.h>
#include <target.h>
#include <toplev.h>
#include <tree.h>
#include <varasm.h>
