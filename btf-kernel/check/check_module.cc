// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks a module. Later checks rely on earlier ones: if BTF violates the kernel's rules, its types
// are not followed.
#include "btf-kernel/check/checks.h"

#include "common/btf/base_match.h"
#include "common/btf/btf_check.h"
#include "merge/input/final_btf.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_violations = 20; // of one blob

void report_absent(const CheckContext &context, const Binary &module, Findings &out)
{
    if (module.has_btf)
        return out.add(Rule::empty, module.name, {module.btf_where, "is empty"});
    const Error error{Where{module.path}, "has no .BTF"};
    if (context.kernel.config_has("DEBUG_INFO_BTF_MODULES"))
        out.add(Rule::no_btf, module.name,
                {error.where, error.what + " although CONFIG_DEBUG_INFO_BTF_MODULES=y"});
    else
        out.note(Rule::no_btf, module.name, error);
    if (context.kernel.config.empty())
        out.skip(Rule::no_btf, module,
                 "there is no configuration that says whether modules have BTF");
}

/// Was the module's BTF made over this vmlinux? True unless there is evidence against it.
bool compare_base(const CheckContext &context, const Binary &module, Findings &out)
{
    auto size = btf_blob_size(module.btf, module.btf_where);
    const bool same_order =
        module.btf.size() > 1 && context.kernel.vmlinux->btf.size() > 1 &&
        std::equal(module.btf.begin(), module.btf.begin() + 2, context.kernel.vmlinux->btf.begin());
    if (!size || *size > module.btf.size() || !same_order)
        return true; // other checks report this
    auto found = compare_to_base(module.btf, module.btf_where, *context.vmlinux, "vmlinux");
    for (Error &error : found)
        out.add(Rule::base, module.name, std::move(error));
    return found.empty();
}

KfuncCounts check_module_kfuncs(const CheckContext &context, const Binary &module, const Btf &btf,
                                std::span<const Redefinition> redefined, Findings &out)
{
    if (module.form != Binary::Form::raw_btf && module.btf_ids.empty())
        return {};
    return check_kfuncs(module, NameIndex(btf), context.names ? &*context.names : nullptr,
                        redefined, context.version, context.tags, out);
}

KfuncCounts check_parsed(const CheckContext &context, const Binary &module, const ModuleBtf &parsed,
                         Findings &out)
{
    const Btf &btf = *parsed.btf;
    if (btf.size() == 0)
        out.add({.rule = Rule::empty,
                 .binary = module.name,
                 .error = {module.btf_where, "has a header and no types: many readers refuse it"},
                 .degree = Degree::suspicious});
    bool good = true;
    if (parsed.distilled)
        good = verify_blob(context, module, module.base, *parsed.distilled, module.base_where, out);
    else if (btf.base())
        good = compare_base(context, module, out);
    good = verify_blob(context, module, module.btf, btf, module.btf_where, out) && good;
    if (!good)
        return {};
    check_enums(context, module, btf, out);
    check_per_cpu(module, btf, out);
    if (parsed.distilled) {
        if (context.vmlinux)
            for (Error &error : look_up_distilled(*parsed.distilled, btf, *context.names,
                                                  module.base_where, "vmlinux"))
                out.add(Rule::base, module.name, std::move(error));
        out.skip(Rule::redefined, module,
                 "a .BTF.base does not have all of vmlinux's types to compare with");
        return check_module_kfuncs(context, module, btf, {}, out);
    }
    if (!btf.base()) {
        out.skip(Rule::base, module, "self-contained BTF has no base");
        out.skip(Rule::redefined, module, "self-contained BTF has all types itself");
        return check_module_kfuncs(context, module, btf, {}, out);
    }
    const std::vector<Redefinition> redefined = find_redefinitions(btf, *context.names);
    report_redefined(context, module, btf, redefined, out);
    return check_module_kfuncs(context, module, btf, redefined, out);
}

} // namespace

KfuncCounts check_module(const CheckContext &context, const Binary &module, Findings &out)
{
    if (module.unreadable) {
        out.add(Rule::unreadable, module.name, *module.unreadable);
        return {};
    }
    if (!module.has_btf || module.btf.empty()) {
        report_absent(context, module, out);
        return {};
    }
    if (module.base.empty() && !context.vmlinux)
        return {}; // reported for vmlinux
    auto parsed = parse_module(module, context.vmlinux);
    if (!parsed) {
        out.add(Rule::verifier, module.name, parsed.error());
        if (module.base.empty())
            compare_base(context, module, out);
        return {};
    }
    return check_parsed(context, module, *parsed, out);
}

bool verify_blob(const CheckContext &context, const Binary &binary, Bytes blob, const Btf &btf,
                 const Where &where, Findings &out)
{
    const uint32_t address_size = binary.address_size
                                      ? binary.address_size
                                      : merge::guess_address_size(btf.base() ? *btf.base() : btf);
    auto found =
        find_violations(blob, btf, where, address_size, most_violations + 1, context.version);
    const bool more = found.size() > most_violations;
    if (more)
        found.back() = {where, strf("and more than these %zu", most_violations)};
    for (Error &error : found)
        out.add(Rule::verifier, binary.name, std::move(error));
    return found.empty();
}

/// Encoders without ENUM64 write the low halves of 64-bit values. Kernels read ENUM64 from 6.0 on.
void check_enums(const CheckContext &context, const Binary &binary, const Btf &btf, Findings &out)
{
    const Degree degree = !context.version                          ? Degree::suspicious
                          : *context.version >= KernelVersion{6, 0} ? Degree::error
                                                                    : Degree::harmless;
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        if (btf::kind_of(t) != btf::Kind::ENUM || t.size != 8 || !btf::vlen_of(t))
            continue;
        const std::string name = t.name_off
                                     ? "enum " + std::string(btf.name(id))
                                     : "enum with " + std::string(btf.str(btf::tail_of(t)[0]));
        out.add({Rule::enum64,
                 binary.name,
                 {binary.btf_where, name + " has 8 bytes and is no ENUM64: its values are "
                                           "cut to 32 bits"},
                 "values of enums with 8 bytes are cut to 32 bits: made without ENUM64",
                 name,
                 degree});
    }
}

} // namespace btflink::kernel
