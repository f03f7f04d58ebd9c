// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the programs answer to --version.
#pragma once

#include <string>

namespace btflink
{

/// "0.2.0 (3f2a1b9)"; the commit, "-dirty" behind it if files were changed, is left out where the
/// source is no git checkout.
std::string version();

} // namespace btflink
