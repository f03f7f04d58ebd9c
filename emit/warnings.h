// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Warnings about DWARF that got no BTF, with a remedy. Every program that runs the encoder prints
// them. An object without DWARF causes no warning.
#pragma once

#include "emit/emit.h"

#include <string>
#include <vector>

namespace btflink::emit
{

/// One line each, without newline, about the file at `path`.
std::vector<std::string> warnings(const std::string &path, const EmitReport &report);

} // namespace btflink::emit
