// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The other engine: libbpf's btf__dedup.
#pragma once

#include "merge/dedup/dedup.h"

namespace btflink::merge
{

/// All types of the linked objects, each in a class of its own.
MergedTypes keep_all(const std::vector<Object> &objects, const std::vector<bool> &not_linked,
                     const Btf *base);

/// Deduplicates `blob`, which is in host byte order, over `base` (may be null). Returns a blob in
/// byte order `order`. Errors of libbpf name `where`.
Result<std::vector<std::byte>> dedup_libbpf(Bytes blob, const std::shared_ptr<const Btf> &base,
                                            ByteOrder order, const Where &where);

} // namespace btflink::merge
