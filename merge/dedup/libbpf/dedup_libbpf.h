// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The other engine: libbpf's btf__dedup.
#pragma once

#include "merge/dedup/libbpf/assemble.h"

#include <memory>

namespace btflink::merge
{

/// The blob that is left of `all`, in byte order `order`, continuing `base` (may be null). `where`
/// names what to blame if libbpf refuses.
Result<std::vector<std::byte>> dedup_libbpf(Assembled all, const std::shared_ptr<const Btf> &base,
                                            ByteOrder order, const Where &where);

} // namespace btflink::merge
