// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Warnings that every caller of an emit prints unasked: what has DWARF but got no BTF, and the
// cure. An object without DWARF needs no warning.
#pragma once

#include "emit/emit.h"

#include <string>
#include <vector>

namespace btflink::emit
{

/// A line each, without its end. Of the file at `path`.
std::vector<std::string> warnings(const std::string &path, const EmitReport &report);

} // namespace btflink::emit
