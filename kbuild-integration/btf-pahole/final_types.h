// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The final BTF of a file, with the BTF that it extends.
#pragma once

#include "merge/input/final_btf.h"

#include <optional>
#include <string>

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

} // namespace btflink::kbuild
