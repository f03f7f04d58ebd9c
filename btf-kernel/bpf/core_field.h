// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A field of a struct, the numbers that CO-RE writes into programs for it, and whether a program
// can still read it if its size or its bits have changed.
#pragma once

#include "btf-kernel/bpf/bpf_program.h"

#include <optional>
#include <string>

namespace btflink::kernel::bpf
{

/// A field of a kernel or of a program.
struct CoreField {
    const Btf *btf = nullptr;
    uint64_t offset = 0;         // in bits
    uint32_t type = 0, bits = 0; // an id in `btf`; the width of a bitfield, or 0
    bool is_last_member = false; // of a struct or union
};

/// The number that CO-RE writes into the program for a field. std::nullopt: no aligned load of up
/// to 8 bytes covers the bitfield.
std::optional<uint64_t> field_number(Core kind, const CoreField &field);

/// Does an access work although the size of the field, or its bits, may differ? `mine`: the field
/// in the program's BTF; `theirs`: the kernel's. `width`: CoreRelocation::width. `at`: the verdict
/// if nothing is wrong.
Verdict size_verdict(Verdict at, const CoreField &mine, const CoreField &theirs, uint32_t width);

} // namespace btflink::kernel::bpf
