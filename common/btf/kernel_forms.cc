// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out which forms of BTF a kernel accepts, by the version and the types of the kernel.
#include "common/btf/btf_check.h"

#include <algorithm>
#include <charconv>

namespace btflink
{

namespace
{

/// A kind that was added after Linux 5.2.
struct NewKind {
    btf::Kind kind;
    KernelVersion since;
    std::string_view enumerator; // of uapi/linux/btf.h; a kernel that has it reads the kind
};
constexpr NewKind new_kinds[] = {
    {btf::Kind::FLOAT, {5, 13}, "BTF_KIND_FLOAT"},
    {btf::Kind::DECL_TAG, {5, 16}, "BTF_KIND_DECL_TAG"},
    {btf::Kind::TYPE_TAG, {5, 17}, "BTF_KIND_TYPE_TAG"},
    {btf::Kind::ENUM64, {6, 0}, "BTF_KIND_ENUM64"},
};

/// The value of the first enumerator `name` in an ENUM called `of`. If `of` is empty, only ENUMs
/// without a name are searched.
std::optional<uint32_t> enumerator_value(const Btf &btf, std::string_view of, std::string_view name)
{
    for (TypeId id : IdRange(TypeId{1}, btf.end_id())) {
        const btf_type &t = btf.type(id);
        if (btf::kind_of(t) != btf::Kind::ENUM || btf.str(t.name_off) != of)
            continue;
        const uint32_t *tail = btf::tail_of(t);
        for (uint32_t i = 0, n = btf::vlen_of(t); i < n; ++i)
            if (btf.str(tail[i * 2]) == name)
                return tail[i * 2 + 1];
    }
    return std::nullopt;
}

bool has_struct(const Btf &btf, std::string_view name)
{
    for (TypeId id : IdRange(TypeId{1}, btf.end_id()))
        if (btf::kind_of(btf.type(id)) == btf::Kind::STRUCT && btf.name(id) == name)
            return true;
    return false;
}

btf::Kind newest_kind(KernelVersion kernel, const Btf &btf)
{
    btf::Kind newest = btf::Kind::DATASEC;
    for (const NewKind &row : new_kinds)
        if (kernel >= row.since || enumerator_value(btf, "", row.enumerator))
            newest = row.kind;
    return newest;
}

} // namespace

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

Result<void> store_option(std::optional<KernelVersion> &version, std::string_view text)
{
    version = parse_kernel_version(text);
    if (version)
        return {};
    return fail({}, "--kernel: '" + std::string(text) + "' is not a kernel version, such as 6.12");
}

KernelForms kernel_forms(std::optional<KernelVersion> kernel, const Btf &btf)
{
    KernelForms forms;
    if (kernel) {
        forms.newest_kind = newest_kind(*kernel, btf);
        forms.flagged_tags = *kernel >= KernelVersion{6, 15};
        forms.layout = *kernel >= KernelVersion{7, 1};
        forms.tags_anywhere = *kernel >= KernelVersion{7, 2};
        forms.printable_sections = *kernel >= KernelVersion{6, 9};
        forms.name_length = *kernel >= KernelVersion{6, 1} ? 512 : 128;
        forms.most_elements = *kernel >= KernelVersion{7, 2} ? btf::max_long_vlen : btf::max_vlen;
        return forms;
    }
    // Only kernels have this struct (kernel/bpf/btf.c). Programs that include <linux/btf.h> may
    // have btf_layout and BTF_MAX_VLEN, too.
    const bool is_of_kernel = has_struct(btf, "btf_verifier_env");
    if (is_of_kernel)
        forms.layout = has_struct(btf, "btf_layout");
    if (auto vlen = enumerator_value(btf, "btf_max", "BTF_MAX_VLEN"))
        forms.most_elements = std::clamp(*vlen, btf::max_vlen, btf::max_long_vlen);
    // BTF_MAX_VLEN shows Linux 7.2, which also accepts TYPE_TAGs anywhere.
    forms.tags_anywhere = !is_of_kernel || forms.most_elements > btf::max_vlen;
    return forms;
}

Result<void> check_distilled_base(std::optional<KernelVersion> kernel, const Btf &btf,
                                  const Where &where)
{
    // Without a version, only a kernel's own BTF can show that the kernel is too old.
    const bool accepted =
        kernel ? *kernel >= KernelVersion{6, 11} : !has_struct(btf, "btf_verifier_env");
    if (accepted || has_struct(btf, "btf_relocate"))
        return {};
    return fail(where, "is a distilled base, which kernels before 6.11 do not read");
}

} // namespace btflink
