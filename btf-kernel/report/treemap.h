// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A tree of sizes as nested rectangles.
#pragma once

#include "btf-kernel/report/report_data.h"

#include <string>

namespace btflink::kernel::report
{

/// An SVG element whose folders a script can zoom into; without scripts it is a picture with
/// titles. What is too small to be seen even zoomed is left out.
std::string treemap_svg(const Node &root);

/// "12.3 KB".
std::string size_text(double bytes);
std::string html_text(std::string_view text);

} // namespace btflink::kernel::report
