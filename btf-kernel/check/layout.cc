// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Header of BTF with a layout section: 32 bytes, of which the last two words are its place and
// size.
#include "btf-kernel/check/layout.h"

namespace btflink::kernel
{

void note_layout(const Binary &vmlinux, Findings &out)
{
    constexpr size_t header_length = 4, layout_size = 28, end = 32;
    const std::byte *blob = vmlinux.btf.data();
    if (vmlinux.btf.size() < end || load<uint32_t>(blob + header_length, vmlinux.order) < end ||
        load<uint32_t>(blob + layout_size, vmlinux.order) == 0)
        return;
    out.note(Rule::layout, "vmlinux",
             {vmlinux.btf_where,
              "has a layout section: Go programs built with cilium/ebpf from before "
              "June 2026 cannot read this BTF (BTF_PAHOLE_NO_LAYOUT=1 leaves it out)"});
}

} // namespace btflink::kernel
