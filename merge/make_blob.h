// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the BTF of the result, with equal types merged: by hashes, or by libbpf.
#pragma once

#include "merge/follow_link.h"

namespace btflink::merge
{

/// Sets `report.why_dup` if the options ask for it. Returns nothing if they ask for no result.
Result<std::vector<std::byte>> make_blob(const Options &options, const Base &base,
                                         const MergeInputs &in, const LinkResult &link,
                                         Report &report, Stats &stats);

} // namespace btflink::merge
