// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Object BTF as assembler text.
#pragma once

#include "emit/unit/unit_object.h"

#include <string>
#include <vector>

namespace btflink::emit::gcc
{

/// `.BTF` and the address pool (common/FORMAT.md, 1) as directives. `symbols`: the names of the
/// symbols to which relocations refer by number, from 1 on.
std::string assembly_text(const UnitObject &object, const Arch &arch, ByteOrder order,
                          const std::vector<std::string> &symbols);

} // namespace btflink::emit::gcc
