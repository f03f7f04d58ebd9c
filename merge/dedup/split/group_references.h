// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What groups refer to whose forward declarations were resolved.
#pragma once

#include "merge/dedup/split/final_classes.h"

namespace btflink::merge
{

/// Gives the classes of such groups their own references. These, and the types between nodes on the
/// way, differ from those in the representatives' objects.
void resolve_references(const SplitInput &in, FinalClasses &made);

} // namespace btflink::merge
