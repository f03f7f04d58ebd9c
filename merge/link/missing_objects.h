// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds objects that the image was linked from but that are not among the inputs. The image has
// their address pools.
#pragma once

#include "merge/link/image.h"

#include <string>
#include <vector>

namespace btflink::merge
{

struct MissingObjects {
    uint32_t count = 0;
    /// A few functions and variables of the first, by the names of the image's symbols.
    std::vector<std::string> names;
    std::string_view source; // of the first, if a symbol is local; else empty
};

MissingObjects find_missing(const std::vector<Object> &objects, const Image &image);

} // namespace btflink::merge
