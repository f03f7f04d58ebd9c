// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Texts of the tags that the merge adds. Objects need not contain these strings.
#pragma once

#include <string_view>

namespace btflink::merge
{

constexpr std::string_view kfunc_tag = "bpf_kfunc", fastcall_tag = "bpf_fastcall";
constexpr std::string_view arena_tag = "address_space(1)";

} // namespace btflink::merge
