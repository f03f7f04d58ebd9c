// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The other engine: libbpf's btf__dedup.
#pragma once

#include "merge/dedup/libbpf/assemble.h"

#include <memory>

namespace btflink::merge
{

/// Deduplicates `all` over `base` (may be null) and returns the blob in byte order `order`. Errors
/// of libbpf name `where`.
Result<std::vector<std::byte>> dedup_libbpf(Assembled all, const std::shared_ptr<const Btf> &base,
                                            ByteOrder order, const Where &where);

} // namespace btflink::merge
