// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Object BTF as text for the assembler.
#pragma once

#include "emit/unit/unit_object.h"

#include <string>
#include <vector>

namespace btflink::emit::gcc
{

/// `.BTF` and the address pool (common/FORMAT.md, 1) as directives. `symbols`: the names that the
/// symbol numbers of relocations stand for, from 1 on.
std::string assembly_text(const UnitObject &object, const Arch &arch, ByteOrder order,
                          const std::vector<std::string> &symbols);

} // namespace btflink::emit::gcc
