// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks that all objects of a link were emitted with the same features, and with those that the
// link asks for. A build folder may have objects that were compiled with earlier settings.
#pragma once

#include "common/object_btf/features.h"
#include "merge/input/load_objects.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// Returns warnings about objects whose btf-emit version or features differ from those of most
/// objects, and about features that differ from `asked` if the merge cannot make up for the
/// difference.
std::vector<std::string> check_settings(const std::vector<Object> &objects, FeatureSet asked);

} // namespace btflink::merge
