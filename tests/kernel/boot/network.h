// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the network devices for the check of the module veth.
#pragma once

#include <string>

namespace btflink::boot
{

/// Makes two connected devices of the module veth, which must be loaded. The kernel names these
/// devices veth0 and veth1 if no device has these names. Returns an error text, or "" on success.
std::string make_veth_pair();

} // namespace btflink::boot
