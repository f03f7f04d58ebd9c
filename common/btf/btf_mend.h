// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Changes what a kernel would refuse (btf_check.h) as little as its meaning allows, so that one
// type that BTF cannot hold does not cost the others.
#pragma once

#include "common/btf/btf_builder.h"

#include <optional>
#include <string>
#include <vector>

namespace btflink
{

/// Of what the types are.
enum class BtfPart {
    object, // structs may be defined elsewhere; DATASECs are not final
    whole,  // what a kernel gets
};

struct MendedBtf {
    BtfBuilder btf;
    std::vector<std::string> changes; // one line each: what was wrong, what became of it
};

/// Nothing: all is in order, or what is not cannot be mended, for it contradicts itself. With
/// BtfPart::object all types but DECL_TAGs keep their ids. `pointer_size`: bytes, of the target.
std::optional<MendedBtf> mend_btf(const Btf &btf, uint32_t pointer_size, BtfPart part);

} // namespace btflink
