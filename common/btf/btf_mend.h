// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Changes types that a kernel would refuse (btf_check.h), as little as possible, so that a kernel
// accepts all others.
#pragma once

#include "common/btf/btf_builder.h"

#include <optional>
#include <string>
#include <vector>

namespace btflink
{

/// What the types belong to.
enum class BtfPart {
    object, // structs may be defined elsewhere; DATASECs are not final
    whole,  // final BTF
};

struct MendedBtf {
    BtfBuilder btf;
    std::vector<std::string> changes; // one line each: the violation and what was done
};

/// Returns nothing if there are no violations, or none that can be mended. With BtfPart::object all
/// types except DECL_TAGs keep their ids. `pointer_size`: the target's, in bytes.
std::optional<MendedBtf> mend_btf(const Btf &btf, uint32_t pointer_size, BtfPart part);

} // namespace btflink
