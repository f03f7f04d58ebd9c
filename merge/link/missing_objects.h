// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Objects that the image was linked from and that are not among the inputs, as far as the image
// tells: it has their address pools.
#pragma once

#include "merge/link/image.h"

#include <string>
#include <vector>

namespace btflink::merge
{

struct MissingObjects {
    uint32_t count = 0;
    /// What the image's symbols call the functions and variables of the first; few of them.
    std::vector<std::string> names;
    std::string_view source; // of the first, if a symbol is local; else empty
};

MissingObjects find_missing(const std::vector<Object> &objects, const Image &image);

} // namespace btflink::merge
