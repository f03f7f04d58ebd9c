// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Nothing is written that a kernel would refuse.
#include "merge/finish_result.h"

#include "common/btf/btf_check.h"
#include "common/btf/btf_check_header.h"
#include "common/btf/btf_layout.h"
#include "common/btf/kernel_forms.h"
#include "common/io/file_parts.h"
#include "merge/explain/name_origin.h"
#include "merge/output/complete_by_value.h"
#include "merge/output/distill.h"

#include <array>

namespace btflink::merge
{

namespace
{

/// Parts `result` into BTF and the base that it continues from then on, which is returned.
Result<std::shared_ptr<const Btf>> distil_base(MergeResult &result, const Base &base,
                                               const Target &target, bool with_layout)
{
    Where where{"merged BTF", "", 0};
    auto whole = TRY(Btf::parse(result.blob, where, base.btf));
    auto both = TRY(distil(whole, target.order, where));
    result.blob = std::move(both.split);
    result.distilled = std::move(both.base);
    if (with_layout)
        add_layout(result.distilled, target.order, false);
    where.file = "distilled base";
    auto parsed = TRY(Btf::parse(result.distilled, where));
    TRY(check_btf(result.distilled, parsed, where, target.address_size));
    return std::make_shared<const Btf>(std::move(parsed));
}

/// Feature::layout, for BTF without a base. That of a kernel tells whether it reads one.
Result<void> add_layout_section(std::vector<std::byte> &blob, ByteOrder order, Report &report)
{
    auto btf = TRY(Btf::parse(blob, Where{"merged BTF", "", 0}));
    if (kernel_forms(std::nullopt, btf).layout == false)
        report.warnings.push_back("feature layout is left out: this kernel refuses BTF that has it "
                                  "(there is no struct btf_layout)");
    else
        add_layout(blob, order, true);
    return {};
}

void count_types(const Btf &btf, Stats &stats)
{
    stats.add("types_out", btf.size());
    std::array<uint64_t, btf::kind_count> kinds{};
    for (TypeId id = btf.first_id(); id < btf.end_id(); id = TypeId{raw(id) + 1})
        ++kinds[btf.kind(id)];
    for (uint32_t k = 1; k < btf::kind_count; ++k)
        stats.add(std::string("types_out.") + btf::kinds[k].name, kinds[k]);
}

/// The last gate: a kernel must accept what is written. Changes `blob` if that makes it acceptable.
Result<void> check_result(std::vector<std::byte> &blob, const std::shared_ptr<const Btf> &base,
                          const Read &read, Report &report, Stats &stats)
{
    Where where{"merged BTF", "", 0};
    auto btf = TRY(Btf::parse(blob, where, base));
    auto fine = check_btf(blob, btf, where, read.target.address_size);
    std::vector<std::string> completed;
    if (!fine)
        completed = complete_by_value(blob, btf, read.target.order);
    if (!completed.empty()) {
        btf = TRY(Btf::parse(blob, where, base));
        fine = check_btf(blob, btf, where, read.target.address_size);
    }
    if (!fine)
        return fail(with_origin(fine.error(), btf, read.objects()));
    for (const std::string &name : completed)
        report.warnings.push_back(name + " is passed by value where it is only declared: it is "
                                         "written without members (kernels refuse a prototype "
                                         "with a type that has no size)");
    count_types(btf, stats);
    stats.add("bytes_out", blob.size());
    return {};
}

} // namespace

Result<MergeResult> finish_result(std::vector<std::byte> blob, const Options &options,
                                  const Base &base, const Read &read, Report &report, Stats &stats)
{
    MergeResult result{std::move(blob), {}};
    std::shared_ptr<const Btf> continued = base.btf;
    const bool with_layout = options.features.has(Feature::layout);
    if (options.features.has(Feature::distilled_base)) {
        stats.begin_pass("distil");
        continued = TRY(distil_base(result, base, read.target, with_layout));
    }
    if (with_layout && continued)
        add_layout(result.blob, read.target.order, false);
    else if (with_layout)
        TRY(add_layout_section(result.blob, read.target.order, report));

    TRY(check_mapped_files());
    stats.begin_pass("check");
    TRY(check_result(result.blob, continued, read, report, stats));
    return result;
}

} // namespace btflink::merge
