// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The driver of btf-emit: one file's DWARF in, object BTF out.
#pragma once

#include "emit/options.h"

namespace btflink::emit
{

/// Encodes the file at `path`. On an error nothing is written.
Result<EmitReport> emit_file(const std::string &path, const EmitOptions &options);

} // namespace btflink::emit
