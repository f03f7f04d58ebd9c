// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What whoever runs an emit must be told unasked: what has DWARF and got no BTF,
// and the cure. An object without DWARF is as it should be.
#pragma once

#include "emit/emit.h"

#include <string>
#include <vector>

namespace btflink::emit
{

/// A line each, without its end. Of the file at `path`.
std::vector<std::string> warnings(const std::string &path, const EmitReport &report);

} // namespace btflink::emit
