// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The corridor of btf-merge: its passes. Each takes earlier results as const and returns its own.
// Types are deduplicated on a thread of their own, beside the passes that follow the link.
#include "merge/merge.h"

#include "common/btf/btf_check.h"
#include "common/btf/btf_check_header.h"
#include "common/btf/btf_layout.h"
#include "common/io/file_io.h"
#include "common/io/file_parts.h"
#include "common/io/parallel.h"
#include "merge/base_index/base_index.h"
#include "merge/base_index/index_file.h"
#include "merge/check_output_paths.h"
#include "merge/dedup/dedup.h"
#include "merge/dedup/libbpf/assemble.h"
#include "merge/dedup/libbpf/dedup_libbpf.h"
#include "merge/explain/name_origin.h"
#include "merge/explain/why_dup.h"
#include "merge/output/complete_by_value.h"
#include "merge/output/distill.h"
#include "merge/output/write_btf.h"
#include "merge/output/write_elf.h"
#include "merge/read_inputs.h"
#include "merge/report_passes.h"
#include "merge/stats.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <sys/stat.h>
#include <tuple>

namespace btflink::merge
{

namespace
{

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

/// The last gate: a kernel must accept what is written. Changes `blob` if that makes it acceptable.
/// `objects`: what it was made of.
Result<void> check_result(std::vector<std::byte> &blob, const Base &base, const Target &target,
                          const std::vector<Object> &objects, Report &report, Stats &stats)
{
    Where where{"merged BTF", "", 0};
    auto btf = TRY(Btf::parse(blob, where, base.btf));
    auto fine = check_btf(blob, btf, where, target.address_size);
    std::vector<std::string> completed;
    if (!fine)
        completed = complete_by_value(blob, btf, target.order);
    if (!completed.empty()) {
        btf = TRY(Btf::parse(blob, where, base.btf));
        fine = check_btf(blob, btf, where, target.address_size);
    }
    if (!fine)
        return fail(with_origin(fine.error(), btf, objects));
    for (const std::string &name : completed)
        report.warnings.push_back(name + " is passed by value where it is only declared: it is "
                                         "written without members (kernels refuse a prototype "
                                         "with a type that has no size)");
    stats.add("types_out", btf.size());
    std::array<uint64_t, btf::kind_count> kinds{};
    for (TypeId id = btf.first_id(); id < btf.end_id(); id = TypeId{raw(id) + 1})
        ++kinds[btf.kind(id)];
    for (uint32_t k = 1; k < btf::kind_count; ++k)
        stats.add(std::string("types_out.") + btf::kinds[k].name, kinds[k]);
    stats.add("bytes_out", blob.size());
    return {};
}

/// `distilled`: empty if that is not asked for. Returns how many bytes were written of the result.
Result<uint64_t> write_result(const Options &options, const std::vector<std::byte> &blob,
                              const std::vector<std::byte> &distilled, const Target &target,
                              const std::set<uint64_t> &object_ids)
{
    uint64_t written = 0;
    std::vector<std::byte> object;
    if (!options.output.empty() && options.format == OutputFormat::object) {
        if (target.machine == 0)
            return fail(Where{options.output},
                        "raw BTF does not tell the machine of an object file: give an --image");
        object = btf_object(blob, target);
    }
    if (!options.output.empty()) {
        const auto &bytes = options.format == OutputFormat::object ? object : blob;
        TRY(write_file(options.output, bytes));
        if (!distilled.empty())
            TRY(write_file(options.output + ".base", distilled));
        written += bytes.size() + distilled.size();
    }
    if (!options.update.empty()) {
        TRY(put_final_btf(options.update, {blob, distilled, object_ids}));
        written += blob.size() + distilled.size();
    }
    return written;
}

/// Does the run print a report and write no result?
bool writes_nothing(const Options &options)
{
    return options.why_dup && options.output.empty() && options.update.empty();
}

/// The objects in which a pass found a malformed type. Those that were not
/// linked do not count: whether they were looked at is chance.
std::vector<bool> find_damaged(const std::vector<Object> &objects, const Located &located,
                               const Sources &sources)
{
    std::vector<bool> damaged(objects.size());
    for (size_t i = 0; i < objects.size(); ++i) {
        const Damage *by_link = objects[i].damage.get();
        damaged[i] =
            !located.not_linked[i] && ((by_link && by_link->found()) || sources.found_damage(i));
    }
    return damaged;
}

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// What the link decided, or would decide.
struct Link {
    Image image;
    Located located;     // each object's variables and functions, with their final addresses
    Functions functions; // that the result has, as the variables; from here on names are settled
    Variables variables;
};

Result<Link> follow_link(const Options &options, const Read &read, Report &report, Stats &stats)
{
    const std::vector<Input> &inputs = read.inputs.list;
    const std::vector<Object> &objects = read.objects();
    Link link;
    stats.begin_pass("image");
    auto file = TRY(read.image());
    auto image = TRY(read_image(file, inputs, objects));
    link.image = std::move(image);

    stats.begin_pass("locate");
    link.located = locate(inputs, objects, link.image);
    report_image(inputs, link.image, objects, link.located, report, stats);

    stats.begin_pass("select_functions");
    link.functions = select_functions(inputs, objects, link.image, link.located, options.features);
    stats.begin_pass("select_variables");
    link.variables = select_variables(objects, link.image, link.located, options.features);
    report_selection(objects, link.functions, link.variables, report, stats);
    return link;
}

/// Deduplication by hashes, beside the passes that follow the link. That all objects were linked is
/// not known yet, but nearly always so; if it was not, it is done again.
class TypesBeside
{
public:
    TypesBeside(const Options &options, const Read &read, const GivenBase &base)
        : loaded_(read.loaded), base_(base), explained_(options.why_dup), threads_(options.threads)
    {
        if (threads_ > 1 && options.beside) // all of them: what is beside is done sooner
            beside_.start([this] { merge(std::vector<bool>(loaded_.objects.size())); });
    }

    Result<MergedTypes> finish(const Located &located, Stats &stats)
    {
        beside_.wait();
        if (!types_ || located.not_linked_count) {
            stats_ = Stats();
            merge(located.not_linked);
        }
        if (*types_)
            stats.append(std::move(stats_));
        return std::move(*types_);
    }

private:
    void merge(const std::vector<bool> &not_linked)
    {
        types_ = merge_types(loaded_, not_linked, base_, explained_, threads_, stats_);
    }

    const Loaded &loaded_;
    const GivenBase &base_;
    bool explained_;
    unsigned threads_;
    Stats stats_;
    std::optional<Result<MergedTypes>> types_;
    Beside beside_; // ends before the others
};

/// What becomes of the inputs. One of the first two is empty.
struct Merged {
    std::vector<std::byte> blob; // engine hash
    Assembled all;               // engine libbpf: not yet deduplicated
    Target target;
    std::set<uint64_t> object_ids;
    const Read *read = nullptr; // of Report::read
};

Result<Merged> merge_by_hash(const Options &options, const Base &base, Read read, Report &report,
                             Stats &stats)
{
    const std::vector<Object> &objects = read.objects();
    const Where blamed = base.btf ? base.input->where : blamed_for_all(options);
    const GivenBase given{base.btf.get(), base.index.get(), blamed};
    TypesBeside beside(options, read, given);
    auto link = TRY(follow_link(options, read, report, stats));
    stats.begin_pass("types"); // what is left of it
    auto types = TRY(beside.finish(link.located, stats));

    Merged out;
    out.target = read.target;
    Result<void> written;
    if (options.why_dup) {
        stats.begin_pass("why_dup");
        report.why_dup = why_dup(objects, types, *options.why_dup, options.base);
    }
    if (!writes_nothing(options)) {
        stats.begin_pass("write_types");
        auto blob =
            write_types(objects, types.sources, types.partition, link.functions, link.variables,
                        types.known, read.target.order, blamed, options.threads);
        if (blob)
            out.blob = std::move(*blob);
        else
            written = fail(blob.error());
    }
    stats.end_pass();
    TRY(check_marked(read.inputs.list, objects, find_damaged(objects, link.located, types.sources),
                     options.threads));
    TRY(written);
    out.object_ids = read.object_ids();
    auto kept = std::make_shared<std::tuple<Read, Link, MergedTypes>>(
        std::move(read), std::move(link), std::move(types));
    out.read = &std::get<Read>(*kept);
    report.read = std::move(kept);
    return out;
}

Result<Merged> assemble_all(const Options &options, const Base &base, Read read, Report &report,
                            Stats &stats)
{
    auto link = TRY(follow_link(options, read, report, stats));
    stats.begin_pass("assemble");
    auto all = TRY(assemble(read.objects(), link.located, link.functions, link.variables,
                            base.btf.get(), options.threads));
    TRY(check_mapped_files());
    stats.add("types_in", all.types);
    stats.add("bytes_in", all.words.size() * 4 + all.strings.size());
    auto kept = std::make_shared<Read>(std::move(read));
    report.read = kept;
    return Merged{{}, std::move(all), kept->target, kept->object_ids(), kept.get()};
}

Result<Merged> merge_inputs(const Options &options, const Base &base, Report &report, Stats &stats)
{
    auto read = TRY(read_inputs(options, base, report, stats));
    auto merge = options.engine == Engine::libbpf ? assemble_all : merge_by_hash;
    if (read.threads == options.threads)
        return merge(options, base, std::move(read), report, stats);
    Options fewer = options;
    fewer.threads = read.threads;
    return merge(fewer, base, std::move(read), report, stats);
}

/// The result, checked.
struct Made {
    std::vector<std::byte> blob, distilled; // the second is empty if that is not asked for
    Target target;
    std::set<uint64_t> object_ids;
};

/// Distil: the result continues a base of its own, which `base` is then.
Result<void> distil_base(Made &made, Base &base, bool with_layout)
{
    Where where{"merged BTF", "", 0};
    auto whole = TRY(Btf::parse(made.blob, where, base.btf));
    auto both = TRY(distil(whole, made.target.order, where));
    made.blob = std::move(both.split);
    made.distilled = std::move(both.base);
    if (with_layout)
        add_layout(made.distilled, made.target.order, false);
    where.file = "distilled base";
    auto parsed = TRY(Btf::parse(made.distilled, where));
    TRY(check_btf(made.distilled, parsed, where, made.target.address_size));
    base.btf = std::make_shared<const Btf>(std::move(parsed));
    return {};
}

/// Pages of large inputs are given back, which takes a tenth of the time of a merge: beside the
/// last steps, which do not look at inputs, instead of at the end of the process.
void release_inputs(const Read &read)
{
    constexpr size_t large = 16 << 20;
    auto release = [](const Input &input) {
        if (input.bytes.size() >= large)
            release_pages(input.bytes);
    };
    std::ranges::for_each(read.inputs.list, release);
    if (read.given_image)
        release(*read.given_image);
}

/// `beside`: has something to do until the result is written.
Result<Made> make(const Options &options, Base base, Report &report, Stats &stats, Beside &beside)
{
    auto merged = TRY(merge_inputs(options, base, report, stats));
    Made made{std::move(merged.blob), {}, merged.target, std::move(merged.object_ids)};
    if (writes_nothing(options))
        return made;

    // Dedup: of equal types the first stays.
    if (options.engine == Engine::libbpf) {
        stats.begin_pass("dedup");
        auto left = TRY(dedup_libbpf(std::move(merged.all), base.btf, made.target.order,
                                     blamed_for_all(options)));
        made.blob = std::move(left);
    }
    const bool with_layout = options.features.has(Feature::layout);
    if (options.features.has(Feature::distilled_base)) {
        stats.begin_pass("distil");
        TRY(distil_base(made, base, with_layout));
    }
    if (with_layout && base.btf)
        add_layout(made.blob, made.target.order, false);
    else if (with_layout)
        TRY(add_layout_section(made.blob, made.target.order, report));

    // Check, then write: nothing is written that a kernel would refuse.
    TRY(check_mapped_files());
    if (options.threads > 1 && options.beside)
        beside.start([read = merged.read] { release_inputs(*read); });
    stats.begin_pass("check");
    TRY(check_result(made.blob, base, made.target, merged.read->objects(), report, stats));
    return made;
}

/// May an index of the base take the place of a search? If it does not say enough, everything is
/// done again: but callbacks are not asked twice, and pipes cannot be read twice.
bool may_use_index(const Options &options)
{
    auto is_file = [](const std::string &word) {
        const std::string path = word.substr(word.starts_with('@') ? 1 : 0);
        struct stat info;
        return path.empty() || ::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
    };
    return options.engine == Engine::hash && !options.why_dup && !options.complete &&
           !options.gathered && std::ranges::all_of(options.inputs, is_file) &&
           is_file(options.image);
}

Result<Base> base_of(const Options &options)
{
    if (!options.read_base)
        return may_use_index(options) ? read_indexed_base(options.base, options.base_index)
                                      : read_base(options.base);
    Base base = *options.read_base;
    if (!may_use_index(options))
        base.index = nullptr;
    return base;
}

Result<void> run(const Options &options, Report &report, Stats &stats)
{
    const auto start = Clock::now();
    TRY(check_options(options));
    stats.begin_pass("base");
    auto base = TRY(base_of(options));
    const bool indexed = base.index != nullptr;
    Beside beside;
    auto made = make(options, base, report, stats, beside);
    if (indexed && (!made || base.index->is_damaged())) {
        // It does not say enough, or is to blame. Whatever is wrong is then seen without it.
        beside.wait();
        report = Report();
        stats = Stats();
        stats.begin_pass("base");
        base.index = nullptr;
        TRY(parse_base(base));
        made = make(options, base, report, stats, beside);
    }
    if (!made)
        return fail(made.error());
    if (base.btf)
        stats.add("base_index_used", base.index ? 1 : 0);
    if (writes_nothing(options))
        return {};
    stats.begin_pass("write");
    auto written =
        write_result(options, made->blob, made->distilled, made->target, made->object_ids);
    if (!written)
        return fail(written.error());
    stats.add("bytes_written", *written);
    stats.end_pass();
    stats.add_measure("time_ms.total", Milliseconds(Clock::now() - start).count());
    return {};
}

} // namespace

Result<void> check_options(const Options &options)
{
    if (options.why_dup && options.engine != Engine::hash)
        return fail({}, "--why-dup needs --dedup=hash");
    if (options.why_dup && options.output == standard_output)
        return fail({}, "--why-dup prints to standard output, and so would --output");
    if (!options.features.has(Feature::distilled_base))
        return {};
    if (options.base.empty())
        return fail({}, "--distilled-base needs --base");
    if (options.format == OutputFormat::object)
        return fail({}, "--distilled-base: --format=object has no place for the base");
    if (options.output == standard_output)
        return fail({}, "--distilled-base: standard output has no place for the base");
    return {};
}

Result<void> merge(const Options &options, Report &report)
{
    std::optional<trace::File> trace;
    if (!options.time_trace.empty()) {
        auto started = TRY(trace::File::start(options.time_trace, "btf-merge"));
        trace.emplace(std::move(started));
    }
    Stats stats;
    trace::Phase whole("btf-merge");
    Result<void> done = run(options, report, stats);
    whole.end();
    report.stats = stats.text();
    if (!trace || !done)
        return done;
    TRY(check_trace_apart(options)); // the result has its file only now
    return trace->write();
}

} // namespace btflink::merge
