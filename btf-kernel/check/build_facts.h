// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// How a kernel was built, by its banner and configuration.
#pragma once

#include "btf-kernel/package/kernel.h"

#include <string>
#include <vector>

namespace btflink::kernel
{

/// The parts of the banner "Linux version RELEASE (USER) (COMPILER) #NUMBER ...".
struct Banner {
    std::string user;     // "user@host"
    std::string compiler; // with its linker; empty: not known
    std::string number;   // "#1 SMP ...", with the time
};
/// `text`: the banner after "Linux version ".
Banner parse_banner(std::string_view text);

/// Differences between two builds.
struct BuildDifferences {
    std::vector<std::string> causes;   // may change BTF: compiler, configuration
    std::vector<std::string> harmless; // do not change BTF: user, time
};
BuildDifferences compare_facts(const Kernel &here, const Kernel &there);

} // namespace btflink::kernel
