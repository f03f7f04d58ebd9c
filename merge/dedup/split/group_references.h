// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The references of groups whose forward declarations were resolved.
#pragma once

#include "merge/dedup/split/final_classes.h"

namespace btflink::merge
{

/// Gives the classes of these groups their own references, which may create new types between
/// nodes.
void resolve_references(const SplitInput &in, FinalClasses &made);

} // namespace btflink::merge
