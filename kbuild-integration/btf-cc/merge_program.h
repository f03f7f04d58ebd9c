// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks that btf-pahole will merge what btf-cc makes: a user may give make CC and forget PAHOLE.
#pragma once

#include <string>

namespace btflink::kbuild
{

/// What is wrong with the PAHOLE that Kbuild exports; empty: nothing.
std::string why_not_merged();

} // namespace btflink::kbuild
