// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Whether the objects of a link were emitted alike, and as the link wants them. A build folder
// outlives the settings that its objects were compiled with.
#pragma once

#include "common/object_btf/features.h"
#include "merge/input/load_objects.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// Warnings that name objects: those of other versions or features of btf-emit than most others,
/// and where what they have differs from what is `asked` for and cannot be made up for.
std::vector<std::string> check_settings(const std::vector<Object> &objects, FeatureSet asked);

} // namespace btflink::merge
