// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The heap of a process that lives for one object. Linux and glibc only.
#pragma once

namespace btflink::emit
{

/// Call once, before anything large is allocated. Changes what memory costs, never what it holds.
void prepare_heap();

} // namespace btflink::emit
