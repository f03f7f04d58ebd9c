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

namespace
{

Result<std::shared_ptr<const Btf>> shared_btf(Bytes bytes, const Where &where,
                                              std::shared_ptr<const Btf> base = nullptr)
{
    Btf btf = TRY(Btf::parse(bytes, where, std::move(base)));
    return std::make_shared<const Btf>(std::move(btf));
}

} // namespace

Result<std::shared_ptr<const Btf>> parse_vmlinux(const Kernel &kernel)
{
    if (!kernel.vmlinux)
        return fail(Where{kernel.package}, "has no vmlinux");
    if (!kernel.vmlinux->has_btf)
        return fail(Where{kernel.vmlinux->path}, "has no .BTF");
    return shared_btf(kernel.vmlinux->btf, kernel.vmlinux->btf_where);
}

Result<ModuleBtf> parse_module(const Binary &module, const std::shared_ptr<const Btf> &vmlinux)
{
    ModuleBtf out;
    if (module.unreadable)
        return fail(*module.unreadable);
    if (!module.has_btf)
        return fail(Where{module.path}, "has no .BTF");
    if (!module.base.empty()) {
        out.distilled = TRY(shared_btf(module.base, module.base_where));
    } else {
        // The BTF of an ELF module is never self-contained, because kernels read it as split BTF.
        // Split BTF does not parse without its base: its strings do not begin with the empty
        // string.
        if (module.form == Binary::Form::raw_btf)
            if (auto whole = shared_btf(module.btf, module.btf_where); whole && (*whole)->size())
                return ModuleBtf{nullptr, *whole};
        if (!vmlinux)
            return fail(module.btf_where, "extends the BTF of a vmlinux, and there is no vmlinux");
    }
    out.btf =
        TRY(shared_btf(module.btf, module.btf_where, out.distilled ? out.distilled : vmlinux));
    return out;
}

} // namespace btflink::kernel
