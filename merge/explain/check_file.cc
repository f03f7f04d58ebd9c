// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds what a kernel would refuse in the BTF of a finished file.
//
// Problem. A kernel only reports "failed to validate module BTF: -22". Most often the module was
// built for another vmlinux than the running one, so its type ids and string offsets continue
// another base.
//
// Method. Check the kernel's rules one after the other. If split BTF violates a rule, also compare
// it with its base (common/btf/base_match.h), and report signs of another base first.
#include "merge/explain/check_file.h"

#include "common/btf/base_match.h"
#include "common/btf/btf_check.h"
#include "merge/input/final_btf.h"

namespace btflink::merge
{

namespace
{

constexpr size_t most_lines = 20; // of violations

/// Common data of the blobs of one file.
struct Judge {
    uint32_t address_size; // 0: unknown
    std::optional<KernelVersion> kernel;
};

/// Checks one blob, which extends `over`, and appends its violations to `out`. Returns null if it
/// cannot be parsed.
std::shared_ptr<const Btf> check_blob(const FinalBlob &blob, std::shared_ptr<const Btf> over,
                                      const Judge &judge, std::vector<Error> &out)
{
    auto btf = Btf::parse(blob.blob, blob.where, std::move(over));
    if (!btf) {
        out.push_back(btf.error());
        return nullptr;
    }
    uint32_t address_size = judge.address_size;
    if (!address_size)
        address_size = guess_address_size(btf->base() ? *btf->base() : *btf);
    auto found =
        find_violations(blob.blob, *btf, blob.where, address_size, most_lines + 1, judge.kernel);
    bool more = found.size() > most_lines;
    if (more)
        found.pop_back();
    out.insert(out.end(), found.begin(), found.end());
    if (more)
        out.push_back({blob.where, strf("and more than these %zu", most_lines)});
    return std::make_shared<const Btf>(std::move(*btf));
}

} // namespace

Result<std::vector<Error>> check_file(const std::string &path, const std::string &base_path,
                                      std::optional<KernelVersion> kernel)
{
    auto base = TRY(read_base(base_path));
    auto input = TRY(open_input(path));
    auto btf = TRY(find_final_btf(input, ".BTF"));
    if (!btf)
        return fail(input.where, "has no .BTF");
    Judge judge{0, kernel};
    if (input.elf)
        judge.address_size = input.elf->address_size();
    std::vector<Error> out;
    Result<std::optional<FinalBlob>> distilled = std::nullopt;
    if (input.elf)
        distilled = find_final_btf(input, ".BTF.base");
    if (!distilled)
        return fail(distilled.error());
    if (*distilled) {
        auto own_base = check_blob(**distilled, nullptr, judge, out);
        if (!own_base)
            return out;
        auto split = check_blob(*btf, own_base, judge, out);
        if (base.btf && split && out.empty())
            out = look_up_distilled(*own_base, *split, NameIndex(*base.btf), (*distilled)->where,
                                    base.input->where.file);
        return out;
    }
    check_blob(*btf, base.btf, judge, out);
    if (!base.btf || out.empty())
        return out;
    std::vector<Error> causes =
        compare_to_base(btf->blob, btf->where, *base.btf, base.input->where.file);
    causes.insert(causes.end(), out.begin(), out.end());
    return causes;
}

} // namespace btflink::merge
