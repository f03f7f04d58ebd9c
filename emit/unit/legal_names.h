// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes names of languages other than C (templates, operators, closures) legal in BTF.
#pragma once

#include "emit/tree/die_tree.h"

#include <deque>
#include <string>

namespace btflink::emit
{

/// Owns the new names.
using LegalNames = std::deque<std::string>;

/// Makes the names in `tree` identifiers: every character that BTF does not allow becomes '_'. Base
/// types keep their names, because an INT may have any name. In C only typedefs are changed,
/// because compilers define some with illegal names for their own types. Counts changed names.
LegalNames make_names_legal(DieTree &tree, Skips &skips);

} // namespace btflink::emit
