// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Changes types that a kernel would refuse (btf_check.h), as little as possible, so that one type
// that BTF cannot express does not cost all others.
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

/// Returns nothing if the types are in order, or if none of what is wrong can be mended. With
/// BtfPart::object all types except DECL_TAGs keep their ids. `pointer_size`: in bytes, of the
/// target.
std::optional<MendedBtf> mend_btf(const Btf &btf, uint32_t pointer_size, BtfPart part);

} // namespace btflink
