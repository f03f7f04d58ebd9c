// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks vmlinux, over which modules are checked.
#include "btf-kernel/check/checks.h"

#include <charconv>

namespace btflink::kernel
{

namespace
{

constexpr KernelVersion first_with_tags{6, 10};

/// The number at the start of a configuration value; 0 if there is none.
uint32_t number_of(std::string_view text)
{
    uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Kernels need no layout section, and older Go programs refuse it.
void note_layout(const Binary &vmlinux, Findings &out)
{
    // Such a header has 32 bytes; the last two words are the section's position and size.
    constexpr size_t header_length = 4, layout_size = 28, end = 32;
    const std::byte *blob = vmlinux.btf.data();
    if (vmlinux.btf.size() < end || load<uint32_t>(blob + header_length, vmlinux.order) < end ||
        load<uint32_t>(blob + layout_size, vmlinux.order) == 0)
        return;
    out.note(Rule::layout, "vmlinux",
             {vmlinux.btf_where,
              "has a layout section: Go programs built with cilium/ebpf from before "
              "June 2026 cannot read this BTF (BTF_PAHOLE_NO_LAYOUT=1 leaves it out)"});
}

void note_without_tags(const CheckContext &context, const Binary &binary, size_t kfuncs,
                       Findings &out)
{
    out.note(Rule::kfunc_tag, "vmlinux",
             {binary.btf_where, strf("none of %zu kfuncs has the tag bpf_kfunc", kfuncs)});
    if (!context.kernel.version)
        out.skip(
            Rule::kfunc_tag, binary,
            "the kernel's version is not known, so neither is whether kfuncs should be tagged");
    else if (*context.kernel.version >= first_with_tags && context.kernel.config.empty())
        out.skip(Rule::kfunc_tag, binary,
                 "there is no configuration that says whether kfuncs are tagged");
}

/// Must kfuncs be tagged? From 6.10 on Kbuild asks pahole for tags, which pahole 1.27 and newer
/// write; from 7.2 on resolve_btfids writes them.
Tags expect_tags(const CheckContext &context)
{
    if (has_kfunc_tags(*context.names))
        return Tags::yes;
    if (!context.kernel.version || *context.kernel.version < first_with_tags)
        return Tags::no;
    return *context.kernel.version >= KernelVersion{7, 2} ||
                   number_of(context.kernel.config_value("PAHOLE_VERSION")) >= 127
               ? Tags::yes
               : Tags::no;
}

} // namespace

KfuncCounts check_vmlinux(CheckContext &context, Findings &out)
{
    if (!context.kernel.vmlinux) {
        out.add(
            Rule::no_btf, "vmlinux",
            {Where{context.kernel.package}, "there is no vmlinux, so modules cannot be checked"});
        return {};
    }
    const Binary &binary = *context.kernel.vmlinux;
    if (!binary.has_btf) {
        out.add(Rule::no_btf, "vmlinux",
                {Where{binary.path}, context.kernel.config_has("DEBUG_INFO_BTF")
                                         ? "has no .BTF although CONFIG_DEBUG_INFO_BTF=y"
                                         : "has no .BTF"});
        return {};
    }
    auto btf = Btf::parse(binary.btf, binary.btf_where);
    if (!btf) {
        out.add(Rule::verifier, "vmlinux", btf.error());
        return {};
    }
    auto kept = std::make_shared<const Btf>(std::move(*btf));
    if (!verify_blob(context, binary, binary.btf, *kept, binary.btf_where, out))
        return {};
    context.vmlinux = kept;
    context.names.emplace(*context.vmlinux);
    note_layout(binary, out);
    check_enums(context, binary, *context.vmlinux, out);
    check_per_cpu(binary, *context.vmlinux, out);
    context.tags = expect_tags(context);
    KfuncCounts counts =
        check_kfuncs(binary, *context.names, nullptr, {}, context.version, context.tags, out);
    context.taken = counts.taken;
    if (counts.kfuncs && !counts.tagged && context.tags == Tags::no)
        note_without_tags(context, binary, counts.kfuncs, out);
    return counts;
}

} // namespace btflink::kernel
