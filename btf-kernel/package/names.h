// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a file of a kernel package is, by its name.
#pragma once

#include "common/result.h"

#include <string>
#include <string_view>

namespace btflink::kernel
{

enum class Role : uint8_t { none, image, module, config, release };

/// By the name behind the last slash.
Role role_of(std::string_view path);

/// What raw BTF stands for, by the name that btf-kernel encode gives it: "vmlinux.btf", and
/// "MODULE.ko.btf" for each module.
Role role_of_encoded(std::string_view path);

/// Is it a package of a distribution?
bool is_package(std::string_view path);

/// "nf_tables" of "kernel/net/netfilter/nf-tables.ko.xz".
std::string module_name(std::string_view path);

/// The release that a path tells: of "lib/modules/RELEASE/..." and of "boot/vmlinuz-RELEASE";
/// empty: none.
std::string_view release_in(std::string_view path);

/// How likely an image is the one with most to tell: lower is better.
unsigned image_rank(std::string_view path);

/// A member's path without "./" and "/" before it. Error: it leads out of where it is unpacked.
Result<std::string> clean_path(std::string_view path);

} // namespace btflink::kernel
