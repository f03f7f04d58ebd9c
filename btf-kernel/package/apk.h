// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Alpine's packages of version 3. Those of version 2 are tar archives.
#pragma once

#include "btf-kernel/package/archive.h"

namespace btflink::kernel
{

/// Does the file begin as a package of version 3 does, compressed or not?
bool is_apk3(Bytes file);

/// As walk_archive(), for such a file.
Result<void> walk_apk3(Bytes file, const std::string &path, const ArchiveVisitor &visitor);

} // namespace btflink::kernel
