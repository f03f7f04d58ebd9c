// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// gcc's headers in order of dependency. The standard headers come first, because gcc's system.h
// poisons some of their names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

// clang-format off
#include <gcc-plugin.h>
#include <plugin-version.h>
#include <tree.h>
#include <function.h>
#include <basic-block.h>
#include <stringpool.h>
#include <attribs.h>
#include <memmodel.h>
#include <rtl.h>
#include <tm_p.h>
#include <emit-rtl.h>
#include <target.h>
#include <output.h>
#include <calls.h>
#include <cgraph.h>
#include <debug.h>
#include <diagnostic-core.h>
#include <langhooks.h>
#include <toplev.h>
#include <varasm.h>
// clang-format on
