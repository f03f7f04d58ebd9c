// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// CO-RE relocations, as libbpf and the kernel resolve them: where a field, type or enumerator of a
// BPF program is in a kernel.
#pragma once

#include "btf-kernel/bpf/bpf_object.h"
#include "btf-kernel/diff/compare.h"

#include <map>

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

/// A type of a kernel that a type of a program may mean.
struct Candidate {
    const diff::Side *side;
    uint32_t id;
};

/// Those of one type of the program.
struct CandidateList {
    std::vector<Candidate> left, struck;
    std::string decided_by; // the last relocation that struck any
};
using CandidateLists = std::map<uint32_t, CandidateList>; // by the type of the program

/// What a relocation is about: "struct task_struct.pid".
std::string describe(const BpfObject &object, const CoreRelocation &relocation);

/// `lists`: empty at the first relocation of an object; one for each kernel.
Verdict resolve(const BpfObject &object, const CoreRelocation &relocation,
                const diff::Sides &kernel, CandidateLists &lists);

} // namespace btflink::kernel::bpf
