// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the architecture of a compiler's target.
#pragma once

#include "common/elf/arch.h"

#include <string_view>

namespace btflink::emit::gcc
{

/// `target`: as printed by gcc -dumpmachine, such as "aarch64-linux-gnu". `pointer_bytes`:
/// distinguishes -m32 from -m64. Returns null if the target is not supported.
const Arch *target_arch(std::string_view target, unsigned pointer_bytes);

} // namespace btflink::emit::gcc
