// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes BTF of the objects, each of equal types once: by hashes, or by libbpf.
#pragma once

#include "merge/follow_link.h"

namespace btflink::merge
{

/// Engine::hash. `report.why_dup` is filled if the options ask for it. Empty: nothing is to be
/// written.
Result<std::vector<std::byte>> blob_by_hash(const Options &options, const Base &base,
                                            const Read &read, const Link &link, Report &report,
                                            Stats &stats);

/// Engine::libbpf.
Result<std::vector<std::byte>> blob_by_libbpf(const Options &options, const Base &base,
                                              const Read &read, const Link &link, Stats &stats);

} // namespace btflink::merge
