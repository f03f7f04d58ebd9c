// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Kernels by version, and the forms of BTF that not all of them read.
#pragma once

#include "common/btf/btf.h"
#include "common/result.h"

#include <compare>
#include <optional>
#include <string_view>

namespace btflink
{

/// Of mainline; what distributions took back into older kernels is not known.
struct KernelVersion {
    uint32_t major = 0, minor = 0;
    auto operator<=>(const KernelVersion &) const = default;
};

/// "6.12", also with more behind it: "6.12.117-1", "7.3-rc1". Nothing: it is no version.
std::optional<KernelVersion> parse_kernel_version(std::string_view text);
/// The value of an option --kernel.
Result<KernelVersion> read_kernel_option(std::string_view text);

/// What a kernel reads that older ones refuse.
struct KernelForms {
    uint32_t vlen = btf::max_vlen; // the most
    // A layout section in the blob. No value: the BTF is of no kernel.
    std::optional<bool> layout;
    bool flagged_tags = true;       // TYPE_TAG and DECL_TAG with kflag
    bool tags_anywhere = true;      // a TYPE_TAG behind another modifier
    bool printable_sections = true; // names of DATASECs: any printable characters
    uint32_t name_length = 512;     // of identifiers and DATASECs, at most: KSYM_NAME_LEN
};

/// Those of a kernel. Without a version, of the kernel that `btf` is of, or is split over, as far
/// as its types tell: from 7.1 on a struct btf_layout, before a struct btf_header alone, and
/// from 7.2 on an enumerator BTF_MAX_VLEN. In BTF that is of no kernel tags may be as the newest
/// has them.
KernelForms kernel_forms(std::optional<KernelVersion> kernel, const Btf &btf);

} // namespace btflink
