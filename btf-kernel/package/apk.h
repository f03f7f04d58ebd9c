// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Alpine packages of version 3. (Packages of version 2 are tar archives.)
#pragma once

#include "btf-kernel/package/archive.h"

namespace btflink::kernel
{

/// By the magic number, compressed or not.
bool is_apk3(Bytes file);

/// As walk_archive(), for a package of version 3.
Result<void> walk_apk3(Bytes file, const std::string &path, const ArchiveVisitor &visitor);

} // namespace btflink::kernel
