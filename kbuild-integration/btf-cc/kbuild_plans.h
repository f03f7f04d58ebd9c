// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What Kbuild will do with an object, according to the variables that Kbuild exports and to the
// kernel's configuration.
#pragma once

#include <string>

namespace btflink::kbuild
{

/// Why an object must not get object BTF: no step of Kbuild would merge it. The object BTF would
/// stay in the module; the kernel would take it for the module's BTF and refuse to load the module.
/// Empty if Kbuild merges it, or if this is unknown. Reads $objtree, $KBUILD_EXTMOD and
/// include/config/auto.conf.
std::string why_no_btf(bool of_a_module);

/// A warning if Kbuild makes BTF and the PAHOLE that it exports is not btf-pahole: a user may set
/// CC for make and forget PAHOLE. Empty: all is well.
std::string why_not_merged();

/// Will Kbuild read the DWARF of objects after the compile? From 6.14 on gendwarfksyms computes
/// symbol versions from DWARF. Reads $objtree and auto.conf.
bool reads_dwarf_later();

} // namespace btflink::kbuild
