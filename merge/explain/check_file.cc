// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds what a kernel would refuse in the BTF of a finished file.
//
// Problem. A kernel only reports "failed to validate module [X] BTF: -22". Most often the module
// was built for another vmlinux than the running one, so its type ids and string offsets continue
// another base.
//
// Method. Check the kernel's rules one after the other. If split BTF violates a rule, or has
// another byte order than the given base, also compare the two (common/btf/base_match.cc), and
// report signs of another base first. BTF with a distilled base is checked over that base; if both
// pass, the types of the distilled base are looked up in the given base.
#include "merge/explain/explain.h"

#include "common/btf/btf_check.h"
#include "merge/input/final_btf.h"

namespace btflink::merge
{

Result<std::vector<Error>> check_file(const std::string &path, const std::string &base_path,
                                      std::optional<KernelVersion> kernel)
{
    auto base = TRY(read_base(base_path));
    auto input = TRY(open_input(path));
    auto btf = TRY(find_final_btf(input, ".BTF"));
    if (!btf)
        return fail(input.where, "has no .BTF");
    std::optional<FinalBlob> distilled;
    if (input.elf)
        distilled = TRY(find_final_btf(input, ".BTF.base"));
    std::vector<Error> out;
    // Appends the violations of one blob, which extends `over`. Returns null if the blob cannot be
    // parsed. Kernels read the whole section, also zeros around the blob.
    auto check = [&](const FinalBlob &blob,
                     std::shared_ptr<const Btf> over) -> std::shared_ptr<const Btf> {
        const Bytes whole = blob.contents.bytes;
        if (blob.blob.data() != whole.data()) {
            out.push_back({blob.where, "does not begin with a BTF header"});
            return nullptr;
        }
        auto parsed = Btf::parse(whole, blob.where, std::move(over));
        if (!parsed) {
            out.push_back(parsed.error());
            return nullptr;
        }
        const uint32_t address_size = input.elf ? input.elf->address_size() : 0;
        auto found = list_violations(whole, *parsed, blob.where, address_size, kernel);
        out.insert(out.end(), found.begin(), found.end());
        return std::make_shared<const Btf>(std::move(*parsed));
    };
    if (distilled) {
        const auto own_base = check(*distilled, nullptr);
        const Btf *const shown = base.btf ? base.btf.get() : own_base.get();
        if (shown)
            if (auto read = check_distilled_base(kernel, *shown, distilled->where); !read)
                out.push_back(read.error());
        const auto split = own_base ? check(*btf, own_base) : nullptr;
        if (base.btf && split && out.empty())
            out = look_up_distilled(*own_base, *split, NameIndex(*base.btf), distilled->where,
                                    base.input->where.file);
        return out;
    }
    check(*btf, base.btf);
    if (!base.btf || (out.empty() && order_of_btf(btf->blob) == base.btf->order()))
        return out;
    std::vector<Error> causes =
        compare_to_base(btf->blob, btf->where, *base.btf, base.input->where.file);
    causes.insert(causes.end(), out.begin(), out.end());
    return causes;
}

} // namespace btflink::merge
