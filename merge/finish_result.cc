// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes sure that a kernel would accept the result, adds a distilled base and the layout section if
// the options ask for them, and writes each part to its file.
#include "merge/passes.h"

#include "common/btf/btf_builder.h"
#include "common/btf/btf_check.h"
#include "common/io/file_io.h"
#include "merge/output/write_steps.h"

#include <algorithm>
#include <array>

namespace btflink::merge
{

namespace
{

/// Turns result.blob into split BTF over a distilled base, and returns that base.
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

/// Adds a layout section to BTF without a base. If the types show that the BTF belongs to a kernel
/// that does not read layouts, warns instead.
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
    for (TypeId id : btf.ids())
        ++kinds[static_cast<size_t>(btf.kind(id))];
    for (uint32_t k = 1; k < btf::kind_count; ++k)
        stats.add(std::string("types_out.") + btf::kinds[k].name, kinds[k]);
}

bool has_name(const Object &o, std::string_view name)
{
    bool found = false;
    for (TypeId id = o.btf.first_id(); id < o.btf.end_id() && !found; id = TypeId{raw(id) + 1})
        btf::for_each_str_off(o.btf.type(id),
                              [&](uint32_t off) { found |= o.btf.str(off) == name; });
    return found || std::ranges::any_of(o.trailer.functions, [&](const LinkFunction &f) {
               return o.btf.str(f.name) == name;
           });
}

/// `error`: from check_btf() for `btf`. If the error is an illegal name, describes the first object
/// that has this name; otherwise, or if there is no such object, returns "".
std::string name_origin(const Error &error, const Btf &btf, const std::vector<Object> &objects)
{
    if (!error.what.ends_with(illegal_name))
        return {};
    // The first word of a type, member, parameter or enumerator is its name.
    const uint64_t at = (error.where.offset.value_or(0) - btf.types_offset()) / 4;
    const std::string_view name = at < btf.words().size() ? btf.str(btf.words()[at]) : "";
    auto owner = std::ranges::find_if(
        objects, [&](const Object &o) { return !name.empty() && has_name(o, name); });
    return owner == objects.end() ? "" : owner->describe();
}

/// Reports the first change as a warning, the others as notes. `origin`: an object with the illegal
/// name that caused the first change, or "".
void report_mended(const std::vector<std::string> &changes, const std::string &origin,
                   Report &report)
{
    std::string text = changes.front();
    if (!origin.empty())
        text += "; it comes from " + origin;
    if (changes.size() > 1)
        text += strf(" (and %zu more)", changes.size() - 1);
    report.warnings.push_back(text);
    report.notes.insert(report.notes.end(), changes.begin() + 1, changes.end());
}

/// Parses `blob`. If a kernel would refuse the BTF, mends it, or fails if that is impossible.
/// btf-emit mends only some violations in its objects. Others are left, come from other tools, or
/// appear only in the merged BTF.
Result<Btf> mend_if_refused(std::vector<std::byte> &blob, const Base &base, const MergeInputs &in,
                            Report &report)
{
    const Where where{"merged BTF", "", 0};
    const uint32_t pointer_size = in.target.address_size;
    auto btf = TRY(Btf::parse(blob, where, base.btf));
    const auto checked = check_btf(blob, btf, where, pointer_size);
    if (checked)
        return btf;
    auto mended = mend_btf(btf, pointer_size);
    if (!mended)
        return fail(checked.error());
    report_mended(mended->changes, name_origin(checked.error(), btf, in.objects()), report);
    blob = mended->btf.serialize(in.target.order);
    btf = TRY(Btf::parse(blob, where, base.btf));
    TRY(check_btf(blob, btf, where, pointer_size));
    return btf;
}

} // namespace

Result<MergeResult> finish_result(std::vector<std::byte> blob, const Options &options,
                                  const Base &base, const MergeInputs &in, Report &report,
                                  Stats &stats)
{
    TRY(check_mapped_files());
    stats.begin_pass("check");
    auto btf = TRY(mend_if_refused(blob, base, in, report));
    MergeResult result{std::move(blob), {}};
    std::shared_ptr<const Btf> base_btf = base.btf;
    const bool with_layout = options.features.has(Feature::layout);
    // A module without types of its own needs nothing of any base, and kernels refuse an empty
    // base.
    const bool is_distilled =
        options.features.has(Feature::distilled_base) && btf.end_id() != btf.first_id();
    if (is_distilled) {
        stats.begin_pass("distil");
        base_btf = TRY(distil_base(result, base, in.target, with_layout));
    }
    if (with_layout && base_btf)
        add_layout(result.blob, in.target.order, false);
    else if (with_layout)
        TRY(add_layout_section(result.blob, in.target.order, report));
    const Where where{"merged BTF", "", 0};
    if (with_layout || is_distilled)
        btf = TRY(Btf::parse(result.blob, where, base_btf));
    if (is_distilled)
        TRY(check_btf(result.blob, btf, where, in.target.address_size));
    else if (with_layout) // mend_if_refused() has checked the types
        TRY(check_btf_header(result.blob, btf, where, std::nullopt));
    count_types(btf, stats);
    stats.add("bytes_out", result.blob.size());
    return result;
}

Result<uint64_t> write_result(const Options &options, const MergeResult &result,
                              const MergeInputs &in)
{
    const auto &[blob, distilled] = result;
    uint64_t written = 0;
    std::vector<std::byte> object;
    if (!options.output.empty() && options.format == OutputFormat::object) {
        if (in.target.machine == 0)
            return fail(Where{options.output},
                        "raw BTF does not state the machine for --format=object: give --image");
        object = btf_object(blob, in.target);
    }
    if (!options.output.empty()) {
        const auto &bytes = options.format == OutputFormat::object ? object : blob;
        TRY(write_file(options.output, bytes));
        if (!distilled.empty())
            TRY(write_file(options.output + ".base", distilled));
        else if (options.features.has(Feature::distilled_base))
            TRY(remove_output(options.output + ".base")); // of an earlier run
        written += bytes.size() + distilled.size();
    }
    if (!options.update.empty()) {
        TRY(put_final_btf(options.update, {blob, distilled, in.object_ids()}));
        written += blob.size() + distilled.size();
    }
    return written;
}

Result<void> end_without_btf(const Options &options, Report &report)
{
    const Where blamed = options.inputs.size() == 1 ? Where{options.inputs.front()} : Where{};
    const bool wanted = !options.output.empty() || !options.update.empty();
    report.warnings.push_back(
        Error{blamed, report.why_nothing + (wanted ? ": nothing is written" : "")}.str());
    for (const std::string &path : result_files(options))
        TRY(remove_output(path));
    return {};
}

} // namespace btflink::merge
