// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens kernels, reads their configuration, and parses their BTF.
#include "btf-kernel/package/kernel.h"

#include "btf-kernel/package/collector.h"

namespace btflink::kernel
{

std::string_view Kernel::config_value(std::string_view name) const
{
    const std::string key = "CONFIG_" + std::string(name) + "=";
    const std::string_view text = config;
    for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        if (at && text[at - 1] != '\n')
            continue;
        std::string_view value = text.substr(at + key.size());
        value = value.substr(0, value.find('\n'));
        if (value.size() > 1 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        return value;
    }
    return {};
}

bool Kernel::config_has(std::string_view name) const
{
    return config_value(name) == "y";
}

Result<Kernel> open_kernel(const std::vector<std::string> &paths, const OpenOptions &options)
{
    Collector collector(options);
    std::string names;
    for (const std::string &path : paths) {
        names += (names.empty() ? "" : ", ") + path;
        if (auto collected = collect(path, options, collector); !collected) {
            Error error = collected.error();
            if (error.where.file.empty())
                error.where.file = path;
            return fail(std::move(error));
        }
    }
    return collector.finish(names);
}

Result<std::shared_ptr<const Btf>> parse_vmlinux(const Kernel &kernel)
{
    if (!kernel.vmlinux)
        return fail(Where{kernel.package}, "has no vmlinux");
    if (!kernel.vmlinux->has_btf)
        return fail(Where{kernel.vmlinux->path}, "has no .BTF");
    auto btf = TRY(Btf::parse(kernel.vmlinux->btf, kernel.vmlinux->btf_where));
    return std::make_shared<const Btf>(std::move(btf));
}

namespace
{

/// Null: the BTF is not self-contained. The BTF of an ELF module never is, because kernels read it
/// as split BTF. Split BTF does not parse without its base: its strings do not begin with the empty
/// string.
std::shared_ptr<const Btf> parse_self_contained(const Binary &module)
{
    if (module.form != Binary::Form::raw_btf)
        return nullptr;
    auto btf = Btf::parse(module.btf, module.btf_where);
    if (!btf || btf->size() == 0)
        return nullptr;
    return std::make_shared<const Btf>(std::move(*btf));
}

} // namespace

Result<ModuleBtf> parse_module(const Binary &module, const std::shared_ptr<const Btf> &vmlinux)
{
    ModuleBtf out;
    if (module.unreadable)
        return fail(*module.unreadable);
    if (!module.has_btf)
        return fail(Where{module.path}, "has no .BTF");
    if (!module.base.empty()) {
        auto distilled = TRY(Btf::parse(module.base, module.base_where));
        out.distilled = std::make_shared<const Btf>(std::move(distilled));
    } else if (auto whole = parse_self_contained(module)) {
        out.btf = std::move(whole);
        return out;
    } else if (!vmlinux) {
        return fail(module.btf_where, "extends the BTF of a vmlinux, and there is no vmlinux");
    }
    auto btf =
        TRY(Btf::parse(module.btf, module.btf_where, out.distilled ? out.distilled : vmlinux));
    out.btf = std::make_shared<const Btf>(std::move(btf));
    return out;
}

} // namespace btflink::kernel
