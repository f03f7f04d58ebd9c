// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads from the object file of a BPF program what the program needs of a kernel (CO-RE
// relocations, externs, attach points, struct_ops), and checks whether two kernels provide this.
#pragma once

#include "btf-kernel/diff/compare.h"
#include "common/btf/btf.h"
#include "merge/input/final_btf.h"

#include <map>
#include <unordered_map>

namespace btflink::kernel::bpf
{

/// The values of enum bpf_core_relo_kind, which older versions of <linux/bpf.h> do not have.
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
/// Does the program ask whether something exists or matches?
bool is_question(Core kind);

struct CoreRelocation {
    std::string_view section;
    std::string program;     // "tc"; "tc (FUNCTION)" if the section has several functions
    uint32_t instruction;    // byte offset in the section
    uint32_t type;           // id in the program's BTF
    std::string_view access; // indexes of members, elements or an enumerator: "0:1:2"
    Core kind;
    uint8_t width = 0; // bytes that the instruction loads or stores; 0: it does neither
};

struct Extern {
    uint32_t id; // of a FUNC or VAR in .ksyms
    bool weak;
};

/// A variable in .struct_ops or .struct_ops.link; the name of the section may begin with a question
/// mark.
struct StructOps {
    std::string_view name;
    uint32_t type; // id of the variable's type: a struct, perhaps behind typedefs and qualifiers
};

struct BpfObject {
    // `input` and `btf_bytes` keep alive what the other members point to.
    merge::Input input;
    SectionContents btf_bytes, ext_bytes;
    std::shared_ptr<const Btf> btf;
    std::vector<CoreRelocation> relocations;
    std::vector<Extern> externs;
    std::vector<StructOps> struct_ops;
    std::vector<std::string_view> programs; // names of sections with code
};

/// Errors: the file cannot be read, is not a valid BPF object, has no .BTF, or has a malformed .BTF
/// or .BTF.ext.
Result<BpfObject> open_bpf_object(const std::string &path);

struct Verdict {
    enum class Status : uint8_t { // in order of weight
        holds,
        // What is needed is missing or does not match, but programs load nevertheless: they test
        // for it, or it is a weak symbol (its address is then 0), or they ask only for the size or
        // id of a type (which is then 0).
        absent,
        unknown, // BTF does not show whether the program works
        // libbpf or the kernel refuses programs that use it, or programs get other data than they
        // expect, because a signature, the type of a variable or the bits of a bitfield changed.
        broken,
    };
    Status status = Status::holds;
    std::string text;
    // For CO-RE: the programs (CoreRelocation::program) whose relocations have this status.
    std::vector<std::string> programs = {};
    // libbpf refuses the whole object file, even if tests keep programs from using the item.
    bool refuses_all = false;
};

/// The types of a kernel that may match a type of the program. If only some of them fit a
/// relocation, and these agree in its result, the others move from `remaining` to `removed`.
struct CandidateList {
    std::vector<diff::DefinitionRef> remaining, removed;
    std::string decided_by; // describe() of the last relocation that moved any
};

/// Types by name without flavour ("s" for "s___v2").
using TypesByName = std::unordered_map<std::string_view, std::vector<diff::DefinitionRef>>;

/// One kernel's candidates for the types of a program. A list is made when the first relocation
/// needs it.
struct CandidateLists {
    std::map<uint32_t, CandidateList> lists; // by the id of the program's type
    TypesByName vmlinux, modules;            // empty until a relocation needs them
};

/// The target of a relocation: "struct task_struct.pid".
std::string describe(const BpfObject &object, const CoreRelocation &relocation);

/// Does the relocation work on this kernel? Relocations must come in the order of the object,
/// because each may remove candidates. `lists`: initially empty; shared by all relocations of the
/// object, but not by two kernels.
Verdict resolve(const BpfObject &object, const CoreRelocation &relocation,
                const diff::Sides &kernel, CandidateLists &lists);

/// As libbpf's bpf_core_types_are_compat(), for relocations about the existence, size or id of a
/// type, for kfuncs and for variables. Kinds and numbers of parameters must match; names, sizes and
/// the contents of structs are not compared.
bool types_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                          uint32_t target);

/// As libbpf's bpf_core_types_match(), for bpf_core_type_matches(). Names and kinds must match; so
/// must sizes and signs of integers, sizes of enums, and numbers of parameters and array elements.
/// The kernel's struct must have each member of the program's struct, and the kernel's enum each
/// enumerator; offsets and values do not count. Of structs behind pointers only name and kind
/// count.
bool types_match(const Btf &local_btf, uint32_t local, const Btf &target_btf, uint32_t target);

struct Requirement {
    // "CO-RE offset" and other kinds, "attach", "kfunc", "variable", "struct_ops", "byte order"
    std::string what;
    std::string name;      // "struct task_struct.pid", "fentry/vfs_read"
    Verdict before, after; // on the old and on the new kernel
};

struct ProgramResult {
    std::string path;
    std::vector<Requirement> requirements;      // sorted by `what` and `name`, without duplicates
    size_t count(Verdict::Status status) const; // requirements with this status on the new kernel
};

ProgramResult check_program(const BpfObject &object, const diff::ComparedKernels &kernels);

std::string_view status_name(Verdict::Status status);
std::string as_text(const ProgramResult &result);
std::string as_markdown(const ProgramResult &result);
std::string as_json(const ProgramResult &result);

} // namespace btflink::kernel::bpf
