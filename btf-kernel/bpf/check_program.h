// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Does a kernel have what a BPF program needs, before and after an update?
#pragma once

#include "btf-kernel/bpf/core_match.h"

namespace btflink::kernel::bpf
{

struct Requirement {
    std::string what; // "CO-RE offset", "attach", "kfunc", "variable", "struct_ops"
    std::string name; // "struct task_struct.pid", "fentry/vfs_read"
    std::vector<std::string> programs; // sections that need it
    Verdict before, after;
};

struct ProgramResult {
    std::string path;
    std::vector<Requirement> requirements; // sorted, without duplicates
    size_t broken() const;                 // requirements that the new kernel breaks
};

ProgramResult check_program(const BpfObject &object, const diff::Compared &kernels);

std::string_view status_name(Verdict::Status status);
std::string as_text(const ProgramResult &result);
std::string as_markdown(const ProgramResult &result);
std::string as_json(const ProgramResult &result);

} // namespace btflink::kernel::bpf
