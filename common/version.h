// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The version that --version prints.
#pragma once

#include <string>

namespace btflink
{

/// "0.2.0 (3f2a1b9)", with "-dirty" after the commit if files were changed. In a source that is not
/// a git checkout there is no commit.
std::string version();

} // namespace btflink
