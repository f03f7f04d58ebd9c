// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a compiled BPF program needs from a kernel: CO-RE relocations, externs, attach points.
#pragma once

#include "common/btf/btf.h"
#include "merge/input/final_btf.h"

#include <memory>
#include <string>
#include <vector>

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
    uint32_t instruction; // byte offset in the section
    uint32_t type;
    std::string_view access; // "0:1:2"
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
    merge::SectionContents btf_bytes, ext_bytes;
    std::shared_ptr<const Btf> btf;
    std::vector<CoreRelocation> relocations;
    std::vector<Extern> externs;
    std::vector<StructOps> struct_ops;
    std::vector<std::string_view> programs; // names of sections with code
};

/// Errors: the file is not a BPF object, has no .BTF, or has a malformed .BTF.ext.
Result<BpfObject> open_bpf_object(const std::string &path);

} // namespace btflink::kernel::bpf
