// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the checks of modules need of the network.
#pragma once

#include <string>

namespace btflink::boot
{

/// Makes two connected devices of the module veth, named by the kernel: veth0 and veth1 if there
/// are none yet. An error text, "" if it worked.
std::string make_veth_pair();

} // namespace btflink::boot
