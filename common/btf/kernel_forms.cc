// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out which forms of BTF a kernel reads: by its version, or by its own types.
#include "common/btf/kernel_forms.h"

#include <algorithm>
#include <charconv>

namespace btflink
{

std::optional<KernelVersion> parse_kernel_version(std::string_view text)
{
    KernelVersion version;
    const char *end = text.data() + text.size();
    auto major = std::from_chars(text.data(), end, version.major);
    if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.')
        return std::nullopt;
    auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    if (minor.ec != std::errc())
        return std::nullopt;
    if (minor.ptr != end && *minor.ptr != '.' && *minor.ptr != '-' && *minor.ptr != '+')
        return std::nullopt;
    return version;
}

Result<KernelVersion> read_kernel_option(std::string_view text)
{
    if (auto version = parse_kernel_version(text))
        return *version;
    return fail({}, "--kernel: '" + std::string(text) + "' is not a kernel version, such as 6.12");
}

KernelForms kernel_forms(std::optional<KernelVersion> kernel, const Btf &btf)
{
    KernelForms forms;
    if (kernel) {
        forms.flagged_tags = *kernel >= KernelVersion{6, 15};
        forms.layout = *kernel >= KernelVersion{7, 1};
        forms.tags_anywhere = *kernel >= KernelVersion{7, 2};
        forms.printable_sections = *kernel >= KernelVersion{6, 9};
        forms.name_length = *kernel >= KernelVersion{6, 1} ? 512 : 128;
        forms.vlen = *kernel >= KernelVersion{7, 2} ? btf::max_long_vlen : btf::max_vlen;
        return forms;
    }
    for (TypeId id : IdRange(TypeId{1}, btf.end_id())) {
        const btf_type &t = btf.type(id);
        const btf::Kind kind = btf::kind_of(t);
        if (kind == btf::Kind::STRUCT && btf.str(t.name_off) == "btf_layout")
            forms.layout = true;
        else if (kind == btf::Kind::STRUCT && btf.str(t.name_off) == "btf_header")
            forms.layout = forms.layout.value_or(false);
        if (kind != btf::Kind::ENUM || btf.str(t.name_off) != "btf_max")
            continue;
        const uint32_t *tail = btf::tail_of(t);
        for (uint32_t i = 0, n = btf::vlen_of(t); i < n; ++i)
            if (btf.str(tail[i * 2]) == "BTF_MAX_VLEN")
                forms.vlen = std::clamp(tail[i * 2 + 1], btf::max_vlen, btf::max_long_vlen);
    }
    forms.tags_anywhere = !forms.layout || forms.vlen > btf::max_vlen;
    return forms;
}

} // namespace btflink
