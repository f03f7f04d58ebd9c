// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Resolves CO-RE relocations as libbpf and the kernel do: finds a field, type or enumerator of a
// BPF program in a kernel.
#pragma once

#include "btf-kernel/bpf/bpf_object.h"
#include "btf-kernel/diff/compare.h"
#include "common/btf/btf.h"

#include <map>

namespace btflink::kernel::bpf
{

struct Verdict {
    enum class Status : uint8_t {
        holds,
        absent,  // missing, but the program tests for it
        broken,  // libbpf or the kernel refuses the program if it uses this
        unknown, // BTF does not show it
    };
    Status status = Status::holds;
    std::string text;
};

/// A type of a kernel that may match a program's type.
struct Candidate {
    const diff::Side *side;
    uint32_t id;
};

/// The candidates of one type of the program.
struct CandidateList {
    std::vector<Candidate> left, struck;
    std::string decided_by; // the last relocation that removed a candidate
};
using CandidateLists = std::map<uint32_t, CandidateList>; // by the type of the program

/// The target of a relocation: "struct task_struct.pid".
std::string describe(const BpfObject &object, const CoreRelocation &relocation);

/// `lists`: one for each kernel, shared by all relocations of an object; initially empty.
Verdict resolve(const BpfObject &object, const CoreRelocation &relocation,
                const diff::Sides &kernel, CandidateLists &lists);

/// bpf_core_types_are_compat(), for bpf_core_type_exists(), kfuncs and variables: kinds must match;
/// names and the contents of structs are not compared.
bool types_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                          uint32_t target);

/// bpf_core_types_match(), for bpf_core_type_matches(): the kernel's type must have each member,
/// value and parameter of the program's type.
bool types_match(const Btf &local_btf, uint32_t local, const Btf &target_btf, uint32_t target);

} // namespace btflink::kernel::bpf
