// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Kernel versions, and forms of BTF that only some kernels read.
#pragma once

#include "common/btf/btf.h"
#include "common/result.h"

#include <compare>
#include <optional>
#include <string_view>

namespace btflink
{

/// A mainline version. Distributions may have backported forms; this is known only of kinds.
struct KernelVersion {
    uint32_t major = 0, minor = 0;
    auto operator<=>(const KernelVersion &) const = default;
};

/// Parses "6.12", "6.12.117-1" or "7.3-rc1". Returns nullopt if `text` is not a version.
std::optional<KernelVersion> parse_kernel_version(std::string_view text);
/// For an option --kernel.
Result<void> store_option(std::optional<KernelVersion> &version, std::string_view text);

/// Forms that this kernel accepts and older ones refuse.
struct KernelForms {
    btf::Kind newest_kind = btf::Kind::ENUM64;
    uint32_t vlen = btf::max_vlen; // at most
    // A layout section in the blob. No value: the BTF is not a kernel's.
    std::optional<bool> layout;
    bool flagged_tags = true;       // TYPE_TAG and DECL_TAG with kflag
    bool tags_anywhere = true;      // a TYPE_TAG after another modifier
    bool printable_sections = true; // names of DATASECs: any printable characters
    uint32_t name_length = 512;     // of identifiers and DATASECs, at most: KSYM_NAME_LEN
};

/// The forms of `kernel`. Without a version, those of the kernel that `btf` belongs to, judged by
/// its types: kernels have a struct btf_header, from 7.1 on a struct btf_layout, and from 7.2 on an
/// enumerator BTF_MAX_VLEN. For BTF that is not a kernel's, tags may have the newest forms. A
/// kernel with an enumerator such as BTF_KIND_ENUM64 reads this kind, whatever its version.
KernelForms kernel_forms(std::optional<KernelVersion> kernel, const Btf &btf);

} // namespace btflink
