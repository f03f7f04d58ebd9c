// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The role of a file in a kernel package, by its name.
#pragma once

#include "common/result.h"

#include <string>
#include <string_view>

namespace btflink::kernel
{

enum class Role : uint8_t { none, image, module, config, release };

/// By the file's name and some folders.
Role role_of(std::string_view path);

/// The role of raw BTF that btf-kernel encode wrote, by its name: "vmlinux.btf" or "MODULE.ko.btf".
Role role_of_encoded(std::string_view path);

/// Does the name end as a distribution's package does?
bool is_package(std::string_view path);

/// "nf_tables" of "kernel/net/netfilter/nf-tables.ko.xz".
std::string module_name(std::string_view path);

/// The release in a path such as "lib/modules/RELEASE/..." or "boot/vmlinuz-RELEASE"; empty: none.
std::string_view release_in(std::string_view path);

/// Images with a lower rank have more information: vmlinux before vmlinuz.
unsigned image_rank(std::string_view path);

/// A member's path without leading "./" and "/". Error: it has "..".
Result<std::string> clean_path(std::string_view path);

} // namespace btflink::kernel
