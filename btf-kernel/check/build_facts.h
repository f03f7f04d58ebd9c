// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// How a kernel was built, as far as it says so.
#pragma once

#include "btf-kernel/package/kernel.h"

#include <string>
#include <vector>

namespace btflink::kernel
{

/// What the banner "Linux version RELEASE (USER) (COMPILER) #NUMBER ..." tells.
struct Banner {
    std::string user;     // "user@host"
    std::string compiler; // with its linker; empty: not told
    std::string number;   // "#1 SMP ...": with the time
};
/// `text`: what follows "Linux version ".
Banner parse_banner(std::string_view text);

/// What two builds were made with otherwise.
struct BuildDifferences {
    std::vector<std::string> causes;   // of other BTF: compiler, configuration
    std::vector<std::string> harmless; // BTF does not have them: user, time
};
BuildDifferences compare_facts(const Kernel &here, const Kernel &there);

} // namespace btflink::kernel
