// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks that all objects of a link were emitted in the same way, and as the link asks. A build
// folder may have objects that were compiled with earlier settings.
#pragma once

#include "common/object_btf/features.h"
#include "merge/input/load_objects.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// Warnings that name objects: those emitted by another version or with other features than most,
/// and those whose features differ from what is `asked` for if the merge cannot make up for it.
std::vector<std::string> check_settings(const std::vector<Object> &objects, FeatureSet asked);

} // namespace btflink::merge
