// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The final BTF of a file, with the BTF that it extends; the list of its types that `btf-pahole -J
// -V` prints, in pahole's format, which programs parse; and its ids in the section .BTF_ids
// (include/linux/btf_ids.h of the kernel): ids of types and functions that C code asks for by name,
// and sets of kfuncs.
#pragma once

#include "merge/input/final_btf.h"
#include "merge/link/select.h"

#include <optional>
#include <string>
#include <vector>

namespace btflink::kbuild
{

struct FinalTypes {
    std::optional<merge::Input> input;
    merge::Base base;
    std::optional<merge::FinalBlob> own_base, blob; // `.BTF.base`, `.BTF`
    std::optional<Btf> btf;                         // always set
};

/// `base`: the file with the base, if `path` has no distilled base; "": none. Errors include: the
/// file has no final BTF.
Result<FinalTypes> read_final_types(const std::string &path, const std::string &base);

/// Why a function has no FUNC, in pahole's words.
const char *pahole_reason(merge::FunctionSkip reason);

/// Prints the types of the final BTF in a file to standard output. `base`: as for
/// read_final_types().
Result<void> list_types(const std::string &path, const std::string &base);

/// Puts ids of the module's final BTF into its .BTF_ids, as the kernel's resolve_btfids does.
/// (Modules outside a tree may not have resolve_btfids.) `base`: as for read_final_types(). Names
/// that the BTF does not have keep the id 0, and are returned. Errors: a kfunc has no FUNC, or has
/// implicit arguments, which only resolve_btfids can hide.
Result<std::vector<std::string>> fill_btf_ids(const std::string &file, const std::string &base);

} // namespace btflink::kbuild
