// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel diff --symbols: which of the listed symbols changed, or reach a type that changed?
#pragma once

#include "btf-kernel/diff/compare.h"

#include <string>
#include <vector>

namespace btflink::kernel::kabi
{

/// A change that a symbol reaches.
struct ReachedChange {
    uint32_t change;   // index into Difference::changes
    uint32_t pointers; // number of pointers between the symbol and what changed
    std::string path;  // "struct a > struct b"; the symbol's name if its own definition changed
};

struct Symbol {
    /// signature: the symbol's own definition changed; reaches: only types that it reaches changed;
    /// unknown: the old kernel's BTF does not have the symbol; or, in the new kernel, only a module
    /// without readable BTF may have it.
    enum class Status : uint8_t { same, reaches, signature, gone, unknown };
    std::string name;
    Status status = Status::same;
    std::vector<ReachedChange> reached; // the nearest first, at most most_reached
    bool more = false;                  // there are more changes
};
constexpr size_t most_reached = 8;
std::string_view status_name(Symbol::Status status);

/// The names in a list: the first word of each line, or the second if the first is a checksum
/// ("0x12ab name module", as in Module.symvers). The line has no name if this word begins with '#'
/// (a comment) or '[' (a heading in lists of a stable ABI). Blanks and commas separate words.
std::vector<std::string> parse_symbols(std::string_view text);

/// How each symbol changed, in the order of `names`.
std::vector<Symbol> check_symbols(const std::vector<std::string> &names,
                                  const diff::ComparedKernels &kernels);

std::string as_text(const std::vector<Symbol> &symbols, const diff::Difference &difference);
/// Symbols without BTF are only counted, because a Module.symvers has thousands of them if the
/// package lacks the modules.
std::string as_markdown(const std::vector<Symbol> &symbols, const diff::Difference &difference);
std::string as_json(const std::vector<Symbol> &symbols, const diff::Difference &difference);

} // namespace btflink::kernel::kabi
