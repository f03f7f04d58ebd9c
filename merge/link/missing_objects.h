// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds objects that were linked into the image but are not among the inputs, by their address
// pools in the image.
#pragma once

#include "merge/link/image.h"

#include <string>
#include <vector>

namespace btflink::merge
{

struct MissingObjects {
    uint32_t count = 0;
    /// Symbols of some functions and variables of the first such object.
    std::vector<std::string> names;
    std::string_view source; // source file of the first, if one of its symbols is local
};

MissingObjects find_missing(const std::vector<Object> &objects, const Image &image);

} // namespace btflink::merge
