// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds objects that the image was linked from but that are not among the inputs, by their address
// pools in the image.
#pragma once

#include "merge/link/image.h"

#include <string>
#include <vector>

namespace btflink::merge
{

struct MissingObjects {
    uint32_t count = 0;
    /// Symbols of a few functions and variables of the first.
    std::vector<std::string> names;
    std::string_view source; // source file of the first, if a symbol is local; else empty
};

MissingObjects find_missing(const std::vector<Object> &objects, const Image &image);

} // namespace btflink::merge
