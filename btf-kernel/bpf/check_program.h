// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which of the things that a BPF program wants of a kernel are there, before and after.
#pragma once

#include "btf-kernel/bpf/core_match.h"

namespace btflink::kernel::bpf
{

struct Requirement {
    std::string what; // "CO-RE offset", "attach", "kfunc", "variable", "struct_ops"
    std::string name; // "struct task_struct.pid", "fentry/vfs_read"
    std::vector<std::string> programs; // sections that want it
    Verdict before, after;
};

struct ProgramResult {
    std::string path;
    std::vector<Requirement> requirements; // each once, sorted
    size_t broken() const;                 // on the new kernel
};

ProgramResult check_program(const BpfObject &object, const diff::Compared &kernels);

std::string_view status_name(Verdict::Status status);
std::string as_text(const ProgramResult &result);
std::string as_markdown(const ProgramResult &result);
std::string as_json(const ProgramResult &result);

} // namespace btflink::kernel::bpf
