// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a compiled BPF program needs from a kernel: CO-RE relocations, externs, attach points.
#pragma once

#include "btf-kernel/diff/compare.h"
#include "common/btf/btf.h"
#include "merge/input/final_btf.h"

#include <map>
#include <unordered_map>

namespace btflink::kernel::bpf
{

/// enum bpf_core_relo_kind of <linux/bpf.h>, which older headers do not have.
enum class Core : uint32_t {
    field_byte_offset,
    field_byte_size,
    field_exists,
    field_signed,
    field_lshift,
    field_rshift,
    type_id_local,
    type_id_target,
    type_exists,
    type_size,
    enum_value_exists,
    enum_value,
    type_matches,
};
std::string_view core_name(Core kind);

struct CoreRelocation {
    std::string_view section;
    uint32_t instruction;    // byte offset in the section
    uint32_t type;           // in the program's BTF
    std::string_view access; // indexes of members and elements: "0:1:2"
    Core kind;
    bool loads = false; // the instruction loads or stores memory of a certain size
};

struct Extern {
    uint32_t id; // a FUNC or VAR in .ksyms
    bool weak;
};

/// A variable in .struct_ops or .struct_ops.link.
struct StructOps {
    std::string_view name;
    uint32_t type; // the struct that is implemented
};

struct BpfObject {
    merge::Input input; // keeps alive what the other members point to
    SectionContents btf_bytes, ext_bytes;
    std::shared_ptr<const Btf> btf;
    std::vector<CoreRelocation> relocations;
    std::vector<Extern> externs;
    std::vector<StructOps> struct_ops;
    std::vector<std::string_view> programs; // names of sections with code
};

/// Errors: the file is not a BPF object, has no .BTF, or has a malformed .BTF.ext.
Result<BpfObject> open_bpf_object(const std::string &path);

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

/// The types of a kernel that may match a type of the program.
struct CandidateList {
    std::vector<diff::DefinitionRef> remaining, removed;
    std::string decided_by; // the last relocation that removed a candidate
};

/// Types by name without flavour ("s" for "s___v2").
using TypesByName = std::unordered_map<std::string_view, std::vector<diff::DefinitionRef>>;

/// The candidates of a kernel, made as they are needed.
struct CandidateLists {
    std::map<uint32_t, CandidateList> lists; // by the type of the program
    TypesByName vmlinux, modules;            // empty until a relocation needs them
};

/// The target of a relocation: "struct task_struct.pid".
std::string describe(const BpfObject &object, const CoreRelocation &relocation);

/// Does the relocation work on this kernel? `lists`: shared by all relocations of the object;
/// initially empty.
Verdict resolve(const BpfObject &object, const CoreRelocation &relocation,
                const diff::Sides &kernel, CandidateLists &lists);

/// bpf_core_types_are_compat(), for bpf_core_type_exists(), kfuncs and variables: kinds must match;
/// names and the contents of structs are not compared.
bool types_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                          uint32_t target);

/// bpf_core_types_match(), for bpf_core_type_matches(): the kernel's type must have each member,
/// value and parameter of the program's type.
bool types_match(const Btf &local_btf, uint32_t local, const Btf &target_btf, uint32_t target);

struct Requirement {
    std::string what; // "CO-RE offset", "attach", "kfunc", "variable", "struct_ops"
    std::string name; // "struct task_struct.pid", "fentry/vfs_read"
    std::vector<std::string> programs; // sections that need it
    Verdict before, after;
};

struct ProgramResult {
    std::string path;
    std::vector<Requirement> requirements;      // sorted, without duplicates
    size_t count(Verdict::Status status) const; // requirements with this status on the new kernel
};

ProgramResult check_program(const BpfObject &object, const diff::ComparedKernels &kernels);

std::string_view status_name(Verdict::Status status);
std::string as_text(const ProgramResult &result);
std::string as_markdown(const ProgramResult &result);
std::string as_json(const ProgramResult &result);

} // namespace btflink::kernel::bpf
