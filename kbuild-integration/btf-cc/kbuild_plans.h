// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out what Kbuild is going to do with an object, by what it tells the programs that it runs.
#pragma once

#include <string>

namespace btflink::kbuild
{

/// Why an object must not get object BTF: nothing would merge it, and it would stay in a module,
/// which the kernel would refuse to load because it takes it for the module's own BTF. Empty if it
/// will be merged, or nothing is known. Reads $objtree, $KBUILD_EXTMOD and
/// include/config/auto.conf.
std::string why_no_btf(bool of_a_module);

/// Is this a build of a kernel or module whose BTF Kbuild makes? Reads the same.
bool makes_btf();

/// Will Kbuild read the DWARF of objects after their compile? From 6.14 on gendwarfksyms makes the
/// versions of symbols from it. Reads $objtree and include/config/auto.conf.
bool reads_dwarf_later();

enum class CompilerKind { other, gcc, clang };

struct Compiler {
    CompilerKind kind = CompilerKind::other;
    unsigned version = 0; // 120200 for 12.2.0
};

/// The compiler that the tree is configured for; `other` if that is not known. Reads the same.
Compiler configured_compiler();

} // namespace btflink::kbuild
