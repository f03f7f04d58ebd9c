// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The compiled BPF programs (*.bpf.c), as bytes in boot-init. During the build, embed.py writes the
// definitions.
#pragma once

#include <cstddef>

namespace btflink::boot
{

/// The contents of NAME.bpf.o.
struct Bytes {
    const char *name; // NAME
    const unsigned char *data;
    size_t size;
};

extern const Bytes core_object, fentry_object, fentry_guest_object, fentry_module_object,
    fentry_trampoline_object, fexit_object, kfunc_object, kfunc_test_object, module_type_object,
    percpu_object;

} // namespace btflink::boot
