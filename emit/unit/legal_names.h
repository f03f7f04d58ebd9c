// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes names of other languages than C (templates, operators, closures) legal in BTF.
#pragma once

#include "emit/tree/die_tree.h"

#include <deque>
#include <string>

namespace btflink::emit
{

/// The names that replace others; they live as long as this.
using LegalNames = std::deque<std::string>;

/// Gives `tree`'s types, members, functions, parameters and variables names that are identifiers:
/// each character that may not be in one becomes '_'. INTs may be called anything. In C only
/// typedefs, which compilers also make for types of their own. Counts what was changed.
LegalNames make_names_legal(DieTree &tree, Skips &skips);

} // namespace btflink::emit
