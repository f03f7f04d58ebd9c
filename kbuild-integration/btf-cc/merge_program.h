// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks that btf-pahole will merge the BTF of objects: a user may set CC for make and forget
// PAHOLE.
#pragma once

#include <string>

namespace btflink::kbuild
{

/// A warning if the PAHOLE that Kbuild exports is not btf-pahole; empty: it is.
std::string why_not_merged();

} // namespace btflink::kbuild
