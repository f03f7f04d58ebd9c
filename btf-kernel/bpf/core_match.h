// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// CO-RE relocations, as libbpf and the kernel resolve them: where a field, type or enumerator of a
// BPF program is in a kernel.
#pragma once

#include "btf-kernel/bpf/bpf_object.h"
#include "btf-kernel/diff/compare.h"

namespace btflink::kernel::bpf
{

struct Verdict {
    enum class Status : uint8_t {
        holds,
        absent,  // it is not there, and the program asks whether it is
        broken,  // libbpf or the kernel refuses the program if this is reached
        unknown, // BTF does not tell
    };
    Status status = Status::holds;
    std::string text;
};

/// What a relocation is about: "struct task_struct.pid".
std::string describe(const BpfObject &object, const CoreRelocation &relocation);

Verdict resolve(const BpfObject &object, const CoreRelocation &relocation,
                const diff::Sides &kernel);

} // namespace btflink::kernel::bpf
