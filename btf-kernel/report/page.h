// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A report as one HTML page, readable without network and without scripts.
#pragma once

#include "btf-kernel/report/report_data.h"

namespace btflink::kernel::report
{

std::string page(const Data &data);

/// Parts that all pages have.
std::string_view page_style();
std::string_view page_script();

} // namespace btflink::kernel::report
