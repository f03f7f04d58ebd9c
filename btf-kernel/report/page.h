// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A report as one HTML page that needs nothing else: no network, no script to be read.
#pragma once

#include "btf-kernel/report/report_data.h"

namespace btflink::kernel::report
{

std::string page(const Data &data);

/// What is the same in each page.
std::string_view page_style();
std::string_view page_script();

} // namespace btflink::kernel::report
