// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tells which relocation types are absolute addresses: by our own table for those that btf-emit
// writes, by LLVM for the rest. (LLVM 14 does not know LoongArch.)
//
// This is a library of its own, in C++17: the LLVM 14 headers that it includes are ill-formed in
// C++20 (they instantiate std::vector of an incomplete type), which clang 14 rejects.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace btflink::merge
{

enum class RelocKind : uint8_t {
    absolute, // symbol + addend is written
    none,     // R_*_NONE
    other,
};

class RelocClassifier
{
public:
    /// `elf`: the whole ELF file. `rela`: its relocations have addends. `known`: types known to be
    /// absolute; 0: none.
    RelocClassifier(std::string_view elf, bool rela, std::array<uint32_t, 2> known);
    RelocKind operator()(uint32_t type);

private:
    bool rela_;
    std::array<uint32_t, 2> known_;
    // Null if LLVM does not know the machine.
    bool (*supports_)(uint64_t) = nullptr;
    uint64_t (*resolve_)(uint64_t type, uint64_t offset, uint64_t symbol, uint64_t contents,
                         int64_t addend) = nullptr;
    uint32_t last_type_ = 0; // R_*_NONE on every machine
    RelocKind last_ = RelocKind::none;
};

} // namespace btflink::merge
