// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Network devices for the checks of modules.
#pragma once

#include <string>

namespace btflink::boot
{

/// Makes two connected devices of the module veth. The kernel names them veth0 and veth1 if there
/// are none yet. Returns an error text, or "".
std::string make_veth_pair();

} // namespace btflink::boot
