// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which relocation types are absolute addresses: those that btf-emit writes, and what LLVM knows of
// any machine (LLVM 14 does not know LoongArch).
//
// C++17, alone in a library of its own: the LLVM 14 headers behind it are ill-formed as C++20 (they
// instantiate std::vector of an incomplete type), which clang 14 notices.
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
    /// `elf`: the whole ELF file. `rela`: its relocations carry their addends. `known`: absolute
    /// types that LLVM is not asked about; 0: none.
    RelocClassifier(std::string_view elf, bool rela, std::array<uint32_t, 2> known);
    RelocKind operator()(uint32_t type);

private:
    bool rela_;
    std::array<uint32_t, 2> known_;
    // Null: a machine that LLVM does not know.
    bool (*supports_)(uint64_t) = nullptr;
    uint64_t (*resolve_)(uint64_t type, uint64_t offset, uint64_t symbol, uint64_t contents,
                         int64_t addend) = nullptr;
    uint32_t last_type_ = 0; // R_*_NONE on every machine
    RelocKind last_ = RelocKind::none;
};

} // namespace btflink::merge
